package gradient_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// What guards of several kinds cost: an estimate from 16 samples, with ten guards on two
// latents each.
func BenchmarkCurves(b *testing.B) {
	for _, c := range []struct {
		name string
		sum  func(x, y graph.Expr) graph.Expr
	}{
		{"none", nil},
		{"affine", func(x, y graph.Expr) graph.Expr { return graph.Add(x, y) }},
		{"product", func(x, y graph.Expr) graph.Expr { return graph.Mul(x, y) }},
		{"exponential", func(x, y graph.Expr) graph.Expr { return graph.Add(graph.Exp(x), y) }},
		{"monotone", func(x, y graph.Expr) graph.Expr { return graph.Sum(x, graph.Exp(x), y) }},
	} {
		m := graph.NewModel()
		for k := range 10 {
			x, y := m.Sample(fmt.Sprint("x", k), graph.Normal(0, 1)), m.Sample(fmt.Sprint("y", k), graph.Normal(0, 1))
			mean := y
			if c.sum != nil {
				mean = graph.If(graph.Greater(c.sum(x, y), 1), y, x)
			}
			m.Observe(fmt.Sprint("data", k), graph.Normal(mean, 1), 0.5)
		}
		d := vitest.Compile(b, m)
		for _, f := range []family.Family{family.MeanField{}, family.FullRank{}} {
			b.Run(c.name+"/"+f.Name(), func(b *testing.B) {
				q, err := f.New(d)
				require.NoError(b, err)
				r, err := gradient.NewRunner(d, q, gradient.Boundary{}, 16, 1)
				require.NoError(b, err)
				for b.Loop() {
					if _, err := r.Estimate(q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
