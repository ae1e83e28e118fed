package derive

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/lower"
)

// A sumFolder writes expressions as polynomials.
type sumFolder struct {
	prog     *lower.Program
	st       *ir.Store
	data     []float64
	shift    []float64 // by latent
	products *products
	local    bool           // squares in place of what is no polynomial
	left     int            // expressions that may still be worked at
	atoms    map[int32]bool // forms that are atoms
}

// Limits of polynomials.
const (
	fewTerms      = 16  // like expressions that are left as they are
	mostMonomials = 256 // products of powers,
	mostAtoms     = 32  // and what these are powers of
)

// fold is the values of expressions, if they are of one form.
func (f *sumFolder) fold(ids []ir.ID) (v signedPoly, ok bool) {
	rows, st, b := len(ids), f.st, f.prog.Batch
	if slices.ContainsFunc(ids, func(id ir.ID) bool { return b.At[id].Form != b.At[ids[0]].Form }) {
		return v, false
	}
	if f.left -= rows; f.left < 0 || !f.local && (len(f.products.list) > mostMonomials || len(f.products.atoms) > mostAtoms) {
		return v, false
	}
	p := &poly{}
	v.side = [2]*poly{p, p}
	n := st.Like(ids[0])
	switch {
	case n.Kind == ir.Const, n.Kind == ir.Data:
		col := p.column(0, rows)
		for r, id := range ids {
			x := st.Head(id)
			if col[r] = x.V; n.Kind == ir.Data {
				col[r] = f.data[x.A]
			}
		}
		return v, true
	case n.Kind == ir.Sum && b.IsAffineRow(b.View(ids[0])), n.Kind == ir.Latent:
		for r, id := range ids {
			if !f.affine(p, r, rows, 1, id) {
				return v, false
			}
		}
		return v, true
	case n.Kind == ir.Sum:
		return f.sum(ids)
	case n.Kind == ir.Select && b.Tables.Signs(ids[0]) != nil:
		return f.steps(ids)
	case n.Kind == ir.Select:
		return f.selects(ids)
	case !f.local && f.isAtom(ids[0]):
		for r, id := range ids {
			p.column(f.products.single(id), rows)[r] = 1
		}
		return v, true
	case n.Kind == ir.Unary:
		a, ok := f.operand(ids, func(n *ir.Node) ir.ID { return n.A })
		if !ok {
			return v, false
		}
		return f.each(a, a, func(x, _ *poly) (*poly, bool) { return f.apply(n.Fn, x, rows) })
	case n.Kind == ir.Binary && (f.local || n.Fn == kernel.Mul || n.Fn == kernel.MulData || n.Fn == kernel.Div):
		x, ok := f.operand(ids, func(n *ir.Node) ir.ID { return n.A })
		if !ok {
			return v, false
		}
		y, ok := f.operand(ids, func(n *ir.Node) ir.ID { return n.B })
		if !ok {
			return v, false
		}
		return f.each(x, y, func(x, y *poly) (*poly, bool) { return f.combine(n.Fn, x, y, rows) })
	}
	return v, false
}

// apply is fn of a polynomial in each row.
func (f *sumFolder) apply(fn kernel.Function, x *poly, rows int) (*poly, bool) {
	out := &poly{}
	switch {
	case f.local:
		return f.products.expand(fn, rows, x)
	case x.isNumber():
		in, col := x.column(0, rows), out.column(0, rows)
		for r, v := range in {
			col[r] = fn.Value(v)
		}
		return out, true
	case fn == kernel.Square:
		return f.products.multiply(x, x, rows), true
	case fn == kernel.Recip:
		return f.products.invert(x, rows)
	}
	for r := range rows {
		if len(f.products.atoms) > mostAtoms {
			return nil, false
		}
		out.column(f.products.function(fn, x, r), rows)[r] = 1
	}
	return out, true
}

// combine is a product or a quotient of polynomials in each row, or near a point any function of two.
func (f *sumFolder) combine(fn kernel.Function, x, y *poly, rows int) (*poly, bool) {
	switch {
	case f.local && fn != kernel.Mul && fn != kernel.MulData:
		return f.products.expand(fn, rows, x, y)
	case fn == kernel.Div:
		inverse, ok := f.products.invert(y, rows)
		if !ok {
			return nil, false
		}
		y = inverse
	}
	return f.products.multiply(x, y, rows), true
}

// isAtom reports whether id is one of few expressions of a form that neither data nor signs are in.
func (f *sumFolder) isAtom(id ir.ID) bool {
	b, st := f.prog.Batch, f.st
	form := b.At[id].Form
	return ir.Remembered(f.atoms, form, func() bool {
		rows := b.Forms[form].Rows
		for _, id := range rows[:min(fewTerms, len(rows))] {
			for id := range st.Under(id) {
				if k := st.Like(id).Kind; k == ir.Sign || k == ir.Data {
					return false
				}
			}
		}
		return len(rows) <= fewTerms
	})
}

// operand folds one operand of each expression.
func (f *sumFolder) operand(ids []ir.ID, of func(n *ir.Node) ir.ID) (signedPoly, bool) {
	list := make([]ir.ID, len(ids))
	for r, id := range ids {
		n := f.st.Head(id)
		list[r] = of(&n)
	}
	return f.fold(list)
}

// each applies op on both sides.
func (f *sumFolder) each(x, y signedPoly, op func(x, y *poly) (*poly, bool)) (v signedPoly, ok bool) {
	if v.plane, ok = samePlanes(x.plane, y.plane); !ok {
		return v, false
	}
	ok = v.fill(func(side int) (*poly, bool) { return op(x.side[side], y.side[side]) })
	return v, ok
}

// samePlanes are the planes of rows that have one in x or y; ok is false if a row has two.
func samePlanes(x, y []int32) (planes []int32, ok bool) {
	if x == nil || y == nil {
		if x == nil {
			x = y
		}
		return x, true
	}
	planes = slices.Clone(x)
	for r, l := range y {
		if planes[r] < 0 {
			planes[r] = l
		} else if l >= 0 && l != planes[r] {
			return nil, false
		}
	}
	return planes, true
}

// affine adds c·id, an affine expression, to row r of p.
func (f *sumFolder) affine(p *poly, r, rows int, c float64, id ir.ID) bool {
	st := f.st
	if f.left--; f.left < 0 {
		return false
	}
	switch st.Like(id).Kind {
	case ir.Const:
		p.column(0, rows)[r] += c * st.Head(id).V
	case ir.Latent:
		i := int(st.Head(id).A)
		p.column(f.products.single(id), rows)[r] += c
		if f.shift[i] != 0 {
			p.column(0, rows)[r] += c * f.shift[i]
		}
	case ir.Sum:
		var room [8]ir.Term
		v, terms := st.SumIn(id, room[:])
		p.column(0, rows)[r] += c * v
		for _, t := range terms {
			if !f.affine(p, r, rows, c*t.Coef, t.Atom) {
				return false
			}
		}
	default:
		return false
	}
	return true
}

// sum folds sums of a few terms.
func (f *sumFolder) sum(ids []ir.ID) (v signedPoly, ok bool) {
	b, rows := f.prog.Batch, len(ids)
	constant := make([]float64, rows)
	var coef [][]float64
	var atom [][]ir.ID
	for r, id := range ids {
		sum := b.Slots(b.View(id))
		constant[r] = sum.C
		slots := sum.Terms
		if r == 0 {
			for range slots {
				coef, atom = append(coef, make([]float64, rows)), append(atom, make([]ir.ID, rows))
			}
		}
		if len(slots) != len(coef) {
			return v, false
		}
		for k, t := range slots {
			coef[k][r], atom[k][r] = t.Coef, t.Atom
		}
	}
	parts := make([]signedPoly, len(coef))
	for k := range parts {
		if parts[k], ok = f.fold(atom[k]); !ok {
			return v, false
		}
		if v.plane, ok = samePlanes(v.plane, parts[k].plane); !ok {
			return v, false
		}
	}
	v.fill(func(side int) (*poly, bool) {
		out := &poly{}
		copy(out.column(0, rows), constant)
		for k := range parts {
			out.addTimes(coef[k], parts[k].side[side])
		}
		return out, true
	})
	return v, true
}

// condition is a formula where its only sign is 0, and where it is 1.
func (f *sumFolder) condition(id ir.ID) (plane int32, holds [2]bool, ok bool) {
	switch n := f.st.Head(id); n.Kind {
	case ir.Sign:
		return int32(n.A), [2]bool{false, true}, true
	case ir.Not:
		plane, holds, ok = f.condition(n.A)
		return plane, [2]bool{!holds[0], !holds[1]}, ok
	case ir.And:
		p, x, ok1 := f.condition(n.A)
		q, y, ok2 := f.condition(n.B)
		return p, [2]bool{x[0] && y[0], x[1] && y[1]}, ok1 && ok2 && p == q
	}
	return 0, holds, false
}

// steps folds numbers that are chosen by signs.
func (f *sumFolder) steps(ids []ir.ID) (v signedPoly, ok bool) {
	rows := len(ids)
	v.plane = make([]int32, rows)
	var col [2][]float64
	for side := range 2 {
		v.side[side] = &poly{}
		col[side] = v.side[side].column(0, rows)
	}
	for r, id := range ids {
		v.plane[r] = -1
		for side := range 2 {
			at := id
			for f.st.Like(at).Kind == ir.Select {
				n := f.st.Head(at)
				l, holds, ok := f.condition(n.A)
				if !ok || v.plane[r] >= 0 && v.plane[r] != l {
					return v, false
				}
				v.plane[r] = l
				if at = n.C; holds[side] {
					at = n.B
				}
			}
			col[side][r] = f.st.Head(at).V
		}
	}
	return v, true
}

// selects folds expressions that are chosen by signs.
func (f *sumFolder) selects(ids []ir.ID) (v signedPoly, ok bool) {
	rows, st := len(ids), f.st
	v.plane = make([]int32, rows)
	var of [2]signedPoly
	var chosen [2][2][]float64 // by side and operand: 1 where it is
	for side := range 2 {
		for k := range 2 {
			chosen[side][k] = make([]float64, rows)
		}
	}
	for r, id := range ids {
		l, holds, ok := f.condition(st.Head(id).A)
		if !ok {
			return v, false
		}
		v.plane[r] = l
		for side, holds := range holds {
			if holds {
				chosen[side][0][r] = 1
			} else {
				chosen[side][1][r] = 1
			}
		}
	}
	if of[0], ok = f.operand(ids, func(n *ir.Node) ir.ID { return n.B }); !ok {
		return v, false
	}
	if of[1], ok = f.operand(ids, func(n *ir.Node) ir.ID { return n.C }); !ok {
		return v, false
	}
	for k := range of {
		if v.plane, ok = samePlanes(v.plane, of[k].plane); !ok {
			return v, false
		}
	}
	for side := range 2 {
		v.side[side] = &poly{}
		for k := range of {
			v.side[side].addTimes(chosen[side][k], of[k].side[side])
		}
	}
	return v, true
}
