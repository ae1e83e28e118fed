package ir

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/regions"
)

// A quadratic is Σ form[i][j]·yᵢ·yⱼ for y = (1, variables…), and bounds of what rounding
// did to it, less the unit.
type quadratic struct {
	Variables  []ID
	form, size [][]float64
}

const (
	mostVariables = 8
	FactorUlps    = 64 * 0x1p-53
)

// Quadratic is id as one, if it is of degree two in latents and what is not affine.
func (s *Store) Quadratic(id ID) (q quadratic, ok bool) {
	c := s.Expand(id)
	type product struct {
		by   float64
		a, b Combination
	}
	var products []product
	linear := Combination{V: c.V}
	for i, t := range c.Terms {
		switch n := s.At(t.Atom); {
		case n.Kind == Binary && n.Fn == kernel.Mul:
			products = append(products, product{t.Coef, s.Expand(n.A), s.Expand(n.B)})
		case s.IsUnary(t.Atom, kernel.Square):
			products = append(products, product{t.Coef, s.Expand(n.A), s.Expand(n.A)})
		default:
			linear.Add(c.Coef(i), t.Atom)
		}
	}
	if len(products) == 0 {
		return q, false
	}
	at := map[ID]int{}
	number := func(c Combination) {
		for _, t := range c.Terms {
			if at[t.Atom] == 0 {
				q.Variables = append(q.Variables, t.Atom)
				at[t.Atom] = len(q.Variables)
			}
		}
	}
	number(linear)
	for _, p := range products {
		number(p.a)
		number(p.b)
	}
	n := len(q.Variables) + 1
	if n > mostVariables+1 {
		return q, false
	}
	q.form, q.size = Columns[float64](n, n), Columns[float64](n, n)
	for i, x := range linear.row(at) {
		q.add(0, i, x)
	}
	for _, p := range products {
		b := p.b.row(at)
		for i, x := range p.a.row(at) {
			for j, y := range b {
				q.add(i, j, p.by*x*y)
			}
		}
	}
	q.clear()
	return q, true
}

// row is the constant of c and then the coefficients of variables, by their numbers, which are from 1.
func (c *Combination) row(number map[ID]int) []float64 {
	y := make([]float64, 1+len(number))
	y[0] = c.V.V
	for _, t := range c.Terms {
		y[number[t.Atom]] = t.Coef
	}
	return y
}

// add adds x·yᵢ·yⱼ.
func (q *quadratic) add(i, j int, x float64) {
	for _, to := range [2][2]int{{i, j}, {j, i}} {
		q.form[to[0]][to[1]] += 0.5 * x
		q.size[to[0]][to[1]] += 0.5 * math.Abs(x)
	}
}

// clear makes 0 what may be 0.
func (q *quadratic) clear() {
	for i := range q.form {
		for j := range q.form {
			if math.Abs(q.form[i][j]) <= FactorUlps*q.size[i][j] {
				q.form[i][j] = 0
			}
		}
	}
}

// Factors are rows a and b with q = by·(a·y)·(b·y), if there are some.
//
// For a vector e with m = e·form·e ≠ 0 and u = form·e, q is ((u·y)² − y·D·y)/m, where D = uuᵀ − m·form. It is a product if D is ggᵀ: of (u ± g)·y.
// Here e is one of the variables, or where there are no squares the sum of two.
func (q *quadratic) Factors() (by float64, a, b []float64, ok bool) {
	n := len(q.form)
	var e []int
	for i := n - 1; i > 0 && e == nil; i-- {
		if q.form[i][i] != 0 {
			e = []int{i}
		}
	}
	for i := n - 1; i > 0 && e == nil; i-- {
		for j := i - 1; j > 0 && e == nil; j-- {
			if q.form[i][j] != 0 {
				e = []int{i, j}
			}
		}
	}
	u, sizeOfU, m := make([]float64, n), make([]float64, n), 0.0
	for _, i := range e {
		floats.Add(u, q.form[i])
		floats.Add(sizeOfU, q.size[i])
	}
	for _, i := range e {
		m += u[i]
	}
	d, size, top := Columns[float64](n, n), Columns[float64](n, n), -1
	for k := range n {
		for l := range n {
			d[k][l] = u[k]*u[l] - m*q.form[k][l]
			size[k][l] = sizeOfU[k]*sizeOfU[l] + math.Abs(m)*q.size[k][l]
		}
		if d[k][k] > 4*FactorUlps*size[k][k] && (top < 0 || d[k][k] > d[top][top]) {
			top = k
		}
	}
	a, b = make([]float64, n), make([]float64, n)
	g := make([]float64, n)
	if top >= 0 {
		floats.ScaleTo(g, 1/math.Sqrt(d[top][top]), d[top])
	}
	for k := range n {
		for l := range n {
			if gg := g[k] * g[l]; math.Abs(d[k][l]-gg) > 4*FactorUlps*(size[k][l]+math.Abs(gg)) {
				return 0, nil, nil, false
			}
		}
		a[k], b[k] = (u[k]+g[k])/m, (u[k]-g[k])/m
		for _, x := range [2]*float64{&a[k], &b[k]} {
			if math.Abs(*x) <= FactorUlps*(sizeOfU[k]+math.Abs(g[k]))/math.Abs(m) {
				*x = 0
			}
		}
	}
	return m, a, b, e != nil
}

// Ascending are the positions in y of the variables, ascending by node.
func (q *quadratic) Ascending() []int {
	order := make([]int, len(q.Variables))
	for k := range order {
		order[k] = k + 1
	}
	slices.SortFunc(order, func(i, j int) int { return int(q.Variables[i-1] - q.Variables[j-1]) })
	return order
}

// InsideOnLine says where id, a function of one latent, has a value, and at which numbers that changes, as far as it is known.
func (s *Store) InsideOnLine(id ID) (inside func(x float64) bool, edges []float64) {
	var batches []*regions.CurveBatch
	for _, e := range s.Domain(id) {
		steps, err := s.Steps(e.Positive)
		if err != nil {
			continue
		}
		curve := regions.NewCurve(steps)
		if len(curve.Latents()) == 0 || curve.WhyNot(0) != "" {
			continue
		}
		b := curve.Bind(1)
		b.In[0] = []float64{0}
		b.Values()
		edges, batches = append(edges, slices.DeleteFunc(slices.Clone(b.Solve(0)), math.IsNaN)...), append(batches, b)
	}
	return func(x float64) bool {
		return !slices.ContainsFunc(batches, func(b *regions.CurveBatch) bool {
			b.In[0] = []float64{x}
			return !(b.Values()[0] > 0)
		})
	}, edges
}
