package vi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/vi/mc"
)

// within is a draw of a normal between two bounds.
func within(rng *rand.Rand, mean, sd, lo, hi float64) float64 {
	return mean + sd*truncnorm.Quantile(rng.Float64(), (lo-mean)/sd, (hi-mean)/sd)
}

// inOrder draws each of x in turn, a normal with that mean and sd, between those before and after it in an order.
func inOrder(rng *rand.Rand, x []float64, order []int, mean func(i int) float64, sd float64) {
	for k, i := range order {
		lo, hi := math.Inf(-1), math.Inf(1)
		if k > 0 {
			lo = x[order[k-1]]
		}
		if k+1 < len(order) {
			hi = x[order[k+1]]
		}
		x[i] = within(rng, mean(i), sd, lo, hi)
	}
}

// What is required holds with probability 1, and moments are those by Gibbs' sampler or rejection: of an order of ten, known without noise, or by three
// races with noise; of means that rise; and of two numbers on one side of a line and of a curve.
func TestRequired(t *testing.T) {
	long.Skip(t) // package smc has one of each
	rise := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	races := [][]int{rise, {1, 0, 2, 4, 3, 6, 5, 7, 9, 8}, {0, 2, 1, 3, 5, 4, 7, 6, 8, 9}}
	factorial, _ := math.Lgamma(11)
	for name, c := range map[string]struct {
		n        int
		build    func(m *graph.Model, x []graph.Expr) []graph.Guard // what is required
		prior    graph.Dist
		evidence float64 // NaN where it is not known
		draws    func(rng *rand.Rand, add func(x []float64))
	}{
		"order": {10, func(m *graph.Model, x []graph.Expr) (all []graph.Guard) {
			for k := range 9 {
				all = append(all, graph.Less(x[k], x[k+1]))
			}
			return all
		}, graph.Normal(0, 1), -factorial, func(rng *rand.Rand, add func(x []float64)) {
			for range 300_000 {
				x := make([]float64, 10)
				for i := range x {
					x[i] = rng.NormFloat64()
				}
				slices.Sort(x)
				add(x)
			}
		}},
		"races": {10, func(m *graph.Model, x []graph.Expr) (all []graph.Guard) {
			for r, order := range races {
				noise := m.SampleN(fmt.Sprintf("noise%d", r), 10, graph.Normal(0, 1))
				for k := range 9 {
					i, j := order[k], order[k+1]
					all = append(all, graph.Less(graph.Add(x[i], noise[i]), graph.Add(x[j], noise[j])))
				}
			}
			return all
		}, graph.Normal(0, 1), math.NaN(), func(rng *rand.Rand, add func(x []float64)) {
			x, runs := make([]float64, 10), make([][]float64, 3)
			for r, order := range races {
				runs[r] = make([]float64, 10)
				for k, i := range order {
					runs[r][i] = float64(k)/5 - 1
				}
			}
			for sweep := range 400_000 {
				for r, order := range races {
					inOrder(rng, runs[r], order, func(i int) float64 { return x[i] }, 1)
				}
				for i := range x {
					x[i] = (runs[0][i]+runs[1][i]+runs[2][i])/4 + rng.NormFloat64()/2
				}
				if sweep >= 1000 {
					add(x)
				}
			}
		}},
		"rising": {8, func(m *graph.Model, x []graph.Expr) (all []graph.Guard) {
			for k, y := range []float64{1, 3, 2, 5, 4, 6, 9, 8} {
				if m.Observe("y", graph.Normal(x[k], 1), y); k > 0 {
					all = append(all, graph.Less(x[k-1], x[k]))
				}
			}
			return all
		}, graph.Normal(0, 10), math.NaN(), func(rng *rand.Rand, add func(x []float64)) {
			y, x := []float64{1, 3, 2, 5, 4, 6, 9, 8}, []float64{1, 2, 2.5, 4, 4.5, 6, 8, 8.5}
			for sweep := range 400_000 {
				inOrder(rng, x, rise[:8], func(i int) float64 { return y[i] / 1.01 }, 1/math.Sqrt(1.01))
				if sweep >= 1000 {
					add(x)
				}
			}
		}},
		"curve": {2, func(m *graph.Model, x []graph.Expr) (all []graph.Guard) {
			return []graph.Guard{graph.Greater(graph.Add(x[0], x[1]), 1), graph.Greater(x[0], graph.Square(x[1]))}
		}, graph.Normal(0, 1), math.NaN(), func(rng *rand.Rand, add func(x []float64)) {
			for range 3_000_000 {
				if a, b := rng.NormFloat64(), rng.NormFloat64(); a+b > 1 && a > b*b {
					add([]float64{a, b})
				}
			}
		}},
	} {
		want := make([]mc.Moments, c.n)
		c.draws(parallel.NewRand(1), func(x []float64) {
			for i, v := range x {
				want[i].Add(v)
			}
		})
		m := graph.NewModel()
		x := m.SampleN("x", c.n, c.prior)
		all := c.build(m, x)
		for _, g := range all {
			m.Require(g)
		}
		d := mustCompile(t, m)
		for seed := range uint64(3) {
			fit, err := Fit(context.Background(), d, Settings{Seed: 1 + seed})
			require.NoError(t, err, name)
			require.Equal(t, TrustFit, fit.findings.Verdict.Trust, name)
			worst, wide := 0.0, 0.0
			for i := range x {
				latent, truth := fmt.Sprintf("x[%d]", i), math.Sqrt(want[i].Variance())
				mean, err := fit.Mean(latent)
				require.NoError(t, err, name)
				sd, err := fit.SD(latent)
				require.NoError(t, err, name)
				worst, wide = max(worst, math.Abs(mean.Value-want[i].Mean)/truth), max(wide, math.Abs(sd.Value/truth-1))
			}
			log, err := fit.LogEvidence()
			require.NoError(t, err, name)
			t.Logf("%s, seed %d: means off by %.3f sd at most, sds by %.1f %%, log evidence %v", name, 1+seed, worst, 100*wide, log)
			require.Less(t, worst, 0.05, name)
			require.Less(t, wide, 0.05, name)
			if !math.IsNaN(c.evidence) {
				require.InDelta(t, c.evidence, log.Value, 0.05, name)
			}
			probs, err := fit.Probs(all)
			require.NoError(t, err, name)
			for _, p := range probs {
				require.Equal(t, Estimate{Value: 1}, p, name)
			}
		}
	}
}
