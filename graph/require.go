package graph

import (
	"math"

	"github.com/facetvi/facet/internal/ir"
)

// A requirement is a condition that holds wherever the density is not 0.
type requirement struct {
	holds Guard
	place *place
}

// Require conditions on g: where it does not hold the density is 0, and log r −∞. Inside an If block it must hold on
// that side. The posterior is that of Observe("", Bernoulli(If(g, 1, 0)), 1); besides, a density lists what is required, with
// its place: see Density.Requirements.
func (m *Model) Require(g Guard) {
	if m.outsidePlates("Require") && m.owns(g) && m.noConditions("Require", "draw other noise") {
		m.require(g)
	}
}

func (m *Model) require(g Guard) {
	holds := Or(Not(m.within), g)
	if always, known := holds.value.IsConst(); known {
		if always == 0 {
			m.fail("a condition is required that never holds")
		}
		return
	}
	m.required = append(m.required, requirement{holds, m.here()})
	id := m.st.Sel(holds.value.in(m), m.st.Constant(0), m.st.Constant(math.Inf(-1)))
	m.terms = append(m.terms, modelTerm{"requirement", m.here(), id, false})
}

// Requirements are the conditions of Model.Require, which can be evaluated one point at a time. They are immutable.
type Requirements struct {
	nodes   LocalJumps
	roots   []ir.ID
	byPlane [][]int
	places  []string
}

// Requirements returns those of the program; nil if it has none.
func (d *Density) Requirements() (*Requirements, error) {
	if len(d.made().m.required) == 0 {
		return nil, nil
	}
	type key struct{}
	q, err := d.Cached(key{}, func() (any, error) {
		q, number := &Requirements{byPlane: make([][]int, d.arr.Len())}, map[ir.ID]ir.ID{}
		for k, x := range d.m.required {
			q.roots = append(q.roots, q.nodes.add(d.st, x.holds.value.id, number))
			q.places = append(q.places, x.place.String())
			for _, l := range x.holds.Planes() {
				q.byPlane[l] = append(q.byPlane[l], k)
			}
		}
		return q, nil
	})
	if err != nil {
		return nil, err
	}
	return q.(*Requirements), nil
}

// Len is the number of requirements.
func (q *Requirements) Len() int { return len(q.roots) }

// On lists the requirements that depend on the sign of plane l.
func (q *Requirements) On(l int) []int { return q.byPlane[l] }

// Place is the file and line of requirement k.
func (q *Requirements) Place(k int) string { return q.places[k] }

// Holds reports whether requirement k holds in the region whose signs at gives.
func (q *Requirements) Holds(k int, at interface{ Positive(l int) bool }) bool {
	return q.value(q.roots[k], at)
}

func (q *Requirements) value(id ir.ID, at interface{ Positive(l int) bool }) bool {
	switch n := &q.nodes.nodes[id]; n.Kind {
	case ir.Const:
		return n.V != 0
	case ir.Sign:
		return at.Positive(int(n.A))
	case ir.Not:
		return !q.value(n.A, at)
	case ir.And:
		return q.value(n.A, at) && q.value(n.B, at)
	case ir.Select:
		if q.value(n.A, at) {
			return q.value(n.B, at)
		}
		return q.value(n.C, at)
	}
	panic("graph: a requirement that is no formula")
}
