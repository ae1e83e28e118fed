//go:build long

package vitest_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"

	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// The oracle itself: its gradient is that of its value, and its value that of
// plain Monte Carlo.
func TestDenseClosedForm(t *testing.T) {
	for _, c := range vitest.DenseCases {
		d, mean, sd := vitest.NewDense(c)
		want, q := d.Diagonal(mean, sd), family.Independent(mean, sd)
		numeric := fd.Gradient(nil, func(theta []float64) float64 {
			q := q.Clone().(*family.Normal)
			q.Set(theta)
			mean, sd := make([]float64, q.Dim()), make([]float64, q.Dim())
			for i := range mean {
				mean[i], sd[i] = q.Mean(i), q.SD(i)
			}
			return d.Diagonal(mean, sd)
		}, q.Theta(), &fd.Settings{Formula: fd.Central, Step: 1e-5})
		require.InDeltaSlice(t, numeric, d.Gradient(mean, sd), 1e-8)

		rng := rand.New(rand.NewPCG(*seed, 1))
		var m mc.Moments
		z := make([]float64, c.Latents)
		for range 1000000 {
			for i := range z {
				z[i] = mean[i] + sd[i]*rng.NormFloat64()
			}
			m.Add(d.LogProb(z))
		}
		require.Less(t, math.Abs(m.Mean+q.Entropy()-want), 5*m.SE())
		require.Less(t, 5*m.SE(), 0.05, "inconclusive")

		e, err := check.ELBO(vitest.Compile(t, d.Model()), q, 200000, *seed)
		require.NoError(t, err)
		require.Less(t, math.Abs(e.Value-want), 5*e.SE)
	}
}
