package elimination

import (
	"slices"

	"github.com/facetvi/facet/internal/vec"
)

// A Linear is the tables of steps where the factors' are linear in few numbers, which differ from sample to sample, while the coefficients do not.
type Linear struct {
	sum   *Sum      // of coefficients in place of samples
	none  []float64 // what else is known of a variable: nothing
	steps []entries
}

// entries are those of a sparse matrix.
type entries struct {
	row, col []int32
	w        []float64
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

// Set takes the coefficients of the factors' tables, rows × m, which are finite.
func (l *Linear) Set(factor func(k int) []float64) {
	for k := range l.steps {
		b, to := &l.sum.steps[k], &l.steps[k]
		l.sum.join(b, factor, l.none)
		to.row, to.col, to.w = to.row[:0], to.col[:0], to.w[:0]
		for r, row := range b.log {
			for c, w := range row {
				if w != 0 {
					to.row, to.col, to.w = append(to.row, int32(r)), append(to.col, int32(c)), append(to.w, w)
				}
			}
		}
	}
}

// RunLinear is Run with the factors' tables that l says by the numbers x, m × n.
func (s *Sum) RunLinear(l *Linear, x []float64, variable func(k int) []float64) {
	s.run(func(k int) {
		b, e := &s.steps[k], &l.steps[k]
		known := variable(b.v)
		for r, row := range b.log {
			copy(row, known[r%b.values*s.n:])
		}
		vec.AddSparse(b.all, x, s.n, e.row, e.col, e.w)
	})
}
