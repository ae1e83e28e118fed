package vi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
)

// The sampler has a threshold summed out in coordinates of the groups' effects in which the data know nothing of it, and gives all numbers in the program's:
// those of normals in each of the threshold's intervals.
func TestCentred(t *testing.T) {
	t.Parallel()
	const groups, each, spread, noise = 6, 3, 0.8, 0.6
	m := graph.NewModel()
	thr := m.Sample("thr", graph.Uniform(0, groups))
	a, jump := m.Sample("a", graph.Normal(0, 2)), m.Sample("jump", graph.Normal(0, 1))
	u := m.SampleN("u", groups, graph.Normal(0, spread))
	n := groups * each
	y := mat.NewVecDense(n, nil)
	for k := range n {
		g := k / each
		y.SetVec(k, 0.4*float64(g)+0.5*math.Sin(float64(7*k)))
		m.Observe("y", graph.Normal(graph.Sum(a, u[g], graph.If(graph.Greater(float64(g)+0.5, thr), jump, 0)), noise), y.AtVec(k))
	}
	d := mustCompile(t, m)
	c, err := d.Centre()
	require.NoError(t, err)
	require.Len(t, c.Latents, groups)

	total, below := 0.0, 0.0
	means := map[string]float64{"jump": 0, "a": 0, "u[5]": 0}
	for j := range groups + 1 { // as many of the first groups do not jump
		mass := 1. / groups
		if j == 0 || j == groups {
			mass /= 2
		}
		v := mat.NewSymDense(n, nil)
		with := map[string]*mat.VecDense{"jump": mat.NewVecDense(n, nil), "a": mat.NewVecDense(n, nil), "u[5]": mat.NewVecDense(n, nil)}
		jumps := func(k int) float64 { return map[bool]float64{true: 1}[k/each >= j] }
		for k := range n {
			with["a"].SetVec(k, 4)
			with["jump"].SetVec(k, jumps(k))
			with["u[5]"].SetVec(k, spread*spread*map[bool]float64{true: 1}[k/each == 5])
			for l := range k + 1 {
				x := 4 + jumps(k)*jumps(l)
				if k/each == l/each {
					x += spread * spread
				}
				if k == l {
					x += noise * noise
				}
				v.SetSym(k, l, x)
			}
		}
		var of mat.Cholesky
		require.True(t, of.Factorize(v))
		x := mat.NewVecDense(n, nil)
		require.NoError(t, of.SolveVecTo(x, y))
		w := mass * math.Exp(-0.5*mat.Dot(x, y)-0.5*of.LogDet()-0.5*float64(n)*math.Log(2*math.Pi))
		total += w
		if j <= 3 {
			below += w // the threshold is below 3.5
		}
		for name, with := range with {
			means[name] += w * mat.Dot(with, x)
		}
	}
	p, err := Fit(context.Background(), d, Settings{Seed: 1, Method: Sampler{}})
	require.NoError(t, err)
	require.Equal(t, TrustFit, p.findings.Verdict.Trust, "%v", p.findings.Verdict)
	for name, want := range means {
		mean, err := p.Mean(name)
		require.NoError(t, err)
		sd, err := p.SD(name)
		require.NoError(t, err)
		require.InDelta(t, want/total, mean.Value, 4*mean.SE, name)
		require.Less(t, mean.SE, 0.02*sd.Value)
	}
	summary := p.Summary()
	found := false
	for _, g := range summary.Guards {
		if g.Condition == "thr < 3.5" {
			found = true
			require.InDelta(t, below/total, g.Prob.Value, 4*g.Prob.SE)
		}
	}
	require.True(t, found)
	require.InDelta(t, math.Log(total), p.findings.LogEvidence.Value, 4*p.findings.LogEvidence.SE+1e-3)
}
