package vi

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
)

// thresholdTruth are the values that thresholdRegression's data are made with, by latent.
var thresholdTruth = map[string]float64{"tau": 0.3, "a": 1, "b": -2, "c": 0.5}

// thresholdRegression is y ~ Normal(a + b·x + c·[x > tau], 1), a plane for each of n observations.
func thresholdRegression(n int) *graph.Model {
	rng := rand.New(rand.NewPCG(7, 7))
	x, y := make([]float64, n), make([]float64, n)
	t := thresholdTruth
	for i := range x {
		x[i] = rng.NormFloat64()
		y[i] = t["a"] + t["b"]*x[i] + rng.NormFloat64()
		if x[i] > t["tau"] {
			y[i] += t["c"]
		}
	}
	m := graph.NewModel()
	tau := m.Sample("tau", graph.Normal(0, 1))
	a, b, c := m.Sample("a", graph.Normal(0, 10)), m.Sample("b", graph.Normal(0, 10)), m.Sample("c", graph.Normal(0, 10))
	m.Plate(n, func(p *graph.Plate) {
		xi := p.Data(x)
		step := graph.If(graph.Greater(xi, tau), c, 0)
		p.Observe("y", graph.Normal(graph.Add(graph.Add(a, graph.Mul(b, xi)), step), 1), y)
	})
	return m
}

// changeTruth are the values that changePoint's data are made with, by latent: the change in parts of the
// series.
var changeTruth = map[string]float64{"change": 0.6, "before": 3, "after": 3.25}

// changePoint is a change in the rate of n counts, one in each step of time.
func changePoint(n int) *graph.Model {
	rng := rand.New(rand.NewPCG(8, 8))
	step, count := make([]float64, n), make([]float64, n)
	for i := range step {
		step[i] = (float64(i) + 0.5) / float64(n)
		rate := changeTruth["before"]
		if step[i] > changeTruth["change"] {
			rate = changeTruth["after"]
		}
		count[i] = distuv.Poisson{Lambda: rate, Src: rng}.Rand()
	}
	m := graph.NewModel()
	change := m.Sample("change", graph.Uniform(0, 1))
	before, after := m.Sample("before", graph.Gamma(2, 0.5)), m.Sample("after", graph.Gamma(2, 0.5))
	m.Plate(n, func(p *graph.Plate) {
		p.Observe("count", graph.Poisson(graph.If(graph.Greater(p.Data(step), change), after, before)), count)
	})
	return m
}

// muchLost is what a fit of cells may leave out, in nats.
const muchLost = 0.003

// A fit of much data is one of the density that was given: importance sampling by that density, all of its terms
// one by one, finds the evidence that the fit did, and so it does after the fit was saved and read again.
func TestMuchData(t *testing.T) {
	long.Skip(t)
	for _, c := range []struct {
		name  string
		model func() *graph.Model
	}{
		{"threshold", func() *graph.Model { return thresholdRegression(2000) }},
		{"change", func() *graph.Model { return changePoint(1500) }},
		{"logistic", func() *graph.Model { return linkedModels[0].model(3000, 1, true) }},
		{"Poisson, a loop", func() *graph.Model { return linkedModels[1].model(2000, 1, false) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := c.model().Compile()
			require.NoError(t, err)
			require.GreaterOrEqual(t, d.Terms(), muchData)
			p, err := Fit(context.Background(), d, Settings{Seed: *seed})
			require.NoError(t, err)
			v, err := p.Verdict()
			require.NoError(t, err)
			assert.Equal(t, TrustFit, v.Trust, v)
			assert.Same(t, d, p.Density)
			w := otherSample(t, p, 1000, 2)
			assert.Less(t, w.LogEvidence.SE, 0.02)
			total, se := math.Inf(-1), 0.0
			for _, c := range p.Cells() {
				total = floats.LogSumExp([]float64{total, c.LogEvidence.Value})
				se = math.Hypot(se, c.Weight*c.LogEvidence.SE)
			}
			assert.InDelta(t, w.LogEvidence.Value, total, 5*math.Hypot(w.LogEvidence.SE, se)+muchLost)
			var saved bytes.Buffer
			require.NoError(t, p.Save(&saved))
			q, err := Load(&saved, d)
			require.NoError(t, err)
			again := otherSample(t, q, 200, 2)
			assert.InDelta(t, w.LogEvidence.Value, again.LogEvidence.Value, 5*math.Hypot(w.LogEvidence.SE, again.LogEvidence.SE))
		})
	}
}

// BenchmarkMuchData is the way from the program of a regression or a change point to its posterior, which is
// near the truth. Up to a million observations with -tags long.
func BenchmarkMuchData(b *testing.B) {
	for _, c := range []struct {
		name  string
		model func(n int) *graph.Model
		truth map[string]float64
	}{{"threshold", thresholdRegression, thresholdTruth}, {"change", changePoint, changeTruth}} {
		for _, n := range long.Or([]int{10_000}, []int{10_000, 100_000, 1_000_000}) {
			b.Run(fmt.Sprintf("%s/observations=%d", c.name, n), func(b *testing.B) {
				start := cputime.Seconds()
				for b.Loop() {
					d, err := c.model(n).Compile()
					require.NoError(b, err)
					b.Logf("compiled: %.2f CPU s", cputime.Seconds()-start)
					p, err := Fit(context.Background(), d, Settings{Seed: 1})
					require.NoError(b, err)
					for i, name := range d.Latents() {
						truth, err := d.Coordinate(i).Inverse(c.truth[name])
						require.NoError(b, err)
						off := (p.Q.Mean(i) - truth) / p.Q.SD(i)
						b.Logf("%s: %.6g ± %.2g, %.2f from the truth", name, p.Q.Mean(i), p.Q.SD(i), off)
						assert.Less(b, math.Abs(off), 3.5, name)
					}
					v, err := p.Verdict()
					require.NoError(b, err)
					assert.NotEqual(b, TrustNothing, v.Trust)
					b.Logf("%v", v)
				}
				b.ReportMetric((cputime.Seconds()-start)/float64(b.N), "CPU-s/op")
			})
		}
	}
}

// A linked is a regression with a threshold whose likelihood has no sums: y_i depends on
// a + b·x_i + c·[z_i > tau], and on further covariates.
type linked struct {
	name  string
	truth map[string]float64
	draw  func(eta float64, rng *rand.Rand) float64
	dist  func(eta graph.Expr) graph.Dist
}

var linkedModels = []linked{
	{
		"logistic", map[string]float64{"tau": 0.3, "a": -0.5, "b0": 1, "c": 1},
		func(eta float64, rng *rand.Rand) float64 {
			if rng.Float64() < 1/(1+math.Exp(-eta)) {
				return 1
			}
			return 0
		},
		func(eta graph.Expr) graph.Dist { return graph.Bernoulli(graph.Sigmoid(eta)) },
	},
	{
		"Poisson", map[string]float64{"tau": 0.3, "a": 0.5, "b0": 0.4, "c": 0.5},
		func(eta float64, rng *rand.Rand) float64 {
			return distuv.Poisson{Lambda: math.Exp(eta), Src: rng}.Rand()
		},
		func(eta graph.Expr) graph.Dist { return graph.Poisson(graph.Exp(eta)) },
	},
	{
		"Student", map[string]float64{"tau": 0.3, "a": 1, "b0": -2, "c": 0.7},
		func(eta float64, rng *rand.Rand) float64 {
			return distuv.StudentsT{Mu: eta, Sigma: 1, Nu: 4, Src: rng}.Rand()
		},
		func(eta graph.Expr) graph.Dist { return graph.StudentsT(eta, 1, 4) },
	},
	{
		"logistic5", map[string]float64{"tau": 0.3, "a": -0.5, "b0": 1, "b1": -0.5, "b2": 0.3, "b3": 0, "b4": 0.7, "c": 1},
		func(eta float64, rng *rand.Rand) float64 {
			if rng.Float64() < 1/(1+math.Exp(-eta)) {
				return 1
			}
			return 0
		},
		func(eta graph.Expr) graph.Dist { return graph.Bernoulli(graph.Sigmoid(eta)) },
	},
}

// model has n observations, in a plate or in a loop.
func (l linked) model(n int, seed uint64, plate bool) *graph.Model {
	rng := rand.New(rand.NewPCG(seed, 9))
	covariates := len(l.truth) - 3
	z, y, x := make([]float64, n), make([]float64, n), make([][]float64, covariates)
	for k := range x {
		x[k] = make([]float64, n)
	}
	for i := range n {
		z[i] = rng.NormFloat64()
		eta := l.truth["a"]
		for k := range x {
			x[k][i] = rng.NormFloat64()
			eta += l.truth[fmt.Sprintf("b%d", k)] * x[k][i]
		}
		if z[i] > l.truth["tau"] {
			eta += l.truth["c"]
		}
		y[i] = l.draw(eta, rng)
	}
	m := graph.NewModel()
	tau := m.Sample("tau", graph.Normal(0, 1))
	a := m.Sample("a", graph.Normal(0, 3))
	b := make([]graph.Expr, covariates)
	for k := range b {
		b[k] = m.Sample(fmt.Sprintf("b%d", k), graph.Normal(0, 3))
	}
	c := m.Sample("c", graph.Normal(0, 3))
	if !plate {
		for i := range n {
			eta := a
			for k := range b {
				eta = graph.Add(eta, graph.Mul(b[k], x[k][i]))
			}
			m.Observe("y", l.dist(graph.Add(eta, graph.If(graph.Greater(z[i], tau), c, 0))), y[i])
		}
		return m
	}
	m.Plate(n, func(p *graph.Plate) {
		eta := a
		for k := range b {
			eta = graph.Add(eta, graph.Mul(b[k], p.Data(x[k])))
		}
		p.Observe("y", l.dist(graph.Add(eta, graph.If(graph.Greater(p.Data(z), tau), c, 0))), y)
	})
	return m
}

// BenchmarkMuchLinkedData is BenchmarkMuchData of regressions without sums. More than a thousand observations with -tags long.
func BenchmarkMuchLinkedData(b *testing.B) {
	for _, l := range linkedModels {
		for _, plate := range []bool{true, false} {
			for _, family := range []family.Family{nil, family.MeanField{}} {
				for _, n := range long.Brief([]int{100}, []int{1000, 10_000}) {
					road, written := "cells", "plate"
					if family != nil {
						road = "meanfield"
					}
					if !plate {
						written = "loop"
					}
					if n > 1000 && (family == nil || !long.On()) || family != nil && (!plate || l.name != "Poisson") {
						continue // minutes, or what another one says
					}
					b.Run(fmt.Sprintf("%s/%s/%s/observations=%d", l.name, written, road, n), func(b *testing.B) {
						start, seed := cputime.Seconds(), uint64(0)
						for b.Loop() {
							seed++
							began := cputime.Seconds()
							d, err := l.model(n, seed, plate).Compile()
							require.NoError(b, err)
							b.Logf("compiled: %.2f CPU s", cputime.Seconds()-began)
							settings := Settings{Seed: seed}
							if family != nil {
								settings.Method = Climb{Family: family}
							}
							p, err := Fit(context.Background(), d, settings)
							require.NoError(b, err)
							b.Logf("fitted: %.2f CPU s", cputime.Seconds()-began)
							for i, name := range d.Latents() {
								off := (p.Q.Mean(i) - l.truth[name]) / p.Q.SD(i)
								b.Logf("%s: %.6g ± %.2g, %.2f from the truth", name, p.Q.Mean(i), p.Q.SD(i), off)
								if family == nil {
									assert.Less(b, math.Abs(off), 5.0, name)
								}
							}
							v, err := p.Verdict()
							require.NoError(b, err)
							b.Logf("%v", v)
							b.Logf("judged: %.2f CPU s", cputime.Seconds()-began)
						}
						b.ReportMetric((cputime.Seconds()-start)/float64(b.N), "CPU-s/op")
					})
				}
			}
		}
	}
}
