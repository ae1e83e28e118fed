package graph

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph/internal/kernel"
	"github.com/facetvi/facet/regions"
)

// What is 0 on planes alone is a formula of their signs, so that it is one guard with
// others on these planes:
//
//	a polynomial of degree two that is a product  ─▶ its factors have one sign
//	a function of one latent                      ─▶ where the latent is between its roots

// A quadratic is Σ form[i][j]·yᵢ·yⱼ for y = (1, variables…), and bounds of what rounding
// did to it, less the unit.
type quadratic struct {
	variables  []nodeID
	form, size [][]float64
}

const (
	mostVariables = 8
	factorUlps    = 64 * 0x1p-53
)

// quadratic is id as one, if it is of degree two in latents and what is not affine.
func (s *store) quadratic(id nodeID) (q quadratic, ok bool) {
	c := s.expand(id)
	type product struct {
		by   float64
		a, b combination
	}
	var products []product
	linear := combination{v: c.v}
	for i, t := range c.terms {
		switch n := s.at(t.atom); {
		case n.kind == kBinary && n.fn == kernel.Mul:
			products = append(products, product{t.coef, s.expand(n.a), s.expand(n.b)})
		case s.isUnary(t.atom, kernel.Square):
			products = append(products, product{t.coef, s.expand(n.a), s.expand(n.a)})
		default:
			linear.add(c.coef(i), t.atom)
		}
	}
	if len(products) == 0 {
		return q, false
	}
	at := map[nodeID]int{}
	number := func(c combination) {
		for _, t := range c.terms {
			if at[t.atom] == 0 {
				q.variables = append(q.variables, t.atom)
				at[t.atom] = len(q.variables)
			}
		}
	}
	number(linear)
	for _, p := range products {
		number(p.a)
		number(p.b)
	}
	n := len(q.variables) + 1
	if n > mostVariables+1 {
		return q, false
	}
	q.form, q.size = squareMatrix(n), squareMatrix(n)
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
func (c *combination) row(number map[nodeID]int) []float64 {
	y := make([]float64, 1+len(number))
	y[0] = c.v.v
	for _, t := range c.terms {
		y[number[t.atom]] = t.coef
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
			if math.Abs(q.form[i][j]) <= factorUlps*q.size[i][j] {
				q.form[i][j] = 0
			}
		}
	}
}

func squareMatrix(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	return m
}

// factors are rows a and b with q = by·(a·y)·(b·y), if there are some.
//
// For a vector e with m = e·form·e ≠ 0 and u = form·e, q is ((u·y)² − y·D·y)/m, where D = uuᵀ − m·form. It is a product if D is ggᵀ: of (u ± g)·y.
// Here e is one of the variables, or where there are no squares the sum of two.
func (q *quadratic) factors() (by float64, a, b []float64, ok bool) {
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
	d, size, top := squareMatrix(n), squareMatrix(n), -1
	for k := range n {
		for l := range n {
			d[k][l] = u[k]*u[l] - m*q.form[k][l]
			size[k][l] = sizeOfU[k]*sizeOfU[l] + math.Abs(m)*q.size[k][l]
		}
		if d[k][k] > 4*factorUlps*size[k][k] && (top < 0 || d[k][k] > d[top][top]) {
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
			if gg := g[k] * g[l]; math.Abs(d[k][l]-gg) > 4*factorUlps*(size[k][l]+math.Abs(gg)) {
				return 0, nil, nil, false
			}
		}
		a[k], b[k] = (u[k]+g[k])/m, (u[k]-g[k])/m
		for _, x := range [2]*float64{&a[k], &b[k]} {
			if math.Abs(*x) <= factorUlps*(sizeOfU[k]+math.Abs(g[k]))/math.Abs(m) {
				*x = 0
			}
		}
	}
	return m, a, b, e != nil
}

// positiveFactors is the guard id > 0 of a product of two factors.
func (m *Model) positiveFactors(id nodeID) (g Guard, ok bool) {
	q, ok := m.st.quadratic(id)
	if !ok {
		return g, false
	}
	by, a, b, ok := q.factors()
	if !ok {
		return g, false
	}
	side := func(row []float64, sign float64) Guard {
		c := combination{v: rounded{v: sign * row[0], err: factorUlps * math.Abs(row[0])}}
		for _, k := range q.ascending() {
			c.add(rounded{v: sign * row[k], err: factorUlps * math.Abs(row[k])}, q.variables[k-1])
		}
		return m.positiveThere(m.st.node(c))
	}
	by = math.Copysign(1, by)
	return Or(And(side(a, 1), side(b, by)), And(side(a, -1), side(b, -by))), true
}

// ascending are the positions in y of the variables, ascending by node.
func (q *quadratic) ascending() []int {
	order := make([]int, len(q.variables))
	for k := range order {
		order[k] = k + 1
	}
	slices.SortFunc(order, func(i, j int) int { return int(q.variables[i-1] - q.variables[j-1]) })
	return order
}

// positiveOnLine is the guard id > 0 of a function of one latent that has roots.
func (m *Model) positiveOnLine(id nodeID) (g Guard, ok bool) {
	steps, err := m.st.steps(id)
	if err != nil {
		return g, false
	}
	latent := -1
	for _, x := range steps {
		if x.Kind == regions.Coordinate {
			if latent >= 0 {
				return g, false
			}
			latent = x.A
		}
	}
	curve := regions.NewCurve(steps)
	if latent < m.params || curve.WhyNot(0) != "" {
		return g, false
	}
	if _, found := m.st.pole(id); found {
		return g, false
	}
	b := curve.Bind(1)
	holds := func(x float64) bool {
		b.In[0] = []float64{x}
		return b.Values()[0] > 0
	}
	holds(0)
	roots := slices.DeleteFunc(slices.Clone(b.Solve(0)), math.IsNaN)
	inside, edges := m.st.insideOnLine(id)
	roots = slices.DeleteFunc(roots, func(x float64) bool {
		return slices.ContainsFunc(edges, func(e float64) bool { return math.Abs(x-e) <= leastRoot+factorUlps*math.Abs(e) })
	})
	breaks := slices.Concat(roots, edges)
	slices.Sort(breaks)
	breaks = slices.Compact(breaks)
	return m.positiveBetween(latent, breaks, func(x float64) truth {
		if !inside(x) {
			return open
		}
		return truthOf(holds(x))
	}), true
}

// positiveBetween is the guard that a latent is in the intervals between breaks in which at is always. Where it is open, the guard is
// what it is in the interval below, or in the first one that is not.
func (m *Model) positiveBetween(latent int, breaks []float64, at func(x float64) truth) Guard {
	truths := make([]truth, len(breaks)+1)
	for k := range truths {
		x := 0.0
		switch {
		case len(breaks) == 0:
		case k == 0:
			x = breaks[0] - 1 - math.Abs(breaks[0])
		case k == len(breaks):
			x = breaks[k-1] + 1 + math.Abs(breaks[k-1])
		default:
			x = breaks[k-1] + (breaks[k]-breaks[k-1])/2
		}
		truths[k] = at(x)
	}
	beyond := func(x float64) Guard {
		return m.halfSpace(regions.Hyperplane{Index: []int{latent}, Coef: []float64{1}, Const: -x}, regions.Rounding{Const: factorUlps * math.Abs(x)}, nil)
	}
	last := slices.IndexFunc(truths, func(t truth) bool { return t != open })
	if last < 0 {
		return constantGuard(m, false)
	}
	g := constantGuard(m, truths[last] == always)
	for k := last + 1; k < len(truths); k++ {
		switch {
		case truths[k] == open || truths[k] == truths[last]:
			continue
		case truths[k] == always:
			g = Or(g, beyond(breaks[k-1]))
		default:
			g = And(g, Not(beyond(breaks[k-1])))
		}
		last = k
	}
	return g
}

const leastRoot = 1e-290 // rounding puts roots that are 0 no further away

// insideOnLine says where id, a function of one latent, has a value, and at which numbers that changes, as far as it is known.
func (s *store) insideOnLine(id nodeID) (inside func(x float64) bool, edges []float64) {
	var batches []*regions.CurveBatch
	for _, e := range s.domain(id) {
		steps, err := s.steps(e.positive)
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
