package models_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/examples/models/coalmining"
)

func TestCoalMining(t *testing.T) {
	a := coalmining.Exact()
	assert.InDelta(t, -176.888, a.LogEvidence, 1e-3)
	assert.InDelta(t, 1, floats.Sum(a.LastYear), 1e-12)
	assert.InDelta(t, 1, a.Guards[0], 1e-12, "the change is after the first year")
	assert.Zero(t, a.Guards[len(coalmining.Disasters)-1], "and before the last one")
	for i, p := range a.LastYear {
		assert.InDelta(t, p, a.Guards[i]-a.Guards[i+1], 1e-12)
	}
	years := make([]float64, len(a.LastYear))
	for i := range years {
		years[i] = coalmining.FirstYear + float64(i) + 0.5
	}
	mean := stat.Mean(years, a.LastYear)
	assert.InDelta(t, mean, a.Latents[0].Mean, 1e-9)
	assert.InDelta(t, math.Sqrt(stat.MomentAbout(2, years, mean, a.LastYear)+1.0/12), a.Latents[0].SD, 1e-9)
	assert.InDelta(t, 1890.44, a.Latents[0].Mean, 0.005)
	assert.InDelta(t, 2.45, a.Latents[0].SD, 0.005)
}

// The enumeration's evidence for one change is what integrating the program's
// own density over the two rates gives.
func TestCoalMiningAgainstDensity(t *testing.T) {
	density, err := coalmining.Model(coalmining.Disasters).Compile()
	require.NoError(t, err)
	a := coalmining.Exact()
	require.Len(t, density.Named("old"), len(a.Guards))
	require.Len(t, a.Latents, density.Dim())
	const share, nodes = 0.36, 24 // the change is in 1890
	z := []float64{math.Log(share / (1 - share)), 0, 0}
	year := 1851 + 111*share
	inner := func(lo, hi float64, i int, f func() float64) float64 {
		return quad.Fixed(func(u float64) float64 {
			z[i] = u
			return f()
		}, lo, hi, nodes, quad.Legendre{}, 1)
	}
	sum := inner(0.4, 1.8, 1, func() float64 {
		return inner(-1.2, 0.9, 2, func() float64 {
			logProb, err := density.LogProb(z)
			require.NoError(t, err)
			return math.Exp(logProb - a.LogEvidence)
		})
	})
	// Per unit of z[0], of which a year has dz/dyear = 1/(111·share·(1−share)).
	assert.InEpsilon(t, a.LastYear[int(year)-coalmining.FirstYear], sum/(111*share*(1-share)), 1e-6)
}
