// Package elimination sums a product of factors over discrete variables, one variable
// after the other (Zhang and Poole, 1994):
//
//	Σ_x Π_f exp(L_f(x_f)),   p(x) = Π_v p(x_v | given_v),   given_v eliminated after v.
//
// The elimination of v joins the factors that have it, and leaves a table of those that it met there:
//
//	a ── v ── b        a ──── b
//	     │        ─▶    \    /         a table of a, b and c
//	     c                c
//
// Of a chain, that is the forward sum, and drawing the variables in the opposite order is
// filtering forward and sampling backward. It works on batches: a row of a table has n numbers.
//
// NewPlan finds an order, Plan.Bind makes a Sum, which runs. The factors are those of derive.Tabulation. Where their tables are linear in a few numbers,
// tables of coefficients are joined once, for all samples (Linear). Fold writes the sum as an expression instead.
package elimination

import (
	"cmp"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/components"
)

// A Factor depends on some variables, and on the value of each only by its class.
type Factor struct {
	Vars []int // ascending
	// Cuts are, of each variable and ascending, the values with which the next class begins.
	// The rows of a factor's table are its classes, those of the last variable running fastest.
	Cuts [][]int
	// First is, by row, the first one that is known to be always the same; nil if nothing is known.
	First []int
}

// differ reports whether two rows may.
func (f Factor) differ(a, b int32) bool { return f.First == nil || f.First[a] != f.First[b] }

// Rows is the number of rows of the factor's table.
func (f Factor) Rows() int {
	rows := 1
	for _, c := range f.Cuts {
		rows = min(rows*(len(c)+1), math.MaxInt32)
	}
	return rows
}

// A Plan is an order of elimination. It is immutable.
type Plan struct {
	values  []int
	factors []Factor
	steps   []step
	of      []int // the step of each variable
	cost    []int // by variable
	group   []int
}

// A step eliminates variable v.
type step struct {
	v     int
	given []int // the variables that its factors have beside it, ascending
	swept []int // factors of v alone, and others of few classes of v: what they say changes seldom from a value to the next
	more  []int // the other factors that have v and no variable that was eliminated before
}

// NewPlan plans the elimination of variables with so many values each, always that one next
// whose table is smallest. Variables whose Cost is above most cannot be summed by it.
func NewPlan(values []int, factors []Factor, most int) *Plan {
	n := len(values)
	p := &Plan{values: values, factors: factors, of: make([]int, n), cost: make([]int, n), group: groups(n, factors)}
	e := newEliminator(values, factors)
	cost := make([]int, n) // by group
	for range n {
		v := e.smallest()
		size := e.size[v]
		s := e.step(v)
		cost[p.group[v]] = min(cost[p.group[v]]+size*(1+len(s.more))+e.sweep(s, size), math.MaxInt32)
		e.eliminate(s, size <= most) // else it would take long
		p.of[v] = len(p.steps)
		p.steps = append(p.steps, s)
	}
	for v := range p.cost {
		p.cost[v] = cost[p.group[v]]
	}
	return p
}

// groups numbers the connected components of n variables.
func groups(n int, factors []Factor) []int {
	sets := make([][]int, n, n+len(factors)) // of variables: each one, and those of each factor
	for v := range sets {
		sets[v] = []int{v}
	}
	for _, x := range factors {
		sets = append(sets, x.Vars)
	}
	group := make([]int, n)
	for g, members := range components.Of(sets) {
		for _, k := range members {
			if k < n {
				group[k] = g
			}
		}
	}
	return group
}

// An eliminator knows which of the variables that are left meet in a factor, or in the table
// that an elimination leaves.
type eliminator struct {
	values  []int
	factors []Factor
	with    [][]int        // by variable: its factors
	near    []map[int]bool // by variable: those that it meets
	size    []int          // by variable: the rows of the table of its elimination; 0 when it is eliminated
	taken   []bool         // by factor: whether a step has it
}

func newEliminator(values []int, factors []Factor) *eliminator {
	n := len(values)
	e := &eliminator{
		values: values, factors: factors, with: make([][]int, n), near: make([]map[int]bool, n), size: make([]int, n), taken: make([]bool, len(factors)),
	}
	for v := range e.near {
		e.near[v] = map[int]bool{}
	}
	for f, x := range factors {
		for _, v := range x.Vars {
			e.with[v] = append(e.with[v], f)
			e.join(v, x.Vars)
		}
	}
	for v := range e.size {
		e.measure(v)
	}
	return e
}

// join lets v meet the others.
func (e *eliminator) join(v int, others []int) {
	for _, w := range others {
		if w != v {
			e.near[v][w] = true
		}
	}
}

func (e *eliminator) measure(v int) {
	e.size[v] = e.values[v]
	for w := range e.near[v] {
		e.size[v] = min(e.size[v]*e.values[w], math.MaxInt32)
	}
}

// smallest is the first of the variables that are left with the smallest table, and of those the most values.
func (e *eliminator) smallest() int {
	v := -1
	for w, x := range e.size {
		if x > 0 && (v < 0 || x < e.size[v] || x == e.size[v] && e.values[w] > e.values[v]) {
			v = w
		}
	}
	return v
}

// sweep is the number of additions for the factors of several variables that are swept, to a table of size rows.
func (e *eliminator) sweep(s step, size int) (n int) {
	for _, f := range s.swept {
		if x := e.factors[f]; len(x.Vars) > 1 {
			n += 1 + 2*len(x.Cuts[slices.Index(x.Vars, s.v)])
		}
	}
	return min(n, math.MaxInt32/size) * (size / e.values[s.v])
}

// step is the elimination of v, with the factors that no step has.
func (e *eliminator) step(v int) step {
	s := step{v: v}
	for w := range e.near[v] {
		s.given = append(s.given, w)
	}
	slices.Sort(s.given)
	for _, f := range e.with[v] {
		x := e.factors[f]
		switch {
		case e.taken[f]:
		case len(x.Vars) == 1 || 2*len(x.Cuts[slices.Index(x.Vars, v)])+1 < e.values[v]:
			s.swept = append(s.swept, f)
		default:
			s.more = append(s.more, f)
		}
		e.taken[f] = true
	}
	return s
}

// eliminate takes the variable of s away. If fill, those that it met meet each other now.
func (e *eliminator) eliminate(s step, fill bool) {
	e.size[s.v] = 0
	for _, w := range s.given {
		delete(e.near[w], s.v)
		if fill {
			e.join(w, s.given)
		}
	}
	for _, w := range s.given {
		e.measure(w)
	}
}

// Cost is the number of additions for the variables that v is connected with, itself among
// them, to a table's rows.
func (p *Plan) Cost(v int) int { return p.cost[v] }

// Group is a number, below that of variables, of those that v is connected with, itself among them.
func (p *Plan) Group(v int) int { return p.group[v] }

// vars are those of the step's table, the last of which runs fastest.
func (s *step) vars() []int { return append(slices.Clip(s.given), s.v) }

// stride is from a class of variable i to the next in the factor's table.
func stride(f Factor, i int) int {
	rows := 1
	for _, cuts := range f.Cuts[i+1:] {
		rows *= len(cuts) + 1
	}
	return rows
}

// all is a factor of which each value is a class.
func (p *Plan) all(vars []int) Factor {
	f := Factor{Vars: vars}
	for _, v := range vars {
		cuts := make([]int, p.values[v]-1)
		for k := range cuts {
			cuts[k] = k + 1
		}
		f.Cuts = append(f.Cuts, cuts)
	}
	return f
}

// rows are those of f by row of a table of vars, with the first class of its other variables.
func (p *Plan) rows(vars []int, f Factor) []int32 {
	at := []int32{0}
	for _, v := range vars {
		next := make([]int32, 0, len(at)*p.values[v])
		k := slices.Index(f.Vars, v)
		for _, row := range at {
			for value := range p.values[v] {
				if k < 0 {
					next = append(next, row)
					continue
				}
				class, _ := slices.BinarySearch(f.Cuts[k], value+1)
				next = append(next, row+int32(class*stride(f, k)))
			}
		}
		at = next
	}
	return at
}

// An arrival is the message of a step, with its rows by row of the table where it arrives.
type arrival struct {
	step int
	at   []int32
}

// arrivals are those of each step.
func (p *Plan) arrivals() [][]arrival {
	from := make([][]arrival, len(p.steps))
	for k, s := range p.steps {
		if len(s.given) > 0 {
			to := p.of[slices.MinFunc(s.given, func(v, w int) int { return cmp.Compare(p.of[v], p.of[w]) })]
			from[to] = append(from[to], arrival{k, p.rows(p.steps[to].vars(), p.all(s.given))})
		}
	}
	return from
}

// Fold is log Σ_x Π_f exp(L_f(x_f)) as an expression of the rows of factors, and of what else is known of each variable's values.
func Fold[E any](p *Plan, factor func(f, row int) E, variable func(v, value int) E, sum, logSum func([]E) E) E {
	messages, from := make([][]E, len(p.steps)), p.arrivals()
	var totals []E
	for k := range p.steps {
		s := &p.steps[k]
		factors, logs := slices.Concat(s.swept, s.more), make([]E, p.values[s.v])
		at := make([][]int32, len(factors))
		for j, f := range factors {
			at[j] = p.rows(s.vars(), p.factors[f])
		}
		rows := p.all(s.vars()).Rows()
		for r := range rows {
			value := r % len(logs)
			terms := []E{variable(s.v, value)}
			for j, f := range factors {
				terms = append(terms, factor(f, int(at[j][r])))
			}
			for _, m := range from[k] {
				terms = append(terms, messages[m.step][m.at[r]])
			}
			if logs[value] = sum(terms); value == len(logs)-1 {
				messages[k] = append(messages[k], logSum(logs))
			}
		}
		if len(s.given) == 0 {
			totals = append(totals, messages[k]...)
		}
	}
	return sum(totals)
}
