package plan

import (
	"math"

	"github.com/facetvi/facet/internal/kernel"
)

// openGates replaces the gates of static gradients g by scalings of their signs
// s, and returns the summands in the order to add them, and what the sum starts
// from:
//
//	gate(s, g) = g·s           open where s is 1
//	           = g·(1 − s)     open where s is 0
//	           = g − g·s       open where s is 0, if g is an integer: base g
//
// Each is exactly 0 where the gate is closed, and must be: a gradient of 0 stops
// the NaN of a branch that is not taken. The third form is the fastest. It is
// exact as long as only integers have been added, so its summands come first.
func (p *planner) openGates(list []summand, rows int) (base []float64, ordered []summand) {
	integers := integerSum{rows: make([]float64, rows)}
	var first, rest []summand
	for _, s := range list {
		switch {
		case s.gate == nil:
			s.part = s.sorted()
			rest = append(rest, s)
		case !s.x.static || !allFinite(s.x.val.Data):
			rest = append(rest, s)
		case s.gate.At == 1:
			rest = append(rest, s.scaledSign(1))
		case integers.add(s):
			first = append(first, s.scaledSign(-1))
		default:
			s = s.scaledSign(1)
			s.complement = kernel.NewMatrix(s.x.rows, p.cols)
			rest = append(rest, s)
		}
	}
	if len(first) == 0 {
		return nil, rest
	}
	return integers.rows, append(first, rest...)
}

// scaledSign is the summand by·g·s, for the gradient g and the sign s of a gate.
func (s summand) scaledSign(by float64) summand {
	g := make([]float64, s.x.rows)
	for r := range g {
		g[r] = by * s.x.val.Data[r]
	}
	pt := part{first: s.first, to: s.to, coef: kernel.NewCoefs(g)}
	return summand{part: pt.sorted(), x: s.sign}
}

// An integerSum has the sums of integers in its rows.
type integerSum struct {
	rows []float64
	size float64 // Σ |integer|
}

// add adds a summand's gradient, if it is of integers so small that no sum of
// them rounds, and reports whether it did.
func (b *integerSum) add(s summand) bool {
	size := b.size
	for _, g := range s.x.val.Data {
		if g != math.Trunc(g) {
			return false
		}
		size += math.Abs(g)
	}
	if size > 1<<52 {
		return false
	}
	b.size = size
	for r, g := range s.x.val.Data {
		b.rows[s.row(r)] += g
	}
	return true
}
