package calibration

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
)

// A coefficient is a latent of a linear model, with a normal prior.
type coefficient struct {
	name     string
	mu, size float64
}

// A noise is the standard deviation of observations: known, if it has no name,
// or a latent with a prior. Below hi is all of the posterior mass, and below lo
// its density varies slowly, or is hardly anything.
type noise struct {
	known  float64
	name   string
	prior  law
	lo, hi float64
}

// Gaussian data are y_i ~ Normal(row_i(side_i)·b, noise), with b normal. They are
// conjugate given the noise, which is integrated by Gauss's rule on
// pieces. A row that is nil leaves its observation out.
type gaussian struct {
	y     []float64
	b     []coefficient
	row   func(i, side int) []float64
	noise noise
}

func (g gaussian) names() (names []string) {
	for _, b := range g.b {
		names = append(names, b.name)
	}
	if g.noise.name != "" {
		names = append(names, g.noise.name)
	}
	return names
}

func (g gaussian) logPrior(param []float64) (sum float64) {
	for j, b := range g.b {
		sum += normalLog(param[j], b.mu, b.size)
	}
	if g.noise.name != "" {
		sum += g.noise.prior.logProb(param[len(g.b)])
	}
	return sum
}

func (g gaussian) logProb(side []int, param []float64) (sum float64) {
	s := g.noise.known
	if g.noise.name != "" {
		s = param[len(g.b)]
	}
	for i, y := range g.y {
		row := g.row(i, side[i])
		if row == nil {
			continue
		}
		mu := 0.0
		for j, r := range row {
			mu += r * param[j]
		}
		sum += normalLog(y, mu, s)
	}
	return sum
}

// A reduced linear model has coefficients c that are standard normal and
// uncorrelated in the data: b = μ + size·V c, with V's columns the eigenvectors
// of the normal equations and lambda their eigenvalues.
type reduced struct {
	v         *mat.Dense
	lambda, g []float64 // eigenvalues, and the data's projections
	yy, n     float64
}

func (g gaussian) reduce(side []int) reduced {
	p := len(g.b)
	gram, xy := make([]float64, p*p), make([]float64, p)
	var r reduced
	scaled := make([]float64, p)
	for i, y := range g.y {
		row := g.row(i, side[i])
		if row == nil {
			continue
		}
		for j, b := range g.b {
			y -= row[j] * b.mu
			scaled[j] = row[j] * b.size
		}
		for j, a := range scaled {
			if a == 0 {
				continue
			}
			xy[j] += a * y
			for k, b := range scaled {
				gram[j*p+k] += a * b
			}
		}
		r.yy += y * y
		r.n++
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(p, gram), true) {
		panic("calibration: normal equations without eigenvalues")
	}
	r.lambda, r.v = eigen.Values(nil), new(mat.Dense)
	eigen.VectorsTo(r.v)
	var proj mat.VecDense
	proj.MulVec(r.v.T(), mat.NewVecDense(p, xy))
	r.g = proj.RawVector().Data
	for j := range r.lambda {
		r.lambda[j] = max(r.lambda[j], 0)
	}
	return r
}

// log is the log evidence given the noise's variance.
func (r reduced) log(variance float64) float64 {
	det, fitted := 1.0, 0.0
	for j, l := range r.lambda {
		d := 1 + l/variance
		det *= d
		fitted += r.g[j] * r.g[j] / d
	}
	return -0.5*(r.n*math.Log(2*math.Pi*variance)+r.yy/variance+math.Log(det)) + 0.5*fitted/(variance*variance)
}

func (g gaussian) given(side []int, fine int) (log float64, mean, square []float64) {
	r := g.reduce(side)
	if g.noise.name == "" {
		mean, square = g.moments(r, g.noise.known)
		return r.log(g.noise.known * g.noise.known), mean, square
	}
	nodes, weights := g.noise.nodes(fine)
	logs, top := make([]float64, len(nodes)), math.Inf(-1)
	for k, s := range nodes {
		logs[k] = r.log(s*s) + g.noise.prior.logProb(s) + weights[k]
		top = max(top, logs[k])
	}
	t := newTally(len(g.b)+1, 0)
	for k, s := range nodes {
		if logs[k] < top-40 {
			continue
		}
		m, q := g.moments(r, s)
		t.add(logs[k], [2][]float64{m, {s}}, [2][]float64{q, {s * s}}, nil)
	}
	mean, square = t.moments()
	return t.logTotal(), mean, square
}

// nodes are the values of the noise at which it is integrated, and their log
// weights: one piece from 0 to lo, for data that a model without noise fits, and
// pieces from there to hi, each longer than the one before.
func (n noise) nodes(fine int) (nodes, logWeights []float64) {
	lo, hi := n.lo, n.hi
	if fine > 1 {
		lo, hi = lo/1.5, hi*1.25
	}
	pieces := int(math.Ceil(math.Log(hi/lo)/0.25)) * fine
	edges := []float64{0}
	for k := range pieces + 1 {
		edges = append(edges, lo*math.Pow(hi/lo, float64(k)/float64(pieces)))
	}
	return legendre(edges, 10)
}

// legendre is the nodes and log weights of Gauss's rule between each two edges.
func legendre(edges []float64, n int) (nodes, logWeights []float64) {
	x, w := make([]float64, n), make([]float64, n)
	for k := range len(edges) - 1 {
		quad.Legendre{}.FixedLocations(x, w, edges[k], edges[k+1])
		nodes = append(nodes, x...)
		for _, v := range w {
			logWeights = append(logWeights, math.Log(v))
		}
	}
	return nodes, logWeights
}

// trapezoid is the nodes of the trapezoidal rule from lo to hi, and their
// distance, which is step/fine. If fine is above 1 the range is wider by a
// quarter.
func trapezoid(lo, hi, step float64, fine int) (nodes []float64, h float64) {
	if fine > 1 {
		lo, hi = lo-(hi-lo)/8, hi+(hi-lo)/8
	}
	n := int(math.Ceil((hi-lo)/step)) * fine
	h = (hi - lo) / float64(n)
	for k := range n + 1 {
		nodes = append(nodes, lo+h*float64(k))
	}
	return nodes, h
}

// moments are the means and mean squares of the coefficients given the noise.
func (g gaussian) moments(r reduced, s float64) (mean, square []float64) {
	p := len(g.b)
	mean, square = make([]float64, p), make([]float64, p)
	for j, b := range g.b {
		m, v := 0.0, 0.0
		for k, l := range r.lambda {
			d := 1 / (1 + l/(s*s))
			e := r.v.At(j, k)
			m += e * r.g[k] * d / (s * s)
			v += e * e * d
		}
		mean[j] = b.mu + b.size*m
		square[j] = mean[j]*mean[j] + b.size*b.size*v
	}
	return mean, square
}
