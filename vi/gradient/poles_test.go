package gradient_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// At a pole of a quotient log r has the limits from either side, whatever the rounding of the
// denominator there says: the boundary estimator agrees with the score estimator, for
// quotients of numbers and of latents, with straight and curved denominators, in kinks and in
// branches. Reparameterization alone is rejected.
func TestPoles(t *testing.T) {
	type e = graph.Expr
	for _, c := range []struct {
		name   string
		factor func(x, y e) e
	}{
		{"a number over a latent", func(x, y e) e { return graph.Tanh(graph.Max(graph.Div(1, graph.Sub(0.3, y)), -1)) }},
		{"a latent over another", func(x, y e) e { return graph.Tanh(graph.Max(graph.Div(x, y), -1)) }},
		{"a slanted denominator", func(x, y e) e { return graph.Tanh(graph.Max(graph.Div(1, graph.Add(y, graph.Mul(0.7, x))), -1)) }},
		{"the smaller one, of a product", func(x, y e) e { return graph.Tanh(graph.Min(graph.Mul(y, graph.Div(2, graph.Sub(x, y))), 0.4)) }},
		{"a curved denominator", func(x, y e) e { return graph.Tanh(graph.Max(graph.Div(1, graph.Sub(graph.Mul(x, y), 0.2)), -0.5)) }},
		{"the quotient cut off", func(x, y e) e { return graph.Clip(graph.Div(x, y), -1, 0.5) }},
		{"a branch", func(x, y e) e {
			q := graph.Div(x, graph.Sub(y, x))
			return graph.If(graph.Greater(q, -1), graph.Tanh(q), 0.3)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := graph.NewModel()
			m.Factor(c.factor(m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))))
			d := vitest.Compile(t, m)
			for _, f := range []family.Family{family.MeanField{}, family.FullRank{}} {
				q, err := f.New(d)
				require.NoError(t, err)
				q.Place([]float64{0.2, 0.3}, []float64{0.8, 0.7})
				exact := sampled(t, d, q, gradient.Boundary{}, 1<<15)
				far := func(e gradient.Estimator) (worst float64) {
					s := sampled(t, d, q, e, 1<<17)
					for k, x := range s.Mean {
						both := s.SE[k]*s.SE[k] + exact.SE[k]*exact.SE[k]
						worst = max(worst, (x-exact.Mean[k])*(x-exact.Mean[k])/both)
					}
					return worst
				}
				score, reparam := far(gradient.Score{}), far(gradient.Reparam{})
				t.Logf("%s: score at %.1f squared standard errors, reparameterization at %.0f", f.Name(), score, reparam)
				require.Less(t, score, 25.0, f.Name())
				require.Greater(t, reparam, 25.0, "reparameterization alone must be rejected")
			}
		})
	}
}
