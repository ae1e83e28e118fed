package graph

import (
	"strconv"
)

// A Plate is a loop over rows, as in a plate diagram: n parts of a program that
// differ in their data alone. Its body is run once, and written with values that
// stand for one in each row. What a body may use of the model outside is the same
// in all rows; Index chooses among values by row.
//
// A Plate is the program of the loop that it stands for, row by row:
//
//	m.Plate(n, func(p *graph.Plate) {           for i := range n {
//	    x := p.Data(xs)                             x := xs[i]
//	    g := p.Index(effects, group)                g := effects[group[i]]
//	    e := p.Sample("e", prior)                   e := m.Sample(fmt.Sprintf("e[%d]", i), prior)
//	    p.Observe("y", dist, ys)                    m.Observe("y", dist, ys[i])
//	})                                          }
//
// with the same density bit for bit, the same latents, guards and fingerprint. Its
// methods may be called inside its body only; functions of values, Add, Normal,
// Greater, If and all others, work there as everywhere.
//
// A plate compiles faster than its loop and in less memory. Rows are made in blocks: the first one as the loop makes it, but with
// columns for its numbers. Rows whose expressions differ from it in numbers alone are made from these, at little more than the cost of a copy of
// their data; rows that Index gives other values follow too. Other rows are made one by one, as in the loop:
//
//   - of a body with a plate or a discrete latent inside;
//   - with a number of Data as the parameter of a distribution, as a divisor, or in a Max, Min, Abs or Clip;
//   - with a guard that is neither affine in the latents nor a comparison of one transformed latent with a number;
//   - with a guard that an earlier row has;
//   - where the data make another program, as a factor of 0 or 1, or a threshold beyond the support of the latent, does.
type Plate struct {
	t     *tape
	outer *Plate
	n     int
	row   int // of the outer one's row, while the body is written out

	innerRows int     // rows of plates in one row
	patterns  []int32 // of its rows; see nodes
	blocks    []*block
	made      int // rows that no block made
}

// size is the number of rows, of all outer rows together.
func (p *Plate) size() int {
	if p.outer == nil {
		return p.n
	}
	return p.outer.size() * p.n
}

// at is the number of the row that is being written out, among size rows.
func (p *Plate) at() int {
	if p.outer == nil {
		return p.row
	}
	return p.outer.at()*p.n + p.row
}

// atRow is at when q, p or a plate inside it, is in the given row.
func (p *Plate) atRow(q *Plate, row int) int {
	switch {
	case p != q:
		return p.at()
	case p.outer == nil:
		return row
	}
	return p.outer.at()*p.n + row
}

// index is the row's index: 3, or 2,5 of a plate in a plate.
func (p *Plate) index() string { return p.indexOf(p.row) }

func (p *Plate) indexOf(row int) string {
	if p.outer == nil {
		return strconv.Itoa(row)
	}
	return p.outer.index() + "," + strconv.Itoa(row)
}

// latentName is the name of a latent in a row.
func (p *Plate) latentName(name string, row int) string { return name + "[" + p.indexOf(row) + "]" }

// isOpen reports whether p's body is being run and no plate inside it, and fails
// if not.
func (p *Plate) isOpen(method string) bool {
	if p.t.open != p {
		p.t.m.fail("%s of a plate is called outside its body, or in the body of a plate inside it", method)
		return false
	}
	return true
}

// hasRows reports whether there is a number for each row, and fails if not.
func (p *Plate) hasRows(method string, n int) bool {
	q := p.t.open
	for q != nil && q != p {
		q = q.outer
	}
	switch {
	case q == nil:
		p.t.m.fail("%s of a plate is called outside its body", method)
	case n != p.size():
		p.t.m.fail("%s: %d values for %d rows of the plate", method, n, p.size())
	default:
		return true
	}
	return false
}
