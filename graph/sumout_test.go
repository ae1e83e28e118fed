package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// At any point the density without switches is the sum of log r over all their intervals, each of which one point stands for,
// and its gradient is the sum's.
func TestSumOut(t *testing.T) {
	m := graph.NewModel()
	p := m.Sample("p", graph.Beta(2, 3))
	a, b := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(1, 2))
	change := m.Sample("change", graph.Normal(1, 2))
	for i, y := range []float64{0.3, -0.2, 1.9, 2.2} {
		m.Observe("y", graph.Normal(graph.If(graph.Greater(change, float64(i)), a, b), 0.5), y)
	}
	for _, name := range []string{"k", "l"} {
		k := m.Sample(name, graph.Bernoulli(p))
		m.Observe("of "+name, graph.Normal(a, graph.Switch(k, 1, 5)), 0.7)
	}
	n := m.Sample("n", graph.Poisson(2))
	m.Observe("count", graph.Poisson(graph.Add(graph.Exp(b), n)), 3)
	// These are not summed out: a threshold that depends on a latent, two that meet, and one on which a prior depends.
	late := m.Sample("late", graph.Normal(a, 1))
	m.Factor(graph.If(graph.Greater(late, 0), 0.3, 0))
	u, v := m.Sample("u", graph.Bernoulli(0.3)), m.Sample("v", graph.Bernoulli(0.6))
	m.Factor(graph.Mul(u, v))
	w := m.Sample("w", graph.Bernoulli(0.4))
	m.Sample("x", graph.Normal(w, 1))
	d, err := m.Compile()
	require.NoError(t, err)
	summed, switches, err := d.SumOut()
	require.NoError(t, err)
	var names []string
	for _, s := range switches {
		names = append(names, d.Latents()[s.Latent])
	}
	require.ElementsMatch(t, []string{"change", "k", "l", "n"}, names)

	// a point in each interval of each switch, with the interval's prior probability
	type place struct{ z, mass float64 }
	var places [][]place
	for _, s := range switches {
		prior := distuv.UnitNormal
		if d.Latents()[s.Latent] == "change" {
			prior = distuv.Normal{Mu: 1, Sigma: 2}
		}
		cuts := make([]float64, len(s.Planes)+2)
		s.Thresholds(1).Fill(cuts[1:], make([]float64, d.Dim()))
		cuts[0], cuts[len(cuts)-1] = math.Inf(-1), math.Inf(1)
		var list []place
		for j := range len(s.Planes) + 1 {
			lo, hi := prior.CDF(cuts[j]), prior.CDF(cuts[j+1])
			list = append(list, place{prior.Quantile((lo + hi) / 2), (hi - lo) / prior.Prob(prior.Quantile((lo+hi)/2))})
		}
		places = append(places, list)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	sum := func(z []float64) float64 {
		z = append([]float64(nil), z...)
		total, before := 0.0, 0.0
		for _, s := range switches {
			prior := distuv.UnitNormal
			if d.Latents()[s.Latent] == "change" {
				prior = distuv.Normal{Mu: 1, Sigma: 2}
			}
			before += prior.LogProb(z[s.Latent])
		}
		var visit func(k int, weight float64)
		visit = func(k int, weight float64) {
			if k == len(switches) {
				v, err := d.LogProb(z)
				require.NoError(t, err)
				total += weight * math.Exp(v)
				return
			}
			for _, x := range places[k] {
				z[switches[k].Latent] = x.z
				visit(k+1, weight*x.mass)
			}
		}
		visit(0, 1)
		return math.Log(total) + before
	}
	for range 5 {
		z := d.PriorDraw(nil, rng)
		got, err := summed.LogProb(z)
		require.NoError(t, err)
		require.InEpsilon(t, sum(z), got, 1e-10)
		grad, err := summed.GradAt(z, d.Arrangement().Signs(z))
		require.NoError(t, err)
		for i := range z {
			const h = 1e-5
			up, down := append([]float64(nil), z...), append([]float64(nil), z...)
			up[i] += h
			down[i] -= h
			if d.Latents()[i] == "late" || math.Abs(z[i]) < 2*h { // a plane
				continue
			}
			require.InDelta(t, (sum(up)-sum(down))/(2*h), grad[i], 1e-5*(1+math.Abs(grad[i])))
		}
	}
}

// Where terms depend on several planes of a switch each is written once for each interval, but not where that would be a long program.
func TestSumOutIsShort(t *testing.T) {
	for n, want := range map[int]int{20: 1, 200: 0} {
		m := graph.NewModel()
		x := m.Sample("x", graph.Normal(0, 1))
		at := m.Sample("at", graph.Uniform(0, float64(n)))
		for i := range n - 1 {
			left, right := graph.Greater(at, float64(i)), graph.Greater(at, float64(i)+1)
			m.Observe("y", graph.Normal(graph.If(left, graph.If(right, x, 2), 3), 1), 0.5)
		}
		d, err := m.Compile()
		require.NoError(t, err)
		_, switches, err := d.SumOut()
		require.NoError(t, err)
		require.Equal(t, want, len(switches), n)
	}
}
