package kernel

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// Forward is the forward algorithm of hidden Markov chains in logarithms, the sum over
// all paths s_0, s_1, … of the states:
//
//	log Σ_s exp( initial[s_0] + Σ_t move_t[s_t−1, s_t] + Σ_t emission_t[s_t] )
//
// Its operand has InRows rows for each chain: initial by state, the moves, one for all
// steps or for each step but the first, and the emissions, a row for each state of each
// step. Anything may be −∞. A chain of T steps, K states and M moves costs T·M exponentials
// and T·K logarithms.
//
// The result is a row for each chain, and then working rows for [ForwardGrad].
type Forward struct {
	States, Steps int
	// From and To are the states that a move leads from and to, in ascending order of To.
	From, To RowList
	Varying  bool // each step has moves of its own
}

// InRows is the number of rows of the operand for each chain.
func (k Forward) InRows() int { return k.emission(k.Steps) }

// moves is the first row of the moves to a step.
func (k *Forward) moves(step int) int {
	if k.Varying {
		return k.States + (step-1)*len(k.To)
	}
	return k.States
}

// emission is the first row of the emissions of a step.
func (k *Forward) emission(step int) int {
	sets := 1
	if k.Varying {
		sets = k.Steps - 1
	}
	return k.States + sets*len(k.To) + step*k.States
}

// workRows is the number of working rows of each chain: for each step a row for each
// state and one for all.
func (k *Forward) workRows() int { return k.Steps * (k.States + 1) }

// OutRows is the number of rows of the result for so many chains.
func (k Forward) OutRows(chains int) int { return chains * (1 + k.workRows()) }

func (k Forward) outRows(in []int) int { return k.OutRows(in[0] / k.InRows()) }

// Eval implements [Kernel].
func (k Forward) Eval(out Matrix, in []Matrix) {
	rows, work := k.InRows(), k.workRows()
	chains := in[0].Rows / rows
	for c := range chains {
		k.forward(out.Row(c), out.Span(chains+c*work, work), in[0].Span(c*rows, rows))
	}
}

func (k Forward) diff(int, []int) derivative {
	return derivative{ForwardGrad{k}, []operand{upstream, 0, result}}
}

// at are the working rows of a step: for each state the log probability p of what was
// observed before and of being there, less a number, and then a number c. p +
// emission − c is the same with the step's own observation; its largest value is 0.
func (k *Forward) at(work Matrix, step int) Matrix { return work.Span(step*(k.States+1), k.States+1) }

// forward sets sum, and the working rows of one chain.
func (k *Forward) forward(sum []float64, work, in Matrix) {
	clear(sum)
	for t := range k.Steps {
		at, emission := k.at(work, t), in.Span(k.emission(t), k.States)
		if t == 0 {
			copy(at.Data, in.Span(0, k.States).Data)
		} else {
			k.predict(at, k.at(work, t-1), in, t)
		}
		c := at.Row(k.States)
		for i := range c {
			c[i] = at.Data[i] + emission.Data[i]
		}
		for s := 1; s < k.States; s++ {
			p, e := at.Row(s), emission.Row(s)
			for i := range c {
				c[i] = larger(c[i], p[i]+e[i])
			}
		}
		for i := range c {
			sum[i] += c[i]
			if math.IsInf(c[i], -1) { // no state is possible
				c[i] = 0
			}
		}
	}
	last, emission := k.at(work, k.Steps-1), in.Span(k.emission(k.Steps-1), k.States)
	for i, c := range last.Row(k.States) {
		total := 0.0
		for s := range k.States {
			total += math.Exp(last.Row(s)[i] + emission.Row(s)[i] - c)
		}
		if total > 0 || math.IsNaN(total) {
			sum[i] += math.Log(total)
		}
	}
}

// predict sets the working rows of the states of a step from those of the step before.
func (k *Forward) predict(at, before, in Matrix, step int) {
	moves, emission, c := k.moves(step), in.Span(k.emission(step-1), k.States), before.Row(k.States)
	total := at.Row(k.States) // its own number comes later
	var room [part]float64
	for first, s := 0, 0; s < k.States; s++ {
		p, end := at.Row(s), first
		for end < len(k.To) && int(k.To[end]) == s {
			end++
		}
		if end-first == 2 {
			k.join(p, before, emission, in, moves, first)
			first = end
			continue
		}
		for i := range p {
			p[i], total[i] = math.Inf(-1), 0
		}
		for m := first; m < end; m++ {
			from, e, move := before.Row(int(k.From[m])), emission.Row(int(k.From[m])), in.Row(moves+m)
			for i := range p {
				p[i] = larger(p[i], from[i]+e[i]-c[i]+move[i])
			}
		}
		for m := first; m < end && end-first > 1; m++ {
			from, e, move := before.Row(int(k.From[m])), emission.Row(int(k.From[m])), in.Row(moves+m)
			for lo := 0; lo < len(p); lo += part {
				hi := min(lo+part, len(p))
				x, from, e, c, move, total := room[:hi-lo], from[lo:hi], e[lo:hi], c[lo:hi], move[lo:hi], total[lo:hi]
				for i, most := range p[lo:hi] {
					if x[i] = from[i] + e[i] - c[i] + move[i]; x[i] == most {
						x[i] = 0
					} else {
						x[i] -= most
					}
				}
				vec.Exp(x, x)
				vec.Add(total, total, x)
			}
		}
		if end-first > 1 {
			vec.Log(total, total)
			vec.Add(p, p, total)
		}
		first = end
	}
}

// join sets p to what comes by the moves m and m+1, the only ones to a state: all but the larger one need an exponential.
func (k *Forward) join(p []float64, before, emission, in Matrix, moves, m int) {
	c, one, other := before.Row(k.States), int(k.From[m]), int(k.From[m+1])
	from, e, move := before.Row(one), emission.Row(one), in.Row(moves+m)
	from2, e2, move2 := before.Row(other), emission.Row(other), in.Row(moves+m+1)
	var room [part]float64
	for lo := 0; lo < len(p); lo += part {
		hi := min(lo+part, len(p))
		p, x, c := p[lo:hi], room[:hi-lo], c[lo:hi]
		from, e, move, from2, e2, move2 := from[lo:hi], e[lo:hi], move[lo:hi], from2[lo:hi], e2[lo:hi], move2[lo:hi]
		for i := range x {
			a, b := from[i]+e[i]-c[i]+move[i], from2[i]+e2[i]-c[i]+move2[i]
			p[i], x[i] = larger(a, b), 0
			if a != b { // which may both be −∞
				x[i] = -math.Abs(a - b)
			}
		}
		vec.Exp(x, x)
		vec.Affine(x, x, 1, 1)
		vec.Log(x, x)
		vec.Add(p, p, x)
	}
}

// part is how many columns are exponentiated at a time.
const part = 64

// larger is the larger one, and NaN if one is NaN.
func larger(x, y float64) float64 {
	if y > x || y != y {
		return y
	}
	return x
}

// ForwardGrad is the derivative of Forward by all rows of its operand, for operands g, x
// and y: the upstream gradient, Forward's operand, and its result. Where g is 1 that by an
// emission is the probability of being in that state at that step, given all emissions;
// that by a move is the expected number of such moves. It is the smoother of Kim: backwards
// from the last step, each state's probability is parted among the states that it may have
// been reached from.
type ForwardGrad struct{ Of Forward }

func (k ForwardGrad) outRows(in []int) int { return in[1] }

// Eval implements [Kernel].
func (k ForwardGrad) Eval(out Matrix, in []Matrix) {
	rows, work := k.Of.InRows(), k.Of.workRows()
	chains := out.Rows / rows
	for c := range chains {
		k.Of.backward(out.Span(c*rows, rows), in[0].Row(c), in[1].Span(c*rows, rows), in[2].Span(chains+c*work, work))
	}
}

// backward sets the gradient of one chain.
func (k *Forward) backward(out Matrix, g []float64, in, work Matrix) {
	clear(out.Data)
	k.last(out, g, in, work)
	var room [part]float64
	for t := k.Steps - 2; t >= 0; t-- {
		at, next, moves := k.at(work, t), k.at(work, t+1), k.moves(t+1)
		c := at.Row(k.States)
		for m, to := range k.To {
			s := int(k.From[m])
			p, e, move, target := at.Row(s), in.Row(k.emission(t)+s), in.Row(moves+m), next.Row(int(to))
			there, here, moved := out.Row(k.emission(t+1)+int(to)), out.Row(k.emission(t)+s), out.Row(moves+m)
			if (m == 0 || k.To[m-1] != to) && (m+1 == len(k.To) || k.To[m+1] != to) { // the only way there
				vec.Add(here, here, there)
				vec.Add(moved, moved, there)
				continue
			}
			for lo := 0; lo < len(there); lo += part {
				hi := min(lo+part, len(there))
				x, p, e, c, move, target := room[:hi-lo], p[lo:hi], e[lo:hi], c[lo:hi], move[lo:hi], target[lo:hi]
				for i := range x {
					x[i] = p[i] + e[i] - c[i] + move[i] - target[i]
				}
				vec.Exp(x, x)
				here, moved := here[lo:hi], moved[lo:hi]
				for i, w := range there[lo:hi] {
					if w != 0 {
						w *= x[i]
						here[i] += w
						moved[i] += w
					}
				}
			}
		}
	}
	copy(out.Data, out.Span(k.emission(0), k.States).Data)
}

// last sets the gradient by the emissions of the last step.
func (k *Forward) last(out Matrix, g []float64, in, work Matrix) {
	at, first := k.at(work, k.Steps-1), k.emission(k.Steps-1)
	c, total := at.Row(k.States), out.Row(0) // which is set later
	for s := range k.States {
		p, e, to := at.Row(s), in.Row(first+s), out.Row(first+s)
		for i, g := range g {
			if g != 0 {
				to[i] = math.Exp(p[i] + e[i] - c[i])
				total[i] += to[i]
			}
		}
	}
	for s := range k.States {
		to := out.Row(first + s)
		for i, g := range g {
			if g != 0 {
				to[i] *= g / total[i]
			}
		}
	}
}
