package graph_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// BenchmarkPlate builds and compiles a regression of n rows, without guards and with
// one in each row, as a plate and as the loop that it stands for.
func BenchmarkPlate(b *testing.B) {
	n := long.Brief(10_000, 100_000)
	for _, guards := range []bool{false, true} {
		for _, plate := range []bool{true, false} {
			b.Run(fmt.Sprintf("guards=%v/plate=%v", guards, plate), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					m := graph.NewModel()
					rowRegression(m, n, guards, plate)
					if _, err := m.Compile(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
			})
		}
	}
}

// rowRegression is a line with noise, and with a threshold if guards is set, beyond
// which it bends.
func rowRegression(m *graph.Model, n int, guards, plate bool) {
	rng := rand.New(rand.NewPCG(1, 2))
	level := m.Sample("level", graph.Normal(0, 5))
	slope := m.Sample("slope", graph.Normal(0, 5))
	noise := m.Sample("noise", graph.HalfNormal(1))
	bend := m.Sample("bend", graph.Normal(0, 1))
	xs, ys := make([]float64, n), make([]float64, n)
	for i := range n {
		xs[i] = rng.NormFloat64()
		ys[i] = 1 + 2*xs[i] + rng.NormFloat64()
	}
	row := func(x graph.Expr) graph.Dist {
		mean := graph.Add(level, graph.Mul(slope, x))
		if guards {
			mean = graph.If(graph.Greater(bend, x), mean, level)
		}
		return graph.Normal(mean, noise)
	}
	if plate {
		m.Plate(n, func(p *graph.Plate) { p.Observe("y", row(p.Data(xs)), ys) })
		return
	}
	for i, x := range xs {
		m.Observe("y", row(graph.Add(x, 0)), ys[i])
	}
}

// BenchmarkPlateShapes builds and compiles plates of usual shapes: a regression and one with
// effects of 1000 groups, of a million rows, and a guard in each of 100 000 rows, on a latent
// of all rows and on one of the row.
func BenchmarkPlateShapes(b *testing.B) {
	for _, shape := range []struct {
		name string
		rows int
		body func(m *graph.Model, n int)
	}{
		{"regression", 1_000_000, func(m *graph.Model, n int) { rowRegression(m, n, false, true) }},
		{"groups", 1_000_000, rowGroups},
		{"guards", 100_000, func(m *graph.Model, n int) { rowRegression(m, n, true, true) }},
		{"latents", 100_000, rowLatents},
	} {
		shape.rows /= long.Brief(10, 1)
		b.Run(fmt.Sprintf("%s/rows=%d", shape.name, shape.rows), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m := graph.NewModel()
				shape.body(m, shape.rows)
				if _, err := m.Compile(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*shape.rows), "ns/row")
		})
	}
}

// rowGroups is a line with noise and effects of 1000 groups.
func rowGroups(m *graph.Model, n int) {
	const groups = 1000
	rng := rand.New(rand.NewPCG(1, 2))
	level := m.Sample("level", graph.Normal(0, 5))
	slope := m.Sample("slope", graph.Normal(0, 5))
	noise := m.Sample("noise", graph.HalfNormal(1))
	spread := m.Sample("spread", graph.HalfNormal(1))
	var effects []graph.Expr
	m.Plate(groups, func(p *graph.Plate) { p.Collect(&effects, p.Sample("effect", graph.Normal(0, spread))) })
	xs, ys, group := make([]float64, n), make([]float64, n), make([]int, n)
	for i := range n {
		xs[i], group[i] = rng.NormFloat64(), rng.IntN(groups)
		ys[i] = 1 + 2*xs[i] + rng.NormFloat64()
	}
	m.Plate(n, func(p *graph.Plate) {
		mean := graph.Add(graph.Add(level, p.Index(effects, group)), graph.Mul(slope, p.Data(xs)))
		p.Observe("y", graph.Normal(mean, noise), ys)
	})
}

// rowLatents is a line with noise, and with a latent in each row that moves it where it is
// positive.
func rowLatents(m *graph.Model, n int) {
	rng := rand.New(rand.NewPCG(1, 2))
	level := m.Sample("level", graph.Normal(0, 5))
	slope := m.Sample("slope", graph.Normal(0, 5))
	noise := m.Sample("noise", graph.HalfNormal(1))
	xs, ys := make([]float64, n), make([]float64, n)
	for i := range n {
		xs[i] = rng.NormFloat64()
		ys[i] = 1 + 2*xs[i] + rng.NormFloat64()
	}
	m.Plate(n, func(p *graph.Plate) {
		z := p.Sample("z", graph.Normal(0, 1))
		mean := graph.Add(level, graph.Mul(slope, p.Data(xs)))
		mean = graph.If(graph.Greater(z, 0), graph.Add(mean, z), mean)
		p.Observe("y", graph.Normal(mean, noise), ys)
	})
}
