package graph_test

import (
	"fmt"
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
	u, v := m.Sample("u", graph.Bernoulli(0.3)), m.Sample("v", graph.Bernoulli(p)) // which meet
	m.Factor(graph.Mul(u, v))
	// These are not summed out: a threshold that depends on a latent, and one on which a continuous latent's prior depends.
	late := m.Sample("late", graph.Normal(a, 1))
	m.Factor(graph.If(graph.Greater(late, 0), 0.3, 0))
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
	require.ElementsMatch(t, []string{"change", "k", "l", "n", "u", "v"}, names)

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

// The states of a chain meet in the priors of states, and in what depends on two of them. Without them the density is that of the hidden Markov model, and
// so is its gradient.
func TestSumOutOfChain(t *testing.T) {
	ys := []float64{0.2, 1.4, -0.3, 2.2, 5.1, 4.2, 0.3, 1.9, 2.2, 1.1, -0.7, 3.9}
	program := func(hmm bool) *graph.Density {
		m := graph.NewModel()
		stay, leave := m.Sample("stay", graph.Beta(9, 2)), m.Sample("leave", graph.Beta(2, 2))
		level, slip := m.SampleN("level", 3, graph.Normal(1, 2)), m.Sample("slip", graph.Normal(0, 1))
		row := func(i int) []graph.Expr { // where the chain leaves a state, it goes to the next one more often than not
			p := make([]graph.Expr, 3)
			p[i], p[(i+1)%3] = stay, graph.Mul(graph.Sub(1, stay), leave)
			p[(i+2)%3] = graph.Mul(graph.Sub(1, stay), graph.Sub(1, leave))
			return p
		}
		next := [][]graph.Expr{row(0), row(1), row(2)}
		emission := func(now, before int) graph.Dist {
			return graph.Normal(graph.Add(level[now], graph.Mul(slip, graph.Tanh(level[before]))), 0.7)
		}
		if hmm {
			m.ObserveHMM("y", graph.HMM{
				Initial: next[0], Transition: next, Lags: 1,
				Emission: func(_ int, s []int) graph.Dist { return emission(s[0], s[1]) },
			}, ys)
		} else {
			state := m.Sample("state before", graph.Categorical(next[0]...))
			for k, y := range ys {
				masses := make([]graph.Expr, 3)
				for j := range masses {
					masses[j] = graph.Switch(state, next[0][j], next[1][j], next[2][j])
				}
				before := state
				state = m.Sample(fmt.Sprintf("state[%d]", k), graph.Categorical(masses...))
				mean := graph.Add(graph.Switch(state, level...), graph.Mul(slip, graph.Tanh(graph.Switch(before, level...))))
				m.Observe("y", graph.Normal(mean, 0.7), y)
			}
		}
		d, err := m.Compile()
		require.NoError(t, err)
		return d
	}
	chain, hmm := program(false), program(true)
	summed, switches, err := chain.SumOut()
	require.NoError(t, err)
	require.Len(t, switches, 1+len(ys))
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		z := chain.PriorDraw(nil, rng)
		rest, prior := z[:hmm.Dim()], 0.0
		for _, u := range z[hmm.Dim():] {
			prior += distuv.UnitNormal.LogProb(u)
		}
		want, err := hmm.LogProb(rest)
		require.NoError(t, err)
		got, err := summed.LogProb(z)
		require.NoError(t, err)
		require.InEpsilon(t, want, got-prior, 1e-10)
		slopes, err := hmm.GradAt(rest, hmm.Arrangement().Signs(rest))
		require.NoError(t, err)
		of, err := summed.GradAt(z, summed.Arrangement().Signs(z))
		require.NoError(t, err)
		for i, x := range slopes {
			require.InDelta(t, x, of[i], 1e-9*(1+math.Abs(x)))
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
