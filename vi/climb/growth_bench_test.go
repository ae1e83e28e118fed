package climb

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// growthSteps are numbers of steps, the last of them with -tags long.
var growthSteps = []int{20, 200, 2000, 20000}

// growthModels holds what BenchmarkCompile or BenchmarkGrowth has compiled, by number of steps.
var growthModels = map[int]*graph.Density{}

func growthModel(b *testing.B, obs []float64) *graph.Density {
	steps := len(obs) - 1
	if growthModels[steps] == nil {
		growthModels[steps] = compileJumps(b, models.Temperature(obs))
	}
	return growthModels[steps]
}

// compileJumps compiles the density and the jumps of independent normals.
func compileJumps(b *testing.B, m *graph.Model) *graph.Density {
	d, err := m.Compile()
	require.NoError(b, err)
	_, err = gradient.BindParts(d, Prior(d), 1, gradient.Boundary{})
	require.NoError(b, err)
	return d
}

// BenchmarkCompile is the way from temperature's program to a density and its
// jumps.
func BenchmarkCompile(b *testing.B) {
	for _, steps := range growthSteps[:long.Or(3, 4)] {
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			obs := models.SimulateTemperature(steps, 1)
			for b.Loop() {
				growthModels[steps] = compileJumps(b, models.Temperature(obs))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*steps), "ns/timestep")
		})
	}
}

// BenchmarkGrowth is an iteration of temperature with more and more steps, one
// sample, and its time for each of them.
func BenchmarkGrowth(b *testing.B) {
	for _, steps := range growthSteps[:long.Or(3, 4)] {
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			obs := models.SimulateTemperature(steps, 1)
			d := growthModel(b, obs)
			benchmarkIteration(b, d, family.Softplus{}.At(models.TemperatureThetaInit(obs)), "boundary", 1)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*steps), "ns/timestep")
		})
	}
}

// BenchmarkGrowthStructured is BenchmarkGrowth for the family whose cost is linear
// in a chain.
func BenchmarkGrowthStructured(b *testing.B) {
	for _, steps := range growthSteps[:long.Or(3, 4)] {
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			d := growthModel(b, models.SimulateTemperature(steps, 1))
			benchmarkIteration(b, d, priorIn(b, family.Structured{}, d), "boundary", 1)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*steps), "ns/timestep")
		})
	}
}

// regressionModels are compiled when they are first asked for, as loops and as plates.
var regressionModels [2]struct {
	d    *graph.Density
	time time.Duration
}

// BenchmarkRegression is an iteration, one sample, of a regression with 100 000
// observations, 10 latents and one threshold, below which the last of them has
// no effect, written as a loop and as a plate. Building and compiling it is timed once,
// as ms/compile.
func BenchmarkRegression(b *testing.B) {
	for k, name := range []string{"loop", "plate"} {
		b.Run(name, func(b *testing.B) {
			r := &regressionModels[k]
			if r.d == nil {
				start := time.Now()
				r.d = compileJumps(b, regression(long.Brief(10_000, 100_000), k == 1))
				r.time = time.Since(start)
			}
			benchmarkIteration(b, r.d, Prior(r.d), "boundary", 1)
			b.ReportMetric(float64(r.time.Milliseconds()), "ms/compile")
		})
	}
}

func regression(observations int, plate bool) *graph.Model {
	const latents = 10
	rng := rand.New(rand.NewPCG(1, 1))
	m := graph.NewModel()
	var beta [latents]graph.Expr
	for j := range beta {
		beta[j] = m.Sample(fmt.Sprintf("beta%d", j), graph.Normal(0, 1))
	}
	last := latents - 1
	beta[last] = graph.If(graph.Greater(beta[last], 0.5), beta[last], 0)
	var xs [latents][]float64
	var ys []float64
	for range observations {
		for j := range beta {
			xs[j] = append(xs[j], rng.NormFloat64())
		}
		ys = append(ys, rng.NormFloat64())
	}
	mean := func(x func(j int) graph.Expr) (mean graph.Expr) {
		for j := range beta {
			mean = graph.Add(mean, graph.Mul(x(j), beta[j]))
		}
		return mean
	}
	if plate {
		m.Plate(observations, func(p *graph.Plate) {
			p.Observe("y", graph.Normal(mean(func(j int) graph.Expr { return p.Data(xs[j]) }), 1), ys)
		})
		return m
	}
	for i, y := range ys {
		m.Observe("y", graph.Normal(mean(func(j int) graph.Expr { return graph.Add(xs[j][i], 0) }), 1), y)
	}
	return m
}
