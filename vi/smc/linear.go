package smc

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// A linear is a map of batches of points: by all numbers of a matrix, or by few rows and a diagonal.
type linear struct {
	first, second product // first may be empty
}

// A product is a sparse matrix; or, with an order, rows that are made in it, each of rows before it and, numbered after all of them,
// those of what it is applied to.
type product struct {
	from, ref []int32
	w, zero   []float64
	order     []int32
}

func (p *product) add(ref int32, w float64) { p.ref, p.w = append(p.ref, ref), append(p.w, w) }

func (p *product) end() {
	p.from, p.zero = append(p.from, int32(len(p.ref))), append(p.zero, 0)
}

func newProduct() product { return product{from: []int32{0}} }

// apply maps the columns of x, dim × n, to dst. room has space for as many numbers as x.
func (m *linear) apply(dst, x, room []float64, n int) {
	k, from := len(m.first.zero), x
	if k > 0 {
		m.first.apply(room, vec.Rows{A: x, Split: math.MaxInt32}, x, n)
		from = room
	}
	m.second.apply(dst, vec.Rows{A: room, B: x, Split: int32(k)}, from, n)
}

func (p *product) apply(dst []float64, rows vec.Rows, from []float64, n int) {
	if p.order == nil {
		rows.Sparse(dst, n, p.zero, p.from, p.ref, p.w)
		return
	}
	rows = vec.Rows{A: dst, B: from, Split: int32(len(p.zero))}
	for k := 0; k < len(p.order); { // run by run of ascending ones
		i, end := p.order[k], p.order[k]
		for ; k < len(p.order) && p.order[k] == end; k++ {
			end++
		}
		rows.Sparse(dst[int(i)*n:][:int(end-i)*n], n, p.zero[i:end], p.from[i:end+1], p.ref, p.w)
	}
}
