package graph

import (
	"fmt"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// SampleN adds n latents with one prior, name[0], name[1], …, and returns their values.
func (m *Model) SampleN(name string, n int, prior Dist) []Expr {
	if n < 1 {
		m.fail("latent %q: %d latents", name, n)
		return nil
	}
	out := make([]Expr, n)
	for i := range out {
		out[i] = m.Sample(fmt.Sprintf("%s[%d]", name, i), prior)
	}
	return out
}

// A VectorDist is a distribution of vectors: Dirichlet, MultivariateNormal or Ordered.
type VectorDist struct {
	name   string
	n      int
	err    error
	params []Expr
	// with is the distribution with other parameters.
	with func(params []Expr) VectorDist
	// sample adds the latents, and returns the components.
	sample func(m *Model, name vectorName) []Expr
	// observe adds the observations; nil if the vector cannot be observed.
	observe func(m *Model, name string, xs []float64)
}

// A vectorName is that of a vector, in a row of a plate with the row's index.
type vectorName struct{ name, row string }

// latent is the name of latent k of those that what says.
func (n vectorName) latent(what string, k int) string {
	if n.row != "" {
		return fmt.Sprintf("%s%s[%s,%d]", n.name, what, n.row, k)
	}
	return fmt.Sprintf("%s%s[%d]", n.name, what, k)
}

// one is the name of the one latent that what says.
func (n vectorName) one(what string) string {
	if n.row != "" {
		return fmt.Sprintf("%s%s[%s]", n.name, what, n.row)
	}
	return n.name + what
}

// SampleVector adds latents whose values make up a vector with the given prior, and returns its
// components. A latent is one number with a prior given those before it, so a
// vector is made of several, as its distribution says. Components that are no
// latents themselves are recorded as deterministic expressions of the vector's name.
func (m *Model) SampleVector(name string, prior VectorDist) []Expr {
	if !m.outsidePlates("SampleVector") {
		return make([]Expr, prior.n)
	}
	return m.sampleVector(vectorName{name: name}, prior)
}

func (m *Model) sampleVector(name vectorName, prior VectorDist) []Expr {
	if !m.checkVector(fmt.Sprintf("latent %q", name.name), prior) {
		return make([]Expr, prior.n)
	}
	return prior.sample(m, name)
}

// SampleVector is Model.SampleVector in each row: latents theta_stick[0,0], theta_stick[0,1], …
// of row 0, and so on.
func (p *Plate) SampleVector(name string, prior VectorDist) []Expr {
	out := make([]Expr, prior.n)
	if !p.isOpen("SampleVector") {
		return out
	}
	var row []Expr
	p.t.do(func() {
		p.t.m.st.Block.Spoil()
		row = p.t.m.sampleVector(vectorName{name, p.index()}, p.t.vector(prior))
	})
	for k := range out {
		out[k] = p.t.expr(func() Expr { return row[k] })
	}
	return out
}

// ObserveVector is Model.ObserveVector in each row, of xs[i] in row i.
func (p *Plate) ObserveVector(name string, d VectorDist, xs [][]float64) {
	if p.isOpen("ObserveVector") && p.hasRows(fmt.Sprintf("observation %q", name), len(xs)) {
		p.t.do(func() { p.t.m.st.Block.Spoil(); p.t.m.ObserveVector(name, p.t.vector(d), xs[p.at()]) })
	}
}

// vector is d in the current row.
func (t *tape) vector(d VectorDist) VectorDist {
	if !slices.ContainsFunc(d.params, lang.Traced) {
		return d
	}
	return d.with(t.valuesOf(d.params))
}

// ObserveVector conditions on the vector xs having been drawn from d. Its components are
// observations of that name, in their order.
func (m *Model) ObserveVector(name string, d VectorDist, xs []float64) {
	what := fmt.Sprintf("observation %q", name)
	switch {
	case !m.outsidePlates("ObserveVector") || !m.checkVector(what, d):
	case d.observe == nil:
		m.fail("%s: %s cannot be observed; it is a prior", what, d.name)
	case len(xs) != d.n:
		m.fail("%s: %d numbers for a vector of %d", what, len(xs), d.n)
	default:
		d.observe(m, name, xs)
	}
}

// checkVector reports whether d can be used.
func (m *Model) checkVector(what string, d VectorDist) bool {
	switch {
	case d.name == "":
		m.fail("%s: the distribution is empty; make one with Dirichlet, MultivariateNormal or Ordered", what)
	case d.err != nil:
		m.fail("%s: %s: %v", what, d.name, d.err)
	default:
		return true
	}
	return false
}

// Dirichlet is the Dirichlet distribution of n ≥ 2 shares, which add up to 1, with the
// concentrations alpha. A vector θ of it is a stick that is broken n − 1 times: name_stick[k]
// is a latent with prior Beta(α_k, α_k+1 + … + α_n−1), the part of what is left that goes to
// θ_k. The shares are recorded under the vector's name.
func Dirichlet[V Value](alpha ...V) VectorDist {
	a := Numbers(alpha...)
	d := VectorDist{name: "Dirichlet", n: len(a), params: a, with: func(p []Expr) VectorDist { return Dirichlet(p...) }}
	if len(a) < 2 {
		d.err = fmt.Errorf("%d concentrations: there must be at least 2", len(a))
	}
	for i, x := range a {
		if v, known := x.IsConst(); known && lang.Positive.Broken(v) != "" && d.err == nil {
			d.err = fmt.Errorf("alpha[%d] = %v %s", i, v, lang.Positive.Broken(v))
		}
	}
	d.sample = func(m *Model, name vectorName) []Expr {
		theta, left := make([]Expr, len(a)), Expr{} // left is a logarithm
		for k := range len(a) - 1 {
			u, stick := m.inVector(name.latent("_stick", k), Beta(a[k], Sum(a[k+1:]...)))
			of := lang.UnitInterval
			if theta[k] = stick; k > 0 {
				u, of = Add(left, Log(stick)), lang.Positives
				theta[k] = Exp(u)
			}
			m.component(name.name, theta[k], of, u)
			left = Add(left, Log1p(Neg(stick)))
		}
		theta[len(a)-1] = Exp(left)
		m.component(name.name, theta[len(a)-1], lang.Positives, left)
		return theta
	}
	return d
}

// inVector adds a latent that components of a vector are computed from, and returns its unconstrained coordinate and its value.
func (m *Model) inVector(name string, prior Dist) (u, x Expr) {
	u = m.expr(m.st.Leaf(ir.Latent, len(m.latents)))
	x = m.Sample(name, prior)
	m.latents[len(m.latents)-1].inVector = true
	return u, x
}

// component records a component of a vector, whose value is that of a support at the unconstrained coordinate u.
func (m *Model) component(name string, x Expr, of lang.Support, u Expr) {
	m.Deterministic(name, x)
	last := &m.derived[len(m.derived)-1]
	last.component, last.support, last.u = true, of, u
}

// MultivariateNormal is the normal distribution of vectors with the given mean and covariance
// L·Lᵀ. chol is L, a lower triangular matrix with a positive diagonal: row i has i + 1 numbers,
// or as many as the mean with zeros above the diagonal. The components are latents or
// observations themselves, name[0], name[1], …: given those before it component i is normal
// with standard deviation L_ii around
//
//	mean_i + Σ_{j<i} L_ij·e_j,    e_j = (x_j − its mean given those before it)/L_jj
func MultivariateNormal[A, B Value](mean []A, chol [][]B) VectorDist {
	mu, l := Numbers(mean...), make([][]Expr, len(chol))
	for i, row := range chol {
		l[i] = Numbers(row...)
	}
	return multivariateNormal(mu, l)
}

func multivariateNormal(mu []Expr, l [][]Expr) VectorDist {
	d := VectorDist{name: "MultivariateNormal", n: len(mu), params: slices.Concat(mu, slices.Concat(l...)), err: checkCholesky(l, len(mu))}
	d.with = func(params []Expr) VectorDist {
		rows, left := make([][]Expr, len(l)), params[len(mu):]
		for i := range l {
			rows[i], left = left[:len(l[i])], left[len(l[i]):]
		}
		return multivariateNormal(params[:len(mu)], rows)
	}
	// given calls make with the distribution of each component, for its value.
	given := func(component func(i int, d Dist) Expr) {
		e := make([]Expr, len(mu))
		for i, loc := range mu {
			for j := range i {
				loc = Add(loc, Mul(l[i][j], e[j]))
			}
			e[i] = Div(Sub(component(i, Normal(loc, l[i][i])), loc), l[i][i])
		}
	}
	d.sample = func(m *Model, name vectorName) []Expr {
		x := make([]Expr, len(mu))
		given(func(i int, prior Dist) Expr {
			x[i] = m.Sample(name.latent("", i), prior)
			return x[i]
		})
		return x
	}
	d.observe = func(m *Model, name string, xs []float64) {
		given(func(i int, law Dist) Expr {
			m.Observe(name, law, xs[i])
			if m.err != nil {
				return Expr{}
			}
			m.dependent, m.obs[len(m.obs)-1].part = true, true
			return m.expr(m.st.Leaf(ir.Data, len(m.obs)-1))
		})
	}
	return d
}

// checkCholesky reports what is wrong with the Cholesky factor of an n × n matrix.
func checkCholesky(l [][]Expr, n int) error {
	if n == 0 || len(l) != n {
		return fmt.Errorf("a Cholesky factor of %d rows for a mean of %d", len(l), n)
	}
	for i, row := range l {
		if len(row) != i+1 && len(row) != n {
			return fmt.Errorf("row %d of the Cholesky factor has %d numbers: it must have %d, or %d with zeros", i, len(row), i+1, n)
		}
		for j, x := range row {
			v, known := x.IsConst()
			switch {
			case j > i && !(known && v == 0):
				return fmt.Errorf("the Cholesky factor is not lower triangular: [%d][%d] = %v", i, j, x)
			case known && !ir.IsFinite(v):
				return fmt.Errorf("the Cholesky factor has [%d][%d] = %v", i, j, v)
			case j == i && known && v <= 0:
				return fmt.Errorf("the Cholesky factor has [%d][%d] = %v on its diagonal, which must be positive", i, j, v)
			}
		}
	}
	return nil
}

// Ordered is the distribution of n ≥ 1 independent draws from d in ascending order: n! times
// their joint density where x_0 < x_1 < …. d is one of Normal, Logistic, LogNormal, HalfNormal,
// Exponential and Uniform, whose parameters may be expressions. The latents are name_least, the
// smallest of the draws, and name_gap[k] > 0, what is between two in the coordinate in which d
// is unconstrained (their difference, or that of their logarithms or logits). The values in
// their order are recorded under the vector's name.
func Ordered(n int, d Dist) VectorDist {
	v := VectorDist{name: "Ordered", n: max(n, 0), params: d.of.Params()}
	v.with = func(params []Expr) VectorDist { return Ordered(n, newDist(d.of.Law(), params...)) }
	switch {
	case n < 1:
		v.err = fmt.Errorf("%d values in order", n)
	case d.of.IsEmpty() || d.of.Err() != nil: // said by the least one's prior
	case !d.of.HasShares() || d.of.Support().Whole():
		v.err = fmt.Errorf("%s is none of Normal, Logistic, LogNormal, HalfNormal, Exponential and Uniform", d.of.Name())
	}
	v.sample = func(m *Model, name vectorName) []Expr {
		x := make([]Expr, n)
		if !m.checkDist(d.of, "latent "+name.name, Guard{}) {
			return x
		}
		s, u := d.of.Support(), Expr{}
		u, x[0] = m.inVector(name.one("_least"), Dist{d.of.Least(n)})
		m.component(name.name, x[0], s, u)
		for k := 1; k < n; k++ {
			_, gap := m.inVector(name.latent("_gap", k-1), Dist{d.of.Gap(n-k, u)})
			u = Add(u, gap)
			x[k] = s.Forward(u)
			m.component(name.name, x[k], s, u)
		}
		return x
	}
	return v
}
