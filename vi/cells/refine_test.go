package cells

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// funnel is Neal's funnel in two dimensions, without data: log r integrates to 1. With a switch,
// whose intervals say the same of nothing, it still does.
func funnel(t *testing.T, withSwitch bool) *graph.Density {
	m := graph.NewModel()
	log := m.Sample("log", graph.Normal(0, 1))
	m.Sample("x", graph.Normal(0, graph.Exp(log)))
	if withSwitch {
		w := m.Sample("w", graph.Normal(0, 1))
		m.Factor(graph.If(graph.Greater(w, 0), math.Log(0.5), math.Log(1.5)))
	}
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// A funnel takes several normals: one is nats below the evidence, and they are a quarter at most. The evidence is
// that of the density, which the ELBO stays below.
func TestRefineFunnel(t *testing.T) {
	for name, withSwitch := range map[string]bool{"nothing but normals": false, "a switch is summed out": true} {
		d := funnel(t, withSwitch)
		f := found(t, d, Settings{Seed: 1, Switches: d.Switches()})
		require.Len(t, f.Cells, 1, name)
		var draws [][]float64
		rng := mc.NewRand(2)
		for range 4000 {
			draws = append(draws, d.PriorDraw(nil, rng))
		}
		one := *f.Cells[0]
		kept, _, err := f.Finish(context.Background(), Finish{Draws: draws})
		require.NoError(t, err)
		c := kept[0]
		require.Greater(t, mixture(t, c.Q).Len(), 3, name)
		require.Less(t, one.ELBO.Mean, -1., name)
		require.Greater(t, c.ELBO.Mean, -0.25, name)
		require.Less(t, c.ELBO.Mean, 4*c.ELBO.SE, name)
		require.InDelta(t, 0, c.LogEvidence.Mean, 4*c.LogEvidence.SE, name)
		require.Less(t, c.LogEvidence.SE, 0.02, name)
		x, err := ratios(d, f.finders[0].x, c.Q, 2000, rng)
		require.NoError(t, err)
		for k, z := range x.z { // what was drawn has the density that LogProb says
			require.InDelta(t, x.logR[k]-x.ratio[k], c.Q.LogProb(z), 1e-9, name)
		}
	}
}

func mixture(t *testing.T, q family.Q) *family.Mixture {
	m, ok := rest(q).(*family.Mixture)
	require.True(t, ok)
	return m
}

// Points of weight keep their share of what is fitted, and one of large weight does not
// make a normal of itself.
func TestFitNormalsWeighted(t *testing.T) {
	rng := mc.NewRand(3)
	var x [][]float64
	var logs []float64
	for k := range 3000 {
		side := 1 - 2*float64(k%2) // as many on both sides, of weights 1 and 3
		x, logs = append(x, []float64{4*side + 0.5*rng.NormFloat64(), rng.NormFloat64()}), append(logs, math.Log(2-side))
	}
	var c cloud
	c.add(x, logs, 0)
	m := fitNormals(c, 1, rng)
	require.Len(t, m, 2)
	for _, p := range m {
		want := 0.25
		if p.mean[0] < 0 {
			want = 0.75
		}
		require.InDelta(t, want, math.Exp(p.logWeight), 0.01)
		require.InDelta(t, 4, math.Abs(p.mean[0]), 0.06)
	}
	logs[0] = 20
	var heavy, tempered cloud
	heavy.add(x, logs, 0)
	require.Nil(t, fitNormals(heavy, 1, rng))
	tempered.add(x, logs, 500)
	require.NotNil(t, fitNormals(tempered, 1, rng))
}
