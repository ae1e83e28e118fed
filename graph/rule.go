package graph

import (
	"math"
	"slices"
)

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

// String is how an expression breaks the rule.
func (r rule) String() string {
	if r == probability {
		return "can leave (0, 1)"
	}
	return "can be negative"
}

func (r rule) constant() bool { return r == count || r == bound }

// excludes reports whether v cannot have come from a parameter that satisfies
// r, not even by rounding.
func (r rule) excludes(v float64) bool {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return true
	case r == positive:
		return v < 0
	case r == probability:
		return v < 0 || v > 1
	}
	return false
}

// span is the least interval that r admits, with its ends.
func (r rule) span() (lo, hi float64) {
	switch r {
	case positive:
		return 0, math.Inf(1)
	case probability:
		return 0, 1
	}
	return math.Inf(-1), math.Inf(1)
}

// straying is an expression among those that id selects from which can leave the
// span of r where nothing prevents it: its latents are in no guard of the
// selects, and not in where. Only sums of latents, and a transformed latent times
// a number plus a number, are known to stray.
func (m *Model) straying(id nodeID, r rule, where Guard) (leaf nodeID, found bool) {
	if !m.mayStray(id, r) {
		return 0, false
	}
	guarded := m.latentsOf(where.value)
	var leaves []nodeID
	seen := map[nodeID]bool{}
	var visit func(id nodeID)
	visit = func(id nodeID) {
		n := m.st.nodes[id]
		switch {
		case seen[id]:
			return
		case n.kind == kSelect:
			guarded = append(guarded, m.latentsOf(Expr{m: m, id: n.a})...)
			visit(n.b)
			visit(n.c)
		case m.mayStray(id, r):
			leaves = append(leaves, id)
		}
		seen[id] = true
	}
	visit(id)
	for _, leaf := range leaves {
		if !slices.ContainsFunc(m.latentsOf(Expr{m: m, id: leaf}), func(i int) bool { return slices.Contains(guarded, i) }) {
			return leaf, true
		}
	}
	return 0, false
}

// mayStray reports whether id, or an expression that it selects, can leave the
// span of r.
func (m *Model) mayStray(id nodeID, r rule) bool {
	n := m.st.nodes[id]
	if n.kind == kSelect {
		key := ruled{id, r}
		stray, known := m.strays[key]
		if !known {
			stray = m.mayStray(n.b, r) || m.mayStray(n.c, r)
			m.strays[key] = stray
		}
		return stray
	}
	least, greatest := r.span()
	lo, hi := m.rangeOf(id)
	return lo < least || hi > greatest
}

// ruled is an expression under a rule.
type ruled struct {
	id nodeID
	r  rule
}

// rangeOf is where the values of a sum of latents lie, or of a transformed latent
// times a number plus a number. Of another expression it knows nothing, and
// returns an empty range.
func (m *Model) rangeOf(id nodeID) (lo, hi float64) {
	n := &m.st.nodes[id]
	switch v, terms := m.st.parts(id); {
	case n.kind == kConst:
	case n.affine:
		return math.Inf(-1), math.Inf(1)
	case len(terms) == 1 && m.isTransform(terms[0].atom):
		image := imageOf[m.st.nodes[terms[0].atom].fn]
		lo, hi = v+terms[0].coef*image.lo, v+terms[0].coef*image.hi
		return min(lo, hi), max(lo, hi)
	}
	return math.Inf(1), math.Inf(-1)
}

// latentsOf lists the latents that x depends on, also by its guards.
func (m *Model) latentsOf(x Expr) []int {
	var list []int
	if x.m == nil {
		return nil
	}
	walk(m.st.nodes, x.id, func(id nodeID) {
		switch n := &m.st.nodes[id]; n.kind {
		case kLatent:
			list = append(list, int(n.a))
		case kSign:
			list = append(list, m.arr.Plane(int(n.a)).Index...)
		}
	})
	return list
}
