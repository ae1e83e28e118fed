package graph

import (
	"cmp"
	"slices"
)

// arrange orders the rows of each form so that gathers are runs of neighbouring
// rows, which cost nothing. It goes through the forms twice: forwards, each form
// takes the order of its operands; backwards, each takes the order in which the
// forms that use it want its rows. Affine rows, formulas and flips stay in the
// order of evaluation.
func (b *batch) arrange() {
	for i, f := range b.forms {
		if len(f.args) > 0 && f.key.kind != fSparse {
			b.setRows(i, b.passes(f))
		}
	}
	lists := make([][][]nodeID, len(b.forms))
	for i, f := range slices.Backward(b.forms) {
		if !f.key.kind.isOrdered() {
			b.setRows(i, chain(f.rows, lists[i]))
		}
		if f.key.kind == fSparse || len(f.args) == 0 {
			continue
		}
		columns := b.columns(f)
		for j, arg := range f.args {
			lists[arg] = append(lists[arg], columns[j])
		}
	}
}

// isOrdered reports whether rows of the form have to stay where they are.
func (k formKind) isOrdered() bool {
	switch k {
	case fAffine, fFormula, fFlip, fConst, fData:
		return true
	}
	return false
}

// columns lists each operand of all rows of f.
func (b *batch) columns(f *form) [][]nodeID {
	columns := make([][]nodeID, len(f.args))
	for j := range columns {
		columns[j] = make([]nodeID, len(f.rows))
	}
	for r, id := range f.rows {
		if f.key.kind == fSum {
			for j, t := range b.slots(id) {
				columns[j][r] = t.atom
			}
			continue
		}
		for j, o := range b.operands(id) {
			columns[j][r] = o
		}
	}
	return columns
}

func (b *batch) setRows(form int, rows []nodeID) {
	b.forms[form].rows = rows
	for r, id := range rows {
		b.at[id] = ref{int32(form), int32(r)}
	}
}

// passes orders the rows of a form by their first operand, in passes: each
// operand comes once in the first pass, again in the second, and so on. Its
// gather is then a few runs.
func (b *batch) passes(f *form) []nodeID {
	type place struct{ pass, row int32 }
	places := make(map[nodeID]place, len(f.rows))
	count := map[nodeID]int32{}
	for _, id := range f.rows {
		o := b.operand(f, id, 0)
		places[id] = place{count[o], b.at[o].row}
		count[o]++
	}
	rows := slices.Clone(f.rows)
	slices.SortStableFunc(rows, func(x, y nodeID) int {
		p, q := places[x], places[y]
		return cmp.Or(cmp.Compare(p.pass, q.pass), cmp.Compare(p.row, q.row))
	})
	return rows
}

// operand is operand j of a row of form f.
func (b *batch) operand(f *form, id nodeID, j int) nodeID {
	if f.key.kind == fSum {
		return b.slots(id)[j].atom
	}
	return b.operands(id)[j]
}

// chain orders rows so that the lists are runs, as far as they do not contradict
// each other. It joins neighbours in a list to paths, in the longest lists first,
// and puts path after path.
func chain(rows []nodeID, lists [][]nodeID) []nodeID {
	slices.SortStableFunc(lists, func(x, y []nodeID) int { return cmp.Compare(len(y), len(x)) })
	p := paths{map[nodeID]nodeID{}, map[nodeID]nodeID{}, map[nodeID]nodeID{}}
	for _, l := range lists {
		for i := 1; i < len(l); i++ {
			p.join(l[i-1], l[i])
		}
	}
	out := make([]nodeID, 0, len(rows))
	for _, id := range rows {
		if _, inside := p.prev[id]; inside {
			continue
		}
		for at, ok := id, true; ok; at, ok = p.next[at] {
			out = append(out, at)
		}
	}
	return out
}

// paths are disjoint paths through expressions. An expression that is in none of
// the maps is a path by itself.
type paths struct {
	next, prev map[nodeID]nodeID
	far        map[nodeID]nodeID // from each end of a path to the other one
}

// join makes y the next of x, if x ends a path and y begins another one.
func (p *paths) join(x, y nodeID) {
	_, hasNext := p.next[x]
	_, hasPrev := p.prev[y]
	if hasNext || hasPrev || p.farEnd(x) == y { // in the last case the path would be a ring
		return
	}
	head, tail := p.farEnd(x), p.farEnd(y)
	p.next[x], p.prev[y] = y, x
	p.far[head], p.far[tail] = tail, head
}

// farEnd is the other end of the path that ends or begins at id.
func (p *paths) farEnd(id nodeID) nodeID {
	if e, ok := p.far[id]; ok {
		return e
	}
	return id
}
