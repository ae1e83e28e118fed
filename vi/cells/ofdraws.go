package cells

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// How mixtures of draws are fitted.
const (
	mixtureSteps = 40   // at most
	mixtureGain  = 1e-4 // of the mean log density at the draws, by a step that is worth it
	mixtureDraws = 1000 // that judge one
	ridge        = 1e-6 // of the variance
	fatter       = 1.1  // than the draws, in scale
)

var mixtureSizes = []int{1, 2, 4, 8}

// OfDraws fits mixtures of normals to draws of a posterior, by expectation
// maximisation, and returns the one whose importance weights are the most even: for posteriors whose
// guards are many and their jumps small, so that they have no cells to speak of.
// Mixtures have more and more parts, until one has less even weights than the best before.
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
		switch even := sum * sum / squares; {
		case !finite(top):
		case even > most*1.1:
			best, most = m, even
		case even < most:
			return best, nil // more parts would follow the draws' own clumps
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
	x := mat.NewDense(n, dim, nil)
	for j, z := range draws {
		x.SetRow(j, z)
	}
	scale := make([]float64, dim)
	for i := range scale {
		if scale[i] = stat.StdDev(mat.Col(nil, i, x), nil); !(scale[i] > 0) {
			return nil
		}
	}
	parts := make([]component, k)
	centres := seeds(draws, scale, k, rng)
	for c := range parts {
		parts[c].share, parts[c].log = make([]float64, n), make([]float64, n)
	}
	for j, z := range draws {
		parts[nearest(z, centres, scale)].share[j] = 1
	}
	logs := make([]float64, k)
	for last, step := math.Inf(-1), 0; step < mixtureSteps; step++ {
		for c := range parts {
			if !parts[c].maximise(x, scale) {
				return nil
			}
		}
		fit := 0.0
		for j := range n {
			for c := range parts {
				logs[c] = parts[c].log[j]
			}
			sum := floats.LogSumExp(logs)
			fit += sum / float64(n)
			for c := range parts {
				parts[c].share[j] = math.Exp(logs[c] - sum)
			}
		}
		if fit-last < mixtureGain {
			break
		}
		last = fit
	}
	logWeights, qs := make([]float64, k), make([]family.Q, k)
	for c := range parts {
		logWeights[c] = parts[c].logWeight
		precision := mat.NewSymDense(dim, nil)
		if parts[c].chol.InverseTo(precision) != nil {
			return nil
		}
		precision.ScaleSym(1/(fatter*fatter), precision)
		qs[c] = family.FromPrecision(parts[c].mean, precision)
	}
	return family.NewMixture(logWeights, qs)
}

// A component is a normal of a mixture under way.
type component struct {
	share      []float64 // of each draw
	log        []float64 // the log of its weight and density at each draw
	logWeight  float64
	mean       []float64
	chol       mat.Cholesky // of the covariance
	off, white mat.Dense
}

// maximise makes the component what is most likely of its shares of the draws, the
// rows of x, and reports whether it is a normal.
func (c *component) maximise(x *mat.Dense, scale []float64) bool {
	n, dim := x.Dims()
	weight := floats.Sum(c.share)
	if weight < float64(2*dim+2) {
		return false
	}
	c.logWeight = math.Log(weight / float64(n))
	mean := mat.NewVecDense(dim, nil)
	mean.MulVec(x.T(), mat.NewVecDense(n, c.share))
	mean.ScaleVec(1/weight, mean)
	c.mean = mean.RawVector().Data
	c.off.CloneFrom(x)
	for j := range n {
		floats.Sub(c.off.RawRowView(j), c.mean)
	}
	c.white.CloneFrom(&c.off)
	for j, w := range c.share {
		floats.Scale(math.Sqrt(w/(weight-1)), c.white.RawRowView(j))
	}
	cov := mat.NewSymDense(dim, nil)
	cov.SymOuterK(1, c.white.T())
	for i, s := range scale {
		cov.SetSym(i, i, cov.At(i, i)+ridge*s*s)
	}
	if !c.chol.Factorize(cov) {
		return false
	}
	var root, inverse mat.TriDense // cov = rootᵀ·root
	c.chol.UTo(&root)
	if inverse.InverseTri(&root) != nil {
		return false
	}
	c.white.Mul(&c.off, &inverse)
	constant := c.logWeight - 0.5*(float64(dim)*math.Log(2*math.Pi)+c.chol.LogDet())
	for j := range n {
		row := c.white.RawRowView(j)
		c.log[j] = constant - 0.5*floats.Dot(row, row)
	}
	return true
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
