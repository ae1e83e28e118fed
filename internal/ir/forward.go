package ir

import (
	"math"

	"github.com/facetvi/facet/internal/kernel"
)

// Forward is the forward sum of a chain; see newLayout for the terms.
func (s *Store) Forward(states, steps int, ids []ID) ID {
	terms, known := make([]Term, len(ids)), make([]float64, 0, len(ids))
	for i, id := range ids {
		terms[i] = Term{id, 1}
		if v, ok := s.IsConst(id); ok {
			known = append(known, v)
		}
	}
	if len(known) == len(ids) {
		return s.Constant(ForwardValue(states, steps, known))
	}
	return s.Intern(Node{Kind: Forward, A: ID(states), B: ID(steps), Terms: terms})
}

// A layout is the kernel of a forward sum, and which of the terms of its node are the rows of
// the kernel's operand: all but the moves that no step can make.
type layout struct {
	kernel.Forward
	Rows []int
}

// newLayout is the layout of a forward sum of so many terms: the initial state, the
// transitions row by row, and the emissions step by step.
func newLayout(states, steps, terms int, impossible func(term int) bool) layout {
	square := states * states
	sets := (terms - states - steps*states) / square
	l := layout{Forward: kernel.Forward{States: states, Steps: steps, Varying: sets > 1}}
	for i := range states {
		l.Rows = append(l.Rows, i)
	}
	var moves []int
	for to := range states {
		for from := range states {
			for set := range sets {
				if !impossible(states + set*square + from*states + to) {
					l.From, l.To = append(l.From, int32(from)), append(l.To, int32(to))
					moves = append(moves, from*states+to)
					break
				}
			}
		}
	}
	for set := range sets {
		for _, m := range moves {
			l.Rows = append(l.Rows, states+set*square+m)
		}
	}
	for i := terms - steps*states; i < terms; i++ {
		l.Rows = append(l.Rows, i)
	}
	return l
}

func (s *Store) Layout(n Node) layout {
	return newLayout(int(n.A), int(n.B), len(n.Terms), func(i int) bool {
		v, known := s.IsConst(n.Terms[i].Atom)
		return known && math.IsInf(v, -1)
	})
}

// layoutOf is the layout for numbers, with the kernel's operand.
func layoutOf(states, steps int, x []float64) (layout, kernel.Matrix) {
	l := newLayout(states, steps, len(x), func(i int) bool { return math.IsInf(x[i], -1) })
	in := make([]float64, len(l.Rows))
	for r, i := range l.Rows {
		in[r] = x[i]
	}
	return l, kernel.Column(in)
}

// run is the kernel's result.
func (l layout) run(in kernel.Matrix) kernel.Matrix {
	out := kernel.NewMatrix(l.OutRows(1), 1)
	l.Eval(out, []kernel.Matrix{in})
	return out
}

// ForwardValue is the forward sum of numbers.
func ForwardValue(states, steps int, x []float64) float64 {
	l, in := layoutOf(states, steps, x)
	return l.run(in).Data[0]
}

// Smoothed are the probabilities of the states of each step, given all emissions.
func Smoothed(states, steps int, x []float64) [][]float64 {
	l, in := layoutOf(states, steps, x)
	grad := kernel.NewMatrix(in.Rows, 1)
	kernel.ForwardGrad{Of: l.Forward}.Eval(grad, []kernel.Matrix{kernel.Column([]float64{1}), in, l.run(in)})
	out := make([][]float64, steps)
	first := len(grad.Data) - steps*states
	for t := range out {
		out[t] = grad.Data[first+t*states:][:states]
	}
	return out
}
