package lang

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// A Dist is a distribution with its parameters: the prior of a latent, or the
// law of an observation. Parameters are those of gonum's stat/distuv or, for
// distributions that are not there, of SciPy. Make one with Normal, Gamma, ….
type Dist struct {
	law    *Law
	params []Expr
	err    error
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
		case !ok && f.upTo != nil && f.params[i].rule == count && p.m.Guards().Stepped(p.id):
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

// IsEmpty reports whether d is no distribution, and Err what is wrong with its parameters.
func (d Dist) IsEmpty() bool { return d.law == nil }

func (d Dist) Err() error { return d.err }

// Law is the form of d, Name its name, and Params are its parameters.
func (d Dist) Law() *Law { return d.law }

func (d Dist) Name() string { return d.law.name }

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

// HasShares reports whether what Start leaves of the coordinate has shares and quantiles in closed form.
func (d Dist) HasShares() bool { return d.law.coordinate.shares != nil }

// HasResidual reports whether its density is known.
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

// HasChange reports whether data with the distribution d had better share the log density of one of them, to which each adds its Change.
func (d Dist) HasChange() bool {
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

// HasData reports whether a parameter is a number with a source.
func (d Dist) HasData() bool {
	return slices.ContainsFunc(d.params, func(x Expr) bool { return x.from != nil })
}
