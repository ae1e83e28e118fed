package cells

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/vi/family"
)

// How mixtures of normals are fitted to weighted draws.
const (
	mixtureSteps = 40
	mixtureGain  = 1e-3 // nats that a step has to bring
	partGain     = 0.02 // and twice as many parts, for draws that were left out
	mixtureMost  = 16   // parts
	mixtureEach  = 10   // points to a number that is fitted
	ridge        = 1e-6 // of the variance
)

// A cloud is weighted points, the rows of x, with their standard deviations.
type cloud struct {
	x      *mat.Dense
	weight []float64 // sums to the number of points that are effective
	scale  []float64
}

// add adds points with the weights w^β, with the largest β ≤ 1 that leaves least of them
// effective: what few points of large weight say of a covariance is nothing. Their weights
// sum to the number that is effective.
func (c *cloud) add(x [][]float64, logWeight []float64, least float64) {
	top, weight := floats.Max(logWeight), make([]float64, len(x))
	effective := func(beta float64) float64 {
		sum, squares := 0.0, 0.0
		for k, l := range logWeight {
			w := 0.0
			if !math.IsInf(l, -1) {
				w = math.Exp(beta * (l - top))
			}
			weight[k] = w
			sum += w
			squares += w * w
		}
		floats.Scale(sum/squares, weight)
		return sum * sum / squares
	}
	for beta := 1.0; effective(beta) < least && beta > 0.01; {
		beta *= 0.8
	}
	var rows []float64
	if c.x != nil {
		rows = c.x.RawMatrix().Data
	}
	for _, z := range x {
		rows = append(rows, z...)
	}
	c.weight = append(c.weight, weight...)
	c.x = mat.NewDense(len(c.weight), len(x[0]), rows)
	c.scale = make([]float64, len(x[0]))
	for i := range c.scale {
		c.scale[i] = stat.PopStdDev(mat.Col(nil, i, c.x), c.weight)
	}
}

// split are the points of even and of odd numbers.
func (c cloud) split() (halves [2]cloud) {
	n, dim := c.x.Dims()
	for h := range halves {
		half := &halves[h]
		half.x, half.weight, half.scale = mat.NewDense((n+1-h)/2, dim, nil), make([]float64, (n+1-h)/2), c.scale
		for k := range half.weight {
			half.weight[k] = c.weight[2*k+h]
			half.x.SetRow(k, c.x.RawRowView(2*k+h))
		}
	}
	return halves
}

// A normals is a mixture of normals.
type normals []*component

// A component is a normal of a mixture under way.
type component struct {
	share     []float64 // of each point's weight
	logWeight float64
	mean      []float64
	chol      mat.Cholesky // of the covariance
	whiten    mat.TriDense // the inverse of its upper factor
	off       mat.Dense
	white     mat.Dense
}

// maximise makes the component what is most likely of its shares of the points. It reports
// whether they are enough for a normal.
func (p *component) maximise(c cloud) bool {
	n, dim := c.x.Dims()
	weight := floats.Sum(p.share)
	if weight < float64(2*dim+2) {
		return false
	}
	p.logWeight = math.Log(weight / floats.Sum(c.weight))
	mean := mat.NewVecDense(dim, nil)
	mean.MulVec(c.x.T(), mat.NewVecDense(n, p.share))
	mean.ScaleVec(1/weight, mean)
	p.mean = mean.RawVector().Data
	p.centre(c.x)
	for j, w := range p.share {
		floats.Scale(math.Sqrt(w/(weight-1)), p.off.RawRowView(j))
	}
	cov := mat.NewSymDense(dim, nil)
	cov.SymOuterK(1, p.off.T())
	for i, s := range c.scale {
		cov.SetSym(i, i, cov.At(i, i)+ridge*s*s)
	}
	if !p.chol.Factorize(cov) {
		return false
	}
	var root mat.TriDense // cov = rootᵀ·root
	p.chol.UTo(&root)
	p.whiten.Reset()
	return p.whiten.InverseTri(&root) == nil
}

// centre writes the rows of x less the mean to off.
func (p *component) centre(x *mat.Dense) {
	p.off.CloneFrom(x)
	n, _ := x.Dims()
	for j := range n {
		floats.Sub(p.off.RawRowView(j), p.mean)
	}
}

// logs are the log of the weight and the density at the rows of x.
func (p *component) logs(dst []float64, x *mat.Dense) {
	n, dim := x.Dims()
	p.centre(x)
	p.white.Reset()
	p.white.Mul(&p.off, &p.whiten)
	constant := p.logWeight - 0.5*(float64(dim)*math.Log(2*math.Pi)+p.chol.LogDet())
	for j := range n {
		row := p.white.RawRowView(j)
		dst[j] = constant - 0.5*floats.Dot(row, row)
	}
}

// score is the mean log density at the points of c. It writes the shares that parts have in
// the points, if share is true.
func (m normals) score(c cloud, share bool) (sum float64) {
	n := len(c.weight)
	all, logs := make([]float64, len(m)*n), make([]float64, len(m))
	for k, p := range m {
		p.logs(all[k*n:][:n], c.x)
	}
	for j, w := range c.weight {
		for k := range m {
			logs[k] = all[k*n+j]
		}
		total := floats.LogSumExp(logs)
		if w > 0 {
			sum += w * total
		}
		if share {
			for k, p := range m {
				p.share[j] = w * math.Exp(logs[k]-total)
			}
		}
	}
	return sum / floats.Sum(c.weight)
}

// fitNormals is the mixture of normals near the points, of at least so many parts and of as
// many as points that were left out are in favour of; nil if a covariance matrix is singular.
func fitNormals(c cloud, least int, rng *rand.Rand) normals {
	halves := c.split()
	size, most, dim := least, math.Inf(-1), len(c.scale)
	for k := least; k <= mixtureMost && (k == 1 || floats.Sum(c.weight) > float64(mixtureEach*k*dim*(dim+3)/2)); k *= 2 {
		m := expectMaximise(halves[0], k, rng)
		if m == nil {
			continue
		}
		score := m.score(halves[1], false)
		if !(score > most+partGain) {
			break
		}
		size, most = k, score
	}
	return expectMaximise(c, size, rng)
}

// expectMaximise is a mixture of at most k normals near the points, by expectation
// maximisation: a part whose points become too few leaves them to the others. It is nil if
// none is left.
func expectMaximise(c cloud, k int, rng *rand.Rand) (m normals) {
	n, dim := c.x.Dims()
	if floats.Sum(c.weight) < float64(4*dim) || !(floats.Min(c.scale) > 0) {
		return nil
	}
	for range k {
		m = append(m, &component{share: make([]float64, n)})
	}
	centres := c.seeds(k, rng)
	for j, w := range c.weight {
		m[nearest(c.x.RawRowView(j), centres, c.scale)].share[j] = w
	}
	last := math.Inf(-1)
	for range mixtureSteps {
		m = slices.DeleteFunc(m, func(p *component) bool { return !p.maximise(c) })
		if len(m) == 0 {
			return nil
		}
		score := m.score(c, true)
		if score < last+mixtureGain {
			break
		}
		last = score
	}
	return m
}

// seeds are k of the points, far from each other (k-means++).
func (c cloud) seeds(k int, rng *rand.Rand) (list [][]float64) {
	pick := func(weight []float64) []float64 {
		u, j := rng.Float64()*floats.Sum(weight), 0
		for ; j < len(weight)-1; j++ {
			if u -= weight[j]; u < 0 {
				break
			}
		}
		return c.x.RawRowView(j)
	}
	list = append(list, pick(c.weight))
	square := make([]float64, len(c.weight))
	for len(list) < k {
		for j, w := range c.weight {
			x := c.x.RawRowView(j)
			square[j] = w * distance(x, list[nearest(x, list, c.scale)], c.scale)
		}
		list = append(list, pick(square))
	}
	return list
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

// A shape is what is made of normals in some of the latents: a distribution of all of
// them, with the switches summed out.
type shape struct {
	latents []int         // of the normals
	sides   []family.Side // that confine them, as far as they can
	like    *Summed       // whose switches are summed out; nil if there are none
	dim     int
}

// newShape is that of q, on sides.
func newShape(q family.Q, sides []family.Side) (s shape) {
	s.dim, s.sides = q.Dim(), sides
	s.like, _ = q.(*Summed)
	for i := range s.dim {
		if s.like == nil || !s.like.sums(i) {
			s.latents = append(s.latents, i)
		}
	}
	return s
}

// outside reports whether a draw is not on the sides.
func (s shape) outside(z []float64) bool {
	out := func(side family.Side) bool { return side.At(z) > 0 != side.Positive }
	return slices.ContainsFunc(s.sides, out)
}

// of is the mixture m; nil if a covariance matrix is singular.
func (s shape) of(m normals) family.Q {
	logs, parts := make([]float64, len(m)), make([]family.Q, len(m))
	for c, p := range m {
		narrow := mat.NewSymDense(len(s.latents), nil)
		if p.chol.InverseTo(narrow) != nil {
			return nil
		}
		mean, precision := make([]float64, s.dim), mat.NewSymDense(s.dim, nil)
		if s.like != nil {
			for _, w := range s.like.switches {
				law := family.Marginal(s.like.Q, w.Latent)
				mean[w.Latent] = law.Mean()
				precision.SetSym(w.Latent, w.Latent, 1/(law.SD()*law.SD()))
			}
		}
		for k, i := range s.latents {
			mean[i] = p.mean[k]
			for l, j := range s.latents[:k+1] {
				precision.SetSym(i, j, narrow.At(k, l))
			}
		}
		normal := family.FromPrecision(mean, precision)
		logs[c], parts[c] = p.logWeight, normal
		if len(s.sides) > 0 {
			confined, _, err := normal.Confine(s.sides)
			if err != nil {
				return nil
			}
			parts[c] = confined
		}
	}
	return s.over(family.NewMixture(logs, parts))
}

// over is a member with the given rest.
func (s shape) over(rest family.Q) family.Q {
	if s.like == nil {
		return rest
	}
	return newSummed(s.like.d, rest, s.like.switches)
}

// rest is the part of a member that shapes are put over.
func rest(q family.Q) family.Q {
	if s, ok := q.(*Summed); ok {
		return s.Q
	}
	return q
}

// points are the latents of the normals, of draws.
func (s shape) points(draws [][]float64) [][]float64 {
	list := make([][]float64, len(draws))
	for k, z := range draws {
		for _, i := range s.latents {
			list[k] = append(list[k], z[i])
		}
	}
	return list
}
