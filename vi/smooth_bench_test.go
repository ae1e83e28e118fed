package vi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
)

// BenchmarkWithoutGuards is a default fit of models without guards beside fits of the
// mean-field family: CPU seconds of each, and how many of the mean-field fits a default one
// costs. These are fits of 10000 steps, and those that stop by themselves.
func BenchmarkWithoutGuards(b *testing.B) {
	fits := []struct {
		name string
		s    Settings
	}{
		{"default", Settings{}},
		{"mean-field", Settings{Method: Climb{Family: family.MeanField{}, Steps: 10000}}},
		{"stopping", Settings{Method: Climb{Family: family.MeanField{}}}},
	}
	models := modelsWithoutGuards()
	for _, c := range models[:long.Brief(1, len(models))] {
		b.Run(fmt.Sprintf("%s/latents=%d", c.name, c.d.Dim()), func(b *testing.B) {
			seconds := make([]float64, len(fits))
			for i := 0; b.Loop(); i++ {
				for k, f := range fits {
					f.s.Seed = uint64(i + 1)
					start := cputime.Seconds()
					_, err := Fit(context.Background(), c.d, f.s)
					require.NoError(b, err)
					seconds[k] += cputime.Seconds() - start
				}
			}
			for k, f := range fits {
				b.ReportMetric(seconds[k]/float64(b.N), "CPU-s/"+f.name)
				if k > 0 {
					b.ReportMetric(seconds[0]/seconds[k], f.name+"-fits")
				}
			}
		})
	}
}

type namedDensity struct {
	name string
	d    *graph.Density
}

// modelsWithoutGuards are regressions, hierarchies and a chain.
func modelsWithoutGuards() (list []namedDensity) {
	add := func(name string, m *graph.Model) {
		d, err := m.Compile()
		if err != nil {
			panic(err)
		}
		list = append(list, namedDensity{name, d})
	}
	for _, n := range []int{5, 20, 50} {
		add("regression", linearRegression(n, 0))
		add("regression-correlated", linearRegression(n, 0.9))
	}
	add("eight-schools", eightSchools())
	add("hierarchy", groups(30))
	add("chain", localLevel(100))
	return list
}

// linearRegression has n coefficients, four observations for each, and features with
// the given correlation.
func linearRegression(n int, correlation float64) *graph.Model {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	m := graph.NewModel()
	beta := make([]graph.Expr, n)
	for j := range beta {
		beta[j] = m.Sample(fmt.Sprintf("beta%d", j), graph.Normal(0, 1))
	}
	noise := m.Sample("noise", graph.HalfNormal(1))
	for range 4 * n {
		var mean graph.Expr
		y, common := 0.5*rng.NormFloat64(), rng.NormFloat64()
		for j := range beta {
			x := math.Sqrt(correlation)*common + math.Sqrt(1-correlation)*rng.NormFloat64()
			y += x * float64(j%3-1)
			mean = graph.Add(mean, graph.Mul(x, beta[j]))
		}
		m.Observe("y", graph.Normal(mean, noise), y)
	}
	return m
}

// eightSchools is that of Rubin (1981), not centred.
func eightSchools() *graph.Model {
	m := graph.NewModel()
	mu, tau := m.Sample("mu", graph.Normal(0, 5)), m.Sample("tau", graph.HalfNormal(5))
	errors := []float64{15, 10, 16, 11, 9, 11, 10, 18}
	for j, y := range []float64{28, 8, -3, 7, -1, 1, 18, 12} {
		z := m.Sample(fmt.Sprintf("z%d", j), graph.Normal(0, 1))
		m.Observe("effect", graph.Normal(graph.Add(mu, graph.Mul(tau, z)), errors[j]), y)
	}
	return m
}

// groups is a hierarchy of n levels with five observations each.
func groups(n int) *graph.Model {
	rng := rand.New(rand.NewPCG(2, 0))
	m := graph.NewModel()
	mu, tau, noise := m.Sample("mu", graph.Normal(0, 5)), m.Sample("tau", graph.HalfNormal(2)), m.Sample("noise", graph.HalfNormal(2))
	for g := range n {
		level, at := m.Sample(fmt.Sprintf("level%d", g), graph.Normal(mu, tau)), 1+rng.NormFloat64()
		for range 5 {
			m.Observe("y", graph.Normal(level, noise), at+rng.NormFloat64())
		}
	}
	return m
}

// localLevel is a level that walks at random, seen n times.
func localLevel(n int) *graph.Model {
	rng := rand.New(rand.NewPCG(3, 0))
	m := graph.NewModel()
	var level graph.Expr
	at := 0.0
	for t := range n {
		if t == 0 {
			level = m.Sample("level0", graph.Normal(0, 5))
		} else {
			level = m.Sample(fmt.Sprintf("level%d", t), graph.Normal(level, 0.3))
		}
		at += 0.3 * rng.NormFloat64()
		m.Observe("y", graph.Normal(level, 1), at+rng.NormFloat64())
	}
	return m
}
