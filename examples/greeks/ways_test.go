// Other ways to the delta of the barrier option:
//
//	likelihood ratio    payoff·ε_1·√n/σ                            no bias, and a variance that grows with n
//	differences         (payoff at log S_0 + h − at −h)/2h, ε the same for both
//	smoothed ifs        ifs by 1/(1 + exp(−Φ/h)), differentiated
//
// The last two have a bias, which is exact by quadrature, and a step h. All are as fast as a loop by hand is.

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
)

// A way estimates the barrier's delta: by its own name, from one draw at a time.
type way struct {
	name string
	bias func(n int, h float64) float64 // at step h; nil if there is none
	draw func(noise []float64, h float64) float64
}

// pays is the barrier's payoff from log S_0 = x.
func pays(x float64, noise []float64) float64 {
	n := len(noise)
	dt := 1 / float64(n)
	drift, sd := -0.5*sigma*sigma*dt, sigma*math.Sqrt(dt)
	for _, e := range noise[:n-1] {
		if x += drift + sd*e; x < knock {
			return 0
		}
	}
	return step(x + drift + sd*noise[n-1])
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// smooth is the derivative of the payoff with smoothed ifs.
func smooth(noise []float64, h float64) float64 {
	n := len(noise)
	dt := 1 / float64(n)
	drift, sd := -0.5*sigma*sigma*dt, sigma*math.Sqrt(dt)
	x, value, slope := 0.0, 1.0, 0.0
	for k, e := range noise {
		x += drift + sd*e
		p := sigmoid((x - knock) / h)
		if k == n-1 {
			p = sigmoid(x / h)
		}
		value *= p
		slope += (1 - p) / h
	}
	return value * slope
}

var ways = []way{
	{"likelihood ratio", nil, func(noise []float64, _ float64) float64 {
		return pays(0, noise) * noise[0] * math.Sqrt(float64(len(noise))) / sigma
	}},
	{"differences", func(n int, h float64) float64 {
		o := option{name: barrier, dates: n}.quadrature()
		up, _ := o.at(h)
		down, _ := o.at(-h)
		_, delta := o.at(0)
		return (up-down)/(2*h) - delta
	}, func(noise []float64, h float64) float64 { return (pays(h, noise) - pays(-h, noise)) / (2 * h) }},
	{"smoothed ifs", func(n int, h float64) float64 {
		var cuts []float64 // where the smoothed ifs are steep
		for _, at := range []float64{knock, 0} {
			for _, far := range []float64{-40, -16, -8, -4, -2, 0, 2, 4, 8, 16, 40} {
				cuts = append(cuts, at+h*far)
			}
		}
		slices.Sort(cuts)
		_, got := quadrature{n, knockedOut(n, func(x float64) float64 { return sigmoid(x / h) }), cuts}.at(0)
		_, delta := option{name: barrier, dates: n}.quadrature().at(0)
		return got - delta
	}, smooth},
}

// A measured way has the error of a second of one processor: √(variance·seconds a draw + bias²).
type measured struct {
	name                                string
	step, mean, variance, seconds, bias float64
}

func (m measured) error() float64 { return math.Sqrt(m.variance*m.seconds + m.bias*m.bias) }

// ours measures the surface integral, from so many draws.
func ours(ctx context.Context, e *expect.Expectation, draws int, seed uint64) (measured, error) {
	start := cputime.Seconds()
	got, err := e.Estimate(ctx, draws, seed)
	if err != nil {
		return measured{}, err
	}
	n, se := float64(got.Samples), got.Gradient[0].SE
	return measured{"surface integral", 0, got.Gradient[0].Value, se * se * n, (cputime.Seconds() - start) / n, 0}, nil
}

// measure measures a way at step h.
func (w way) measure(dates, draws int, h float64, seed uint64) measured {
	rng, noise := rand.New(rand.NewPCG(seed, 1)), make([]float64, dates)
	sum, squares := 0.0, 0.0
	start := cputime.Seconds()
	for range draws {
		for k := range noise {
			noise[k] = rng.NormFloat64()
		}
		g := w.draw(noise, h)
		sum += g
		squares += g * g
	}
	n := float64(draws)
	m := measured{w.name, h, sum / n, squares/n - sum*sum/(n*n), (cputime.Seconds() - start) / n, 0}
	if w.bias != nil {
		m.bias = w.bias(dates, h)
	}
	return m
}

// best is the way at its best step.
func (w way) best(dates, draws int, seed uint64) (best measured) {
	steps := []float64{0}
	if w.bias != nil {
		steps = []float64{0.001, 0.002, 0.003, 0.005, 0.01, 0.015, 0.02, 0.03}
	}
	for k, h := range steps {
		if m := w.measure(dates, draws, h, seed); k == 0 || m.error() < best.error() {
			best = m
		}
	}
	return best
}

// BenchmarkWays prints how well each way finds the barrier's delta, on one processor, and at the step with the least error.
func BenchmarkWays(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	draws := long.Brief(2_000, long.Or(20_000, 200_000))
	for b.Loop() {
		fmt.Printf("\n%-18s %6s %7s %15s %13s %9s %18s %14s\n",
			"", "dates", "step", "a draw's var.", "CPU µs a draw", "bias", "error of a second", "its square is")
		for _, o := range options(12, 50)[1:3] {
			e, err := o.expectation()
			require.NoError(b, err)
			m, err := ours(context.Background(), e, draws, 1)
			require.NoError(b, err)
			all := []measured{m}
			for _, w := range ways {
				all = append(all, w.best(o.dates, draws, 1))
			}
			for _, m := range all {
				fmt.Printf("%-18s %6d %7.3g %15.4g %13.3f %9.4f %18.5f %8.1f times\n",
					m.name, o.dates, m.step, m.variance, 1e6*m.seconds, m.bias, m.error(), math.Pow(m.error()/all[0].error(), 2))
			}
		}
	}
}
