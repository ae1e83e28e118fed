package lower

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/memory"
)

// Batching turns many scalar expressions into few matrix operations. Two
// expressions have the same form if they are the same operation on operands of
// the same forms; all expressions of one form are the rows of one matrix, and
// an operand of the operation is a gather of rows of the operand's form. An
// expression that is used many times is one row.
//
// The number of forms depends on how a program is written, not on how often
// its loops run.

// A form is a set of like expressions.
type form struct {
	key       formKey
	args      []int       // forms of the operands (of the terms, for a sum)
	size      int32       // the number of rows
	Rows      []ir.ID     // the expressions, once all are there
	onLatents bool        // depends on the latents
	columns   [][]ir.ID   // by operand and row, once the rows are in order; nil for what has any number of operands
	coefs     [][]float64 // of sums: the constants, and the coefficients by operand
}

// formKey is what like expressions have in common.
type formKey struct {
	kind formKind
	fn   kernel.Function
	args string
}

type formKind uint8

const (
	fLatent formKind = iota
	fSign
	fData
	fPoint
	fPointSign
	fConst
	fAffine // sums over latents and points, see affine
	fFormula
	fSum    // sums of a few terms of the same forms
	fSparse // sums of many terms, of any number, of the same forms
	fFunction
	fSelect
	fTable
	fForward
	fFlip // the last form
)

// isOrdered reports whether rows of the form have to stay where they are.
func (k formKind) isOrdered() bool {
	switch k {
	case fAffine, fFormula, fFlip, fConst, fData:
		return true
	}
	return false
}

// isSparse reports whether rows of the form have any number of operands.
func (k formKind) isSparse() bool { return k == fSparse || k == fForward }

// formOf are the forms of operations, but for sums of many terms and selects of constants.
var formOf = [...]formKind{ir.Sum: fSum, ir.Unary: fFunction, ir.Binary: fFunction, ir.Ternary: fFunction, ir.Select: fSelect, ir.Forward: fForward}

const maxLinearTerms = 12

// Sizes are the numbers of rows of a program's inputs.
type Sizes struct{ Latents, Signs, Data, Points, PointSigns int }

// check reports why there cannot be n samples.
func (sz Sizes) check(what string, n, outs int) error {
	what = fmt.Sprintf("%s %d samples", what, n)
	if n < 1 {
		return fmt.Errorf("graph: %s", what)
	}
	rows := 2*sz.Latents + sz.Signs + sz.Points + sz.PointSigns + outs
	if err := memory.Check(what, 8*float64(rows)*float64(n)); err != nil {
		return fmt.Errorf("graph: %w", err)
	}
	return nil
}

// A ref is an expression's place in the batch.
type ref struct{ Form, row int32 }

var nowhere = ref{-1, -1}

// batch is a set of expressions grouped into forms.
type batch struct {
	st      *ir.Store
	Forms   []*form
	byKey   map[formKey]int
	At      []ref            // by node
	inAff   []bool           // by node, perhaps short: affine sums that other affine sums use
	nests   bool             // there are conjunctions or log sums
	inner   map[ir.ID]bool   // of these those that have no row, once that is known
	choices map[ir.ID]choice // of formulas
	folds   folds
	Tables  tables

	ir.Lookup
	some    [8]ir.Term // room for sum
	inSum   []ir.Term
	inSlots []ir.Term // and for slots

	// Of add: what it added last, and room.
	after    succession
	args     []ir.ID
	argForms []int
	key      []byte
}

// newBatch groups everything that the outputs need. Leaf forms come first;
// operands come before the forms that use them.
func newBatch(st *ir.Store, outs []ir.Output, sz Sizes) *batch {
	b := &batch{
		st: st, byKey: map[formKey]int{}, At: slices.Repeat([]ref{nowhere}, st.Len()),
		inAff: make([]bool, st.Len()), Tables: newTables(st), Lookup: ir.Lookup{Nodes: &st.Nodes},
	}
	for kind := fLatent; kind <= fFormula; kind++ {
		b.form(formKey{kind: kind}, nil)
	}
	for i, k := range []ir.Kind{ir.Latent, ir.Sign, ir.Data, ir.Point, ir.PointSign} {
		for j := range []int{sz.Latents, sz.Signs, sz.Data, sz.Points, sz.PointSigns}[i] {
			b.place(i, st.Leaf(k, j))
		}
	}
	list := b.reachable(outs)
	for _, id := range list { // affine sums need only leaves and each other
		if b.IsAffineRow(b.View(id)) {
			b.place(int(fAffine), id)
			b.Forms[fAffine].onLatents = true
		}
	}
	b.Tables.count(list)
	if b.nests {
		b.inner = b.innerRows(list, outs)
	}
	for _, id := range list {
		if !b.inner[id] {
			b.add(id)
		}
	}
	b.addFlips(list)
	b.collect()
	return b
}

// innerRows are what has no row of its own: conjunctions that are part of one other conjunction alone, and log sums that are part of one
// other log sum alone, of no more than maxLinearTerms operands, and formulas that only choices have used.
func (b *batch) innerRows(list []ir.ID, outs []ir.Output) map[ir.ID]bool {
	uses, inner, size := map[ir.ID]int{}, map[ir.ID]bool{}, map[ir.ID]int{}
	count := func(ids []ir.ID, of ir.View) {
		total := 0
		if isLogSum(of) {
			for _, o := range ids {
				total += max(size[o], 1)
			}
			if size[of.ID] = total; total > maxLinearTerms {
				size[of.ID] = len(ids)
			}
		}
		for _, o := range ids {
			switch v := b.View(o); {
			case isLogSum(v):
				inner[o] = isLogSum(of) && total <= maxLinearTerms
			case v.Kind == ir.And:
				inner[o] = of.Kind == ir.And
			default:
				continue
			}
			uses[o]++
			inner[o] = inner[o] && uses[o] == 1
		}
	}
	for _, id := range list {
		v := b.View(id)
		b.args = b.operands(b.args[:0], v)
		count(b.args, v)
	}
	for _, o := range outs {
		count(appendAtoms(nil, o), ir.View{Node: &ir.Node{}})
	}
	b.choose(list, outs, inner)
	return inner
}

// isLogSum reports whether v is the log of a sum of exponentials.
func isLogSum(v ir.View) bool { return v.Kind == ir.Binary && v.Fn == kernel.LogAddExp }

// IsAffineRow reports whether v is a row of the affine form rather than of a
// form of its own: a sum that is long, or part of others.
func (b *batch) IsAffineRow(v ir.View) bool {
	if v.Kind != ir.Sum || !v.Affine {
		return false
	}
	if b.isInAff(v.ID) {
		return true
	}
	_, terms := v.Sum(b.some[:])
	return len(terms) > maxLinearLatents || b.hasSum(terms)
}

// reachable lists what the outputs need in ascending order.
func (b *batch) reachable(outs []ir.Output) []ir.ID {
	seen := make([]bool, b.st.Len())
	var stack []ir.ID
	var visit func(id ir.ID)
	visit = func(id ir.ID) {
		for int(id) >= len(seen) { // sums that terms has split off
			seen = append(seen, false)
		}
		if seen[id] {
			return
		}
		seen[id] = true
		first, v := len(stack), b.View(id)
		b.nests = b.nests || v.Kind == ir.And || isLogSum(v)
		stack = b.operands(stack, v)
		last := len(stack)
		if v.Affine || v.Kind == ir.Select || b.folds.has(id) {
			for _, o := range stack[first:last] {
				if x := b.View(o); x.Kind == ir.Sum && x.Affine {
					b.setInAff(o)
				}
			}
		}
		for k := first; k < last; k++ {
			if o := int(stack[k]); o >= len(seen) || !seen[o] {
				visit(stack[k])
			}
		}
		stack = stack[:first]
	}
	for _, o := range outs {
		for _, t := range o.Terms {
			visit(t.Atom)
		}
	}
	count := 0
	for _, is := range seen {
		if is {
			count++
		}
	}
	list := make([]ir.ID, 0, count)
	for id, is := range seen {
		if is {
			list = append(list, ir.ID(id))
		}
	}
	return list
}

// setInAff notes that other affine sums use id.
func (b *batch) setInAff(id ir.ID) {
	for int(id) >= len(b.inAff) {
		b.inAff = append(b.inAff, false)
	}
	b.inAff[id] = true
}

func (b *batch) isInAff(id ir.ID) bool { return int(id) < len(b.inAff) && b.inAff[id] }

// operands appends to list the operands of v as a row of its form.
func (b *batch) operands(list []ir.ID, v ir.View) []ir.ID {
	switch {
	case v.Kind == ir.Select && v.Steps:
		if signs := b.Tables.Signs(v.ID); signs != nil {
			return append(list, signs...)
		}
	case v.Kind == ir.Sum && v.Affine:
	case v.Kind == ir.Sum:
		return appendAtoms(list, b.sum(v))
	case v.Kind == ir.Flip:
		both := b.flipSums(v.ID)
		return appendAtoms(list, both[:]...)
	case v.Kind == ir.Forward:
		return appendAtoms(list, b.forwardRows(v.ID)...)
	case isLogSum(v):
		return b.summands(list, v)
	}
	return v.Operands(list)
}

// summands appends to list the operands of a log sum, and of those in it that have no row.
func (b *batch) summands(list []ir.ID, v ir.View) []ir.ID {
	var both [2]ir.ID
	for _, o := range v.Operands(both[:0]) {
		if b.inner[o] {
			list = b.summands(list, b.View(o))
		} else {
			list = append(list, o)
		}
	}
	return list
}

// appendAtoms appends to list what outs are sums of.
func appendAtoms(list []ir.ID, outs ...ir.Output) []ir.ID {
	for _, o := range outs {
		for _, t := range o.Terms {
			list = append(list, t.Atom)
		}
	}
	return list
}

// sum is a sum as a row of its form. Where a sum of other things has many
// latents, these are one affine row, so that sums that differ only in how many
// latents they have are of one form. The terms are good until the next call.
func (b *batch) sum(v ir.View) ir.Output {
	if b.folds.has(v.ID) {
		if f := b.folds.of(v.ID); f.rest >= 0 {
			o := f.sum(b.inSum[:0])
			b.inSum = o.Terms
			return o
		}
	}
	c, terms := v.Sum(b.some[:])
	if !isLong(&b.Lookup, &v, terms) {
		return ir.Output{C: c, Terms: terms}
	}
	var some [8]ir.Term
	affine, rest := parted(&b.Lookup, terms, some[:0], b.inSum[:0])
	if !b.folds.has(v.ID) {
		f, ok := findFold(b.st, c, affine)
		if !ok {
			f = newFold(b.st, c, affine)
		}
		b.folds.add(v.ID, f.beside(rest), b.st.Len())
	}
	f := b.folds.of(v.ID)
	b.inSum = insert(rest, ir.Term{Atom: f.atom, Coef: f.coef})
	return ir.Output{C: f.left, Terms: b.inSum}
}

// A succession guesses the form of a row: that which came after the form before it when that was last there. Rows are often alike.
type succession struct {
	last    int
	follows []int // by form
}

// guess is one of so many forms.
func (s *succession) guess(forms int) int {
	for len(s.follows) < forms {
		s.follows = append(s.follows, 0)
	}
	return s.follows[s.last]
}

// note is told the form of the row.
func (s *succession) note(form int) { s.follows[s.last], s.last = form, form }

func (b *batch) add(id ir.ID) {
	n := b.View(id)
	switch n.Kind {
	case ir.Const:
		b.place(int(fConst), id)
		return
	case ir.Not, ir.And:
		b.place(int(fFormula), id)
		return
	case ir.Latent, ir.Sign, ir.Data, ir.Point, ir.PointSign, ir.Flip:
		return
	case ir.Sum:
		if b.IsAffineRow(n) {
			return
		}
	}
	b.args = b.operands(b.args[:0], n)
	args := b.args
	key := formKey{kind: formOf[n.Kind], fn: n.Fn}
	switch {
	case key.kind == fSum && len(args) > maxLinearTerms:
		key.kind = fSparse
	case key.kind == fSelect && b.Tables.Signs(id) != nil:
		key.kind = fTable
	}
	forms := b.argForms[:0]
	for _, a := range args {
		forms = append(forms, int(b.At[a].Form))
	}
	b.argForms = forms
	if n.Kind == ir.Sum || n.Kind == ir.Forward {
		slices.Sort(forms)
	}
	if key.kind.isSparse() {
		forms = slices.Compact(forms)
	}
	if i := b.after.guess(len(b.Forms)); key.kind != fTable && key.kind != fForward && b.Forms[i].key.kind == key.kind && b.Forms[i].key.fn == key.fn && slices.Equal(b.Forms[i].args, forms) {
		b.place(i, id)
		b.after.note(i)
		return
	}
	b.writeKey(id, key.kind, forms)
	i, known := b.byKey[formKey{key.kind, key.fn, string(b.key)}]
	if !known {
		key.args = string(b.key)
		i = b.form(key, slices.Clone(forms))
	}
	b.place(i, id)
	b.after.note(i)
}

// writeKey writes to b.key what tells forms of a kind apart, by the forms of their arguments.
func (b *batch) writeKey(id ir.ID, kind formKind, forms []int) {
	b.key = b.key[:0]
	for _, f := range forms {
		b.key = append(strconv.AppendInt(b.key, int64(f), 10), ',')
	}
	if kind == fTable && b.Tables.few {
		b.key = append(b.key, b.Tables.key(id)...)
	}
	if kind == fForward {
		b.key = append(b.key, fmt.Sprint(b.st.Layout(b.st.At(id)).Forward)...)
	}
}

// flipSums are the two sums that a flip is the product of.
func (b *batch) flipSums(id ir.ID) [2]ir.Output {
	n := b.st.At(id)
	var sums [2]ir.Output
	for j, o := range []ir.ID{n.A, n.B} {
		sums[j].C, sums[j].Terms = b.st.Parts(o)
	}
	return sums
}

// forwardRows are the rows of the operand of a forward sum.
func (b *batch) forwardRows(id ir.ID) []ir.Output {
	n := b.st.At(id)
	l := b.st.Layout(n)
	rows := make([]ir.Output, len(l.Rows))
	for r, i := range l.Rows {
		rows[r].C, rows[r].Terms = b.st.Parts(n.Terms[i].Atom)
	}
	return rows
}

// addFlips makes the form of flips, after all others: only flips use flips.
func (b *batch) addFlips(list []ir.ID) {
	for _, id := range list {
		if b.View(id).Kind == ir.Flip {
			b.place(b.form(formKey{kind: fFlip}, nil), id)
		}
	}
}

func (b *batch) hasSum(terms []ir.Term) bool {
	return slices.ContainsFunc(terms, func(t ir.Term) bool { return b.View(t.Atom).Kind == ir.Sum })
}

// form returns the number of the form with the given key.
func (b *batch) form(key formKey, args []int) int {
	if i, ok := b.byKey[key]; ok {
		return i
	}
	f := &form{key: key, args: args, onLatents: key.kind == fLatent}
	for _, a := range args {
		f.onLatents = f.onLatents || b.Forms[a].onLatents
	}
	b.byKey[key] = len(b.Forms)
	b.Forms = append(b.Forms, f)
	return len(b.Forms) - 1
}

func (b *batch) place(form int, id ir.ID) {
	for int(id) >= len(b.At) {
		b.At = append(b.At, nowhere)
	}
	if b.At[id] != nowhere {
		return
	}
	f := b.Forms[form]
	b.At[id] = ref{int32(form), f.size}
	f.size++
}

// collect lists the rows of all forms.
func (b *batch) collect() {
	for _, f := range b.Forms {
		f.Rows = make([]ir.ID, f.size)
	}
	for id, at := range b.At {
		if at != nowhere {
			b.Forms[at.Form].Rows[at.row] = ir.ID(id)
		}
	}
}

// Slots is a sum with its terms in the order of its form's args. They are good until the
// next call.
func (b *batch) Slots(v ir.View) ir.Output {
	o := b.sum(v)
	b.inSlots = append(b.inSlots[:0], o.Terms...)
	slices.SortStableFunc(b.inSlots, func(x, y ir.Term) int { return cmp.Compare(b.At[x.Atom].Form, b.At[y.Atom].Form) })
	return ir.Output{C: o.C, Terms: b.inSlots}
}
