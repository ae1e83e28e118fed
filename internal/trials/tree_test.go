//go:build long

package trials

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi"
)

// A context ends a fit of a tree of 506 rows, whose density jumps at 1497 places: a second or two is the longest step of it.
func TestTreeIsStopped(t *testing.T) {
	d, err := Named("tree").Density()
	require.NoError(t, err)
	ctx, stop := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer stop()
	began := time.Now()
	_, err = vi.Fit(ctx, d, vi.Settings{Seed: 1})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(began), 30*time.Second) // it is 1 to 3; with all jumps in one program it was minutes
}
