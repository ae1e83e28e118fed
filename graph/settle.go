package graph

import (
	"math"
	"slices"
)

// settle replaces gates on gradients that are the same in each run by scaled
// signs: g·sign, or where the gate is open at sign 0, g·(1 − sign). What a
// closed gate leaves must be 0 exactly, to stop NaN. So g − g·sign, which is
// faster, is for whole numbers, and comes before what would make it round.
func (k accumulate) settle(in []*planNode, rows, cols int) (accumulate, []*planNode) {
	base, size := make([]float64, rows), 0.0
	var exact, others []part
	var exactIn, othersIn []*planNode
	for _, pt := range k.parts {
		from := in[0] // a sign, if there is a gate
		in = in[1:]
		switch {
		case pt.gate == nil:
			pt = pt.sorted(from.rows)
		case !in[0].static || !allFinite(in[0].val.v):
			othersIn, from, in = append(othersIn, from), in[0], in[1:]
		default:
			g := slices.Clone(in[0].val.v)
			in = in[1:]
			settled := part{to: pt.to}
			if pt.gate.At == 0 && whole(g, &size) {
				for r := range g {
					base[pt.row(r)] += g[r]
					g[r] = -g[r]
				}
				settled.coef = makeCoefs(g)
				exact, exactIn = append(exact, settled.sorted(len(g))), append(exactIn, from)
				continue
			}
			if pt.gate.At == 0 {
				settled.off = mat{make([]float64, from.rows*cols), from.rows, cols}
			}
			settled.coef = makeCoefs(g)
			pt = settled.sorted(len(g))
		}
		others, othersIn = append(others, pt), append(othersIn, from)
	}
	if len(exact) == 0 {
		base = nil
	}
	return accumulate{parts: append(exact, others...), base: base}, append(exactIn, othersIn...)
}

func allFinite(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return !isFinite(x) })
}

// whole reports whether v are whole numbers, so small that sums of them and of
// those before, whose size it updates, do not round.
func whole(v []float64, size *float64) bool {
	sum := *size
	for _, x := range v {
		if x != math.Trunc(x) {
			return false
		}
		sum += math.Abs(x)
	}
	if sum > 1<<52 {
		return false
	}
	*size = sum
	return true
}
