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

// A cube is E[f(b)] for independent bits b, with what f is: Σ a_ij·b_i·b_j + c·Π(b_i − 0.3),
// the bits of a program, and a member of the mean field for them, which has masses.
type cube struct {
	pair [][]float64
	d    *graph.Density
	q    family.Q
}

func newCube(t testing.TB, n int) *cube {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	c := &cube{}
	m := graph.NewModel()
	var bits []graph.Expr
	product := graph.Expr{}
	for i := range n {
		bits = append(bits, m.Sample(fmt.Sprintf("b[%d]", i), graph.Bernoulli(0.5)))
		row := make([]float64, i+1)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		c.pair = append(c.pair, row)
		if i == 0 {
			product = graph.Sub(bits[0], 0.3)
		} else {
			product = graph.Mul(product, graph.Sub(bits[i], 0.3))
		}
	}
	for i, row := range c.pair {
		for j, a := range row {
			m.Factor(graph.Mul(a, graph.Mul(bits[i], bits[j])))
		}
	}
	m.Factor(graph.Mul(100, product))
	var err error
	c.d, err = m.Compile()
	require.NoError(t, err)
	c.q = massesMember(t, family.MeanField{}, c.d, rng)
	return c
}

func (c *cube) f(state int) (sum float64) {
	product := 100.0
	for i, row := range c.pair {
		x := float64(state >> i & 1)
		product *= x - 0.3
		for j, a := range row {
			sum += a * x * float64(state>>j&1)
		}
	}
	return sum + product
}

// one is P(b_i = 1).
func (c *cube) one(i int) float64 { return 1 / (1 + math.Exp(c.q.Theta()[2*i]-c.q.Theta()[2*i+1])) }

// exact is ∇θ E[f] over all states, by the two logits of each bit.
func (c *cube) exact() []float64 {
	n := c.d.Dim()
	grad := make([]float64, 2*n)
	for i := range n {
		slope := 0.0 // ∂E[f]/∂P(b_i = 1)
		for state := range 1 << n {
			p := 1.0
			for j := range n {
				if one := c.one(j); j != i && state>>j&1 == 1 {
					p *= one
				} else if j != i {
					p *= 1 - one
				}
			}
			slope += p * c.f(state) * (2*float64(state>>i&1) - 1)
		}
		p := c.one(i)
		grad[2*i], grad[2*i+1] = -slope*p*(1-p), slope*p*(1-p)
	}
	return grad
}

// The boundary term of discrete latents is the gradient of the expectation over all states:
// local expectations, to which a latent's own draw brings no variance.
func TestDiscreteGradientIsExact(t *testing.T) {
	c := newCube(t, 10)
	want := c.exact()
	for name, e := range gradient.Boundaries() {
		t.Run(name, func(t *testing.T) {
			const n, batches = 200, 400
			parts, err := gradient.BindParts(c.d, c.q, n, e)
			require.NoError(t, err)
			got := make([][]float64, len(want))
			rng := rand.New(rand.NewPCG(*gradient.Seed, 2))
			for range batches {
				sums, g := make([]float64, parts.Sampler().Sums()), make([]float64, len(want))
				require.NoError(t, parts.Run(rng))
				parts.AddBoundary(sums)
				parts.FinishPart(g, sums, n)
				for k, x := range g {
					got[k] = append(got[k], x)
				}
			}
			for k, all := range got {
				mean, sd := stat.MeanStdDev(all, nil)
				require.InDelta(t, want[k], mean, 4.5*sd/math.Sqrt(batches), "parameter %d", k)
				require.Less(t, sd/math.Sqrt(batches), 0.1*(1+math.Abs(want[k])), "of which little would be known")
			}
		})
	}

	one := newCube(t, 1)
	parts, err := gradient.BindParts(one.d, one.q, 1, gradient.Boundary{})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(*gradient.Seed, 2))
	for range 20 {
		sums, g := make([]float64, parts.Sampler().Sums()), make([]float64, 2)
		require.NoError(t, parts.Run(rng))
		parts.AddBoundary(sums)
		parts.FinishPart(g, sums, 1)
		require.InDeltaSlice(t, one.exact(), g, 1e-12*(1+math.Abs(g[0])))
	}
}
