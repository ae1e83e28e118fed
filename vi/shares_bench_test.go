package vi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// BenchmarkVarianceShares says what the variance of one sample's gradient is made of where a
// fit ends, summed over the parameters in the family's units. For standard normals ε and
// orthonormal polynomials h
//
//	Var g(ε) = Σ E[g·h(ε)]²,    h = ε_i (linear), (ε_i² − 1)/√2 (square), ε_i·ε_j (cross), …,
//
// so that no quadratic control variate leaves less than what is none of these. Antithetic
// pairs remove the odd h and count the even ones twice. It does so for the boundary part alone,
// too, whose variance is a share of the whole.
func BenchmarkVarianceShares(b *testing.B) {
	for _, name := range sevenModels[:long.Or(1, len(sevenModels))] { // all with -tags long
		for _, f := range []family.Family{family.MeanField{}, family.FullRank{}} {
			b.Run("model="+name+"/family="+f.Name(), func(b *testing.B) {
				d := oneOfSeven(b, name)
				p, err := Fit(context.Background(), d, Settings{Seed: 1, Method: Climb{Family: f}})
				require.NoError(b, err)
				var whole, boundary varianceShares
				for b.Loop() {
					whole, boundary = sharesAt(b, d, p.Q)
				}
				whole.report(b, "")
				boundary.report(b, "-of-boundary")
				b.ReportMetric(boundary.variance/whole.variance, "boundary")
			})
		}
	}
}

// varianceShares are a variance, and what of it is linear, square and cross.
type varianceShares struct {
	variance float64
	by       [3]float64
}

func (v varianceShares) report(b *testing.B, of string) {
	for k, name := range []string{"linear", "square", "cross"} {
		if v.variance > 0 {
			b.ReportMetric(v.by[k]/v.variance, name+of)
		}
	}
}

func sharesAt(b *testing.B, d *graph.Density, q family.Q) (whole, boundary varianceShares) {
	draws := long.Brief(512, 8192)
	dim, params := d.Dim(), len(q.Theta())
	parts, err := gradient.BindParts(d, q, 1, gradient.Boundary{})
	require.NoError(b, err)
	twin, err := family.Bind(q, 1) // draws what parts draws
	require.NoError(b, err)
	rng, again := parallel.NewRand(1), parallel.NewRand(1)
	z, units, sums := make([]float64, dim), make([]float64, params), make([]float64, twin.Sums())
	q.Units(units)
	h := mat.NewDense(draws, dim*(dim+3)/2, nil)
	all, some := mat.NewDense(draws, params, nil), mat.NewDense(draws, params, nil)
	finish := func(dst []float64) {
		parts.Sampler().Finish(dst, sums, 1)
		for k, u := range units {
			dst[k] *= u
		}
	}
	for r := range draws {
		require.NoError(b, parts.Run(rng))
		clear(sums)
		parts.AddBoundary(sums)
		finish(some.RawRowView(r))
		parts.AddInside(sums)
		finish(all.RawRowView(r))
		twin.Draw(z, again)
		hermite(h.RawRowView(r), noise(q, z))
	}
	return shares(all, h, dim), shares(some, h, dim)
}

// noise is the ε of z.
func noise(q family.Q, z []float64) []float64 {
	eps, theta := make([]float64, len(z)), q.Theta()
	for i := range z {
		eps[i] = z[i] - theta[2*i]
	}
	for k := 2 * len(z); k < len(theta); k++ {
		p := q.Param(k)
		eps[p.Latent] -= theta[k] * (z[p.On] - theta[2*p.On])
	}
	for i := range eps {
		eps[i] /= theta[2*i+1]
	}
	return eps
}

// hermite writes the polynomials of degrees 1 and 2.
func hermite(dst, eps []float64) {
	cross := dst[2*len(eps):]
	for i, e := range eps {
		dst[i], dst[len(eps)+i] = e, (e*e-1)/math.Sqrt2
		for j := range i {
			cross[i*(i-1)/2+j] = e * eps[j]
		}
	}
}

// shares are those of the gradients g, a row for each draw. A product's square is too large by
// the variance of its mean.
func shares(g, h *mat.Dense, dim int) (v varianceShares) {
	draws, params := g.Dims()
	variance, column := make([]float64, params), make([]float64, draws)
	for k := range params {
		mean, s2 := stat.MeanVariance(mat.Col(column, k, g), nil)
		for r := range draws {
			g.Set(r, k, g.At(r, k)-mean)
		}
		variance[k] = s2
		v.variance += s2
	}
	var dot mat.Dense
	dot.Mul(g.T(), h)
	for k, s2 := range variance {
		for m, x := range dot.RawRowView(k) {
			x /= float64(draws)
			v.by[min(m/dim, 2)] += x*x - s2/float64(draws)
		}
	}
	return v
}
