package derive

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/vec"
)

// A logic is formulas of signs. Their values have numbers: first the signs of planes, then conjunctions of two that are before; ^k is the negation
// of number k.
type logic struct {
	planes []int
	and    [][2]int32
	of     []int32 // by formula
	known  map[ir.ID]int32
}

// newLogic is that of formulas; ok is false if there is something else in them.
func newLogic(st *ir.Store, formulas []ir.ID) (l logic, ok bool) {
	l.known = map[ir.ID]int32{}
	for _, id := range formulas {
		l.planes = append(l.planes, st.PlanesIn(id)...)
	}
	slices.Sort(l.planes)
	l.planes = slices.Compact(l.planes)
	for _, id := range formulas {
		k, ok := l.number(st, id)
		if !ok {
			return l, false
		}
		l.of = append(l.of, k)
	}
	return l, true
}

// number is that of a formula.
func (l *logic) number(st *ir.Store, id ir.ID) (k int32, ok bool) {
	if k, ok := l.known[id]; ok {
		return k, true
	}
	switch n := st.Head(id); n.Kind {
	case ir.Sign:
		at, _ := slices.BinarySearch(l.planes, int(n.A))
		k = int32(at)
	case ir.Not:
		of, ok := l.number(st, n.A)
		return ^of, ok
	case ir.And:
		a, ok1 := l.number(st, n.A)
		b, ok2 := l.number(st, n.B)
		if !ok1 || !ok2 {
			return 0, false
		}
		k = int32(len(l.planes) + len(l.and))
		l.and = append(l.and, [2]int32{a, b})
	default:
		return 0, false
	}
	l.known[id] = k
	return k, true
}

// signsAtOnce is at how many points formulas are evaluated together: a bit for each.
const signsAtOnce = 64

// same sets values to those of the formulas at n points of which signs has the signs, planes × n. It reports false where not all points have the same.
func (l *logic) same(values []bool, signs []float64, n int) bool {
	bits := make([]uint64, len(l.planes)+len(l.and))
	get := func(k int32) uint64 {
		if k < 0 {
			return ^bits[^k]
		}
		return bits[k]
	}
	for first := 0; first < n; first += signsAtOnce {
		points := min(signsAtOnce, n-first)
		for i, p := range l.planes {
			row := signs[p*n+first:][:points]
			switch int(vec.Sum(row)) {
			case 0:
				bits[i] = 0
			case points:
				bits[i] = ^uint64(0)
			default:
				bits[i] = 0
				for k, s := range row {
					bits[i] |= math.Float64bits(s) >> 61 & 1 << k // of 1, and not of 0
				}
			}
		}
		for i, x := range l.and {
			bits[len(l.planes)+i] = get(x[0]) & get(x[1])
		}
		all := ^uint64(0) >> (signsAtOnce - points)
		for i, k := range l.of {
			v := get(k) & all
			if v != 0 && v != all || first > 0 && values[i] != (v != 0) {
				return false
			}
			values[i] = v != 0
		}
	}
	return true
}
