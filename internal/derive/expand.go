package derive

import (
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// parts are the monomials of x that are no number: those of degree 1, and all.
func (p *products) parts(x *poly) (linear, all poly) {
	for k, m := range x.at {
		if m == 0 {
			continue
		}
		all.at, all.col = append(all.at, m), append(all.col, x.col[k])
		if p.degree(m) == 1 {
			linear.at, linear.col = append(linear.at, m), append(linear.col, x.col[k])
		}
	}
	return linear, all
}

// expand is fn of one or two polynomials to second order: f(v + δ) = f(v) + Σ f_a·δ_a + ½ Σ f_ab·δ_a·δ_b.
func (p *products) expand(fn kernel.Function, rows int, args ...*poly) (*poly, bool) {
	n := len(args)
	value, linear, rest := make([][]float64, n), make([]poly, n), make([]poly, n)
	varies := make([]bool, n)
	for a, q := range args {
		value[a] = q.column(0, rows)
		linear[a], rest[a] = p.parts(q)
		varies[a] = len(rest[a].at) > 0
	}
	out := &poly{}
	y := out.column(0, rows)
	slope, curvature := make([][]float64, n), make([][]float64, n*n)
	for i := range slope {
		slope[i] = make([]float64, rows)
	}
	for i := range curvature {
		curvature[i] = make([]float64, rows)
	}
	x, s, c := make([]float64, n), make([]float64, n), make([]float64, n*n)
	for r := range rows {
		for a := range x {
			x[a] = value[a][r]
		}
		y[r] = fn.Expand(x, varies, s, c)
		sum := y[r]
		for a, v := range s {
			slope[a][r] = v
			sum += v
		}
		for ab, v := range c {
			curvature[ab][r] = v
			sum += v
		}
		if !ir.IsFinite(sum) {
			return nil, false
		}
	}
	for a := range args {
		out.addTimes(slope[a], &rest[a])
		for b := range a + 1 {
			if !varies[a] || !varies[b] {
				continue
			}
			half := curvature[a*n+b]
			if a == b {
				for r := range half {
					half[r] /= 2
				}
			}
			out.addTimes(half, p.multiply(&linear[a], &linear[b], rows))
		}
	}
	return out, true
}
