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

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/components"
	"github.com/facetvi/facet/internal/vec"
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

// A Sum works on batches of n. It is for one goroutine.
type Sum struct {
	Total []float64 // log Σ_x Π_f exp(L_f(x_f))

	p     *Plan
	n     int
	steps []bound
	// by sample: of what is swept, and of a row of a table
	sum, blocked, top, exp []float64
}

// bound is a step with its tables. Their rows are the values of given and v, which runs fastest.
type bound struct {
	*step
	values  int
	changes [][]change  // of the factors that are swept, by row of given
	first   [][]int32   // by factor that is swept: its row of v's first class, by row of given
	at      [][]int32   // by factor of more: its rows, by row of the table
	from    []arrival   // of the variables that were eliminated before
	log     [][]float64 // rows, of the first values of spans: what is known of them,
	all     []float64   // which follow each other
	message [][]float64 // rows of given: log of the sum over v and all that was before
	single  spans       // of one value each
	spans   *spans      // of the last run
}

// spans are values of a variable that follow each other, and that factors say the same of.
type spans struct {
	firsts [][]int32 // by row of given: the values that spans begin with
	first  []int32   // by row of the table: that of its span's first value
	within []float64 // by row of the table: log of what its value has of its span
}

// A change is of the row of a factor that is swept, from a value on.
type change struct {
	value, swept int
	from, to     int32
}

// An arrival is the message of a step, with its rows by row of the table where it arrives.
type arrival struct {
	step int
	at   []int32
}

// Bind returns a Sum for batches of n.
func (p *Plan) Bind(n int) *Sum {
	s := &Sum{Total: make([]float64, n), p: p, n: n}
	for _, row := range [...]*[]float64{&s.sum, &s.blocked, &s.top, &s.exp} {
		*row = make([]float64, n)
	}
	for k := range p.steps {
		b := bound{step: &p.steps[k], values: p.values[p.steps[k].v]}
		for _, f := range b.swept {
			b.first = append(b.first, p.rows(b.given, p.factors[f]))
		}
		rows := 1
		for _, w := range b.given {
			rows *= p.values[w]
		}
		b.log, b.all = matrix(rows*b.values, n)
		b.message, _ = matrix(rows, n)
		for r := range b.log {
			b.single.first = append(b.single.first, int32(r))
		}
		b.single.within = make([]float64, len(b.log))
		for g := range rows {
			b.changes = append(b.changes, p.changes(&b, g))
			b.single.firsts = append(b.single.firsts, b.single.first[:b.values])
		}
		for _, f := range b.more {
			b.at = append(b.at, p.rows(b.vars(), p.factors[f]))
		}
		s.steps = append(s.steps, b)
	}
	for k, from := range p.arrivals() {
		s.steps[k].from = from
	}
	return s
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

// changes are those in row g of given, by value.
func (p *Plan) changes(b *bound, g int) (list []change) {
	for j, f := range b.swept {
		x := p.factors[f]
		i := slices.Index(x.Vars, b.v)
		at, stride := b.first[j][g], int32(stride(x, i))
		for _, value := range x.Cuts[i] {
			if x.differ(at, at+stride) {
				list = append(list, change{value, j, at, at + stride})
			}
			at += stride
		}
	}
	slices.SortStableFunc(list, func(x, y change) int { return cmp.Compare(x.value, y.value) })
	return list
}

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

// matrix is rows of n numbers, and all of them.
func matrix(rows, n int) (m [][]float64, all []float64) {
	m, all = make([][]float64, rows), make([]float64, rows*n)
	for k := range m {
		m[k] = all[k*n:][:n]
	}
	return m, all
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

// Run sums, given the factors' tables, rows × n, and for each variable what else is known of
// its values, values × n. What is not a number counts as impossible.
func (s *Sum) Run(factor, variable func(k int) []float64) {
	s.run(func(k int) {
		b := &s.steps[k]
		b.spans = &b.single
		s.join(b, factor, variable(b.v))
	})
}

// join sets the table of a step to what factors say, and what else is known of the values.
func (s *Sum) join(b *bound, factor func(k int) []float64, known []float64) {
	for g := range b.message {
		s.sweep(b, g, factor, known)
	}
	for j, f := range b.more {
		table := factor(f)
		for r, at := range b.at[j] {
			floats.Add(b.log[r], table[int(at)*s.n:][:s.n])
		}
	}
}

// run eliminates the variables, given what fills the tables of the steps.
func (s *Sum) run(fill func(step int)) {
	clear(s.Total)
	for k := range s.steps {
		b := &s.steps[k]
		fill(k)
		for _, m := range b.from {
			for r, at := range m.at {
				floats.Add(b.log[r], s.steps[m.step].message[at])
			}
		}
		for g, to := range b.message {
			s.add(to, b.log[g*b.values:], b.spans.firsts[g])
			if len(b.given) == 0 {
				floats.Add(s.Total, to)
			}
		}
	}
}

// sweep sets the rows of given row g to what the factors that are swept say of the values, and what else is known of them.
func (s *Sum) sweep(b *bound, g int, factor func(k int) []float64, known []float64) {
	n := s.n
	clear(s.sum)
	for j, at := range b.first {
		vec.Add(s.sum, s.sum, factor(b.swept[j])[int(at[g])*n:][:n])
	}
	changes := b.changes[g]
	for value, own := range b.log[g*b.values:][:b.values] {
		for ; len(changes) > 0 && changes[0].value == value; changes = changes[1:] {
			c := &changes[0]
			table := factor(b.swept[c.swept])
			vec.Affine2(s.exp, table[int(c.to)*n:][:n], table[int(c.from)*n:][:n], 1, -1, 0) // 0 where they are the same
			vec.Add(s.sum, s.sum, s.exp)
		}
		vec.Add(own, known[value*n:], s.sum)
	}
	if t := vec.Sum(s.sum); t-t != 0 { // a number that is not finite stays
		s.sweepBlocked(b, g, factor, known)
	}
}

// sweepBlocked is sweep where factors say that values are impossible.
func (s *Sum) sweepBlocked(b *bound, g int, factor func(k int) []float64, known []float64) {
	n := s.n
	clear(s.sum)
	clear(s.blocked) // how many factors say that the value is impossible
	add := func(row []float64, by float64) {
		for k, x := range row {
			if x > math.Inf(-1) {
				s.sum[k] += by * x
			} else {
				s.blocked[k] += by
			}
		}
	}
	row := func(swept int, at int32) []float64 { return factor(b.swept[swept])[int(at)*n:][:n] }
	for j, at := range b.first {
		add(row(j, at[g]), 1)
	}
	changes := b.changes[g]
	for value, own := range b.log[g*b.values:][:b.values] {
		for ; len(changes) > 0 && changes[0].value == value; changes = changes[1:] {
			c := &changes[0]
			add(row(c.swept, c.from), -1)
			add(row(c.swept, c.to), 1)
		}
		for k, x := range known[value*n:][:n] {
			own[k] = x + s.sum[k]
			if s.blocked[k] > 0 {
				own[k] = math.Inf(-1)
			}
		}
	}
}

// add stores the log of the sum of the rows' exponentials in dst. Of the rows those count that are in list.
func (s *Sum) add(dst []float64, rows [][]float64, list []int32) {
	if s.largest(rows, list); math.IsNaN(vec.Sum(s.top)) {
		for _, r := range list {
			for k, v := range rows[r] {
				if math.IsNaN(v) {
					rows[r][k] = math.Inf(-1)
				}
			}
		}
		s.largest(rows, list)
	}
	clear(dst)
	for _, r := range list {
		if s.counts(rows[r]) {
			vec.ExpApart(s.exp, dst, rows[r], s.top)
		}
	}
	vec.Log(dst, dst)
	vec.Add(dst, dst, s.top)
	for k, top := range s.top {
		if math.IsInf(top, 0) {
			dst[k] = top
		}
	}
}

// largest makes s.top the largest of each column, NaN where one is that.
func (s *Sum) largest(rows [][]float64, list []int32) {
	vec.Fill(s.top, math.Inf(-1))
	for _, r := range list {
		vec.Larger(s.top, s.exp, s.top, rows[r])
	}
}

// counts reports whether some number of a row is not nothing beside the largest.
func (s *Sum) counts(row []float64) bool {
	for k, top := range s.top[:len(row)] {
		if !(row[k]-top < nothing) {
			return true
		}
	}
	return false
}

// given is the row of the values that given has.
func (s *Sum) given(b *bound, x []int) (g int) {
	for _, w := range b.given {
		g = g*s.p.values[w] + x[w]
	}
	return g
}

// share is the log of what the sum has at sample k by a span, of all by row g of given.
func (b *bound) share(g int, first int32, k int) float64 {
	log, all := b.log[first][k], b.message[g][k]
	switch {
	case !math.IsInf(all, 0):
		return log - all
	case math.IsInf(log, 1):
		return 0
	}
	return math.Inf(-1)
}

// logProb is the log of the probability of row r of the table at sample k.
func (b *bound) logProb(r, k int) float64 {
	return b.share(r/b.values, b.spans.first[r], k) + b.spans.within[r]
}

// LogProb is log p(x) at sample k.
func (s *Sum) LogProb(k int, x []int) (log float64) {
	for j := range s.steps {
		b := &s.steps[j]
		log += b.logProb(s.given(b, x)*b.values+x[b.v], k)
	}
	return log
}

// nothing is the log of a part of a sum that does not change it, never that of a probability that no uniform number falls into: these are
// multiples of 2⁻⁵³.
const (
	nothing = -60
	never   = -40
)

// Draw draws x at sample k by a uniform number for each variable.
func (s *Sum) Draw(k int, x []int, u func(v int) float64) {
	for j := len(s.steps) - 1; j >= 0; j-- {
		b := &s.steps[j]
		g := s.given(b, x)
		x[b.v] = b.draw(g, k, u(b.v))
	}
}

// draw is the value of the variable at sample k that a uniform number says, by row g of given.
func (b *bound) draw(g, k int, left float64) int {
	firsts, row, p := b.spans.firsts[g], int32(g*b.values), 0.0
	i := 0
	for ; i < len(firsts)-1; i++ {
		log := b.share(g, row+firsts[i], k)
		if log < never {
			continue
		}
		if p = math.Exp(log); left < p {
			break
		}
		left -= p
	}
	value, end := int(firsts[i]), b.values
	if i < len(firsts)-1 {
		end = int(firsts[i+1])
	} else if end > value+1 {
		p = math.Exp(b.share(g, row+firsts[i], k))
	}
	for ; value < end-1; value++ {
		if left -= p * math.Exp(b.spans.within[int(row)+value]); left < 0 {
			break
		}
	}
	return value
}

// Marginals are the probabilities of the values of each variable, values × n.
func (s *Sum) Marginals() [][]float64 {
	n, all := s.n, make([][]float64, len(s.steps))
	given := make([][][]float64, len(s.steps)) // by step: the probabilities of the rows of given
	for j := len(s.steps) - 1; j >= 0; j-- {
		b := &s.steps[j]
		joint, _ := matrix(len(b.log), n)
		for r, row := range joint {
			for k := range row {
				if row[k] = math.Exp(b.logProb(r, k)); given[j] != nil {
					row[k] *= given[j][r/b.values][k]
				}
			}
		}
		for _, m := range b.from {
			given[m.step], _ = matrix(len(s.steps[m.step].message), n)
			for r, at := range m.at {
				floats.Add(given[m.step][at], joint[r])
			}
		}
		all[b.v] = make([]float64, b.values*n)
		for r, row := range joint {
			floats.Add(all[b.v][r%b.values*n:][:n], row)
		}
	}
	return all
}
