package gradient_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// The gradient of E[f(b)] by the logits of independent bits, beside the score function with a
// leave-one-out baseline (Kool, van Hoof and Welling, 2019) and DisARM (Dong, Mnih and Tucker,
// NeurIPS 2020): the variance of one estimate, summed over the logits, and its time. Each estimate
// of these two has two evaluations of f; one of the boundary term has a sample and a jump for
// each bit. toy is DisARM's own problem, f = (b − 0.499)² at P(b) = 0.5.
//
//	go test -run '^$' -bench Discrete ./vi/gradient
func BenchmarkDiscrete(b *testing.B) {
	toy := func(state int) float64 { return (float64(state) - 0.499) * (float64(state) - 0.499) }
	m := graph.NewModel()
	bit := m.Sample("b", graph.Bernoulli(0.5))
	m.Factor(graph.Square(graph.Sub(bit, 0.499)))
	d, err := m.Compile()
	require.NoError(b, err)
	q, err := family.MeanField{}.New(d)
	require.NoError(b, err)
	c := newCube(b, 10)
	for _, p := range []struct {
		name string
		d    *graph.Density
		q    family.Q
		f    func(state int) float64
	}{{"toy", d, q, toy}, {"cube", c.d, c.q, c.f}} {
		n := p.d.Dim()
		logit := make([]float64, n)
		for i := range logit {
			logit[i] = p.q.Theta()[2*i+1] - p.q.Theta()[2*i]
		}
		parts, err := gradient.BindParts(p.d, p.q, 1, gradient.Boundary{})
		require.NoError(b, err)
		sums, theta := make([]float64, parts.Sampler().Sums()), make([]float64, 2*n)
		sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
		for name, estimate := range map[string]func(g []float64, rng *rand.Rand){
			"boundary": func(g []float64, rng *rand.Rand) {
				clear(sums)
				require.NoError(b, parts.Run(rng))
				parts.AddBoundary(sums)
				parts.FinishPart(theta, sums, 1)
				for i := range g {
					g[i] = theta[2*i+1]
				}
			},
			"leave one out": func(g []float64, rng *rand.Rand) {
				first, second := 0, 0
				for i, l := range logit {
					if rng.Float64() < sigmoid(l) {
						first |= 1 << i
					}
					if rng.Float64() < sigmoid(l) {
						second |= 1 << i
					}
				}
				by := (p.f(first) - p.f(second)) / 2
				for i := range g {
					g[i] = by * float64(first>>i&1-second>>i&1)
				}
			},
			"DisARM": func(g []float64, rng *rand.Rand) {
				first, second := 0, 0
				for i, l := range logit {
					u := rng.Float64()
					if 1-u < sigmoid(l) {
						first |= 1 << i
					}
					if u < sigmoid(l) {
						second |= 1 << i
					}
				}
				by := (p.f(first) - p.f(second)) / 2
				for i, l := range logit {
					g[i] = by * float64(first>>i&1-second>>i&1) * sigmoid(math.Abs(l))
				}
			},
		} {
			b.Run(fmt.Sprintf("%s/%s", p.name, name), func(b *testing.B) {
				rng, g := rand.New(rand.NewPCG(1, 1)), make([]float64, n)
				seen := make([][]float64, n)
				for range 20000 {
					estimate(g, rng)
					for i, x := range g {
						seen[i] = append(seen[i], x)
					}
				}
				variance, mean := 0.0, 0.0
				for _, all := range seen {
					m, v := stat.MeanVariance(all, nil)
					variance += v
					mean += m
				}
				b.ResetTimer()
				for range b.N {
					estimate(g, rng)
				}
				b.ReportMetric(variance, "variance")
				b.ReportMetric(mean, "sum")
			})
		}
	}
}
