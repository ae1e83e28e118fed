package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// threshold is a threshold autoregression of ys: with a guard that compares the value before, or without.
func threshold(t *testing.T, ys []float64, guarded bool, past func(m *graph.Model, i int) graph.Expr) *graph.Density {
	m := graph.NewModel()
	cut, phi := m.Sample("cut", graph.Normal(0, 1)), m.Sample("phi", graph.Normal(0, 1))
	for i, y := range ys {
		mean := graph.Mul(phi, 0)
		if i > 0 {
			if mean = graph.Mul(phi, past(m, i-1)); guarded {
				mean = graph.If(graph.Greater(past(m, i-1), cut), mean, 20)
			}
		}
		m.Observe("y", graph.Normal(mean, 0.5), y)
	}
	return mustCompile(t, m)
}

func lastOf(m *graph.Model, i int) graph.Expr { return m.Observed("y", i) }

// A series that depends on its past is the same by Observed as by numbers; and by WithData the past is that of the new data.
func TestObserved(t *testing.T) {
	ys, next := []float64{0.3, -0.2, 1.4, 0.9, -1}, []float64{-2, 0.1, 0.2, 3, 1}
	numbers := func(ys []float64) func(m *graph.Model, i int) graph.Expr {
		return func(_ *graph.Model, i int) graph.Expr { return graph.Add(ys[i], 0) }
	}
	rng := rand.New(rand.NewPCG(1, 0))
	for range 10 {
		z := []float64{rng.NormFloat64(), rng.NormFloat64()}
		for _, guarded := range []bool{false, true} {
			d := threshold(t, ys, guarded, lastOf)
			close12(t, logProb(t, threshold(t, ys, guarded, numbers(ys)), z...), logProb(t, d, z...))
		}
		given, err := threshold(t, ys, false, lastOf).WithData(map[string][]float64{"y": next})
		require.NoError(t, err)
		close12(t, logProb(t, threshold(t, next, false, numbers(next)), z...), logProb(t, given, z...))
	}
}

// What is missing at the end of a series goes on from its data, by guards that compare it, too; what was observed is replicated
// one step at a time.
func TestObservedForecast(t *testing.T) {
	const draws = 20000
	nan := math.NaN()
	ys := []float64{0.3, 1.5, nan, nan}
	d := threshold(t, ys, true, lastOf)
	require.Equal(t, 2, d.Arrangement().Len(), "what is missing makes no plane")
	cut, phi := 0.5, 0.6
	rng := rand.New(rand.NewPCG(2, 0))
	var mean, exact [4]float64
	above := 0
	for range draws {
		y := d.Replicate(nil, []float64{cut, phi}, rng)
		for i := range y {
			mean[i] += y[i] / draws
		}
		if y[3] > 10 {
			above++
		}
	}
	second := distuv.Normal{Mu: phi * 1.5, Sigma: 0.5}
	stays := second.Survival(cut) // E[y₂; y₂ > cut] = μ·P + σ·φ((cut − μ)/σ)
	up := second.Mu*stays + 0.25*second.Prob(cut)
	exact = [4]float64{0, 20, second.Mu, phi*up + 20*(1-stays)} // 0.3 is below the cut
	for i, se := range []float64{0.5, 0.5, 0.5, 10} {
		require.InDelta(t, exact[i], mean[i], 5*se/math.Sqrt(draws), i)
	}
	require.InDelta(t, 1-stays, float64(above)/draws, 5*0.5/math.Sqrt(draws))
}

// Expressions of what is missing are of what was drawn in its place, in plates and as probabilities of states, too; without a draw they have no value.
func TestObservedInExpressions(t *testing.T) {
	nan := math.NaN()
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	var last [2]graph.Expr
	for i, y := range []float64{1, nan} {
		m.Observe("y", graph.Normal(z, 1), y)
		last[i] = m.Observed("y", i)
	}
	both := []graph.Expr{last[0], last[1]}
	m.Deterministic("known", graph.Add(last[0], z))
	m.Deterministic("above", graph.If(graph.Greater(last[1], 3), 1, 0))
	m.Plate(3, func(p *graph.Plate) { p.Deterministic("rows", p.Index(both, []int{0, 0, 1})) })
	m.If(graph.Greater(last[1], 3), func() { m.Deterministic("inside", z) }, nil)
	chain := m.ObserveHMM("s", graph.HMM{
		Initial: graph.Numbers(0.5, 0.5),
		TransitionAt: func(int) [][]graph.Expr { // so it is in state 0 if y is above 3
			up := graph.Sigmoid(graph.Mul(50, graph.Sub(last[1], 3)))
			return [][]graph.Expr{{up, graph.Sub(1, up)}, {up, graph.Sub(1, up)}}
		},
		Emission: func(_ int, s []int) graph.Dist { return graph.Normal(float64(s[0]), 1) },
	}, []float64{nan, nan})
	chain.Deterministic("state", 0)
	d := mustCompile(t, m)
	require.Equal(t, []string{"known", "above", "rows", "rows", "rows", "inside", "state", "state"}, d.Deterministics())
	for _, c := range []struct{ y, known, above, row, inside, first, second float64 }{
		{nan, 1.5, nan, nan, nan, nan, nan}, {4, 1.5, 1, 4, 0.5, 0, 1}, {2, 1.5, 0, 2, nan, 1, 0},
	} {
		got := d.DeterministicGiven(nil, []float64{0.5}, []float64{7, c.y, c.first, 1})
		if math.IsNaN(c.y) {
			got = d.DeterministicAt(nil, []float64{0.5})
		}
		for i, want := range []float64{c.known, c.above, 1, 1, c.row, c.inside} {
			require.Equal(t, math.Float64bits(want), math.Float64bits(got[i]), "%d: %v, not %v", i, got[i], want)
		}
		require.Equal(t, math.IsNaN(c.y), math.IsNaN(got[7]))
		if !math.IsNaN(c.y) {
			require.InDelta(t, c.second, got[7], 1e-12)
		}
	}
	require.Panics(t, func() { d.DeterministicGiven(nil, []float64{0.5}, nil) })
}

func TestObservedErrors(t *testing.T) {
	nan := math.NaN()
	for says, build := range map[string]func(m *graph.Model, z graph.Expr){
		`observation "y" number 1: there are 1 so far`: func(m *graph.Model, z graph.Expr) {
			m.Observe("y", graph.Normal(z, 1), 1)
			m.Observed("y", 1)
		},
		`observation "x" number 0: there are 0 so far`: func(m *graph.Model, _ graph.Expr) { m.Observed("x", 0) },
		"the observation x depends on observation \"y\" (observed_test.go:": func(m *graph.Model, z graph.Expr) {
			m.Observe("y", graph.Normal(z, 1), nan)
			m.Observe("x", graph.Normal(m.Observed("y", 0), 1), 2)
		},
		"the factor depends on observation \"y\"": func(m *graph.Model, z graph.Expr) {
			m.Observe("y", graph.Normal(z, 1), nan)
			m.Factor(graph.Mul(z, m.Observed("y", 0)))
		},
		"the prior of x depends on observation \"y\"": func(m *graph.Model, z graph.Expr) {
			m.Observe("y", graph.Normal(z, 1), nan)
			m.Sample("x", graph.Normal(m.Observed("y", 0), 1))
		},
		"the observation x depends on": func(m *graph.Model, z graph.Expr) {
			m.Observe("y", graph.Normal(z, 1), nan)
			m.If(graph.Greater(m.Observed("y", 0), z), func() { m.Observe("x", graph.Normal(z, 1), 2) }, nil)
		},
		"guard \"over\": one before it of that name compares what is missing": func(m *graph.Model, z graph.Expr) {
			m.Observe("y", graph.Normal(z, 1), nan)
			m.Name("over", graph.And(graph.Greater(z, 0), graph.Greater(m.Observed("y", 0), 3)))
			m.Name("over", graph.Greater(z, 0))
		},
		"Observed of the model is called in the body of a plate": func(m *graph.Model, z graph.Expr) {
			m.Plate(2, func(*graph.Plate) { m.Observed("y", 0) })
		},
	} {
		m := graph.NewModel()
		build(m, m.Sample("z", graph.Normal(0, 1)))
		_, err := m.Compile()
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, "observed_test.go:")
	}
	m := graph.NewModel()
	m.Observe("y", graph.Normal(m.Sample("z", graph.Normal(0, 1)), 1), nan)
	d := mustCompile(t, m)
	_, err := d.ArrangementWith(graph.Greater(m.Observed("y", 0), 3))
	require.ErrorContains(t, err, "a guard compares what is missing")
	d = threshold(t, []float64{0.3, 1.5, nan}, true, lastOf)
	_, err = threshold(t, []float64{0.3, 1.5, nan, nan}, true, lastOf).WithObservations([]float64{0.3, 1.5, 1, nan})
	require.ErrorContains(t, err, `observation "y", number 2 of all: a guard compares its value NaN, which cannot be replaced`)
	_, err = d.WithData(map[string][]float64{"y": {0.3, 1, nan}})
	require.ErrorContains(t, err, `observation "y" number 1: a guard compares its value 1.5, which cannot be replaced`)
	_, err = d.WithObservations([]float64{0.3, 1.5, 2})
	require.NoError(t, err)
}
