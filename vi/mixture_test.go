package vi

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// A posterior of several cells can be asked what one cell can be asked, and answers with
// the weighted sum: by closed forms where the cells have them.
func TestMixtureCanBeAsked(t *testing.T) {
	m := graph.NewModel()
	x, r := m.Sample("x", graph.Normal(0, 1)), m.Sample("r", graph.Gamma(2, 1))
	y := m.Sample("y", graph.Normal(x, 1))
	up, big := m.Name("up", graph.Greater(x, 0.5)), m.Name("big", graph.Greater(r, 2))
	both, sum := m.Name("both", graph.And(up, big)), m.Name("sum", graph.Greater(graph.Add(x, y), 0))
	m.Factor(graph.If(both, 1, 0))
	d := mustCompile(t, m)
	parts := []*Posterior{
		{Density: d, Q: family.Independent([]float64{-1, 0.2, -1.5}, []float64{0.5, 0.4, 0.3})},
		{Density: d, Q: family.Independent([]float64{1.2, 1, 1}, []float64{0.3, 0.2, 0.6})},
	}
	weight := []float64{0.3, 0.7}
	q := family.NewMixture([]float64{math.Log(0.3), math.Log(0.7)}, []family.Q{parts[0].Q, parts[1].Q})
	p := &Posterior{Density: d, Q: q}

	of := func(ask func(p *Posterior) (float64, error)) (each [2]float64, total float64) {
		for k := range parts {
			v, err := ask(parts[k])
			require.NoError(t, err)
			each[k] = v
			total += weight[k] * v
		}
		return each, total
	}
	for _, name := range d.Latents() {
		means, want := of(func(p *Posterior) (float64, error) { return p.Mean(name) })
		mean, err := p.Mean(name)
		require.NoError(t, err)
		require.InDelta(t, want, mean, 1e-12)
		sds, _ := of(func(p *Posterior) (float64, error) { return p.SD(name) })
		sd, err := p.SD(name)
		require.NoError(t, err)
		require.InEpsilon(t, math.Sqrt(0.3*sds[0]*sds[0]+0.7*sds[1]*sds[1]+0.21*math.Pow(means[0]-means[1], 2)), sd, 1e-12)
		median, err := p.Quantile(name, 0.4)
		require.NoError(t, err)
		i, _ := d.Latent(name)
		u, err := d.UnconstrainOne(i, median)
		require.NoError(t, err)
		require.InDelta(t, 0.4, family.Marginal(q, i).CDF(u), 1e-12)
	}
	for _, g := range []graph.Guard{up, big, sum, both, graph.Or(up, graph.Not(big))} {
		_, want := of(func(p *Posterior) (float64, error) { return p.Prob(g) })
		got, err := p.Prob(g)
		require.NoError(t, err)
		require.InDelta(t, want, got, 1e-14)
	}
	_, pUp := of(func(p *Posterior) (float64, error) { return p.Prob(up) })
	_, pBoth := of(func(p *Posterior) (float64, error) { return p.Prob(both) })
	given, err := p.ProbGiven(big, up)
	require.NoError(t, err)
	require.InDelta(t, pBoth/pUp, given.Value, 1e-14)
	require.Zero(t, given.SE)
	path, err := p.MostProbablePath([]graph.Guard{up, big}, 1000, 1)
	require.NoError(t, err)
	require.Equal(t, Path{Holds: []bool{true, true}, Prob: Estimate{Value: path.Prob.Value}}, path)
	require.InDelta(t, pBoth, path.Prob.Value, 1e-14)
	top, err := p.TopRegions(3, 100000, 1) // x + y > 0 links x and y in all parts, so that it counts
	require.NoError(t, err)
	for _, region := range top {
		n := 0.0
		rng, z := mc.NewRand(2), make([]float64, 3)
		for range 100000 {
			if q.Rand(z, rng); d.Arrangement().Signs(z).String() == region.Signs.String() {
				n++
			}
		}
		require.InDelta(t, n/100000, region.Prob.Value, 8*region.Prob.SE)
	}

	s := p.Summary()
	require.Equal(t, []string{s.Verdict.String()}, s.Warnings)
	require.NotEmpty(t, s.Correlations)
	for _, c := range s.Correlations {
		if c.A == "x" && c.B == "y" {
			require.InDelta(t, 0.21*2.2*2.5/(q.SD(0)*q.SD(2)), c.Value, 0.05)
		}
	}
	imp, err := p.Importance(20000, 1)
	require.NoError(t, err)
	require.Less(t, math.Abs(imp.ELBO.Value-s.ELBO.Value), 5*(imp.ELBO.SE+s.ELBO.SE))
	var file bytes.Buffer
	require.NoError(t, p.Draws(100, 1).WriteCSV(&file))
	_, err = p.Predict(10, 1)
	require.NoError(t, err)
	file.Reset()
	require.NoError(t, p.Save(&file))
	loaded, err := Load(&file, d)
	require.NoError(t, err)
	require.Equal(t, q.Theta(), loaded.Q.Theta())
	_, err = p.CheckBias(check.BiasSettings{})
	require.ErrorContains(t, err, "cells: not fitted by gradients")
	_, err = p.SharesByGuard(100, 1)
	require.ErrorContains(t, err, "cells: not fitted by gradients")
}
