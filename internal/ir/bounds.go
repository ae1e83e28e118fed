package ir

import (
	"maps"
	"slices"
)

// Bounds are those of the errors of a node's constant and coefficients.
type Bounds struct {
	V    float64
	Coef []float64 // nil if all are 0
}

func (b *Bounds) exact() bool { return b.V == 0 && b.Coef == nil }

// Of is the bound of the constant for k = 0, or of coefficient k − 1.
func (b *Bounds) Of(k int) float64 {
	switch {
	case k == 0:
		return b.V
	case b.Coef == nil:
		return 0
	}
	return b.Coef[k-1]
}

// Hold reports whether no bound of c is larger.
func (b *Bounds) Hold(c *Bounds) bool {
	for k := range 1 + len(c.Coef) {
		if b.Of(k) < c.Of(k) {
			return false
		}
	}
	return true
}

// or is the larger of each two bounds.
func (b *Bounds) or(c *Bounds) Bounds {
	if b.Coef == nil {
		b, c = c, b
	}
	out := Bounds{max(b.V, c.V), slices.Clone(b.Coef)}
	for i, err := range c.Coef {
		out.Coef[i] = max(out.Coef[i], err)
	}
	return out
}

// nodeBounds are the bounds of the errors of nodes.
type nodeBounds struct {
	listed []*Bounds      // by place in the list of nodes; nil, or too short, where a sum is exact
	raised map[ID]*Bounds // of nodes in rows, where they are larger than there
}

// of are those of a node in the list.
func (x *nodeBounds) of(at int) Bounds {
	if at >= len(x.listed) || x.listed[at] == nil {
		return Bounds{}
	}
	return *x.listed[at]
}

// clone is a copy of what can be changed.
func (x *nodeBounds) clone() nodeBounds {
	return nodeBounds{slices.Clone(x.listed), maps.Clone(x.raised)}
}
