package check

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// priorStart follows the program from top to bottom, as wide as the priors.
func priorStart(d *graph.Density) *family.Normal { return family.Independent(d.PriorStart()) }

// softplus is the member of the paper's family with the given means and standard
// deviations.
func softplus(mean, sd []float64) *family.Normal {
	q := family.Softplus{}.At(make([]float64, 2*len(mean)))
	q.Place(mean, sd)
	return q
}

// correlated are members of families with correlations, at means and standard
// deviations, with random coefficients, and their covariances by linear algebra.
func correlated(t testing.TB, d *graph.Density, mean, sd []float64) (qs []family.Q, covs []*mat.SymDense) {
	t.Helper()
	n, rng := len(mean), rand.New(rand.NewPCG(5, 0))
	for _, f := range []family.Family{family.FullRank{}, family.LowRank{Rank: 2}} {
		q, err := f.New(d)
		require.NoError(t, err)
		q.Place(mean, sd)
		theta := slices.Clone(q.Theta())
		scale, coefficients := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
		factors := mat.NewDense(n, 2, nil)
		for i := range n {
			coefficients.Set(i, i, 1)
			scale.Set(i, i, theta[2*i+1])
		}
		for k := 2 * n; k < len(theta); k++ {
			theta[k] = 0.4 * rng.NormFloat64()
			if p := q.Param(k); p.Symbol == "B" {
				coefficients.Set(p.Latent, p.On, -theta[k])
			} else {
				factors.Set(p.Latent, p.On, theta[k])
			}
		}
		q.Set(theta)
		var l, all mat.Dense
		require.NoError(t, l.Solve(coefficients, scale))
		all.Augment(&l, factors)
		cov := mat.NewSymDense(n, nil)
		cov.SymOuterK(1, &all)
		qs, covs = append(qs, q), append(covs, cov)
	}
	return qs, covs
}

// slope is ds/dρ of the paper's scale s = log(1 + exp ρ).
func slope(s float64) float64 { return -math.Expm1(-s) }

// moments are the means and standard deviations of q, by latent.
func moments(q family.Q) (mean, sd []float64) {
	for i := range q.Dim() {
		mean, sd = append(mean, q.Mean(i)), append(sd, q.SD(i))
	}
	return mean, sd
}
