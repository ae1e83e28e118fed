package cells

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/sumout"
	"github.com/facetvi/facet/vi/mixture"
)

// How mixtures of normals are fitted to weighted draws.
const (
	mixtureSteps = 40
	mixtureGain  = 1e-3 // nats that a step has to bring
	partGain     = 0.02 // and twice as many parts, for draws that were left out
	mixtureMost  = 16   // parts
	mixtureEach  = 10   // points to a number that is fitted,
	fewEach      = 2    // or of few draws of what is only proposed from:
	fewPoints    = 1000
	ridge        = 1e-6 // of the variance
	seedWidth    = 1e-3 // of the standard deviation
	atOnce       = 128  // points
)

// A cloud is weighted points with their means and standard deviations.
type cloud struct {
	x             [][]float64
	u             [][]float64 // of each coordinate, that of the points in units (x − centre)/scale
	weight        []float64   // sums to the number of points that are effective
	centre, scale []float64
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
	c.x, c.weight = append(c.x, x...), append(c.weight, weight...)
	dim, n := len(x[0]), len(c.x)
	c.u, c.centre, c.scale = make([][]float64, dim), make([]float64, dim), make([]float64, dim)
	for i := range c.u {
		u := make([]float64, n)
		for k, x := range c.x {
			u[k] = x[i]
		}
		c.centre[i], c.scale[i] = stat.PopMeanStdDev(u, c.weight)
		for k, x := range u {
			u[k] = (x - c.centre[i]) / c.scale[i]
		}
		c.u[i] = u
	}
}

// split are the points of even and of odd numbers.
func (c cloud) split() (halves [2]cloud) {
	for h := range halves {
		half := cloud{centre: c.centre, scale: c.scale, u: make([][]float64, len(c.u))}
		for k := h; k < len(c.x); k += 2 {
			half.x, half.weight = append(half.x, c.x[k]), append(half.weight, c.weight[k])
			for i, u := range c.u {
				half.u[i] = append(half.u[i], u[k])
			}
		}
		halves[h] = half
	}
	return halves
}

// monomials is how many there are of degree 0, 1 and 2.
func monomials(dim int) int { return (dim + 1) * (dim + 2) / 2 }

// monomials writes to the rows of dst, of n numbers, the monomials 1, uᵢ and uᵢ·uⱼ, j ≤ i, of n points from the given one on.
func (c cloud) monomials(dst []float64, first, n int) {
	row := func(i int) []float64 { return dst[i*n:][:n] }
	vec.Fill(row(0), 1)
	at := 1 + len(c.u)
	for i, u := range c.u {
		copy(row(1+i), u[first:])
		for j := range i + 1 {
			vec.Mul(row(at), row(1+i), row(1+j))
			at++
		}
	}
}

// A mixture of normals.
type normals []*component

// A component is a normal of a mixture.
type component struct {
	logWeight float64
	mean      []float64
	precision *mat.SymDense
	logDet    float64 // of the precision
}

// newComponent is the most likely normal of points of c, of which sums are the sums of the
// monomials; nil if these are not enough for a normal.
func newComponent(c cloud, sums []float64) *component {
	dim, weight := len(c.scale), sums[0]
	if weight < float64(2*dim+2) {
		return nil
	}
	p := &component{mean: make([]float64, dim), precision: mat.NewSymDense(dim, nil)}
	p.logWeight = math.Log(weight / floats.Sum(c.weight))
	u, squares := sums[1:][:dim], sums[1+dim:]
	cov, row := mat.NewSymDense(dim, nil), 0
	for i := range dim {
		p.mean[i] = c.centre[i] + c.scale[i]*u[i]/weight
		for j := range i + 1 {
			cov.SetSym(i, j, (squares[row]-u[i]*u[j]/weight)/(weight-1))
			row++
		}
		cov.SetSym(i, i, cov.At(i, i)+ridge)
	}
	var chol mat.Cholesky
	if !chol.Factorize(cov) || chol.InverseTo(p.precision) != nil {
		return nil
	}
	p.logDet = -chol.LogDet()
	for i := range dim {
		p.logDet -= 2 * math.Log(c.scale[i])
		for j := range i + 1 {
			p.precision.SetSym(i, j, p.precision.At(i, j)/(c.scale[i]*c.scale[j]))
		}
	}
	return p
}

// coefficients writes those of the monomials of c in the log of the weight and the density.
func (p *component) coefficients(dst []float64, c cloud) {
	dim := len(p.mean)
	u, squares := dst[1:][:dim], dst[1+dim:]
	dst[0] = p.logWeight + 0.5*(p.logDet-float64(dim)*math.Log(2*math.Pi))
	row := 0
	for i, s := range c.scale {
		u[i] = 0
		for j, t := range c.scale {
			v := s * p.precision.At(i, j)
			u[i] += v * (p.mean[j] - c.centre[j])
			if j < i {
				squares[row] = -v * t
				row++
			}
		}
		squares[row] = -0.5 * s * s * p.precision.At(i, i)
		row++
		dst[0] -= 0.5 * u[i] * (p.mean[i] - c.centre[i]) / s
	}
}

// expect is the mean log density at the points of c, Σₖ θₖ·φ(x) in the exponents, with the
// monomials φ. It sets the rows of sums, if not nil, to those of φ, by the shares that each
// part has in the points.
func (m normals) expect(c cloud, sums *mat.Dense) (score float64) {
	size := monomials(len(c.scale))
	if sums != nil {
		sums.ReuseAs(len(m), size)
	}
	theta, same, each := make([]float64, len(m)*size), make([]int32, size), make([]int32, size)
	for r := range each {
		each[r] = int32(r)
	}
	for k, p := range m {
		p.coefficients(theta[k*size:][:size], c)
	}
	phi, logs := make([]float64, size*atOnce), make([]float64, len(m)*atOnce)
	for first := 0; first < len(c.x); first += atOnce {
		n := min(atOnce, len(c.x)-first)
		c.monomials(phi, first, n)
		logs := logs[:len(m)*n]
		clear(logs)
		for k := range m {
			vec.AddRows(logs[k*n:][:n], phi, each, theta[k*size:][:size])
		}
		score += toShares(logs, c.weight[first:][:n])
		for k := range m {
			if sums != nil {
				vec.AddDots(sums.RawRowView(k), logs[k*n:][:n], phi, n, same, each)
			}
		}
	}
	return score / floats.Sum(c.weight)
}

// toShares replaces the log densities of parts, weights included, in rows by the parts' shares in the points' weights, and returns the weighted
// sum of the log densities of the mixture.
func toShares(logs, weight []float64) (score float64) {
	n := len(weight)
	if len(logs) == n {
		score = floats.Dot(logs, weight)
		copy(logs, weight)
		return score
	}
	var most, sum, each [atOnce]float64
	top, total, by := most[:n], sum[:n], each[:n]
	copy(top, logs)
	for first := n; first < len(logs); first += n {
		for j, l := range logs[first:][:n] {
			top[j] = max(top[j], l)
		}
	}
	for first := 0; first < len(logs); first += n {
		row := logs[first:][:n]
		vec.AddScaled(row, -1, top)
		vec.Exp(row, row)
		vec.Add(total, total, row)
	}
	for j, w := range weight {
		by[j] = w / total[j]
	}
	for first := 0; first < len(logs); first += n {
		vec.Mul(logs[first:][:n], logs[first:][:n], by)
	}
	vec.Log(total, total)
	for j, w := range weight {
		if w > 0 {
			score += w * (top[j] + total[j])
		}
	}
	return score
}

// A choice is of how many parts a mixture may have: as many as points that were left out are in favour of.
type choice struct {
	least int
	each  float64 // points to a number that is fitted, at least
	all   bool    // more are tried also where twice as many are no better: once in a while two are no better, and sixteen are
}

// fitNormals is the mixture of normals near the points; nil if a covariance matrix is singular.
func fitNormals(ctx context.Context, c cloud, of choice, rng *rand.Rand) (best normals) {
	if floats.Sum(c.weight) < float64(4*len(c.scale)) || !(floats.Min(c.scale) > 0) {
		return nil
	}
	halves := c.split()
	most := math.Inf(-1)
	each := of.each * float64(monomials(len(c.scale))-1)
	for k := of.least; k <= mixtureMost && (k == 1 || floats.Sum(c.weight) > each*float64(k)); k *= 2 {
		m := halves[0].maximise(ctx, halves[0].seeds(k, rng))
		if m == nil {
			continue
		}
		score := m.expect(halves[1], nil)
		if score > most+partGain {
			best, most = m, score
		} else if !of.all {
			break
		}
	}
	if best == nil {
		best = c.seeds(of.least, rng)
	}
	return c.maximise(ctx, best)
}

// maximise is the mixture of normals near the points, by expectation maximisation from m on:
// a part whose points become too few leaves them to the others. It is nil if none is left, or ctx is done.
func (c cloud) maximise(ctx context.Context, m normals) normals {
	last := math.Inf(-1)
	for range mixtureSteps {
		if ctx.Err() != nil {
			return nil
		}
		var sums mat.Dense
		score := m.expect(c, &sums)
		if score < last+mixtureGain {
			break
		}
		last = score
		next := make(normals, 0, len(m))
		for k := range m {
			if p := newComponent(c, sums.RawRowView(k)); p != nil {
				next = append(next, p)
			}
		}
		if m = next; len(m) == 0 {
			return nil
		}
		if len(m) == 1 && sums.RawMatrix().Rows == 1 {
			break // there is nothing to share
		}
	}
	return m
}

// seeds is a mixture of k normals about points that are far from each other (k-means++), so
// narrow that each point belongs to the nearest.
func (c cloud) seeds(k int, rng *rand.Rand) (m normals) {
	dim, square := len(c.scale), slices.Clone(c.weight)
	for len(m) < k {
		at := choose(square, rng.Float64()*floats.Sum(square))
		p := &component{mean: slices.Clone(c.x[at]), precision: mat.NewSymDense(dim, nil)}
		for i, s := range c.scale {
			p.precision.SetSym(i, i, 1/(seedWidth*seedWidth*s*s))
		}
		if m = append(m, p); len(m) == k {
			break
		}
		for j, w := range c.weight {
			d := w * distance(c.x[j], p.mean, c.scale)
			if len(m) > 1 {
				d = min(d, square[j])
			}
			square[j] = d
		}
	}
	return m
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
	like    *sumout.Q     // whose switches are summed out; nil if there are none
	dim     int
}

// newShape is that of q, on sides.
func newShape(q family.Q, sides []family.Side) shape {
	like, ok := q.(*sumout.Q)
	if !ok {
		return everywhere(q.Dim(), sides)
	}
	return shape{latents: sumout.Without(q.Dim(), like.Switches), sides: sides, like: like, dim: q.Dim()}
}

// everywhere is the shape of normals in all latents.
func everywhere(dim int, sides []family.Side) shape {
	return shape{latents: sumout.Without(dim, nil), sides: sides, dim: dim}
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
		mean, precision := make([]float64, s.dim), mat.NewSymDense(s.dim, nil)
		if s.like != nil {
			for _, w := range s.like.Switches {
				law := family.Marginal(s.like.Q, w.Latent)
				mean[w.Latent] = law.Mean()
				precision.SetSym(w.Latent, w.Latent, 1/(law.SD()*law.SD()))
			}
		}
		for k, i := range s.latents {
			mean[i] = p.mean[k]
			for l, j := range s.latents[:k+1] {
				precision.SetSym(i, j, p.precision.At(k, l))
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
	return s.over(mixture.New(logs, parts))
}

// over is a member with the given rest.
func (s shape) over(rest family.Q) family.Q {
	if s.like == nil {
		return rest
	}
	return s.like.Given.Over(rest)
}

// restOf is the part of a member that shapes are put over.
func restOf(q family.Q) family.Q {
	if s, ok := q.(*sumout.Q); ok {
		return s.Q
	}
	return q
}

// points are the latents of the normals, of draws.
func (s shape) points(draws [][]float64) [][]float64 {
	list := make([][]float64, len(draws))
	for k, z := range draws {
		list[k] = pick(z, s.latents)
	}
	return list
}
