package graph

import (
	"fmt"
	"math"
	"slices"

	"gorgonia.org/gorgonia"

	"github.com/facetvi/facet/graph/internal/kernel"
)

// ForwardSum is the sum over all paths s_0, s_1, … through K states,
//
//	log Σ_s exp( initial[s_0] + Σ_t transition_t[s_t−1][s_t] + Σ_t emission[t][s_t] ),
//
// by the forward algorithm, whose cost is linear in the number of steps. All are
// logarithms: Log(p) for a probability p; numbers among them may be −∞. initial has K of them, emission K for each of T ≥ 1
// steps, and a transition K rows of K. There is one transition for all steps, or T−1 of them, the first one to
// step 1. For data see [Model.ObserveHMM], which takes probabilities themselves. ForwardSum panics if lengths differ. It is
// an error of the model if initial or a row of a transition seem to be probabilities: several numbers that add up to 1.
func ForwardSum(initial []Expr, emission [][]Expr, transition ...[][]Expr) Expr {
	states, steps := len(initial), len(emission)
	if states == 0 || steps == 0 || len(transition) != 1 && len(transition) != steps-1 {
		panic(fmt.Sprintf("graph: a forward sum of %d states, %d steps and %d transitions", states, steps, len(transition)))
	}
	var x []Expr
	add := func(what string, row []Expr) {
		if len(row) != states {
			panic(fmt.Sprintf("graph: a forward sum of %d states has %d numbers in a row of its %s", states, len(row), what))
		}
		x = append(x, row...)
	}
	add("initial", initial)
	for _, matrix := range transition {
		if len(matrix) != states {
			panic(fmt.Sprintf("graph: a forward sum of %d states has a transition of %d rows", states, len(matrix)))
		}
		for _, row := range matrix {
			add("transition", row)
		}
	}
	for _, row := range emission {
		add("emission", row)
	}
	return forwardSum(states, steps, x)
}

// addUpToOne reports whether several numbers and expressions add up to 1 wherever the latents are, as 0.9 and 0.1, or p and 1 − p: at
// some points that are like no others, and if they are not all numbers, not all 0 or 1 at each, as a discrete latent and 0 may be.
func (m *Model) addUpToOne(row []Expr) bool {
	negative := func(x Expr) bool { v, known := x.IsConst(); return known && !(v >= 0) }
	if len(row) < 2 || slices.ContainsFunc(row, negative) || m.err != nil {
		return false
	}
	const points = 4
	between := !slices.ContainsFunc(row, func(x Expr) bool { _, known := x.IsConst(); return !known })
	for point := range points {
		e := evaluator{m.st.evaluator(&m.st.nodes)}
		defer e.release()
		e.arr, e.z, e.data = m.arr, make([]float64, len(m.latents)), make([]float64, len(m.obs))
		for i := range e.z {
			e.z[i] = math.Sin(float64(1 + point + 3*i))
		}
		for i, o := range m.obs {
			e.data[i] = o.value
		}
		sum := 0.0
		for _, x := range row {
			v := e.expr(x)
			sum, between = sum+v, between || v > 0 && v < 1
		}
		if !(math.Abs(sum-1) < 1e-9) {
			return false
		}
	}
	return between
}

// forwardSum is ForwardSum of the terms of a node.
func forwardSum(states, steps int, x []Expr) Expr {
	m := owner(x...)
	if m == nil {
		v := make([]float64, len(x))
		for i := range x {
			v[i] = x[i].v
		}
		return Expr{v: forwardValue(states, steps, v)}
	}
	if t := m.traces(); t != nil {
		return t.function(func() Expr { return forwardSum(states, steps, t.valuesOf(x)) }, x...)
	}
	for k := 0; k < len(x)-states*steps; k += states {
		if row := x[k:][:states]; m.addUpToOne(row) {
			m.fail("a forward sum takes logarithms, and %s has the probabilities %v: take Log of each", map[bool]string{true: "initial", false: "transition"}[k == 0], row)
			return Expr{}
		}
	}
	ids := make([]nodeID, len(x))
	for i := range x {
		ids[i] = x[i].logIn(m)
	}
	return Expr{m: m, id: m.st.forward(states, steps, ids)}
}

// logIn is in for a logarithm: a number may be −∞.
func (x Expr) logIn(m *Model) nodeID {
	if x.m == nil && math.IsInf(x.v, -1) {
		return m.st.constant(x.v)
	}
	return x.in(m)
}

// forward is the forward sum of a chain; see newLayout for the terms.
func (s *store) forward(states, steps int, ids []nodeID) nodeID {
	terms, known := make([]term, len(ids)), make([]float64, 0, len(ids))
	for i, id := range ids {
		terms[i] = term{id, 1}
		if v, ok := s.isConst(id); ok {
			known = append(known, v)
		}
	}
	if len(known) == len(ids) {
		return s.constant(forwardValue(states, steps, known))
	}
	return s.intern(node{kind: kForward, a: nodeID(states), b: nodeID(steps), terms: terms})
}

// A layout is the kernel of a forward sum, and which of the terms of its node are the rows of
// the kernel's operand: all but the moves that no step can make.
type layout struct {
	kernel.Forward
	rows []int
}

// newLayout is the layout of a forward sum of so many terms: the initial state, the
// transitions row by row, and the emissions step by step.
func newLayout(states, steps, terms int, impossible func(term int) bool) layout {
	square := states * states
	sets := (terms - states - steps*states) / square
	l := layout{Forward: kernel.Forward{States: states, Steps: steps, Varying: sets > 1}}
	for i := range states {
		l.rows = append(l.rows, i)
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
			l.rows = append(l.rows, states+set*square+m)
		}
	}
	for i := terms - steps*states; i < terms; i++ {
		l.rows = append(l.rows, i)
	}
	return l
}

func (s *store) layout(n node) layout {
	return newLayout(int(n.a), int(n.b), len(n.terms), func(i int) bool {
		v, known := s.isConst(n.terms[i].atom)
		return known && math.IsInf(v, -1)
	})
}

// layoutOf is the layout for numbers, with the kernel's operand.
func layoutOf(states, steps int, x []float64) (layout, kernel.Matrix) {
	l := newLayout(states, steps, len(x), func(i int) bool { return math.IsInf(x[i], -1) })
	in := make([]float64, len(l.rows))
	for r, i := range l.rows {
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

// forwardValue is the forward sum of numbers.
func forwardValue(states, steps int, x []float64) float64 {
	l, in := layoutOf(states, steps, x)
	return l.run(in).Data[0]
}

// smoothed are the probabilities of the states of each step, given all emissions.
func smoothed(states, steps int, x []float64) [][]float64 {
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

// forwardRows are the rows of the operand of a forward sum.
func (b *batch) forwardRows(id nodeID) []output {
	n := b.st.at(id)
	l := b.st.layout(n)
	rows := make([]output, len(l.rows))
	for r, i := range l.rows {
		rows[r].c, rows[r].terms = b.st.parts(n.terms[i].atom)
	}
	return rows
}

// forward makes a form of forward sums.
func (e *Graph) forward(f *form) *gorgonia.Node {
	var rows []output
	for _, id := range f.rows {
		rows = append(rows, e.b.forwardRows(id)...)
	}
	k := e.b.st.layout(e.b.st.at(f.rows[0])).Forward
	all := e.apply(k, gorgonia.Nodes{e.outputs(rows)}, f.onLatents)
	return e.apply(kernel.Gather{Idx: kernel.RowRange(0, len(f.rows))}, gorgonia.Nodes{all}, f.onLatents)
}
