package graph

import (
	"fmt"
	"strconv"

	"github.com/facetvi/facet/internal/lang"
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
// A plate compiles faster than its loop and in less memory. A few rows are made as the loop makes them, and recorded. Rows whose
// expressions differ from these in numbers alone are made from columns of numbers, at little more than the cost of a copy of
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
	scripts   []*script
	made      int // rows that no script made
}

// Plate adds n rows of what body says; see the type. It runs body once.
func (m *Model) Plate(n int, body func(p *Plate)) {
	if !m.outsidePlates("Plate") {
		return
	}
	t := newTape(m)
	rows := t.plate(nil, n, body)
	t.writeOut(rows)
}

// Plate is a plate in each row of p: n rows for each, so that its data are those
// of row 0 of p, then those of row 1, and so on.
func (p *Plate) Plate(n int, body func(q *Plate)) {
	if p.isOpen("Plate") {
		rows := p.t.plate(p, n, body)
		p.t.do(func() { p.t.m.st.Rec.Spoil(); rows() })
	}
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

// Data is the number in each row: xs[i] in row i. It must have as many as there are
// rows. Data may be called in the bodies of plates inside p, too.
func (p *Plate) Data(xs []float64) Expr {
	if !p.hasRows("Data", len(xs)) {
		return Expr{}
	}
	return p.t.expr(func() Expr { return lang.InRow(xs[p.at()], p.t.m.rec.input(p, xs)) })
}

// Index is one of values in each row: values[at[i]] in row i. values are outside the
// plate, as latents and what Collect gives are: the effect of each group, and the
// group of each row. Index may be called in the bodies of plates inside p, too.
func (p *Plate) Index(values []Expr, at []int) Expr {
	if !p.hasRows("Index", len(at)) {
		return Expr{}
	}
	for i, k := range at {
		if k < 0 || k >= len(values) {
			p.t.m.fail("Index: row %d has the index %d into %d values", i, k, len(values))
			return Expr{}
		}
	}
	return p.t.expr(func() Expr {
		p.t.m.rec.indexes(p.t.m, p, values, at)
		return values[at[p.at()]]
	})
}

// Collect appends the value of x in each row to dst, for use outside the plate and
// by Index in another one. dst is filled when the plate that Model.Plate made is
// complete.
func (p *Plate) Collect(dst *[]Expr, x Expr) {
	if dst == nil {
		p.t.m.fail("Collect: a nil pointer to a slice")
	}
	if p.isOpen("Collect") && dst != nil {
		p.t.do(func() {
			x := p.t.ValueOf(x)
			if rec := p.t.m.rec; rec != nil {
				rec.Spoilt = rec.Spoilt || lang.Source(x) != nil
				x = lang.WithoutSource(x) // the recording ends before dst is used
				rec.collected = append(rec.collected, collected{dst, x})
			}
			*dst = append(*dst, x)
		})
	}
}

// Sample is Model.Sample in each row: n latents name[0], name[1], …, or name[0,0],
// name[0,1], … in a plate in a plate.
func (p *Plate) Sample(name string, prior Dist) Expr {
	switch wrong := checkName(aLatent, name); {
	case !p.isOpen("Sample"):
		return Expr{}
	case wrong != "":
		p.t.m.fail("%s", wrong)
		return Expr{}
	}
	return p.t.expr(func() Expr {
		if rec := p.t.m.rec; rec != nil {
			rec.names = append(rec.names, name)
		}
		return p.t.m.Sample(p.latentName(name, p.row), Dist{p.t.dist(prior.of)})
	})
}

// Observe is Model.Observe in each row, of xs[i] in row i.
func (p *Plate) Observe(name string, d Dist, xs []float64) {
	if p.isOpen("Observe") && p.hasRows(fmt.Sprintf("observation %q", name), len(xs)) {
		p.t.do(func() {
			if rec := p.t.m.rec; rec != nil {
				rec.data = append(rec.data, rec.input(p, xs))
			}
			p.t.m.Observe(name, Dist{p.t.dist(d.of)}, xs[p.at()])
		})
	}
}

// Factor is Model.Factor in each row.
func (p *Plate) Factor(logp any) {
	if p.isOpen("Factor") {
		x := p.t.m.value("Factor", logp)
		p.t.do(func() { p.t.m.Factor(p.t.ValueOf(x)) })
	}
}

// If is Model.If in each row. It runs both closures once; they use p.
func (p *Plate) If(g Guard, then, otherwise func()) {
	if !p.isOpen("If") {
		return
	}
	a, b := p.t.block(then), p.t.block(otherwise)
	p.t.do(func() { p.t.m.If(p.t.guardOf(g), a, b) })
}

// Deterministic is Model.Deterministic in each row.
func (p *Plate) Deterministic(name string, v any) Expr {
	if !p.isOpen("Deterministic") {
		return Expr{}
	}
	x := p.t.m.value("Deterministic", v)
	p.t.do(func() { p.t.m.Deterministic(name, p.t.ValueOf(x)) })
	return x
}

// Name is Model.Name in each row.
func (p *Plate) Name(name string, g Guard) Guard {
	if !p.isOpen("Name") {
		return g
	}
	return p.t.guard(func() Guard { return p.t.m.Name(name, p.t.guardOf(g)) })
}
