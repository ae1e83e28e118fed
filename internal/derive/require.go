package derive

import (
	"math"

	"github.com/facetvi/facet/internal/ir"
)

// Requirements are the conditions of Model.Require, which can be evaluated one point at a time. They are immutable.
type Requirements struct {
	nodes   LocalJumps
	roots   []ir.ID
	byPlane [][]int
	places  []string
}

// Requirements returns those of the program; nil if it has none.
func (d Density) Requirements() (*Requirements, error) {
	if len(d.Required) == 0 {
		return nil, nil
	}
	type key struct{}
	return Cached(d, key{}, func() (*Requirements, error) { return d.requirements(), nil })
}

func (d Density) requirements() *Requirements {
	q, number := &Requirements{byPlane: make([][]int, d.Arr.Len())}, map[ir.ID]ir.ID{}
	for k, x := range d.Required {
		q.roots = append(q.roots, q.nodes.add(d.Program.Store, x.Holds, number))
		q.places = append(q.places, x.Place)
		for _, l := range x.Planes {
			q.byPlane[l] = append(q.byPlane[l], k)
		}
	}
	return q
}

// Len is the number of requirements.
func (q *Requirements) Len() int { return len(q.roots) }

// On lists the requirements that depend on the sign of plane l.
func (q *Requirements) On(l int) []int { return q.byPlane[l] }

// Place is the file and line of requirement k.
func (q *Requirements) Place(k int) string { return q.places[k] }

// Holds reports whether requirement k holds in the region whose signs at gives.
func (q *Requirements) Holds(k int, at interface{ Positive(l int) bool }) bool {
	return (&formulas{q.nodes.nodes, at}).Value(q.roots[k]) != 0
}

// formulas are computed from signs alone.
type formulas struct {
	nodes []ir.Node
	at    interface{ Positive(l int) bool }
}

func (x *formulas) Latent(int) float64     { panic("graph: a requirement that is no formula") }
func (x *formulas) Datum(int) float64      { panic("graph: a requirement that is no formula") }
func (x *formulas) Positive(l int) bool    { return x.at.Positive(l) }
func (x *formulas) Value(id ir.ID) float64 { return x.nodes[id].Compute(x) }

// A Place is a point with its distances from hyperplanes.
type Place interface {
	Positive(l int) bool
	Away(l int) float64
}

// Away is how far from requirement k a point is: the least sum of distances from hyperplanes across which it holds, 0 where it holds.
func (q *Requirements) Away(k int, at Place) float64 { return q.away(q.roots[k], true, at) }

// away is how far a formula is from being what is wanted.
func (q *Requirements) away(id ir.ID, want bool, at Place) float64 {
	switch n := &q.nodes.nodes[id]; n.Kind {
	case ir.Sign:
		if l := int(n.A); at.Positive(l) != want {
			return at.Away(l)
		}
	case ir.Not:
		return q.away(n.A, !want, at)
	case ir.And:
		a, b := q.away(n.A, want, at), q.away(n.B, want, at)
		if want {
			return a + b
		}
		return math.Min(a, b)
	}
	return 0
}
