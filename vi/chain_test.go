package vi

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
)

// chainOf is a hidden chain of discrete latents with the given masses of the next state by state,
// and levels, which are observed with noise of standard deviation 1.
func chainOf(m *graph.Model, next [][]graph.Expr, levels []graph.Expr, ys []float64) {
	var s graph.Expr
	for t, y := range ys {
		masses := next[0]
		if t > 0 {
			masses = make([]graph.Expr, len(levels))
			for j := range masses {
				column := make([]graph.Expr, len(levels))
				for i := range column {
					column[i] = next[i][j]
				}
				masses[j] = graph.Switch(s, column...)
			}
		}
		s = m.Sample(fmt.Sprintf("s[%d]", t), graph.Categorical(masses...))
		m.Observe("y", graph.Normal(graph.Switch(s, levels...), 1), y)
	}
}

func chainData(n int) (ys []float64) {
	for t := range n {
		ys = append(ys, 2*math.Round(1+math.Sin(float64(t)/4))-1+0.9*math.Sin(float64(5*t*t)))
	}
	return ys
}

// smoothed are the log evidence of a chain with known masses and the probabilities of its states,
// by all paths.
func smoothed(next [][]float64, levels, ys []float64) (logEvidence float64, p [][]float64) {
	k, total := len(levels), 0.0
	p = make([][]float64, len(ys))
	for t := range p {
		p[t] = make([]float64, k)
	}
	path := make([]int, len(ys))
	for {
		weight := 1.0
		for t, y := range ys {
			from := 0
			if t > 0 {
				from = path[t-1]
			}
			weight *= next[from][path[t]] * math.Exp(-0.5*(y-levels[path[t]])*(y-levels[path[t]])) / math.Sqrt(2*math.Pi)
		}
		total += weight
		for t, s := range path {
			p[t][s] += weight
		}
		t := 0
		for ; t < len(path); t++ {
			if path[t]++; path[t] < k {
				break
			}
			path[t] = 0
		}
		if t == len(path) {
			break
		}
	}
	for t := range p {
		for s := range p[t] {
			p[t][s] /= total
		}
	}
	return math.Log(total), p
}

var (
	threeStates = [][]float64{{0.9, 0.099, 0.001}, {0.05, 0.85, 0.1}, {0.001, 0.199, 0.8}}
	threeLevels = []float64{-1, 1, 3}
)

// numbers are expressions of numbers.
func numbers(rows [][]float64) (list [][]graph.Expr) {
	for _, r := range rows {
		list = append(list, graph.Numbers(r...))
	}
	return list
}

// The default fit of a hidden chain is exact, where nothing else is unknown: evidence, smoothed
// probabilities, and draws of whole paths.
func TestDiscreteChain(t *testing.T) {
	t.Parallel()
	ys := chainData(9)
	m := graph.NewModel()
	chainOf(m, numbers(threeStates), graph.Numbers(threeLevels...), ys)
	d, err := m.Compile()
	require.NoError(t, err)
	fit, err := Fit(context.Background(), d, Settings{Seed: *seed})
	require.NoError(t, err)
	logEvidence, probs := smoothed(threeStates, threeLevels, ys)
	e, err := fit.LogEvidence()
	require.NoError(t, err)
	require.InDelta(t, logEvidence, e.Value, 1e-10)
	for i, want := range probs {
		_, masses, err := fit.Masses(fmt.Sprintf("s[%d]", i))
		require.NoError(t, err)
		require.InDeltaSlice(t, want, values(masses), 1e-9)
	}
	v, err := fit.Verdict()
	require.NoError(t, err)
	require.Equal(t, TrustFit, v.Trust, v.String())
	again := reloaded(t, fit, d)
	requireSameCells(t, fit, again)

	const n = 20_000
	count := map[string]float64{}
	for _, path := range drawsOf(t, fit, n, 1).Values {
		count[fmt.Sprint(path)] += 1. / n
	}
	path := []float64{0, 0, 0, 0, 0, 0, 0, 0, 0}
	for i := range path {
		for s, p := range probs[i] {
			if p > probs[i][int(path[i])] {
				path[i] = float64(s)
			}
		}
	}
	u := make([]float64, len(path))
	for i, s := range path {
		u[i], err = d.Coordinate(i).Inverse(s)
		require.NoError(t, err)
	}
	log, err := d.LogProb(u)
	require.NoError(t, err)
	own := fit.Q.LogProb(u)
	require.InDelta(t, logEvidence, log-own, 1e-9)
	want := 1.0
	for i, s := range path { // a state has its interval, and in it the prior
		_, cuts := d.Values(i)
		lo, hi := 0.0, 1.0
		if int(s) > 0 {
			lo = 0.5 * math.Erfc(-cuts[int(s)-1]/math.Sqrt2)
		}
		if int(s) < len(cuts) {
			hi = 0.5 * math.Erfc(-cuts[int(s)]/math.Sqrt2)
		}
		want *= (hi - lo) * math.Sqrt(2*math.Pi) * math.Exp(0.5*u[i]*u[i])
	}
	want *= math.Exp(own)
	require.Greater(t, want, 0.01)
	require.InDelta(t, want, count[fmt.Sprint(path)], 5*math.Sqrt(want/n))
}

// unknownChain is a chain of two states with unknown levels and masses; of discrete latents, or
// as a hidden Markov model.
func unknownChain(t testing.TB, steps int, hmm bool) *graph.Density {
	m, ys := graph.NewModel(), chainData(steps)
	low, high := m.Sample("stay low", graph.Beta(9, 1)), m.Sample("stay high", graph.Beta(9, 1))
	next := [][]graph.Expr{{low, graph.Sub(1, low)}, {graph.Sub(1, high), high}}
	levels := []graph.Expr{m.Sample("low", graph.Normal(-1, 1)), m.Sample("high", graph.Normal(3, 1))}
	if hmm {
		m.ObserveHMM("y", graph.HMM{
			Initial: next[0], Transition: next,
			Emission: func(_ int, s []int) graph.Dist { return graph.Normal(levels[s[0]], 1) },
		}, ys)
	} else {
		chainOf(m, next, levels, ys)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// What is unknown beside a chain is fitted with its states summed out: the posterior is that of
// the program with ObserveHMM, and the states' probabilities are averages over it.
func TestDiscreteChainWithParameters(t *testing.T) {
	long.Skip(t)
	steps := 16
	if long.Exhaustive() {
		steps = 400 // more latents than cells can have
	}
	d, h := unknownChain(t, steps, false), unknownChain(t, steps, true)
	fit, err := Fit(context.Background(), d, Settings{Seed: *seed})
	require.NoError(t, err)
	hmm, err := Fit(context.Background(), h, Settings{Seed: *seed})
	require.NoError(t, err)

	got, err := fit.LogEvidence()
	require.NoError(t, err)
	want, err := hmm.LogEvidence()
	require.NoError(t, err)
	require.Less(t, math.Hypot(got.SE, want.SE), 0.02, "inconclusive")
	assert.InDelta(t, want.Value, got.Value, 5*math.Hypot(got.SE, want.SE))
	v, err := fit.Verdict()
	require.NoError(t, err)
	require.Equal(t, TrustFit, v.Trust, v.String())
	for _, name := range h.Latents() {
		got, err := fit.momentsOf(name)
		require.NoError(t, err)
		want, err := hmm.momentsOf(name)
		require.NoError(t, err)
		assert.InDelta(t, want.Mean.Value, got.Mean.Value, 5*math.Hypot(want.Mean.SE, got.Mean.SE), name)
		assert.InDelta(t, want.SD.Value, got.SD.Value, 5*math.Hypot(want.SD.SE, got.SD.SE), name)
	}
}

// BenchmarkDiscreteChain is the default fit of a hidden chain of two states, with four numbers unknown beside it.
func BenchmarkDiscreteChain(b *testing.B) {
	for _, steps := range long.Brief([]int{24}, long.Or([]int{24, 40}, []int{24, 40, 200})) {
		for _, hmm := range []bool{false, true} {
			b.Run(fmt.Sprintf("steps=%d/hmm=%v", steps, hmm), func(b *testing.B) {
				d, start := unknownChain(b, steps, hmm), cputime.Seconds()
				for b.Loop() {
					fit, err := Fit(context.Background(), d, Settings{Seed: 1})
					require.NoError(b, err)
					e, err := fit.LogEvidence()
					require.NoError(b, err)
					b.Logf("log evidence %v", e)
				}
				b.ReportMetric((cputime.Seconds()-start)/float64(b.N), "CPU-s/op")
			})
		}
	}
}
