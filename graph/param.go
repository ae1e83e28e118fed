package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// A ParamOption says where the values of a parameter lie, or how far its first steps go.
type ParamOption func(*paramSpec)

type paramSpec struct {
	law    *lang.Law
	bounds []Expr // of an interval
	scale  float64
	err    error
}

// Positive keeps a parameter positive: its coordinate is the logarithm.
func Positive() ParamOption { return func(s *paramSpec) { s.law, s.bounds = lang.PositiveParam, nil } }

// Between keeps a parameter strictly between lo and hi: its coordinate is the logit.
func Between(lo, hi float64) ParamOption {
	return func(s *paramSpec) {
		s.law, s.bounds = lang.IntervalParam, lang.Numbers([]float64{lo, hi})
		if !(lo < hi) || !ir.IsFinite(lo) || !ir.IsFinite(hi) {
			s.err = fmt.Errorf("the interval (%v, %v) is empty or has no end", lo, hi)
		}
	}
}

// Scale says about how far the start may be from the best value, in the parameter's own unit: the first steps of a fit go
// by it. Without it the scale is |start|, or 1 for a start of 0; and, with Positive or Between, 1 in the parameter's coordinate.
func Scale(x float64) ParamOption {
	return func(s *paramSpec) {
		if s.scale = x; !(x > 0) || !ir.IsFinite(x) {
			s.err = fmt.Errorf("the scale %v must be positive", x)
		}
	}
}

// Param adds a parameter and returns its value: a number that has no prior, and is learned
// with the fit. The fit maximises its ELBO over the parameters too, and so the evidence, as nearly as its
// family is right (empirical Bayes, variational maximum likelihood). A parameter
// may stand wherever a latent can, and in a guard beside latents, as a threshold. A guard on
// parameters alone is an error, for log r then jumps in the parameter itself. By default a
// parameter is a real number; see Positive, Between and Scale.
//
// Where the ELBO has no maximum in a parameter, as in a threshold above which no datum lies, a fit would move it on and
// on. Between keeps such a parameter where it can mean something; without it a fit has a warning.
//
// Parameters are coordinates of the density, the first ones, in the order of the Param
// calls, without prior and without Jacobian. So they come before all latents in
// Density.Latents; and before the first comparison in the program.
func (m *Model) Param(name string, start float64, options ...ParamOption) Expr {
	if m.open != nil {
		m.fail("parameter %q in the body of a plate: make it before the plate, for all rows; or several, of which Index chooses one by row", name)
		return Expr{}
	}
	spec := paramSpec{law: lang.RealParam}
	for _, o := range options {
		if o == nil {
			spec.err = errors.New("an option is nil; leave it out, or take Positive, Between or Scale")
			break
		}
		o(&spec)
	}
	m.takeName(aLatent, name)
	prior := lang.Unchecked(spec.law, append([]Expr{{}, lang.Number(1)}, spec.bounds...)...)
	s := lang.Support{}
	if spec.err == nil {
		s = prior.Support()
	}
	u := math.NaN()
	switch {
	case spec.err != nil:
		m.fail("parameter %q: %v", name, spec.err)
	case !ir.IsFinite(start) || !s.Contains(start) || !ir.IsFinite(s.Inverse(start)):
		m.fail("parameter %q: the start %v is not %v", name, start, s)
	case m.compiledOnce:
		m.fail("parameter %q comes after the model was compiled", name)
	case m.guards.Arr.Len() > 0:
		m.fail("parameter %q comes after a comparison (%v): make parameters before the first one", name, m.guards.Made[0].Place)
	default:
		u = s.Inverse(start)
	}
	unit := 1.0
	switch {
	case spec.scale > 0:
		const h = 0x1p-20
		unit = spec.scale * 2 * h / (s.Value(u+h) - s.Value(u-h))
	case spec.law == lang.RealParam && start != 0:
		unit = math.Abs(start)
	}
	prior.Params()[0], prior.Params()[1] = lang.Number(u), lang.Number(unit)
	at := m.params
	if at < len(m.latents) && m.err == nil {
		m.st.MakeRoom(at)
	}
	m.params++
	coord := m.st.Leaf(ir.Latent, at)
	l := latent{name: name, prior: prior, support: s, value: coord, place: m.here()}
	if m.err == nil {
		l.value = lang.ID(s.Forward(m.expr(coord)))
	}
	m.latents = slices.Concat(m.latents[:at], []latent{l}, m.latents[at:]) // a compiled model may share them
	return m.expr(l.value)
}

// Params is the number of parameters: the first so many of Latents.
func (d *Density) Params() int { return d.made().m.params }

// WithParams returns the density whose parameters start at the given coordinates: PriorStart and
// PriorDraw give them there, and so do Residuals. LogProb, a function of all coordinates, stays the
// same. It panics unless u has Params() coordinates.
func (d *Density) WithParams(u []float64) *Density {
	if len(u) != d.Params() {
		panic(fmt.Sprintf("graph: %d coordinates for %d parameters", len(u), d.Params()))
	}
	return &Density{compiled: d.compiled, data: d.data, params: append([]float64(nil), u...)}
}

// Loosened returns the density whose Residuals give parameters a normal distribution, in their
// coordinates, around where they start, with their scale as its standard deviation: to look for
// parameters by what is meant for latents. All else stays the same.
func (d *Density) Loosened() *Density {
	d.made()
	return &Density{compiled: d.compiled, data: d.data, params: d.params, loose: true}
}

// param is the coordinate where parameter i starts.
func (d *Density) param(i int) float64 {
	if d.params != nil {
		return d.params[i]
	}
	return lang.Plain(d.m.latents[i].prior.Params()[0])
}
