//go:build long

package vi

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mixture"
)

// A posterior of several cells can be asked what one cell can be asked. Its proposal is a mixture, and its answers are those of
// the program, which are known: a region of the prior has e times the density.
func TestMixtureCanBeAsked(t *testing.T) {
	m := graph.NewModel()
	x, r := m.Sample("x", graph.Normal(0, 1)), m.Sample("r", graph.LogNormal(0, 0.5))
	y := m.Sample("y", graph.Normal(x, 1))
	up, big := m.Name("up", graph.Greater(x, 0.5)), m.Name("big", graph.Greater(r, 1.5))
	both := m.Name("both", graph.And(up, big))
	m.Name("sum", graph.Greater(graph.Add(x, y), 0))
	m.Factor(graph.If(both, 1, 0))
	d := mustCompile(t, m)
	q := mixture.New([]float64{math.Log(0.3), math.Log(0.7)}, []family.Q{
		family.Independent([]float64{-0.2, 0, -0.2}, []float64{1.1, 0.55, 1.6}),
		family.Independent([]float64{0.9, 0.4, 0.9}, []float64{0.9, 0.5, 1.4}),
	})
	p := &Posterior{Density: d, Q: q}

	phi := distuv.UnitNormal
	pUp, pBig := phi.CDF(-0.5), phi.CDF(-math.Log(1.5)/0.5)
	z := 1 + (math.E-1)*pUp*pBig
	meanX := (math.E - 1) * phi.Prob(0.5) * pBig / z
	squareX := (1 + (math.E-1)*(pUp+0.5*phi.Prob(0.5))*pBig) / z
	cdf := func(c float64) float64 { return (phi.CDF(c) + (math.E-1)*max(0, phi.CDF(c)-phi.CDF(0.5))*pBig) / z }
	for _, c := range []struct {
		name     string
		mean, sd float64
	}{{"x", meanX, math.Sqrt(squareX - meanX*meanX)}, {"y", meanX, math.Sqrt(1 + squareX - meanX*meanX)}} {
		mean, err := p.Mean(c.name)
		require.NoError(t, err)
		vitest.Estimate(t, c.name, c.mean, mean, 0.12)
		sd, err := p.SD(c.name)
		require.NoError(t, err)
		vitest.Estimate(t, c.name, c.sd, sd, 0.12)
	}
	median, err := p.Quantile("x", cdf(0.8))
	require.NoError(t, err)
	vitest.Estimate(t, "quantile", 0.8, median, 0.1)
	for _, c := range []struct {
		g    graph.Guard
		want float64
	}{
		{up, pUp * (1 + (math.E-1)*pBig) / z},
		{big, pBig * (1 + (math.E-1)*pUp) / z},
		{both, math.E * pUp * pBig / z},
		{graph.Or(up, graph.Not(big)), 1 - (1-pUp)*pBig/z},
	} {
		got, err := p.Prob(c.g)
		require.NoError(t, err)
		vitest.Estimate(t, fmt.Sprint(c.g), c.want, got, 0.03)
	}
	given, err := p.ProbGiven(big, up)
	require.NoError(t, err)
	vitest.Estimate(t, "big given up", math.E*pBig/(1+(math.E-1)*pBig), given, 0.06)
	path, err := p.MostProbablePath([]graph.Guard{up, big})
	require.NoError(t, err)
	require.Equal(t, []bool{false, false}, path.Holds)
	vitest.Estimate(t, "path", (1-pUp)*(1-pBig)/z, path.Prob, 0.04)
	top, err := p.TopRegions(3)
	require.NoError(t, err)
	low := func(above float64) float64 { // ∫ over x < 0.5 with x + y > 0, or not: y − x is N(0, 1)
		return quad.Fixed(func(x float64) float64 { return phi.Prob(x) * phi.CDF(above*2*x) }, -9, 0.5, 200, nil, 0) * (1 - pBig) / z
	}
	want := []float64{low(-1), low(1)}
	require.Len(t, top, 3)
	vitest.Estimate(t, "most probable region", want[0], top[0].Prob, 0.05)
	require.Less(t, want[1], want[0])

	s := p.Summary()
	require.NotEmpty(t, s.Correlations)
	require.Equal(t, [2]string{"x", "y"}, [2]string{s.Correlations[0].A, s.Correlations[0].B})
	varX := squareX - meanX*meanX
	require.InDelta(t, math.Sqrt(varX/(1+varX)), s.Correlations[0].Value, 0.02)
	var file bytes.Buffer
	require.NoError(t, drawsOf(t, p, 100, 1).WriteCSV(&file))
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
