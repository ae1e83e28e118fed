package graph

import "github.com/facetvi/facet/internal/ir"

// Observed is the value of observation k, from 0 on, of those of that name so far: what a series depends on that depends on its past.
// It is the number that was observed, also by Density.WithData, and where that is missing, in Density.Replicate, what was drawn in its
// place. So a series goes on beyond its data:
//
//	for t, y := range ys { // of which the last are NaN
//	    mean := graph.Expr(level)
//	    if t > 0 {
//	        mean = graph.Add(level, graph.Mul(phi, graph.Sub(m.Observed("y", t-1), level)))
//	    }
//	    m.Observe("y", graph.Normal(mean, sd), y)
//	}
//
// It may be used in the distributions of HMM.Emission, too. What depends on a missing observation must be missing itself: where a
// series has a hole and goes on, sample what is missing in place of observing it. A guard compares the number that was observed, which
// WithData can then not replace.
func (m *Model) Observed(name string, k int) Expr {
	if !m.outsidePlates("Observed") {
		return Expr{}
	}
	list := m.past.of(m.obs, name)
	if k < 0 || k >= len(list) {
		m.fail("observation %q number %d: there are %d so far", name, k, len(list))
		return Expr{}
	}
	m.dependent = true
	return m.expr(m.st.Leaf(ir.Data, list[k]))
}

// of are the numbers of those of a name among obs.
func (e *earlier) of(obs []observation, name string) []int {
	if e.byName == nil {
		e.byName = map[string][]int{}
	}
	for ; e.listed < len(obs); e.listed++ {
		of := obs[e.listed].name
		e.byName[of] = append(e.byName[of], e.listed)
	}
	return e.byName[name]
}
