package lang

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/residuals"
)

// A Dist is a distribution with its parameters: the prior of a latent, or the
// law of an observation. Parameters are those of gonum's stat/distuv or, for
// distributions that are not there, of SciPy. Make one with Normal, Gamma, ….
type Dist struct {
	law    *Law
	params []Expr
	err    error
}

// A Law is the form of a distribution, apart from its parameters. Its log
// density is written in the modelling language itself, so that what does not
// depend on a latent is computed when the model is built.
type Law struct {
	name    string
	params  []param
	support Support
	// supportAt is the support where it depends on the parameters; nil where it does not.
	supportAt func(p []Expr) Support
	// check is what is wrong with the parameters together; nil where each has its rule alone.
	check func(p []Expr) error
	// upTo is the law f where a parameter that must be a whole number changes by branches, and is at most most; nil where there is none.
	upTo func(f Law, most float64) *Law
	// logProb is the log density at x, inside the support.
	logProb func(x Expr, p []Expr) Expr
	// change, if there is one, is the log density at the data x less that at the
	// data from: sums of functions of data times functions of parameters.
	change func(x, from Expr, p []Expr) Expr
	// rand draws from the distribution. A law whose latents are transformed
	// draws the unconstrained coordinate, where nothing underflows; the others
	// draw the value itself. Parameters at the edge of what their rule admits
	// (a scale of 0, a probability of 1) are those that have been rounded.
	rand func(p []float64, rng *rand.Rand) float64
	// values stores draws from distributions with a transform in dst, before it is applied, or NaN where a few tries were in vain;
	// nil for a loop over rand.
	values func(dst []float64, p func(k int) []float64, rng *rand.Rand)

	coordinate coordinate
	tails      tails
	moments    moments

	// outermost is the law of a recorded value, with masses beside a density: no other law
	// is made of it.
	outermost bool
	// noPrior says why no latent can have the law, where its support has no transform.
	noPrior string
}

// A coordinate is what is known of the unconstrained coordinate of latents with a law. Laws of whole numbers have none.
type coordinate struct {
	// start is a central value and a scale, about one standard deviation.
	start func(p []float64) (center, scale float64)
	// starts is start with rows of parameters, which takes less time; nil for a loop over it. It uses at, as long as p.
	starts func(center, scale []float64, p [][]float64, at []float64)
	// residual is the log density of e, where center + scale·e, as start has them,
	// is the coordinate.
	residual func(e float64, p []float64) float64
	// shares is the distribution of e, for laws of which it is known.
	shares *residuals.Shares
	// light says of laws on the line that their tails fall off as those of a normal.
	light bool
}

// tails are the distribution function of a law, and what follows from it.
type tails struct {
	// logCDF is log P(X ≤ x) and logCCDF log P(X > x), for x inside the support or at its
	// ends. A law without them has no distribution function.
	logCDF, logCCDF func(x Expr, p []Expr) Expr
	// logMass is log P(a < X ≤ b), where there is more to say of it than that it is a difference.
	logMass func(a, b Expr, p []Expr) Expr
	// quantile is the x with F(x) = Φ(u), of laws with a density; nil where it is not known.
	quantile func(u Expr, p []Expr) Expr
	// rises says of each parameter of counts whether they rise with it, or fall: P(X > x) does, for
	// all x. It is nil where that is not so, or where there is a last count anyway.
	rises []bool
	// weighted laws have a category for each parameter, with a probability in proportion to it.
	weighted bool
}

// of is one of the tails: the upper one, P(X > x), or the lower one.
func (t *tails) of(upper bool) func(x Expr, p []Expr) Expr {
	if upper {
		return t.logCCDF
	}
	return t.logCDF
}

// moments are the mean and the variance of a law; nil where it has none in closed form. They mean
// nothing where they do not exist for the parameters.
type moments struct{ mean, variance func(p []Expr) Expr }

// known reports whether there are both.
func (m moments) known() bool { return m.mean != nil && m.variance != nil }

// A param is a parameter with the rule that it must keep.
type param struct {
	name string
	rule Rule
}

// New is the distribution of law f with these parameters.
func New(f *Law, params ...Expr) Dist {
	d := Dist{law: f, params: params}
	if slices.ContainsFunc(params, Traced) {
		return d // is made in each row
	}
	for i, p := range params {
		v, ok := p.IsConst()
		switch {
		case !ok && f.upTo != nil && f.params[i].rule == count && p.m.Stepped(p.id):
			d.law, d.err = f.ofCounts(i, p)
		case !ok && f.params[i].rule.constant():
			d.err = fmt.Errorf("%s: %s must be a number: a latent there would move the edge of the support, where the density is not smooth",
				f.name, f.params[i].name)
		case ok && f.params[i].rule.Broken(v) != "":
			d.err = fmt.Errorf("%s: %s = %v %s", f.name, f.params[i].name, v, f.params[i].rule.Broken(v))
		case ok:
			params[i] = Expr{v: v} // to be read without the store
		}
		if d.err != nil {
			return d
		}
	}
	if f.check != nil {
		if err := f.check(params); err != nil {
			d.err = fmt.Errorf("%s: %w", f.name, err)
			return d
		}
	}
	if s := d.Support(); s.lo >= s.hi && !s.whole || s.lo > s.hi {
		d.err = fmt.Errorf("%s: the interval [%v, %v] is empty", f.name, s.lo, s.hi)
	}
	return d
}

// Unchecked is New without checks, for parameters that need none.
func Unchecked(f *Law, params ...Expr) Dist { return Dist{law: f, params: params} }

// ofCounts is the law where parameter i changes by branches.
func (f *Law) ofCounts(i int, p Expr) (*Law, error) {
	most := 0.0
	for _, x := range p.m.Values(p.id) {
		v, _ := p.m.Store().IsConst(x)
		if why := f.params[i].rule.Broken(v); why != "" {
			return f, fmt.Errorf("%s: %s = %v can be %v, and %s", f.name, f.params[i].name, p, v, why)
		}
		most = max(most, v)
	}
	return f.upTo(*f, most), nil
}

// constValue is the value of a constant expression.
func (x Expr) constValue() float64 {
	v, _ := x.IsConst()
	return v
}

// IsEmpty reports whether d is no distribution, and Err what is wrong with its parameters.
func (d Dist) IsEmpty() bool { return d.law == nil }
func (d Dist) Err() error    { return d.err }

// Law is the form of d, Name its name, and Params are its parameters.
func (d Dist) Law() *Law      { return d.law }
func (d Dist) Name() string   { return d.law.name }
func (d Dist) Params() []Expr { return d.params }

// With is d with other parameters, of which nothing is checked.
func (d Dist) With(params []Expr) Dist {
	d.params = params
	return d
}

// Param is the name of parameter i, and its rule.
func (d Dist) Param(i int) (name string, rule Rule) {
	return d.law.params[i].name, d.law.params[i].rule
}

// NoPrior is why no latent can have d, where its support has no transform; "" if one can.
func (d Dist) NoPrior() string {
	if s := d.Support(); s.whole || s.forward != nil {
		return ""
	}
	return fmt.Sprintf("%s is for observations: %s", d.law.name, d.law.noPrior)
}

// Outermost reports whether d is of recorded values, of which some have probabilities of their own beside a density.
func (d Dist) Outermost() bool { return d.law.outermost }

// Start is a central value and a scale, about one standard deviation, of the unconstrained coordinate, for these parameters.
func (d Dist) Start(p []float64) (center, scale float64) { return d.law.coordinate.start(p) }

// HasShares reports whether that distribution has shares and quantiles in closed form.
func (d Dist) HasShares() bool { return d.law.coordinate.shares != nil }

// HasResidual reports whether it is known how what Start leaves of the coordinate is distributed.
func (d Dist) HasResidual() bool { return d.law.coordinate.residual != nil }

// Quantile is the x with F(x) = Φ(u); ok is false where it is not known.
func (d Dist) Quantile(u Expr) (x Expr, ok bool) {
	if d.law.tails.quantile == nil {
		return u, false
	}
	return d.law.tails.quantile(u, d.params), true
}

// Nodes are the parameters that are not plain numbers.
func (d Dist) Nodes() []ir.ID {
	var ids []ir.ID
	for _, x := range d.params {
		if x.m != nil {
			ids = append(ids, x.id)
		}
	}
	return ids
}

// Alike reports whether d and e have the same support.
func (d Dist) Alike(e Dist) bool {
	return d.law == e.law && slices.EqualFunc(d.params, e.params, func(x, y Expr) bool { return (x.m == nil) == (y.m == nil) && ir.SameBits(x.v, y.v) })
}

// Shares reports whether data with the distribution d had better share the log density of one of them, to which each adds its Change.
func (d Dist) Shares() bool {
	return d.law.change != nil && slices.ContainsFunc(d.params, func(p Expr) bool { return !small(p, maxSmallShape) })
}

// Change is the log density at the data x less that at the data from.
func (d Dist) Change(x, from Expr) Expr { return d.law.change(x, from, d.params) }

// String writes the distribution with its parameters.
func (d Dist) String() string {
	if d.law == nil {
		return "no distribution"
	}
	list := make([]string, len(d.params))
	for i, p := range d.params {
		list[i] = fmt.Sprintf("%s = %v", d.law.params[i].name, p)
	}
	return fmt.Sprintf("%s(%s)", d.law.name, strings.Join(list, ", "))
}

// LogProb is the log density at x.
func (d Dist) LogProb(x Expr) Expr { return d.law.logProb(x, d.params) }

// Support is the support at d's parameters.
func (d Dist) Support() Support {
	if d.law.supportAt != nil {
		return d.law.supportAt(d.params)
	}
	return d.law.support
}

// Transformed reports whether a latent is a transform of its coordinate.
func (d Dist) Transformed() bool { return d.Support().fn != kernel.None }

// Check reports why x cannot be drawn from d. NaN is what is missing.
func (d Dist) Check(x float64) error {
	if math.IsNaN(x) {
		return nil
	}
	if math.IsInf(x, 0) {
		return fmt.Errorf("the value %v is not finite", x)
	}
	if s := d.Support(); !s.Contains(x) {
		return fmt.Errorf("the value %v is outside the support of %s: %v", x, d.law.name, s)
	}
	return nil
}

// times is data·b for an observed or latent x, where 0·b is 0 even for an
// infinite b: the term x·log p of a count x = 0.
func times[A, B Value](x A, b B) Expr {
	return apply2(x, b, kernel.MulData.Value2, (*ir.Store).MulData)
}

// abs is |a|.
func abs[A Value](a A) Expr { return apply1(kernel.Abs, a) }

// HasData reports whether a parameter is a number with a source.
func (d Dist) HasData() bool {
	return slices.ContainsFunc(d.params, func(x Expr) bool { return x.from != nil })
}
