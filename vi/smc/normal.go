package smc

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/internal/vec"
)

// A normal is a normal distribution of the latents with covariance
//
//	C = D·(I + Uᵀ·diag(λ − 1)·U)·D
//
// with standard deviations D and few orthonormal directions, the rows of U, in which the
// correlation matrix differs much from the identity.
type normal struct {
	mean, sd []float64
	u        [][]float64
	lambda   []float64
}

// How far from 1 an eigenvalue of the correlation matrix is of which a normal knows, and up to how
// many latents it knows any.
const (
	elongated = 1.5
	mostDense = 200
)

// newNormal has the moments of points with the given weights, of which about n are effective. The
// correlations are shrunk as if dim points without any had been seen as well.
func newNormal(points *mat.Dense, weights []float64, n, widen float64) *normal {
	rows, dim := points.Dims()
	q := &normal{}
	column := make([]float64, rows)
	for i := range dim {
		mean, variance := stat.PopMeanVariance(mat.Col(column, i, points), weights)
		q.mean = append(q.mean, mean)
		q.sd = append(q.sd, math.Sqrt(widen*max(variance, 1e-14*(1e-14+mean*mean))))
	}
	if dim < 2 || dim > mostDense {
		return q
	}
	var c mat.SymDense
	stat.CorrelationMatrix(&c, points, weights)
	keep := n / (n + float64(dim))
	for i := range dim {
		for j := range i {
			if v := c.At(i, j) * keep; !math.IsNaN(v) {
				c.SetSym(i, j, v)
			} else {
				c.SetSym(i, j, 0)
			}
		}
		c.SetSym(i, i, 1)
	}
	var e mat.EigenSym
	if !e.Factorize(&c, true) {
		return q
	}
	var v mat.Dense
	e.VectorsTo(&v)
	for k, l := range e.Values(nil) {
		if l = max(l, 1e-8); l > elongated || l < 1/elongated {
			q.u, q.lambda = append(q.u, mat.Col(nil, k, &v)), append(q.lambda, l)
		}
	}
	return q
}

// logDet is log det C.
func (q *normal) logDet() float64 {
	sum := 0.0
	for _, v := range q.sd {
		sum += 2 * math.Log(v)
	}
	for _, v := range q.lambda {
		sum += math.Log(v)
	}
	return sum
}

// A linear is a map of batches of points: by all numbers of a matrix, or by few rows and a diagonal.
type linear struct {
	first, second product // first may be empty
}

// A product is a sparse matrix.
type product struct {
	from, ref []int32
	w, zero   []float64
}

func (p *product) add(ref int32, w float64) { p.ref, p.w = append(p.ref, ref), append(p.w, w) }

func (p *product) end() {
	p.from, p.zero = append(p.from, int32(len(p.ref))), append(p.zero, 0)
}

func newProduct() product { return product{from: []int32{0}} }

// power is the map C^s in coordinates that left and right scale: diag(left)·(I + Uᵀ·diag(λ^s − 1)·U)·diag(right),
// for batches of n points.
func (q *normal) power(s float64, left, right func(sd float64) float64) *linear {
	dim, k := len(q.sd), len(q.u)
	m := &linear{first: newProduct(), second: newProduct()}
	gain := make([]float64, k)
	for j, l := range q.lambda {
		gain[j] = math.Pow(l, s) - 1
	}
	if 2*k < dim {
		for _, u := range q.u {
			for i, x := range u {
				m.first.add(int32(i), x*right(q.sd[i]))
			}
			m.first.end()
		}
		for i, sd := range q.sd {
			for j, u := range q.u {
				m.second.add(int32(j), left(sd)*gain[j]*u[i])
			}
			m.second.add(int32(k+i), left(sd)*right(sd))
			m.second.end()
		}
		return m
	}
	row := make([]float64, dim)
	for i, sd := range q.sd {
		clear(row)
		row[i] = 1
		for j, u := range q.u {
			vec.AddScaled(row, gain[j]*u[i], u)
		}
		for c, x := range row {
			m.second.add(int32(c), left(sd)*x*right(q.sd[c]))
		}
		m.second.end()
	}
	return m
}

func same(sd float64) float64    { return sd }
func one(float64) float64        { return 1 }
func inverse(sd float64) float64 { return 1 / sd }

// apply maps the columns of x, dim × n, to dst. room has space for as many numbers as x.
func (m *linear) apply(dst, x, room []float64, n int) {
	k := len(m.first.zero)
	if k > 0 {
		vec.Rows{A: x, Split: math.MaxInt32}.Sparse(room, n, m.first.zero, m.first.from, m.first.ref, m.first.w)
	}
	vec.Rows{A: room, B: x, Split: int32(k)}.Sparse(dst, n, m.second.zero, m.second.from, m.second.ref, m.second.w)
}
