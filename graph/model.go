package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// A Model is a probabilistic program as it is being written: latents with
// priors, observations, factors, and branches. Build it with ordinary Go code,
// then call Compile. The first mistake is kept and returned by Compile, so that
// model code reads as mathematics. A Model is not safe for concurrent use.
type Model struct {
	contents
	names        map[string]nameable
	past         earlier          // what Observed has found
	within       Guard            // holds inside the open If blocks
	firsts       map[sharing]Expr // data that others share a log density with
	undecided    []string         // names of guards that compare what is missing
	places       map[place]*place // of the program so far
	open         *Plate           // the plate whose body runs
	block        *block           // of which the row that is being written is the first; nil mostly
	tape         *tape            // of a model that is the trace of a plate
	writing      *tape            // the plate whose rows are written out
	err          error
	infinite     error // the error about a number that is not finite, if there is one
	compiledOnce bool
}

// NewModel returns an empty model.
func NewModel() *Model {
	m := &Model{
		contents: contents{st: ir.NewStore()},
		names:    map[string]nameable{},
		within:   constantGuard(true),
		firsts:   map[sharing]Expr{},
		places:   map[place]*place{},
	}
	m.guards = compare.NewMaker(m.st, (*view)(m))
	return m
}

// fail keeps the first error, with the user's place.
func (m *Model) fail(format string, args ...any) {
	if m.err != nil {
		return
	}
	what := fmt.Sprintf(format, args...)
	if t := m.writing; t != nil {
		what += ", in row " + t.inner.index() + " of the plate"
	}
	m.err = fmt.Errorf("graph: %v: %s", m.here(), what)
}

// usedIn adds to the error about a number that is not finite where it is first
// used, if id is made of it.
func (m *Model) usedIn(id ir.ID, format string, args ...any) {
	if m.err == nil || m.err != m.infinite {
		return
	}
	for id := range m.st.Under(id) {
		if v := m.st.At(id).V; !ir.IsFinite(v) {
			m.err = fmt.Errorf("%w, in %s", m.err, fmt.Sprintf(format, args...))
			if math.IsInf(v, -1) {
				m.err = fmt.Errorf("%w: say with Require what must hold, or with Factor(−Inf) in an If block what cannot be", m.err)
			}
			return
		}
	}
}

// Err is the first mistake made so far, or nil.
func (m *Model) Err() error { return m.err }

// value is an argument of a method, which cannot have a type parameter.
func (m *Model) value(method string, v any) Expr {
	x, ok := lang.ToExpr(v)
	if !ok {
		m.fail("%s takes an expression or a number, not a %T", method, v)
	}
	return x
}

func (m *Model) addTerm(what string, logp Expr, at *place) {
	id := m.node(logp)
	m.usedIn(id, "the %s", what)
	if always, known := m.within.value.IsConst(); !known || always == 0 {
		id = m.st.Sel(m.node(m.within.value), id, m.st.Constant(0))
	}
	m.terms = append(m.terms, modelTerm{what, at, id, false})
}

// checkDist reports whether d can be used for what, which counts in where.
func (m *Model) checkDist(d lang.Dist, what string, where Guard) bool {
	other := slices.IndexFunc(d.Params(), func(p Expr) bool { return lang.Of(p) != nil && modelOf(p) != m })
	switch {
	case d.IsEmpty():
		m.fail("%s: the distribution is empty; make one with Normal, Poisson, …", what)
	case d.Err() != nil:
		m.fail("%s: %v", what, d.Err())
	case other >= 0:
		m.fail("%s: %s", what, lang.Foreign(d.Params()[other]))
	default:
		return m.checkParams(d, what, where)
	}
	return false
}

// checkParams reports whether the parameters keep their rules, as far as can be
// known.
func (m *Model) checkParams(d lang.Dist, what string, where Guard) bool {
	for i, x := range d.Params() {
		if lang.Of(x) == nil {
			continue
		}
		name, rule := d.Param(i)
		if m.err != nil {
			m.usedIn(lang.ID(x), "%s: %s: %s = %v", what, d.Name(), name, x)
		}
		if leaf, found := m.violating(lang.ID(x), rule, where); found {
			m.fail("%s: %s: %s = %v %s, and nothing keeps %s in; give its latents other priors, or take Exp, Softplus or Sigmoid",
				what, d.Name(), name, x, rule, m.guards.Format(leaf, 4))
			return false
		}
	}
	return true
}

// violating is an expression among those that id selects from that can break rule r where a guard holds.
func (m *Model) violating(id ir.ID, r lang.Rule, where Guard) (leaf ir.ID, found bool) {
	if r == lang.AnyReal {
		return 0, false
	}
	return m.guards.Leaving(id, where.where(), r.LeftBy)
}

// logProb is the log density of d at x.
func (m *Model) logProb(what string, d lang.Dist, x Expr) Expr {
	failed := m.err
	logp := m.shared(d, x)
	if v, ok := logp.IsConst(); ok && !ir.IsFinite(v) || m.err != failed {
		m.err = failed
		m.fail("%s: the log density of %v is not finite", what, d)
		return Expr{}
	}
	return logp
}

// shared is the log density of d at x. Data in one block with the same parameters
// share that of the first of them, and sums over the others.
func (m *Model) shared(d lang.Dist, x Expr) Expr {
	if m.st.At(lang.ID(x)).Kind != ir.Data || !d.HasChange() {
		return d.LogProb(x)
	}
	if (*view)(m).Observed(int(m.st.Head(lang.ID(x)).A)).Is(math.IsNaN) {
		return d.LogProb(x)
	}
	key := sharing{law: d.Law(), where: m.within.value}
	copy(key.params[:], d.Params())
	first, known := m.firsts[key]
	if b := m.block; b != nil && slices.ContainsFunc(d.Params(), func(p Expr) bool { return lang.Of(p) != nil && b.IsHole(lang.ID(p)) }) {
		b.Spoil()
	}
	if !known {
		if b := m.block; b != nil {
			b.firsts = append(b.firsts, firstOf{key, x})
		}
		m.firsts[key] = x
		return d.LogProb(x)
	}
	return Add(d.LogProb(first), d.Change(x, first))
}

// sharing is what data have in common that share a log density.
type sharing struct {
	law    *lang.Law
	params [2]Expr
	where  Expr
}

var errNoLatents = errors.New("graph: the model has no latents; add one with Sample")

// A nameable is what has a name. Observations may share one, and so may deterministic
// expressions; guards have names of their own.
type nameable uint8

func (what nameable) String() string {
	return [...]string{aLatent: "a latent", anObservation: "an observation", aDeterministic: "a deterministic expression", aGuard: "a guard"}[what]
}

// earlier are observations by name, of the first so many.
type earlier struct {
	byName map[string][]int
	listed int
}

const (
	aLatent nameable = 1 + iota
	anObservation
	aDeterministic
	aGuard
)
