package elimination

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/vec"
)

// A Linear is the tables of steps where the factors' are linear in few numbers, which differ from sample to sample, while the coefficients do not.
type Linear struct {
	sum   *Sum      // of coefficients in place of samples
	none  []float64 // what else is known of a variable: nothing
	steps []entries
}

// entries are those of a sparse matrix, of the first rows of spans.
type entries struct {
	row, col []int32
	w        []float64
	spans
	mass []float64 // by row of the table, of the first values of spans: log of what else is known of a span; nil where that differs
}

// Rows is the number of rows of all tables of steps.
func (p *Plan) Rows() (n int) {
	for _, s := range p.steps {
		rows := p.values[s.v]
		for _, v := range s.given {
			rows *= p.values[v]
		}
		n += rows
	}
	return n
}

// Linear returns one for m numbers.
func (p *Plan) Linear(m int) *Linear {
	return &Linear{sum: p.Bind(m), none: make([]float64, m*slices.Max(p.values)), steps: make([]entries, len(p.steps))}
}

// Set takes the coefficients of the factors' tables, rows × m, which are finite; and what else is known of the values of a variable, a number for
// each, or nil if that differs from sample to sample. If it does not, values that factors say the same of, as thresholds have between which there is
// no datum that they part, are one value.
func (l *Linear) Set(factor, known func(k int) []float64) {
	for k := range l.steps {
		b, to := &l.sum.steps[k], &l.steps[k]
		l.sum.join(b, factor, l.none)
		var mass []float64
		if len(b.from) == 0 { // else messages differ
			mass = known(b.v)
		}
		to.merge(b, mass)
		to.row, to.col, to.w = to.row[:0], to.col[:0], to.w[:0]
		for g, firsts := range to.firsts {
			for _, v := range firsts {
				r := g*b.values + int(v)
				for c, w := range b.log[r] {
					if w != 0 {
						to.row, to.col, to.w = append(to.row, int32(r)), append(to.col, int32(c)), append(to.w, w)
					}
				}
			}
		}
	}
}

// merge finds the spans of a table of coefficients: of one value each, if the masses of values are not given.
func (e *entries) merge(b *bound, mass []float64) {
	if mass == nil {
		e.spans, e.mass = b.single, nil
		return
	}
	if e.mass == nil {
		e.firsts, e.first = make([][]int32, len(b.message)), make([]int32, len(b.log))
		e.mass, e.within = make([]float64, len(b.log)), make([]float64, len(b.log))
	}
	for g := range e.firsts {
		rows, row := b.log[g*b.values:][:b.values], g*b.values
		e.firsts[g] = e.firsts[g][:0]
		for from, to := 0, 1; from < b.values; from, to = to, to+1 {
			for to < b.values && slices.Equal(rows[to], rows[from]) {
				to++
			}
			total := mass[from]
			if to > from+1 {
				total = floats.LogSumExp(mass[from:to])
			}
			e.firsts[g] = append(e.firsts[g], int32(from))
			e.mass[row+from] = total
			for v := from; v < to; v++ {
				e.first[row+v], e.within[row+v] = int32(row+from), 0
				if total > math.Inf(-1) {
					e.within[row+v] = mass[v] - total
				}
			}
		}
	}
}

// RunLinear is Run with the factors' tables that l says by the numbers x, m × n.
func (s *Sum) RunLinear(l *Linear, x []float64, variable func(k int) []float64) {
	s.run(func(k int) {
		b, e := &s.steps[k], &l.steps[k]
		b.spans = &e.spans
		known := variable(b.v)
		for g, firsts := range b.spans.firsts {
			for _, v := range firsts {
				if row := b.log[g*b.values+int(v)]; e.mass != nil {
					vec.Fill(row, e.mass[g*b.values+int(v)])
				} else {
					copy(row, known[int(v)*s.n:])
				}
			}
		}
		vec.AddSparse(b.all, x, s.n, e.row, e.col, e.w)
	})
}
