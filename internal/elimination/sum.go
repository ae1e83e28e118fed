package elimination

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/vec"
)

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

// matrix is rows of n numbers, and all of them.
func matrix(rows, n int) (m [][]float64, all []float64) {
	m, all = make([][]float64, rows), make([]float64, rows*n)
	for k := range m {
		m[k] = all[k*n:][:n]
	}
	return m, all
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
