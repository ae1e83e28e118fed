package vi

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// smoothMode is the mode of log r with the signs of the region forced, by Newton's
// method from z, and the precision there. Differences of the gradient are exact where
// log r is quadratic.
func smoothMode(t testing.TB, d *graph.Density, signs regions.Signs, z []float64) (mode []float64, precision *mat.SymDense) {
	t.Helper()
	n := d.Dim()
	gradient := func(at []float64) []float64 {
		g, err := d.GradAt(at, signs)
		require.NoError(t, err)
		return g
	}
	for range 3 {
		precision = mat.NewSymDense(n, nil)
		for i := range n {
			const h = 1e-3
			up, down := append([]float64(nil), z...), append([]float64(nil), z...)
			up[i] += h
			down[i] -= h
			above, below := gradient(up), gradient(down)
			for j := range i + 1 {
				precision.SetSym(i, j, (below[j]-above[j])/(2*h))
			}
		}
		var c mat.Cholesky
		require.True(t, c.Factorize(precision))
		var step mat.VecDense
		require.NoError(t, c.SolveVecTo(&step, mat.NewVecDense(n, gradient(z))))
		next := make([]float64, n)
		for i := range next {
			next[i] = z[i] + step.AtVec(i)
		}
		z = next
	}
	return z, precision
}

// history is the cell of temperature where the air conditioner is on at the given
// steps: the sides beyond which the density falls off a cliff, and a point inside.
func history(t testing.TB, d *graph.Density, on []bool) (sides []family.Side, z []float64) {
	t.Helper()
	side := func(name string, at float64, above bool) int {
		i, ok := d.Latent(name)
		require.True(t, ok)
		h := regions.Hyperplane{Index: []int{i}, Coef: []float64{1}, Const: -at}
		sides = append(sides, family.Side{Hyperplane: h, Positive: above})
		return i
	}
	z = make([]float64, d.Dim())
	was := false
	for k, now := range on {
		theta := fmt.Sprintf("theta%d", k)
		switch {
		case was && now:
			z[side(theta, 18, true)] = 20
		case was:
			z[side(theta, 18, false)] = 17.9
		case now:
			z[side(theta, 22, true)] = 22.1
		default:
			z[side(theta, 22, false)] = 20
		}
		z[side(fmt.Sprintf("q%d-noise", k+1), 0.5, now)] = map[bool]float64{true: 1}[now]
		was = now
	}
	return sides, z
}

// bestHistory is temperature and the normal at the mode of its best history, confined to
// that: on from step 5 to 10 and from 17.
func bestHistory(t testing.TB) (*graph.Density, family.Q) {
	t.Helper()
	_, d := paperSpec(t, "temperature")
	on := make([]bool, 20)
	for k := range on {
		on[k] = k >= 4 && k < 10 || k >= 16
	}
	sides, z := history(t, d, on)
	mode, precision := smoothMode(t, d, d.Arrangement().Signs(z), z)
	q, soft, err := family.FromPrecision(mode, precision).Confine(sides)
	require.NoError(t, err)
	require.Empty(t, soft)
	return d, q
}

// Temperature's best history, by a sequential normal confined to it and fitted from
// the mode, comes near the exact evidence of that cell and never above. What
// importance sampling from the fit says of the evidence is exact.
func TestConfinedHistory(t *testing.T) {
	long.Skip(t)
	const exact, rounding = -35.025, 0.0005
	d, q := bestHistory(t)
	r, err := gradient.NewRunner(d, q, Boundary{}, 32, 1)
	require.NoError(t, err)
	adam, step, units := Adam{}, make([]float64, len(q.Theta())), make([]float64, len(q.Theta()))
	const steps = 400
	var elbo Estimate
	for k := range steps {
		if k%100 == 0 {
			elbo, err = check.ELBO(d, q, 2000, 1)
			require.NoError(t, err)
			require.Less(t, elbo.Value, exact+rounding+4*elbo.SE)
		}
		g, err := r.Estimate(q)
		require.NoError(t, err)
		q.Units(units)
		floats.Mul(g, units)
		adam.StepSize = 0.03 * math.Min(1, 2*(1-float64(k)/steps))
		adam.Direction(step, g)
		q.Move(step)
	}
	elbo, err = check.ELBO(d, q, 20000, 2)
	require.NoError(t, err)
	t.Log(elbo)
	require.Less(t, elbo.SE, 0.002)
	require.Less(t, elbo.Value, exact+rounding+4*elbo.SE)
	require.Greater(t, elbo.Value-4*elbo.SE, -35.036)

	const draws = 5000
	rng := rand.New(rand.NewPCG(1, 3))
	var ratio mc.Moments
	z := make([]float64, d.Dim())
	for range draws {
		q.Rand(z, rng)
		log, err := d.LogProb(z)
		require.NoError(t, err)
		ratio.Add(math.Exp(log - q.LogProb(z) - exact))
	}
	require.Less(t, ratio.SE(), 0.002)
	require.InDelta(t, 1, ratio.Mean, rounding+4*ratio.SE())
}

// BenchmarkConfined is an estimate of the gradient with 40 of 41 latents confined, and
// with the same normal, free.
func BenchmarkConfined(b *testing.B) {
	d, q := bestHistory(b)
	free, err := family.Sequence{Parents: q.Family().(family.Sequence).Parents}.New(d)
	require.NoError(b, err)
	free.Set(q.Theta())
	for name, q := range map[string]family.Q{"free": free, "confined": q} {
		for _, e := range []Estimator{Boundary{}, Reparam{}} {
			b.Run(fmt.Sprintf("q=%s/estimator=%s/N=16", name, e.Name()), func(b *testing.B) {
				r, err := gradient.NewRunner(d, q, e, 16, 1)
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
