//go:build long

package vi_test

import (
	"context"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// Forecasts of series whose last twelve values are missing, beside exact ones: means and 90 % bands by Predict are within 1 % of
// the width of the band.
const horizon = 12

// A forecast is the exact law of one value to come: a mixture of normals.
type forecast struct{ weight, mean, sd []float64 }

func (f *forecast) add(weight, mean, sd float64) {
	f.weight, f.mean, f.sd = append(f.weight, weight), append(f.mean, mean), append(f.sd, sd)
}

func (f *forecast) average(of func(k int) float64) float64 {
	sum, total := 0.0, 0.0
	for k, w := range f.weight {
		sum, total = sum+w*of(k), total+w
	}
	return sum / total
}

func (f *forecast) Mean() float64 { return f.average(func(k int) float64 { return f.mean[k] }) }

func (f *forecast) Quantile(prob float64) float64 {
	const tenth = 1e-5
	low := -1e3
	return low + tenth*float64(sort.Search(int(2e3/tenth), func(i int) bool {
		x := low + tenth*float64(i)
		return f.average(func(k int) float64 { return distuv.Normal{Mu: f.mean[k], Sigma: f.sd[k]}.CDF(x) }) >= prob
	}))
}

// compareForecasts compares the forecasts of the last values of y with exact ones.
func compareForecasts(t *testing.T, m *graph.Model, exact []forecast) {
	t.Helper()
	fit, err := vi.Fit(context.Background(), vitest.Compile(t, m), vi.Settings{Seed: 1})
	require.NoError(t, err)
	verdict, err := fit.Verdict()
	require.NoError(t, err)
	require.Equal(t, vi.TrustFit, verdict.Trust, verdict)
	const draws = 60000
	r, err := fit.Predict(draws, 1)
	require.NoError(t, err)
	mean, err := r.Mean("y")
	require.NoError(t, err)
	low, err := r.Quantile("y", 0.05)
	require.NoError(t, err)
	high, err := r.Quantile("y", 0.95)
	require.NoError(t, err)
	worst := 0.0
	for h, f := range exact {
		k := len(mean) - horizon + h
		from, to := f.Quantile(0.05), f.Quantile(0.95)
		for what, x := range map[string][2]float64{"mean": {mean[k], f.Mean()}, "5 %": {low[k], from}, "95 %": {high[k], to}} {
			off := math.Abs(x[0]-x[1]) / (to - from)
			worst = max(worst, off)
			require.Less(t, off, 0.01, "%s of y[%d]: %v, exactly %v", what, k, x[0], x[1])
		}
	}
	t.Logf("off by at most %.2f %% of the width of the band; of the last one the mean is %.3f, and the band [%.3f, %.3f]",
		100*worst, exact[horizon-1].Mean(), exact[horizon-1].Quantile(0.05), exact[horizon-1].Quantile(0.95))
}

// An autoregression y_t = c + φ·y_t−1 + noise whose constant c jumps from a to b at a time that is not known, and that may be
// still to come. Given the step of the jump a and b are normal, and so is what comes: the exact law is a mixture over the steps.
func TestForecastOfAutoregressionWithJump(t *testing.T) {
	t.Parallel()
	const (
		n, phi, sd, wide = 50, 0.6, 0.8, 3.0
		last             = n + horizon
	)
	rng := rand.New(rand.NewPCG(4, 0))
	y := make([]float64, last)
	for i := 1; i < n; i++ {
		c := -0.5
		if i > 30 {
			c = 0.7
		}
		y[i] = c + phi*y[i-1] + sd*rng.NormFloat64()
	}
	for i := n; i < last; i++ {
		y[i] = math.NaN()
	}
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(0, last))
	a, b := m.Sample("a", graph.Normal(0, wide)), m.Sample("b", graph.Normal(0, wide))
	for i, x := range y {
		if i == 0 {
			m.Observe("y", graph.Normal(0, 1), x)
			continue
		}
		c := graph.If(graph.Less(when, float64(i)), b, a)
		m.Observe("y", graph.Normal(graph.Add(c, graph.Mul(phi, m.Observed("y", i-1))), sd), x)
	}

	exact := make([]forecast, horizon)
	for jump := 1; jump <= last; jump++ { // the first step with b
		// Each of a and b is normal given the steps where it counts, independent of the other one.
		var mean, variance [2]float64
		logWeight := 0.0
		for side := range 2 {
			precision, sum, squares, count := 1/(wide*wide), 0.0, 0.0, 0.0
			for i := 1; i < n; i++ {
				if (i >= jump) == (side == 1) {
					x := y[i] - phi*y[i-1]
					precision, sum, squares, count = precision+1/(sd*sd), sum+x/(sd*sd), squares+x*x/(sd*sd), count+1
				}
			}
			mean[side], variance[side] = sum/precision, 1/precision
			logWeight += -0.5*squares + 0.5*sum*sum/precision - 0.5*math.Log(precision*wide*wide)
		}
		by := [2]float64{} // what a and b count for in the value
		base, noise := y[n-1], 0.0
		for h := range exact {
			base, noise = phi*base, phi*phi*noise+sd*sd
			by[0], by[1] = phi*by[0], phi*by[1]
			if n+h >= jump {
				by[1]++
			} else {
				by[0]++
			}
			exact[h].add(math.Exp(logWeight), base+by[0]*mean[0]+by[1]*mean[1],
				math.Sqrt(noise+by[0]*by[0]*variance[0]+by[1]*by[1]*variance[1]))
		}
	}
	compareForecasts(t, m, exact)
}

// Hamilton's model: an autoregression around the level of a regime that switches, and may switch again. Given the parameters the
// law of what comes is a mixture over the regimes now, by his filter, and then. These are averaged over the posterior of the
// parameters, on a grid.
func TestForecastOfRegimes(t *testing.T) {
	t.Parallel()
	const n, phi, sd = 60, 0.4, 0.7
	rng := rand.New(rand.NewPCG(2, 0))
	y, level, e := make([]float64, n+horizon), []float64{-1, 1.5}, 0.0
	for i, s := 0, 0; i < n; i++ {
		if rng.Float64() < 0.08 {
			s = 1 - s
		}
		e = phi*e + sd*rng.NormFloat64()
		y[i] = level[s] + e
	}
	for i := n; i < len(y); i++ {
		y[i] = math.NaN()
	}
	const first = sd / 0.9165151389911680 // √(1 − φ²)
	m := graph.NewModel()
	stay := m.Sample("stay", graph.Beta(9, 1))
	low, high := m.Sample("low", graph.Normal(-1, 0.5)), m.Sample("high", graph.Normal(1, 0.5))
	mu := []graph.Expr{low, high}
	m.ObserveHMM("y", graph.HMM{
		Initial:    graph.Numbers(0.5, 0.5),
		Transition: [][]graph.Expr{{stay, graph.Sub(1, stay)}, {graph.Sub(1, stay), stay}},
		Lags:       1,
		Emission: func(t int, s []int) graph.Dist {
			if t == 0 {
				return graph.Normal(mu[s[0]], first)
			}
			return graph.Normal(graph.Add(mu[s[0]], graph.Mul(phi, graph.Sub(m.Observed("y", t-1), mu[s[1]]))), sd)
		},
	}, y)

	exact := make([]forecast, horizon)
	const grid, levels = 24, 16 // a level's standard deviation is a step
	density := func(x, mean, sd float64) float64 {
		return math.Exp(-0.5*(x-mean)*(x-mean)/(sd*sd)) / sd
	}
	for i := range grid {
		p := (float64(i) + 0.5) / grid
		for j := range levels {
			for k := range levels {
				mu := [2]float64{-2.5 + 3*(float64(j)+0.5)/levels, -0.5 + 3.5*(float64(k)+0.5)/levels}
				now := [2]float64{0.5 * density(y[0], mu[0], first), 0.5 * density(y[0], mu[1], first)}
				move := func(now [2]float64) [2]float64 {
					return [2]float64{p*now[0] + (1-p)*now[1], (1-p)*now[0] + p*now[1]}
				}
				for t := 1; t < n; t++ {
					var next [2]float64
					for from, q := range now {
						for to := range next {
							stays := p
							if to != from {
								stays = 1 - p
							}
							next[to] += q * stays * density(y[t], mu[to]+phi*(y[t-1]-mu[from]), sd)
						}
					}
					now = next
				}
				prior := math.Pow(p, 8) * density(mu[0], -1, 0.5) * density(mu[1], 1, 0.5)
				for s, q := range now {
					var then [2]float64
					then[s] = 1
					noise, e := 0.0, y[n-1]-mu[s]
					for h := range exact {
						then, noise, e = move(then), phi*phi*noise+sd*sd, phi*e
						for to, r := range then {
							exact[h].add(prior*q*r, mu[to]+e, math.Sqrt(noise))
						}
					}
				}
			}
		}
	}
	compareForecasts(t, m, exact)
}
