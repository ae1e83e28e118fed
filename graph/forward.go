package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
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
		e := evaluator{m.st.Evaluator(&m.st.Nodes)}
		defer e.Release()
		e.Arr, e.Z, e.Data = m.guards.Arr, make([]float64, len(m.latents)), make([]float64, len(m.obs))
		for i := range e.Z {
			e.Z[i] = math.Sin(float64(1 + point + 3*i))
		}
		for i, o := range m.obs {
			e.Data[i] = o.value
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
			v[i] = lang.Plain(x[i])
		}
		return lang.Number(ir.ForwardValue(states, steps, v))
	}
	if t := m.traces(); t != nil {
		return t.Function(func() Expr { return forwardSum(states, steps, t.valuesOf(x)) }, x...)
	}
	for k := 0; k < len(x)-states*steps; k += states {
		if row := x[k:][:states]; m.addUpToOne(row) {
			m.fail("a forward sum takes logarithms, and %s has the probabilities %v: take Log of each", map[bool]string{true: "initial", false: "transition"}[k == 0], row)
			return Expr{}
		}
	}
	ids := make([]ir.ID, len(x))
	for i := range x {
		ids[i] = m.logNode(x[i])
	}
	return m.expr(m.st.Forward(states, steps, ids))
}

// logNode is node for a logarithm: a number may be −∞.
func (m *Model) logNode(x Expr) ir.ID {
	if lang.Of(x) == nil && math.IsInf(lang.Plain(x), -1) {
		return m.st.Constant(lang.Plain(x))
	}
	return m.node(x)
}
