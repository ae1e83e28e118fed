package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/long"
)

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	var out bytes.Buffer
	file := filepath.Join(t.TempDir(), "models.html")
	most := long.Or(1, 2)
	require.NoError(t, run(context.Background(), &out, most, file))
	exact := []string{"-101.7", "-74.5", "-60.2"} // by quadrature −101.767, −74.561, −60.268
	for k := range most + 1 {
		require.Regexp(t, fmt.Sprintf(`changes: %d +%s\d+ .* trust\n`, k, exact[k]), out.String())
	}
	require.NotContains(t, out.String(), "do not trust")
	require.Regexp(t, []string{`At time 42, .*between -1[23]\.`, `At time 42, .*between -[456]\.`}[most-1], out.String()) // the ends have their Monte Carlo errors
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(page), "How often has the slope changed?")
}
