package kernel

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// A oneWay is a chain of two states of which one is never left, as behind a change point or above a threshold. It has a path for each step that may be the
// first in that state, and one that never comes there, so the sum over paths takes one exponential each, and no logarithm. The working rows are, in that order,
// multiples of the probabilities of the paths given all emissions, and by what these are to be multiplied.
type oneWay struct {
	*paths
	from, to            int // states
	stay, leave, remain int // moves: in the one, to the other, and in that
}

// oneWay reports whether the chain is one.
func (c *paths) oneWay() (w oneWay, is bool) {
	if c.States != 2 || len(c.To) != 3 {
		return w, false
	}
	w.paths = c
	changes := 0
	for m, to := range c.To {
		if c.From[m] != to {
			w.leave, w.from, w.to = m, int(c.From[m]), int(to)
			changes++
		}
	}
	for m, to := range c.To {
		switch {
		case m == w.leave:
		case int(to) == w.from:
			w.stay = m
		default:
			w.remain = m
		}
	}
	return w, changes == 1
}

// path is the working row of the path that changes before a step.
func (w *oneWay) path(step int) []float64 { return w.row(w.work, step) }

// times is the working row of what those of paths are to be multiplied by.
func (w *oneWay) times() []float64 { return w.row(w.work, w.Steps+1) }

// move is the row of a move to a step.
func (w *oneWay) move(m Matrix, step, move int) []float64 { return w.row(m, w.moves(step)+move) }

// forward sets sum, and the working rows.
func (w *oneWay) forward(sum []float64) {
	for t := w.Steps - 1; t >= 0; t-- { // what there is from the change on
		if row, seen := w.path(t), w.seen(t, w.to); t+1 == w.Steps {
			copy(row, seen)
		} else {
			vec.Add3(row, seen, w.path(t+1), w.move(w.in, t+1, w.remain))
		}
	}
	vec.Add(w.path(0), w.path(0), w.row(w.in, w.to))
	before, top := w.x[:w.n], w.more[:w.n]
	vec.Add(before, w.row(w.in, w.from), w.seen(0, w.from))
	copy(top, w.path(0))
	for t := 1; t <= w.Steps; t++ {
		row := w.path(t)
		if t < w.Steps {
			vec.Add3(row, row, before, w.move(w.in, t, w.leave))
			vec.Add3(before, before, w.move(w.in, t, w.stay), w.seen(t, w.from))
		} else {
			copy(row, before)
		}
		vec.Larger(top, w.apart[:], top, row)
	}
	copy(sum, top)
	for i, v := range top {
		if v < -math.MaxFloat64 { // no path is possible
			top[i] = 0
		}
	}
	total := before
	clear(total)
	for t := range w.Steps + 1 {
		vec.ExpApart(w.path(t), total, w.path(t), top)
	}
	times := w.times()
	for i, v := range total {
		if times[i] = 0; v != 0 {
			sum[i] += math.Log(v)
			times[i] = 1 / v
		}
	}
}

// backward sets the gradient.
func (w *oneWay) backward(out Matrix, g []float64) {
	part, scaled := w.x[:w.n], w.more[:w.n]
	vec.GatedMul(scaled, g, w.times(), 1)
	if !w.Varying {
		for m := range w.To {
			clear(w.move(out, 1, m))
		}
	}
	first := w.row(out, w.to)
	vec.GatedMul(first, scaled, w.path(0), 1)
	changed := w.row(out, w.emission(0)+w.to) // the part of the paths that have
	copy(changed, first)
	for t := 1; t < w.Steps; t++ {
		vec.GatedMul(part, scaled, w.path(t), 1)
		w.addMove(out, t, w.leave, part)
		w.addMove(out, t, w.remain, changed)
		now := w.row(out, w.emission(t)+w.to)
		vec.Add(now, changed, part)
		changed = now
	}
	vec.GatedMul(part, scaled, w.path(w.Steps), 1)
	same := part // that of those that have not
	for t := w.Steps - 1; t >= 0; t-- {
		now := w.row(out, w.emission(t)+w.from)
		if t+1 == w.Steps {
			copy(now, same)
		} else {
			vec.GatedMul(part, scaled, w.path(t+1), 1)
			vec.Add(now, same, part)
		}
		if same = now; t > 0 {
			w.addMove(out, t, w.stay, same)
		}
	}
	copy(w.row(out, w.from), same)
}

// addMove adds to the gradient by a move to a step, which was 0 unless steps have moves of their own.
func (w *oneWay) addMove(out Matrix, step, move int, part []float64) {
	if row := w.move(out, step, move); w.Varying {
		copy(row, part)
	} else {
		vec.Add(row, row, part)
	}
}
