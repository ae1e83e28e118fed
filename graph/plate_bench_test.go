package graph_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/facetvi/facet/graph"
)

// BenchmarkPlate builds and compiles a regression of n rows, without guards and with
// one in each row, as a plate and as the loop that it stands for.
func BenchmarkPlate(b *testing.B) {
	const n = 100_000
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
