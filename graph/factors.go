package graph

import (
	"math"
	"slices"

	"github.com/facetvi/facet/graph/kernel"
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
	add := func(i, j int, x float64) {
		for _, to := range [2][2]int{{i, j}, {j, i}} {
			q.form[to[0]][to[1]] += 0.5 * x
			q.size[to[0]][to[1]] += 0.5 * math.Abs(x)
		}
	}
	row := func(c combination) []float64 {
		y := make([]float64, n)
		y[0] = c.v.v
		for _, t := range c.terms {
			y[at[t.atom]] = t.coef
		}
		return y
	}
	for i, x := range row(linear) {
		add(0, i, x)
	}
	for _, p := range products {
		b := row(p.b)
		for i, x := range row(p.a) {
			for j, y := range b {
				add(i, j, p.by*x*y)
			}
		}
	}
	for i := range n {
		for j := range n {
			if math.Abs(q.form[i][j]) <= factorUlps*q.size[i][j] {
				q.form[i][j] = 0
			}
		}
	}
	return q, true
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
// If yᵢ² has a coefficient M, q = (M·yᵢ + u·y)²/M − (y·D·y)/M, where u is row i of the form without yᵢ,
// and D = uuᵀ − M·form on the other variables. It is a product if D is ggᵀ: of M·yᵢ + (u ± g)·y.
// If there are no squares, but yᵢ·yⱼ has 2M, it has to be 2M·(yᵢ + u·y)·(yⱼ + v·y) with u and
// v the rows j and i of the form over M.
func (q *quadratic) factors() (by float64, a, b []float64, ok bool) {
	n := len(q.form)
	for i := n - 1; i > 0; i-- {
		if q.form[i][i] != 0 {
			return q.factorsBySquare(i)
		}
	}
	for i := n - 1; i > 0; i-- {
		for j := i - 1; j > 0; j-- {
			if q.form[i][j] != 0 {
				return q.factorsByProduct(i, j)
			}
		}
	}
	return 0, nil, nil, false
}

// sameButRounding reports whether x and y are equal but for rounding of numbers of a size.
func sameButRounding(x, y, size float64) bool { return math.Abs(x-y) <= factorUlps*size }

// factorsBySquare are the factors where yᵢ² has a coefficient.
func (q *quadratic) factorsBySquare(i int) (by float64, a, b []float64, ok bool) {
	n, m := len(q.form), q.form[i][i]
	d, size := squareMatrix(n), squareMatrix(n)
	top := -1
	for k := range n {
		for l := range n {
			if k == i || l == i {
				continue
			}
			d[k][l] = q.form[i][k]*q.form[i][l] - m*q.form[k][l]
			size[k][l] = q.size[i][k]*q.size[i][l] + math.Abs(m)*q.size[k][l]
		}
		if d[k][k] > 4*factorUlps*size[k][k] && (top < 0 || d[k][k] > d[top][top]) {
			top = k
		}
	}
	a, b = make([]float64, n), make([]float64, n)
	g := make([]float64, n)
	if top >= 0 {
		for k := range g {
			g[k] = d[top][k] / math.Sqrt(d[top][top])
		}
	}
	for k := range n {
		for l := range n {
			if !sameButRounding(d[k][l], g[k]*g[l], 4*(size[k][l]+math.Abs(g[k]*g[l]))) {
				return 0, nil, nil, false
			}
		}
		a[k], b[k] = (q.form[i][k]+g[k])/m, (q.form[i][k]-g[k])/m
		for _, x := range [2]*float64{&a[k], &b[k]} {
			if math.Abs(*x) <= factorUlps*(q.size[i][k]+math.Abs(g[k]))/math.Abs(m) {
				*x = 0
			}
		}
	}
	a[i], b[i] = 1, 1
	return m, a, b, true
}

// factorsByProduct are the factors where there are no squares, but yᵢ·yⱼ has a coefficient.
func (q *quadratic) factorsByProduct(i, j int) (by float64, a, b []float64, ok bool) {
	n, m := len(q.form), q.form[i][j]
	a, b = make([]float64, n), make([]float64, n)
	for k := range n {
		a[k], b[k] = q.form[j][k]/m, q.form[i][k]/m
	}
	a[j], b[i] = 0, 0
	for k := range n {
		for l := range n {
			if !sameButRounding(q.form[k][l], m*(a[k]*b[l]+a[l]*b[k]), q.size[k][l]+math.Abs(m*a[k]*b[l])+math.Abs(m*a[l]*b[k])) {
				return 0, nil, nil, false
			}
		}
	}
	return 2 * m, a, b, true
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
	slices.Sort(roots)
	roots = slices.Compact(roots)
	if len(roots) == 0 {
		return constantGuard(m, holds(0)), true
	}
	beyond := func(x float64, by float64) Guard {
		return m.halfSpace(regions.Hyperplane{Index: []int{latent}, Coef: []float64{by}, Const: -by * x}, regions.Rounding{Const: factorUlps * math.Abs(x)}, nil)
	}
	g = constantGuard(m, false)
	for k := range len(roots) + 1 {
		in := constantGuard(m, true)
		at := 0.0
		switch {
		case k == 0:
			at = roots[0] - 1 - math.Abs(roots[0])
		case k == len(roots):
			at = roots[k-1] + 1 + math.Abs(roots[k-1])
		default:
			at = roots[k-1] + (roots[k]-roots[k-1])/2
		}
		if !holds(at) {
			continue
		}
		if k > 0 {
			in = And(in, beyond(roots[k-1], 1))
		}
		if k < len(roots) {
			in = And(in, beyond(roots[k], -1))
		}
		g = Or(g, in)
	}
	return g, true
}
