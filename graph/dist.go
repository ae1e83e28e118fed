package graph

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/graph/kernel"
	"github.com/facetvi/facet/regions"
)

// A Dist is a distribution with its parameters: the prior of a latent, or the
// law of an observation. Parameters are those of gonum's stat/distuv or, for
// distributions that are not there, of SciPy. Make one with Normal, Gamma, ….
type Dist struct {
	law    *law
	params []Expr
	err    error
}

// A law is the form of a distribution, apart from its parameters. Its log
// density is written in the modelling language itself, so that what does not
// depend on a latent is computed when the model is built.
type law struct {
	name    string
	params  []param
	support support
	zero    bool // 0 may be observed, though a latent is never 0
	// logProb is the log density at x, inside the support.
	logProb func(x Expr, p []Expr) Expr
	// rand draws from the distribution. A law whose latents are transformed
	// draws the unconstrained coordinate, where nothing underflows; the others
	// draw the value itself. Parameters at the edge of what their rule admits
	// (a scale of 0, a probability of 1) are those that have been rounded.
	rand func(p []float64, rng *rand.Rand) float64
}

type param struct {
	name string
	rule rule
}

// A rule is what a constant parameter must satisfy.
type rule uint8

const (
	anyReal rule = iota
	positive
	probability // in (0, 1)
	count       // a whole number ≥ 0, constant
	bound       // constant
)

func (r rule) broken(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "must be finite"
	case r == positive && v <= 0:
		return "must be positive"
	case r == probability && (v <= 0 || v >= 1):
		return "must lie strictly between 0 and 1"
	case r == count && (v < 0 || v != math.Trunc(v)):
		return "must be a whole number ≥ 0"
	}
	return ""
}

func (r rule) constant() bool { return r == count || r == bound }

type support uint8

const (
	onReal     support = iota
	onPositive         // (0, ∞)
	onUnit             // (0, 1)
	onInterval         // [params 0, params 1], constants
	onCounts           // 0, 1, 2, …
	onTrials           // 1, 2, 3, …
	onBinary           // 0 or 1
	onUpTo             // 0 … params 0, a constant
)

func (s support) discrete() bool { return s >= onCounts }

func newDist(f *law, params ...Expr) Dist {
	d := Dist{law: f, params: params}
	for i, p := range params {
		v, ok := p.IsConst()
		switch {
		case !ok && f.params[i].rule.constant():
			d.err = fmt.Errorf("%s: %s must be a number: a latent there would move the edge of the support, where the density is not smooth",
				f.name, f.params[i].name)
		case ok && f.params[i].rule.broken(v) != "":
			d.err = fmt.Errorf("%s: %s = %v %s", f.name, f.params[i].name, v, f.params[i].rule.broken(v))
		case ok:
			params[i] = Expr{v: v} // to be read without the store
		}
		if d.err != nil {
			return d
		}
	}
	if f.support == onInterval && params[0].constValue() >= params[1].constValue() {
		d.err = fmt.Errorf("%s: the interval [%v, %v] is empty", f.name, params[0].constValue(), params[1].constValue())
	}
	return d
}

// constValue is the value of a constant expression.
func (x Expr) constValue() float64 {
	v, _ := x.IsConst()
	return v
}

func (d Dist) owner() *Model {
	m := owner(d.params...)
	for _, p := range d.params {
		if p.m != nil && p.m != m {
			return p.m
		}
	}
	return m
}

func (d Dist) logProb(x Expr) Expr { return d.law.logProb(x, d.params) }

// check reports why x cannot be drawn from d.
func (d Dist) check(x float64) error {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("the value %v is not finite", x)
	}
	whole := x == math.Trunc(x)
	ok, want := true, ""
	switch d.law.support {
	case onPositive:
		ok, want = x > 0, "a number > 0"
		if d.law.zero {
			ok, want = x >= 0, "a number ≥ 0"
		}
	case onUnit:
		ok, want = x > 0 && x < 1, "a number strictly between 0 and 1"
	case onInterval:
		lo, hi := d.params[0].constValue(), d.params[1].constValue()
		ok, want = x >= lo && x <= hi, fmt.Sprintf("a number in [%v, %v]", lo, hi)
	case onCounts:
		ok, want = whole && x >= 0, "a whole number ≥ 0"
	case onTrials:
		ok, want = whole && x >= 1, "a whole number ≥ 1"
	case onBinary:
		ok, want = x == 0 || x == 1, "0 or 1"
	case onUpTo:
		n := d.params[0].constValue()
		ok, want = whole && x >= 0 && x <= n, fmt.Sprintf("a whole number from 0 to %v", n)
	}
	if !ok {
		return fmt.Errorf("the value %v is outside the support of %s: %s", x, d.law.name, want)
	}
	return nil
}

// transform is the function that maps an unconstrained coordinate to the
// support, or kernel.None where the support is ℝ.
func (d Dist) transform() kernel.Function {
	switch d.law.support {
	case onPositive:
		return kernel.Exp
	case onUnit, onInterval:
		return kernel.Sigmoid
	}
	return kernel.None
}

// constrain maps an unconstrained coordinate u to the support and returns also
// the log-Jacobian log |dx/du|.
func (d Dist) constrain(u Expr) (x, logJac Expr) {
	switch d.law.support {
	case onPositive:
		return Exp(u), u
	case onUnit:
		return Sigmoid(u), Neg(Add(Softplus(u), Softplus(Neg(u))))
	case onInterval:
		lo, hi := d.params[0].constValue(), d.params[1].constValue()
		return Add(lo, Mul(hi-lo, Sigmoid(u))), Sub(math.Log(hi-lo), Add(Softplus(u), Softplus(Neg(u))))
	}
	return u, Expr{}
}

// times is data·b for an observed or latent x, where 0·b is 0 even for an
// infinite b: the term x·log p of a count x = 0.
func times[A, B Value](x A, b B) Expr {
	return apply2(x, b, kernel.MulData.Value2, (*store).mulData)
}

func lgammaOf[A Value](a A) Expr { return apply1(kernel.Lgamma, a) }

func sortHyperplane(h *regions.Hyperplane) {
	order := make([]int, len(h.Index))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(h.Index[a], h.Index[b]) })
	sorted := regions.Hyperplane{Const: h.Const}
	for _, i := range order {
		sorted.Index = append(sorted.Index, h.Index[i])
		sorted.Coef = append(sorted.Coef, h.Coef[i])
	}
	*h = sorted
}
