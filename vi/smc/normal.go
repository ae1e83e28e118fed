package smc

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/internal/vec"
)

// A normal is a normal distribution of the latents with covariance
//
//	C = D·(I + Uᵀ·diag(λ − 1)·U)·D
//
// with standard deviations D and few orthonormal directions, the rows of U, in which the
// correlation matrix differs much from the identity; or, of many latents, that of conditionals, perhaps with scales.
type normal struct {
	mean, sd []float64
	u        [][]float64
	lambda   []float64
	*conditionals
	*scales

	precision *linear // of q0, without scales
	constant  float64 // log q0 at its mean
}

// How far from 1 an eigenvalue of the correlation matrix is of which a normal knows, and up to how
// many latents it knows any.
const (
	elongated = 1.5
	mostDense = 200
)

// newNormal has the moments of points with the given weights, of which about n are effective. The
// correlations are shrunk as if dim points without any had been seen as well. With an elimination it has conditionals.
func newNormal(points *mat.Dense, weights []float64, n, widen float64, few *elimination) *normal {
	rows, dim := points.Dims()
	q := &normal{}
	column := make([]float64, rows)
	for i := range dim {
		mean, variance := stat.PopMeanVariance(mat.Col(column, i, points), weights)
		q.mean = append(q.mean, mean)
		q.sd = append(q.sd, math.Sqrt(widen*max(variance, 1e-14*(1e-14+mean*mean))))
	}
	if few != nil {
		q.conditionals = few.fit(q.columns(points, weights), q.sd, n)
		return q
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

// columns are points less the mean, times the root of their weights, each of length 1.
func (q *normal) columns(points *mat.Dense, weights []float64) [][]float64 {
	rows, dim := points.Dims()
	columns := make([][]float64, dim)
	for i := range columns {
		c := mat.Col(nil, i, points)
		for k := range c {
			if c[k] -= q.mean[i]; weights != nil {
				c[k] *= math.Sqrt(weights[k])
			}
		}
		if norm := floats.Norm(c, 2); norm > 1e-7*(1e-7+math.Abs(q.mean[i]))*math.Sqrt(float64(rows)) {
			floats.Scale(1/norm, c)
		} else {
			clear(c)
		}
		columns[i] = c
	}
	return columns
}

// logDet is log det C.
func (q *normal) logDet() float64 {
	sum := 0.0
	if q.conditionals != nil {
		for _, v := range q.t {
			sum += 2 * math.Log(v)
		}
		return sum
	}
	for _, v := range q.sd {
		sum += 2 * math.Log(v)
	}
	for _, v := range q.lambda {
		sum += math.Log(v)
	}
	return sum
}

// power is the map C^s in coordinates that left and right scale: diag(left)·(I + Uᵀ·diag(λ^s − 1)·U)·diag(right),
// for batches of n points.
func (q *normal) power(s float64, left, right func(sd float64) float64) *linear {
	if q.conditionals != nil {
		return q.conditionals.power(s)
	}
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
