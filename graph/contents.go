package graph

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// contents are what has been written of a model: all that a Density is made of.
type contents struct {
	st         *ir.Store
	latents    []latent
	params     int // the first so many of latents are parameters
	obs        []observation
	terms      []modelTerm
	required   []requirement
	guards     *compare.Maker
	named      []namedGuard
	derived    []deterministic
	dependent  bool // expressions depend on observations as values; see Observed
	simulation bool // see NewSimulation
}

// A latent is one unconstrained coordinate and the value that the program sees.
type latent struct {
	name     string
	prior    lang.Dist
	support  lang.Support   // of the prior
	value    ir.ID          // the value in the program: the coordinate itself, or its transform
	discrete *lang.Discrete // if it is
	place    *place
	inVector bool // see Coordinate.InVector
}

// An observation is one observed value; all of one name form a vector.
type observation struct {
	*observed
	value    float64
	shift    ir.ID // of the IDs from local on
	compared bool  // in a guard, as a number; see Observed
}

// observed is what an observation has in common with those of other rows of a plate.
type observed struct {
	name  string
	as    lang.Dist // if it is of no chain
	where Guard     // it counts there
	place *place
	local ir.ID
	part  bool // of a vector

	hidden *Hidden // the chain that it is a step of, or nil
	step   int
}

// dist is what the value was drawn from.
func (o *observation) dist() lang.Dist {
	if o.shift == 0 {
		return o.as
	}
	params := slices.Clone(o.as.Params())
	for i, x := range params {
		if lang.Of(x) != nil && lang.ID(x) >= o.local {
			params[i] = lang.Node(lang.Of(x), lang.ID(x)+o.shift)
		}
	}
	return o.as.With(params)
}

// A modelTerm is one summand of the log density.
type modelTerm struct {
	what  string // "prior of x", "observation y", "requirement", factorTerm or objectiveTerm
	place *place
	id    ir.ID
	prior bool
}

const (
	factorTerm      = "factor"
	objectiveTerm   = "objective"
	observationTerm = "observation " // before its name
)

// priorOf is what the prior of a latent is, and observationOf what an observation is.
func priorOf(name string) string       { return "prior of " + name }
func observationOf(name string) string { return observationTerm + name }

// snapshot is a model of its own with the contents of m, that does not change with it.
func (m *contents) snapshot() *Model {
	s := &Model{contents: *m, places: map[place]*place{}}
	s.st = m.st.Clone()
	s.latents, s.obs, s.terms = slices.Clip(m.latents), slices.Clip(m.obs), slices.Clip(m.terms)
	s.named, s.derived, s.required = slices.Clip(m.named), slices.Clip(m.derived), slices.Clip(m.required)
	s.guards = m.guards.Snapshot(s.st, (*view)(s))
	return s
}

// sizes are the numbers of the parts of contents.
type sizes struct{ latents, obs, terms, planes, guards, named, derived, entries int }

func (m *contents) sizes() sizes {
	return sizes{len(m.latents), len(m.obs), len(m.terms), m.guards.Arr.Len(), len(m.guards.Made), len(m.named), len(m.derived), m.st.Entries}
}

// leaves are the numbers of the leaves that come next, by kind.
func (c sizes) leaves() [ir.Sum]int {
	return [ir.Sum]int{ir.Latent: c.latents, ir.Data: c.obs, ir.Sign: c.planes}
}

// grow makes room for n times what came after before.
func (m *contents) grow(before sizes, n int) {
	now := m.sizes()
	m.latents = slices.Grow(m.latents, n*(now.latents-before.latents))
	m.obs = slices.Grow(m.obs, n*(now.obs-before.obs))
	m.terms = slices.Grow(m.terms, n*(now.terms-before.terms))
	m.guards.Arr.Reserve(n * (now.planes - before.planes))
	m.guards.Made = slices.Grow(m.guards.Made, n*(now.guards-before.guards))
	m.named = slices.Grow(m.named, n*(now.named-before.named))
	m.derived = slices.Grow(m.derived, n*(now.derived-before.derived))
	m.st.Reserve(n * (now.entries - before.entries))
}

// checkConstants reports a term of the log density that is not finite wherever
// the latents are, or such a total.
func (m *contents) checkConstants(out ir.Output) error {
	for _, t := range m.terms {
		if v := m.st.ConstantPart(t.id); !ir.IsFinite(v) {
			return fmt.Errorf("graph: %v: the %s has a constant part of %v", t.place, t.what, v)
		}
	}
	if !ir.IsFinite(out.C) {
		return fmt.Errorf("graph: the constant parts of the log density's terms add up to %v", out.C)
	}
	return nil
}

// A deterministic is a named expression of a model.
type deterministic struct {
	name  string
	x     Expr
	where Guard // it has a value there
	// It is a component of a vector that SampleVector made, whose value is that of its support at the unconstrained coordinate u.
	component bool
	support   lang.Support
	u         Expr
	// The probability of a state at a step of a chain, in place of x, if hidden is not nil.
	hidden      *Hidden
	step, state int
	of          []int // the observations that it depends on
}

// A requirement is a condition that holds wherever the density is not 0.
type requirement struct {
	holds Guard
	place *place
}

// A namedGuard is a guard under the name that the user gave it.
type namedGuard struct {
	name  string
	guard Guard
}

// An observation whose value is NaN is missing: log r is that of the program without it, which is compiled for each set of missing
// observations. Its number in Density.data is one that it could have, for what data share; no term of its own is left.

// observes reports whether t is the log density of an observation, or of those of a chain.
func (t *modelTerm) observes() bool { return !t.prior && strings.HasPrefix(t.what, observationTerm) }

// A Hidden is the chain of states of an HMM that was observed.
type Hidden struct {
	m             *Model
	name          string
	first         int // the observation of its first step
	states, steps int // states: tuples of now states
	now           int
	x             []Expr        // what the forward sum is of
	emission      [][]lang.Dist // by step and tuple
	where         Guard
}

// components are those of vectors, with their names.
func (m *contents) components() iter.Seq2[string, deterministic] {
	return func(yield func(string, deterministic) bool) {
		count := map[string]int{}
		for _, x := range m.derived {
			if !x.component {
				continue
			}
			if !yield(fmt.Sprintf("%s[%d]", x.name, count[x.name]), x) {
				return
			}
			count[x.name]++
		}
	}
}
