package lower

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"github.com/facetvi/facet/internal/ir"
)

// arrange orders the rows of each form so that gathers are runs of neighbouring
// rows, which cost nothing. It goes through the forms twice: forwards, each form
// takes the order of its operands; backwards, each takes the order in which the
// forms that use it want its rows. Affine rows, formulas and flips stay in
// the order of evaluation.
func (b *batch) arrange() {
	for i, f := range b.Forms {
		if len(f.args) > 0 && !f.key.kind.isSparse() {
			b.setRows(i, b.passes(f))
		}
	}
	lists := make([][][]ir.ID, len(b.Forms))
	for i, f := range slices.Backward(b.Forms) {
		if !f.key.kind.isOrdered() {
			b.setRows(i, b.chain(f.Rows, lists[i]))
		}
		lists[i] = nil
		if f.key.kind.isSparse() || len(f.args) == 0 {
			continue
		}
		b.setColumns(f)
		for j, arg := range f.args {
			lists[arg] = append(lists[arg], f.columns[j])
		}
	}
}

// setColumns lists each operand of all rows of f, and the numbers of sums, in parts on all
// processors.
func (b *batch) setColumns(f *form) {
	n := len(f.Rows)
	f.columns = ir.Columns[ir.ID](len(f.args), n)
	if f.key.kind == fSum {
		f.coefs = ir.Columns[float64](1+len(f.args), n)
	}
	parts := min(runtime.GOMAXPROCS(0), 1+n/1024)
	var wg sync.WaitGroup
	for k := range parts {
		wg.Go(func() {
			own := *b // nothing is added to it any more
			own.inSum, own.inSlots, own.args = nil, nil, nil
			for r := k * n / parts; r < (k+1)*n/parts; r++ {
				own.setRow(f, r)
			}
		})
	}
	wg.Wait()
}

// setRow is setColumns of row r.
func (b *batch) setRow(f *form, r int) {
	v := b.View(f.Rows[r])
	if f.key.kind == fSum {
		slots := b.Slots(v)
		f.coefs[0][r] = slots.C
		for j, t := range slots.Terms {
			f.columns[j][r], f.coefs[j+1][r] = t.Atom, t.Coef
		}
		return
	}
	b.args = b.operands(b.args[:0], v)
	for j, o := range b.args {
		f.columns[j][r] = o
	}
}

func (b *batch) setRows(form int, rows []ir.ID) {
	b.Forms[form].Rows = rows
	for r, id := range rows {
		b.At[id] = ref{int32(form), int32(r)}
	}
}

// passes orders the rows of a form by their first operand, in passes: each
// operand comes once in the first pass, again in the second, and so on. Its
// gather is then a few runs.
func (b *batch) passes(f *form) []ir.ID {
	last := int32(-1)
	if !slices.ContainsFunc(f.Rows, func(id ir.ID) bool {
		before := last
		last = b.At[b.operand0(f, id)].row
		return last <= before
	}) {
		return f.Rows // one pass, in order
	}
	type place struct {
		id              ir.ID
		pass, row, from int32
	}
	places := make([]place, len(f.Rows))
	count := make([]int32, len(b.Forms[f.args[0]].Rows)) // of the rows of operand 0
	for r, id := range f.Rows {
		o := b.At[b.operand0(f, id)].row
		places[r] = place{id, count[o], o, int32(r)}
		count[o]++
	}
	slices.SortFunc(places, func(x, y place) int {
		return cmp.Or(cmp.Compare(x.pass, y.pass), cmp.Compare(x.row, y.row), cmp.Compare(x.from, y.from))
	})
	rows := make([]ir.ID, len(places))
	for r, p := range places {
		rows[r] = p.id
	}
	return rows
}

// operand0 is the first operand of a row of form f.
func (b *batch) operand0(f *form, id ir.ID) ir.ID {
	switch f.key.kind {
	case fSum:
		terms := b.sum(b.View(id)).Terms
		first := terms[0].Atom
		for _, t := range terms[1:] {
			if b.At[t.Atom].Form < b.At[first].Form {
				first = t.Atom
			}
		}
		return first
	case fTable:
		return b.Tables.Signs(id)[0]
	}
	v := b.View(id)
	first := v.A
	if v.Like != nil {
		first = v.Like.A.At(v.Row.At, v.Row.First)
	}
	if b.inner[first] {
		return b.operand0(f, first)
	}
	return first
}

// chain orders the rows of a form so that the lists are runs, as far as they do not
// contradict each other. It joins neighbours in a list to paths, in the longest
// lists first, and puts path after path.
func (b *batch) chain(rows []ir.ID, lists [][]ir.ID) []ir.ID {
	if len(lists) == 0 {
		return rows
	}
	slices.SortStableFunc(lists, func(x, y []ir.ID) int { return cmp.Compare(len(y), len(x)) })
	if slices.Equal(lists[0], rows) {
		return rows
	}
	p := newPaths(len(rows))
	for _, l := range lists {
		for i := 1; i < len(l); i++ {
			p.join(b.At[l[i-1]].row, b.At[l[i]].row)
		}
	}
	out := make([]ir.ID, 0, len(rows))
	for r := range rows {
		if p.prev[r] >= 0 {
			continue
		}
		for at := int32(r); at >= 0; at = p.next[at] {
			out = append(out, rows[at])
		}
	}
	return out
}

// paths are disjoint paths through rows.
type paths struct {
	next, prev []int32 // −1 at the ends
	far        []int32 // from each end of a path to the other one
}

// newPaths are n rows, each a path by itself.
func newPaths(n int) paths {
	p := paths{make([]int32, n), make([]int32, n), make([]int32, n)}
	for r := range n {
		p.next[r], p.prev[r], p.far[r] = -1, -1, int32(r)
	}
	return p
}

// join makes y the next of x, if x ends a path and y begins another one.
func (p *paths) join(x, y int32) {
	if p.next[x] >= 0 || p.prev[y] >= 0 || p.far[x] == y { // in the last case the path would be a ring
		return
	}
	head, tail := p.far[x], p.far[y]
	p.next[x], p.prev[y] = y, x
	p.far[head], p.far[tail] = tail, head
}
