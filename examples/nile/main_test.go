//go:build long

package main

import (
	"bytes"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/examples/models/nile"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(&out, 1, filepath.Join(t.TempDir(), "fit.html")))
	for _, text := range []string{"first in (1898, 1899)   0.759", "The level of 1971 is between 81 and 89 km³ with probability 0.9", "The flow of 1971"} {
		assert.Contains(t, out.String(), text)
	}
	assert.Regexp(t, `best +0\.333 +0\.61[89] `, out.String()) // it is 0.6184, of which three digits are no more certain: see TestExact
}

// The fits against enumeration: log evidences within 0.03, and probabilities of the models within 0.002; with two shifts the
// probability of every year, and that both are of more than 10 km³, within 0.015, and the levels within 0.3 km³.
func TestExact(t *testing.T) {
	const km3 = 10 // in a unit of the enumeration
	want := nile.Exact()
	data := make([]float64, len(flow))
	floats.ScaleTo(data, km3, flow)
	require.InDeltaSlice(t, nile.Flow, data, 1e-9)
	shifts, err := compare(1)
	require.NoError(t, err)
	exact := make([]float64, len(shifts.Models))
	for k := range exact {
		exact[k] = nile.LogEvidence(k)
	}
	total := floats.LogSumExp(exact)
	for k, m := range shifts.Models {
		assert.InDelta(t, math.Exp(exact[k]-total), m.Prob.Value, 0.002, m.Name)
		assert.InDelta(t, exact[k]-float64(len(flow))*math.Log(km3), m.LogEvidence.Value, 0.03, m.Name)
	}

	draws, err := shifts.Models[2].Fit.Draws(10000, 0)
	require.NoError(t, err)
	of := func(name string) []float64 {
		v, err := draws.Of(name)
		require.NoError(t, err)
		return v
	}
	when, then, before, middle, after := of("first"), of("second"), of("before"), of("middle"), of("after")
	shift, twice, last := make([]float64, len(flow)-1), 0.0, 0.0
	each := 1 / float64(len(when))
	for k := range when {
		early, late := int(min(when[k], then[k]))-first, int(max(when[k], then[k]))-first
		shift[early] += each
		if late != early {
			shift[late] += each
			if min(math.Abs(middle[k]-before[k]), math.Abs(after[k]-middle[k])) > km3 {
				twice += each
			}
		}
		last += each * after[k]
	}
	for i, p := range want.Shift[:len(want.Shift)-1] {
		assert.InDelta(t, p, shift[i], 0.015, first+i)
	}
	assert.InDelta(t, want.Twice, twice, 0.015)
	assert.InDelta(t, km3*want.First, stat.Mean(before, nil), 0.3)
	assert.InDelta(t, km3*want.Last, last, 0.3)
}
