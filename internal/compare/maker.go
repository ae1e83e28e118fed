package compare

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/regions"
)

// AnyDim stands for the number of latents while it is not known yet.
const AnyDim = math.MaxInt32

// A Program is what is asked about the program whose comparisons are made.
type Program interface {
	// Dim is the number of latents so far, and of parameters, which are the first Params of them.
	Dim() int
	Params() int
	Latent(i int) Latent
	// Components are those of vectors that are no latents.
	Components() iter.Seq[Component]
	// Name is the name of observation i, Observed its value, and Compares notes that a guard compares the value.
	Name(i int) string
	Observed(i int) ir.Rounded
	Compares(i int)
	// Depends reports whether expressions may depend on observations.
	Depends() bool
	// Place is where the program is being written.
	Place() fmt.Stringer
	// Fail keeps the first error, Err returns it, and Explain adds to it.
	Fail(format string, args ...any)
	Err() error
	Explain(why string)
}

// A Latent is a coordinate, and what the program sees of it.
type Latent interface {
	Name() string
	// Value is its value in the program, which is affine in the function Transform of the coordinate, unless that is none.
	Value() ir.ID
	Transform() kernel.Function
	// Constrain is the value where the coordinate is u.
	Constrain(u float64) float64
	// Steps are those of a discrete latent; nil if it is continuous.
	Steps() *Steps
}

// A Component is a component of a vector: a function of an unconstrained expression U; −1 if there is none after an error.
type Component struct {
	Name  string
	U     ir.ID
	Value func(u float64) float64
}

// A Guard is a formula, 1 where it holds and else 0. Made is 1 + the number of the comparison that it is, negative for the negation of one, and 0
// for all others.
type Guard struct {
	Formula ir.ID
	Made    int
}

// A Maker makes the guards of a program.
type Maker struct {
	// Arr has their planes and curves; latents are its coordinates, and from AnyDim on features.
	Arr *regions.Arrangement
	// Made are the comparisons in their order.
	Made []Comparison
	// Row is what the first row of a block adds; nil if none is made.
	Row *Row

	st      *ir.Store
	program Program
	// What is compared that is not affine: coordinates of Arr by node, and the nodes in their order.
	features     map[ir.ID]int
	featureNodes []ir.ID
	discrete     map[ir.ID]int // the discrete latents, by the nodes of their values
	known        answers
}

// answers are those to questions about expressions that have been asked.
type answers struct {
	hulls    map[ir.ID]ir.Extent
	kinks    map[kinkedPair]ir.ID
	lifts    map[ir.ID]ir.ID
	ways     map[ir.ID][]way
	manyWays int // in ways
}

// NewMaker returns the maker of the guards of a program whose expressions are in st.
func NewMaker(st *ir.Store, program Program) *Maker {
	return &Maker{
		Arr: regions.NewArrangement(AnyDim), st: st, program: program, features: map[ir.ID]int{}, discrete: map[ir.ID]int{},
		known: answers{hulls: map[ir.ID]ir.Extent{}, kinks: map[kinkedPair]ir.ID{}, lifts: map[ir.ID]ir.ID{}, ways: map[ir.ID][]way{}},
	}
}

// Snapshot is a copy that does not change with m, for a copy of its program and store.
func (m *Maker) Snapshot(st *ir.Store, program Program) *Maker {
	s := *m
	s.st, s.program = st, program
	s.Made, s.features, s.featureNodes = slices.Clone(m.Made), maps.Clone(m.features), slices.Clip(m.featureNodes)
	for i := range s.Made {
		s.Made[i].in = &s
	}
	return &s
}

// Algebra knows what is equal on planes; shift is what features are moved by in the arrangement that is asked.
func (m *Maker) Algebra(arr *regions.Arrangement, shift int) ir.Algebra {
	return ir.Algebra{Store: m.st, Arr: arr, Features: m.features, Shift: shift}
}

// Features are what the coordinates of Arr from AnyDim on stand for.
func (m *Maker) Features() []ir.ID { return m.featureNodes }

// AddDiscrete notes that id is the value of latent i, which is discrete.
func (m *Maker) AddDiscrete(id ir.ID, i int) { m.discrete[id] = i }

// IsDiscrete reports whether id is the value of a discrete latent.
func (m *Maker) IsDiscrete(id ir.ID) bool {
	_, is := m.discrete[id]
	return is
}

func (m *Maker) failed() bool { return m.program.Err() != nil }

func (m *Maker) constant(holds bool) Guard {
	return Guard{Formula: m.st.Constant(ir.Indicator(holds))}
}

// Not holds where g does not.
func (m *Maker) Not(g Guard) Guard { return Guard{m.st.Not(g.Formula), -g.Made} }

// And holds where all of gs do.
func (m *Maker) And(gs ...Guard) Guard {
	all := m.constant(true)
	for _, g := range gs {
		all = m.Both(all, g)
	}
	return all
}

// Or holds where at least one of gs does.
func (m *Maker) Or(gs ...Guard) Guard {
	none := m.constant(true)
	for _, g := range gs {
		none = m.Both(none, m.Not(g))
	}
	return m.Not(none)
}

// Both holds where g and h do: it is one of them, if that is so.
func (m *Maker) Both(g, h Guard) Guard {
	id := m.st.And(g.Formula, h.Formula)
	for _, x := range []Guard{g, h} {
		if x.Formula == id {
			return x
		}
	}
	return Guard{Formula: id}
}

// Side is the side of one plane or curve that a formula says, if it is one.
func Side(nodes *ir.Nodes, formula ir.ID) (side regions.Side, ok bool) {
	n := nodes.At(formula)
	if side.Positive = n.Kind != ir.Not; !side.Positive {
		n = nodes.At(n.A)
	}
	if n.Kind != ir.Sign {
		return regions.Side{}, false
	}
	side.Plane = int(n.A)
	return side, true
}

// LatentsOf lists the latents that id depends on, also by its guards.
func (m *Maker) LatentsOf(id ir.ID) []int {
	var list []int
	for id := range m.st.Under(id) {
		switch n := m.st.At(id); n.Kind {
		case ir.Latent:
			list = append(list, int(n.A))
		case ir.Sign:
			list = append(list, m.Arr.Latents(int(n.A))...)
		}
	}
	return list
}

type kinkedPair struct {
	x, y  ir.ID
	least bool
}

// A comparison of what branches make is one comparison for each value that they make, where they make it. A value that
// many paths lead to is compared once, where any of them is taken:
//
//	x = x + If(on, up, −down), t times   ─▶   t + 1 values, for 2ᵗ paths
//
// A way is one of the values that branches make of an expression. It holds where the formula where does; given are
// formulas of branches that are known there, ascending. Of two ways of one expression, at most one holds.
type way struct {
	value, where ir.ID
	given        []ir.Literal
}

// A Comparison is one that was written in a program.
type Comparison struct {
	Side  regions.Side // of its plane or curve
	Name  string       // that the user gave it
	Place fmt.Stringer // in the user's program

	in      *Maker
	greater regions.Hyperplane // the comparison is greater > 0, as it was written
}

// A claim is what a comparison says in terms of simpler ones.
type claim struct {
	known    *Guard // or else
	positive ir.ID  // by·positive > 0 where that has a value, or else
	by       float64
	parts    []claim // all of them hold, or any
	any      bool
}

// positive is the claim by·id > 0 where id has a value, and is the claim that g holds.
func positive(by float64, id ir.ID) claim { return claim{positive: id, by: by} }
func is(g Guard) claim                    { return claim{known: &g} }

func anyOf(parts ...claim) claim { return claim{parts: parts, any: true} }
func allOf(parts ...claim) claim { return claim{parts: parts} }

// oneSign is the claim a·by·b > 0.
func oneSign(a, b ir.ID, by float64) claim {
	return anyOf(allOf(positive(1, a), positive(by, b)), allOf(positive(-1, a), positive(-by, b)))
}

// A part is a coordinate of m.Arr with its coefficient.
type part struct {
	at int
	x  ir.Rounded
}

// A Row is what the first row of a block adds to the comparisons of its program: comparisons, each with a plane of its own, and what is 0 on
// these planes.
type Row struct {
	Guards []RowGuard
	Zeros  []Zero
}

// A RowGuard is a comparison with the columns of its numbers: that parts + c > 0.
type RowGuard struct {
	Comparison
	parts []part // ascending
	c     ir.Rounded
}

// A Zero is a node that is 0 on the plane of a comparison of the row.
type Zero struct {
	Guard int
	ID    ir.ID
}
