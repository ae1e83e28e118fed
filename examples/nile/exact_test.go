package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/examples/models/nile"
)

// The fits against enumeration: log evidences within 0.03, so that shifts are compared as they should be; with two shifts the
// probability of every year, and that both are large, within 0.015, and the levels within a tenth of 10 km³.
func TestShiftsExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	want := nile.Exact()
	require.Equal(t, 1898, nile.FirstYear+floats.MaxIdx(want.Shift))

	fits, err := fitted(context.Background(), 1)
	require.NoError(t, err)
	for shifts, fit := range fits {
		e, err := fit.LogEvidence()
		require.NoError(t, err)
		assert.InDelta(t, nile.LogEvidence(shifts), e.Value, 0.03, "%d shifts", shifts)
	}
	all, err := histories(fits[2])
	require.NoError(t, err)
	for i, p := range want.Shift[:len(want.Shift)-1] {
		year := nile.FirstYear + i
		assert.InDelta(t, p, share(all, func(h history) bool { return h.shifted(year) }), 0.015, year)
	}
	assert.InDelta(t, want.Twice, share(all, history.twice), 0.015)
	var first, last []float64
	for _, h := range all {
		first, last = append(first, h.level(nile.FirstYear)), append(last, h.level(1970))
	}
	assert.InDelta(t, km3*want.First, stat.Mean(first, nil), 0.3)
	assert.InDelta(t, km3*want.Last, stat.Mean(last, nil), 0.3)
}
