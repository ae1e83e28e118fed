package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// upper is 1 − Φ(x), by the series of Φ − 1/2 in precision enough for its
// cancellation at |x| ≤ 60, and beyond that, where it is below e⁻¹⁸⁰⁰, 0.
func (b bits) upper(x num) num {
	if x.Cmp(b.num(60)) > 0 {
		return b.num(0)
	}
	sum, term, square := b.num(0), x, b.mul(x, x)
	for k := 0.0; ; k++ { // Σ (−1)ᵏ x²ᵏ⁺¹/(2ᵏ k! (2k+1))
		sum = b.add(sum, b.div(term, b.num(2*k+1)))
		term = b.neg(b.div(b.mul(term, square), b.num(2*(k+1))))
		if t, _ := b.abs(term).Float64(); t == 0 || term.Sign() == 0 || term.MantExp(nil) < -int(b) {
			break
		}
	}
	density := b.exp(b.times(-0.5, b.log(b.times(2, b.constants().pi)))) // 1/√2π
	return b.sub(b.num(0.5), b.mul(density, sum))
}

// The distribution functions of priors, where they are known, against arbitrary
// precision: the masses of intervals in both tails, to 1e-12 relative.
func TestExactDistributionFunctions(t *testing.T) {
	skipShort(t)
	const b = bits(5400)
	one := b.num(1)
	sigmoid := func(z num) num { return b.div(one, b.add(one, b.exp(b.neg(z)))) }
	normal := func(mu, sigma float64) func(z num) num { // the upper tail
		return func(z num) num { return b.upper(b.div(b.sub(z, b.num(mu)), b.num(sigma))) }
	}
	for name, c := range map[string]struct {
		prior graph.Dist
		above func(z num) num // P(coordinate > z)
		scale float64
	}{
		"Normal":      {graph.Normal(0.5, 4), normal(0.5, 4), 4},
		"LogNormal":   {graph.LogNormal(-1, 0.25), normal(-1, 0.25), 0.25},
		"Uniform":     {graph.Uniform(-3, 8), func(z num) num { return sigmoid(b.neg(z)) }, 1},
		"Logistic":    {graph.Logistic(2, 0.5), func(z num) num { return sigmoid(b.times(-2, b.sub(z, b.num(2)))) }, 0.5},
		"HalfNormal":  {graph.HalfNormal(2), func(z num) num { return b.times(2, b.upper(b.times(0.5, b.exp(z)))) }, 1},
		"Exponential": {graph.Exponential(4), func(z num) num { return b.exp(b.times(-4, b.exp(z))) }, 1},
	} {
		if !long.On() && name != "Normal" && name != "Exponential" {
			continue
		}
		m := graph.NewModel()
		x := m.Sample("x", c.prior)
		m.Factor(x)
		d, err := m.Compile()
		require.NoError(t, err)
		r, err := d.Residuals(1)
		require.NoError(t, err)
		r.Follow()
		ends := long.Or([]float64{-30, 0, 2}, []float64{-30, -8, -3, -1, -0.25, 0, 0.125, 0.75, 1.5, 2})
		if name != "HalfNormal" && name != "Exponential" { // whose upper tails are exp(−e^z)
			ends = append(ends, 8, 30)
		}
		for k, lo := range ends {
			lo *= c.scale
			for _, width := range []float64{0.01, 4} {
				hi := lo + width*c.scale
				if k == len(ends)-1 {
					hi = math.Inf(1)
				}
				mass := c.above(b.num(lo))
				if !math.IsInf(hi, 1) {
					mass = b.sub(mass, c.above(b.num(hi)))
				}
				want, _ := b.log(mass).Float64()
				require.InDelta(t, want, r.LogMass(0, 0, lo, hi), 1e-12*math.Max(1, math.Abs(want)), "%s in (%v, %v)", name, lo, hi)
				for _, u := range []float64{1e-6, 0.3} {
					z := r.Within(0, 0, u, lo, hi)
					require.True(t, lo < z && z < hi)
					below, _ := b.div(b.sub(c.above(b.num(lo)), c.above(b.num(z))), mass).Float64()
					require.InDelta(t, u, below, 1e-9, "%s in (%v, %v)", name, lo, hi)
				}
			}
		}
	}
}
