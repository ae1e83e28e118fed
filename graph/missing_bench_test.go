package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/facetvi/facet/graph"
)

// BenchmarkMissing is of a series of 1000 values, of which a tenth are missing: to take data in which others are missing than
// before (compile), to take data in which the same are (same), and to draw replicates and what is missing (draw).
func BenchmarkMissing(b *testing.B) {
	const n = 1000
	m := graph.NewModel()
	when, low, high := m.Sample("when", graph.Uniform(0, n)), m.Sample("low", graph.Normal(0, 1)), m.Sample("high", graph.Normal(0, 1))
	rng := rand.New(rand.NewPCG(1, 0))
	data := make([][]float64, 2)
	for k := range data {
		for range n {
			y := rng.NormFloat64()
			if rng.IntN(10) == 0 {
				y = math.NaN()
			}
			data[k] = append(data[k], y)
		}
	}
	for i, y := range data[0] {
		m.Observe("y", graph.Normal(graph.If(graph.Less(when, float64(i)), high, low), 1), y)
	}
	d := mustCompile(b, m)
	for k, what := range []string{"same", "compile"} {
		b.Run(what, func(b *testing.B) {
			for b.Loop() {
				if _, err := d.WithObservations(data[k]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("draw", func(b *testing.B) {
		y, z := make([]float64, n), []float64{0.1, 0.2, 0.3}
		for b.Loop() {
			d.Replicate(y, z, rng)
		}
	})
}
