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

// workRows is the number of working rows of each chain: for each step two rows for each state.
func (k *Forward) workRows() int { return 2 * k.Steps * k.States }

// OutRows is the number of rows of the result for so many chains.
func (k Forward) OutRows(chains int) int { return chains * (1 + k.workRows()) }

func (k Forward) outRows(in []int) int { return k.OutRows(in[0] / k.InRows()) }

// Eval implements [Kernel].
func (k Forward) Eval(out Matrix, in []Matrix) {
	rows, work := k.InRows(), k.workRows()
	chains := in[0].Rows / rows
	for c := range chains {
		x := paths{Forward: &k, in: in[0].Span(c*rows, rows), work: out.Span(chains+c*work, work)}
		for sum := out.Row(c); len(sum) > 0; sum = sum[x.n:] {
			x.n = min(part, len(sum))
			if w, is := x.oneWay(); is {
				w.forward(sum[:x.n])
			} else {
				x.forward(sum[:x.n])
			}
			x.first += x.n
		}
	}
}

func (k Forward) diff(int, []int) derivative {
	return derivative{ForwardGrad{k}, []operand{upstream, 0, result}}
}

// Paths are those of some columns of a chain.
type paths struct {
	*Forward
	in, work       Matrix
	first, n       int           // columns
	x, apart, more [part]float64 // scratch
}

// row is row r of m in the columns.
func (c *paths) row(m Matrix, r int) []float64 { return m.Data[r*m.Cols+c.first:][:c.n] }

// before is the working row of a state at a step: the log probability of what was observed before and of being there, less a number.
func (c *paths) before(step, state int) []float64 { return c.row(c.work, 2*step*c.States+state) }

// after is the same with the step's own observation, less another number: its largest value is 0.
func (c *paths) after(step, state int) []float64 { return c.row(c.work, (2*step+1)*c.States+state) }

// seen is the row of a state's emissions at a step.
func (c *paths) seen(step, state int) []float64 { return c.row(c.in, c.emission(step)+state) }

// forward sets sum, and the working rows.
func (c *paths) forward(sum []float64) {
	clear(sum)
	for t := range c.Steps {
		if t > 0 {
			c.predict(t)
		} else {
			for s := range c.States {
				copy(c.before(0, s), c.row(c.in, s))
			}
		}
		top := c.x[:c.n]
		for s := range c.States {
			x := c.after(t, s)
			if vec.Add(x, c.before(t, s), c.seen(t, s)); s == 0 {
				copy(top, x)
			} else {
				vec.Larger(top, c.apart[:], top, x)
			}
		}
		vec.Add(sum, sum, top)
		for i, v := range top {
			if v < -math.MaxFloat64 { // no state is possible
				top[i] = 0
			}
		}
		for s := range c.States {
			vec.AddScaled(c.after(t, s), -1, top)
		}
	}
	for i := range sum {
		total := 0.0
		for s := range c.States {
			total += math.Exp(c.after(c.Steps-1, s)[i])
		}
		if total > 0 || math.IsNaN(total) {
			sum[i] += math.Log(total)
		}
	}
}

// predict sets the working rows of the states of a step from those of the step before.
func (c *paths) predict(step int) {
	x, apart, more := c.x[:c.n], c.apart[:c.n], c.more[:c.n]
	for m, s := 0, 0; s < c.States; s++ {
		p, from := c.before(step, s), m
		for ; m < len(c.To) && int(c.To[m]) == s; m++ {
			if m == from {
				c.come(p, step, m)
				continue
			}
			c.come(x, step, m)
			vec.Larger(p, apart, p, x)
		}
		switch m - from {
		case 0:
			vec.Fill(p, math.Inf(-1))
			continue
		case 1:
			continue
		case 2: // all but the larger one need an exponential
			vec.Exp(x, apart)
			vec.Affine(more, x, 1, 1)
		default:
			clear(more)
			for k := from; k < m; k++ {
				c.come(x, step, k)
				vec.Larger(x, apart, p, x)
				vec.Exp(x, apart)
				vec.Add(more, more, x)
			}
		}
		vec.Log(more, more)
		vec.Add(p, p, more)
	}
}

// come sets x to what comes by move m to a step.
func (c *paths) come(x []float64, step, m int) {
	vec.Add(x, c.after(step-1, int(c.From[m])), c.row(c.in, c.moves(step)+m))
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
		x := paths{Forward: &k.Of, in: in[1].Span(c*rows, rows), work: in[2].Span(chains+c*work, work)}
		for g := in[0].Row(c); len(g) > 0; g = g[x.n:] {
			x.n = min(part, len(g))
			if w, is := x.oneWay(); is {
				w.backward(out.Span(c*rows, rows), g[:x.n])
			} else {
				x.backward(out.Span(c*rows, rows), g[:x.n])
			}
			x.first += x.n
		}
	}
}

// backward sets the gradient.
func (c *paths) backward(out Matrix, g []float64) {
	for r := range out.Rows {
		clear(c.row(out, r))
	}
	c.last(out, g)
	x := c.x[:c.n]
	for t := c.Steps - 1; t > 0; t-- {
		for m, to := range c.To {
			s := int(c.From[m])
			there, here, moved := c.row(out, c.emission(t)+int(to)), c.row(out, c.emission(t-1)+s), c.row(out, c.moves(t)+m)
			if (m == 0 || c.To[m-1] != to) && (m+1 == len(c.To) || c.To[m+1] != to) { // the only way there
				vec.Add(here, here, there)
				vec.Add(moved, moved, there)
				continue
			}
			c.come(x, t, m)
			vec.AddScaled(x, -1, c.before(t, int(to)))
			vec.Exp(x, x)
			vec.GatedMul(x, there, x, 1)
			vec.Add(here, here, x)
			vec.Add(moved, moved, x)
		}
	}
	for s := range c.States {
		copy(c.row(out, s), c.row(out, c.emission(0)+s))
	}
}

// last sets the gradient by the emissions of the last step.
func (c *paths) last(out Matrix, g []float64) {
	t, total := c.Steps-1, c.row(out, 0) // which is set later
	for s := range c.States {
		x, to := c.after(t, s), c.row(out, c.emission(t)+s)
		for i, g := range g {
			if g != 0 {
				to[i] = math.Exp(x[i])
				total[i] += to[i]
			}
		}
	}
	for s := range c.States {
		to := c.row(out, c.emission(t)+s)
		for i, g := range g {
			if g != 0 {
				to[i] *= g / total[i]
			}
		}
	}
}
