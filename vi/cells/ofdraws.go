package cells

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// How mixtures of draws are fitted.
const (
	mixtureSteps = 40
	mixtureDraws = 1000 // that judge one
	ridge        = 1e-6 // of the variance
	fatter       = 1.1  // than the draws, in scale
)

var mixtureSizes = []int{1, 2, 4, 8}

// OfDraws fits mixtures of normals to draws of a posterior, by expectation
// maximisation, and returns the one whose importance weights are the most even: for posteriors whose
// guards are many and their jumps small, so that they have no cells to speak of.
// It returns nil if none has a density.
func OfDraws(d *graph.Density, draws [][]float64, seed uint64) (*family.Mixture, error) {
	var best *family.Mixture
	most := 0.0
	x, err := d.Executor(quick, graph.Compute{Out: true})
	if err != nil {
		return nil, err
	}
	for _, k := range mixtureSizes {
		rng := mc.NewRand(mc.Mix(seed, uint64(k)))
		m := expectMaximise(draws, k, rng)
		if m == nil {
			continue
		}
		w, err := ratios(d, x, m, mixtureDraws, rng)
		if err != nil {
			return nil, err
		}
		top, sum, squares := floats.Max(w.ratio), 0.0, 0.0
		for _, r := range w.ratio {
			x := math.Exp(r - top)
			sum += x
			squares += x * x
		}
		if even := sum * sum / squares; finite(top) && even > most*1.1 {
			best, most = m, even
		}
	}
	return best, nil
}

// expectMaximise is a mixture of k normals near the draws; nil if a covariance matrix
// is singular.
func expectMaximise(draws [][]float64, k int, rng *rand.Rand) *family.Mixture {
	n, dim := len(draws), len(draws[0])
	if n < 4*dim*k {
		return nil
	}
	scale := make([]float64, dim)
	column := make([]float64, n)
	for i := range scale {
		for j, z := range draws {
			column[j] = z[i]
		}
		if scale[i] = stat.StdDev(column, nil); !(scale[i] > 0) {
			return nil
		}
	}
	share := make([][]float64, k) // of the draws, by part
	for c := range share {
		share[c] = make([]float64, n)
	}
	centres := seeds(draws, scale, k, rng)
	for j, z := range draws {
		share[nearest(z, centres, scale)][j] = 1
	}
	x := mat.NewDense(n, dim, nil)
	for j, z := range draws {
		x.SetRow(j, z)
	}
	weight, parts, covs := make([]float64, k), make([]*distmv.Normal, k), make([]*mat.SymDense, k)
	means := make([][]float64, k)
	for range mixtureSteps {
		for c := range k {
			weight[c] = floats.Sum(share[c])
			if weight[c] < float64(2*dim+2) {
				return nil
			}
			covs[c] = mat.NewSymDense(dim, nil)
			stat.CovarianceMatrix(covs[c], x, share[c])
			means[c] = make([]float64, dim)
			for i := range dim {
				covs[c].SetSym(i, i, covs[c].At(i, i)+ridge*scale[i]*scale[i])
				means[c][i] = stat.Mean(mat.Col(nil, i, x), share[c])
			}
			var ok bool
			if parts[c], ok = distmv.NewNormal(means[c], covs[c], nil); !ok {
				return nil
			}
		}
		floats.Scale(1/floats.Sum(weight), weight)
		logs := make([]float64, k)
		for j, z := range draws {
			for c := range k {
				logs[c] = math.Log(weight[c]) + parts[c].LogProb(z)
			}
			sum := floats.LogSumExp(logs)
			for c := range k {
				share[c][j] = math.Exp(logs[c] - sum)
			}
		}
	}
	logs, qs := make([]float64, k), make([]family.Q, k)
	for c := range k {
		logs[c] = math.Log(weight[c])
		covs[c].ScaleSym(fatter*fatter, covs[c])
		var chol mat.Cholesky
		precision := mat.NewSymDense(dim, nil)
		if !chol.Factorize(covs[c]) || chol.InverseTo(precision) != nil {
			return nil
		}
		qs[c] = family.FromPrecision(means[c], precision)
	}
	return family.NewMixture(logs, qs)
}

// seeds are k of the draws, far from each other (k-means++).
func seeds(draws [][]float64, scale []float64, k int, rng *rand.Rand) (list [][]float64) {
	list = append(list, draws[rng.IntN(len(draws))])
	square := make([]float64, len(draws))
	for len(list) < k {
		for j, z := range draws {
			square[j] = distance(z, list[nearest(z, list, scale)], scale)
		}
		u, j := rng.Float64()*floats.Sum(square), 0
		for ; j < len(draws)-1; j++ {
			if u -= square[j]; u < 0 {
				break
			}
		}
		list = append(list, draws[j])
	}
	return slices.Clip(list)
}

func nearest(z []float64, centres [][]float64, scale []float64) (best int) {
	for c := range centres {
		if distance(z, centres[c], scale) < distance(z, centres[best], scale) {
			best = c
		}
	}
	return best
}

func distance(a, b, scale []float64) (sum float64) {
	for i, s := range scale {
		x := (a[i] - b[i]) / s
		sum += x * x
	}
	return sum
}
