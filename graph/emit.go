package graph

import (
	"fmt"
	"maps"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// sizes are the numbers of rows of a program's inputs.
type sizes struct{ latents, signs, data, points, pointSigns int }

// A Graph is a batched program as a Gorgonia expression graph for a fixed
// number of samples. Its inputs are matrices with a row for each coordinate and
// a column for each sample; observations are one column.
type Graph struct {
	G *gorgonia.ExprGraph
	// Inputs; nil where the program has no rows of that kind.
	Z, Signs, Data, Points, PointSigns *gorgonia.Node
	// Out is the result, outputs × samples: of a density one row, log r.
	Out *gorgonia.Node
	// Grad is the gradient of log r for each sample, latents × samples. It is
	// nil if log r does not depend on the latents.
	Grad *gorgonia.Node

	consts []constInput
	nodes  []*gorgonia.Node // by form
	b      *batch
	n      int
}

// A constInput is an input with a fixed value. (Gorgonia merges tensor
// constants that print alike, so numbers are inputs with names of their own.)
type constInput struct {
	node  *gorgonia.Node
	value []float64
}

// emit builds the Gorgonia graph of a batch for n samples: the outputs, and the
// gradient of the density of.
func emit(b *batch, outs []output, of *output, sz sizes, n int) (*Graph, error) {
	e := &Graph{G: gorgonia.NewGraph(), nodes: make([]*gorgonia.Node, len(b.forms)), b: b, n: n}
	e.Z = e.input("z", fLatent, sz.latents, n)
	e.Signs = e.input("signs", fSign, sz.signs, n)
	e.Data = e.input("data", fData, sz.data, 1)
	e.Points = e.input("points", fPoint, sz.points, n)
	e.PointSigns = e.input("point signs", fPointSign, sz.pointSigns, n)
	if err := e.order(); err != nil {
		return nil, err
	}
	for i := range b.forms {
		if err := e.form(i); err != nil {
			return nil, err
		}
	}
	var err error
	if e.Out, err = e.outputs(outs); err != nil {
		return nil, err
	}
	if e.latinOutput(of) {
		if err := e.differentiate(of); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *Graph) input(name string, kind formKind, rows, cols int) *gorgonia.Node {
	if rows == 0 {
		return nil
	}
	n := gorgonia.NewMatrix(e.G, tensor.Float64, gorgonia.WithShape(rows, cols), gorgonia.WithName(name))
	e.nodes[kind] = n
	return n
}

// order brings the inputs' rows into the order that the forms use.
func (e *Graph) order() error {
	for i, f := range e.b.forms[:fConst] {
		perm := make(rowList, len(f.rows))
		for r, id := range f.rows {
			perm[r] = int32(e.b.st.nodes[id].a)
		}
		if first, ok := perm.run(); ok && first == 0 {
			continue
		}
		n, err := applyOp(gather{Idx: perm}, gorgonia.Nodes{e.nodes[i]}, []bool{f.latin})
		if err != nil {
			return err
		}
		e.nodes[i] = n
	}
	return nil
}

func (e *Graph) constant(v []float64) *gorgonia.Node {
	name := fmt.Sprintf("const %d", len(e.consts))
	n := gorgonia.NewMatrix(e.G, tensor.Float64, gorgonia.WithShape(len(v), 1), gorgonia.WithName(name))
	e.consts = append(e.consts, constInput{n, v})
	return n
}

// operand is the matrix with the given rows of a form.
func (e *Graph) operand(formNo int, rows rowList) (*gorgonia.Node, error) {
	f := e.b.forms[formNo]
	if f.key.kind == fConst {
		v := make([]float64, len(rows))
		for i, r := range rows {
			v[i] = e.b.st.nodes[f.rows[r]].v
		}
		return e.constant(v), nil
	}
	if first, ok := rows.run(); ok && first == 0 && len(rows) == len(f.rows) {
		return e.nodes[formNo], nil
	}
	return applyOp(gather{Idx: rows}, gorgonia.Nodes{e.nodes[formNo]}, []bool{f.latin})
}

// form makes the node of form number i.
func (e *Graph) form(i int) (err error) {
	f := e.b.forms[i]
	if len(f.rows) == 0 || f.key.kind <= fConst {
		return nil
	}
	switch f.key.kind {
	case fAffine:
		e.nodes[i], err = e.affine(f)
	case fFlip:
		e.nodes[i], err = e.flips(f)
	case fFormula:
		e.nodes[i], err = e.formulas(f)
	case fSparse:
		e.nodes[i], err = e.sparse(f)
	default:
		e.nodes[i], err = e.elementwise(f)
	}
	return err
}

// elementwise makes a form whose operands are matrices with one row for each of
// its own rows.
func (e *Graph) elementwise(f *form) (*gorgonia.Node, error) {
	operands := make(gorgonia.Nodes, len(f.args))
	wrt := make([]bool, len(f.args))
	columns := e.b.columns(f)
	for j, arg := range f.args {
		rows := make(rowList, len(f.rows))
		for r, id := range columns[j] {
			rows[r] = e.b.at[id].row
		}
		var err error
		if operands[j], err = e.operand(arg, rows); err != nil {
			return nil, err
		}
		wrt[j] = e.b.forms[arg].latin
	}
	var k kernel
	switch f.key.kind {
	case fLin:
		k = e.lin(f)
	case fUnary:
		k = unary{F: f.key.fn}
	case fBinary:
		k = binary{F: f.key.fn}
	case fSelect:
		k = sel{}
		wrt[0] = false
	case fTable:
		k = e.table(f)
		clear(wrt)
	}
	return applyOp(k, operands, wrt)
}

func (e *Graph) lin(f *form) kernel {
	c := make([]float64, len(f.rows))
	coef := make([][]float64, len(f.args))
	for j := range coef {
		coef[j] = make([]float64, len(f.rows))
	}
	for r, id := range f.rows {
		c[r] = e.b.sum(id).c
		for j, t := range e.b.slots(id) {
			coef[j][r] = t.coef
		}
	}
	k := lin{C: makeCoefs(c), K: len(f.rows)}
	for _, x := range coef {
		k.Coef = append(k.Coef, makeCoefs(x))
	}
	return k
}

func (e *Graph) table(f *form) kernel {
	m := len(f.args)
	var all []float64
	equal := true
	for _, id := range f.rows {
		signs := e.b.tableSigns(id)
		for bits := range 1 << m {
			v := e.b.tableValue(id, signs, bits)
			equal = equal && (len(all) < 1<<m || all[bits] == v)
			all = append(all, v)
		}
	}
	if equal {
		all = all[:1<<m]
	}
	return table{T: all, M: m}
}

// affine makes the form of long affine sums.
func (e *Graph) affine(f *form) (*gorgonia.Node, error) {
	nz, np := len(e.b.forms[fLatent].rows), len(e.b.forms[fPoint].rows)
	k := affine{Base: [2]int32{int32(nz), int32(nz + np)}}
	for _, id := range f.rows {
		n := &e.b.st.nodes[id]
		var entries []entry
		for _, t := range n.terms {
			at := e.b.at[t.atom]
			switch int(at.form) {
			case int(fPoint):
				at.row += k.Base[0]
			case int(fAffine):
				at.row += k.Base[1]
			}
			entries = append(entries, entry{at.row, t.coef})
		}
		k.add(n.v, entries)
	}
	if e.Points != nil {
		return applyOp(k, gorgonia.Nodes{e.nodes[fLatent], e.nodes[fPoint]}, []bool{true, false})
	}
	return applyOp(k, gorgonia.Nodes{e.nodes[fLatent]}, []bool{true})
}

// formulas makes the form of formulas.
func (e *Graph) formulas(f *form) (*gorgonia.Node, error) {
	signs, pointSigns := int32(len(e.b.forms[fSign].rows)), int32(len(e.b.forms[fPointSign].rows))
	k := formulas{Base: [2]int32{signs, signs + pointSigns}}
	row := func(id nodeID) int32 {
		at := e.b.at[id]
		switch formKind(at.form) {
		case fSign:
			return at.row
		case fPointSign:
			return k.Base[0] + at.row
		}
		return k.Base[1] + at.row
	}
	for _, id := range f.rows {
		n, b := &e.b.st.nodes[id], int32(-1)
		if n.kind == kAnd {
			b = row(n.b)
		}
		k.A, k.B = append(k.A, row(n.a)), append(k.B, b)
	}
	var operands gorgonia.Nodes
	for _, in := range []formKind{fSign, fPointSign} {
		if e.nodes[in] != nil {
			operands = append(operands, e.nodes[in])
		}
	}
	if signs == 0 { // point signs are the first operand
		k.Base[0] = k.Base[1]
	}
	return applyOp(k, operands, make([]bool, len(operands)))
}

// sparse makes a form of long sums.
func (e *Graph) sparse(f *form) (*gorgonia.Node, error) {
	rows := make([]output, len(f.rows))
	for r, id := range f.rows {
		rows[r] = e.b.sum(id)
	}
	return e.sums(rows)
}

// sums makes a matrix of sums: for each form of their terms a sparse matrix times
// that form, and the sum of these.
func (e *Graph) sums(rows []output) (*gorgonia.Node, error) {
	c, entries := make([]float64, len(rows)), map[int][][]entry{}
	for r, o := range rows {
		c[r] = o.c
		for _, t := range o.terms {
			at := e.b.at[t.atom]
			if formKind(at.form) == fConst {
				c[r] += t.coef * e.b.st.nodes[t.atom].v
				continue
			}
			of := entries[int(at.form)]
			if of == nil {
				of = make([][]entry, len(rows))
				entries[int(at.form)] = of
			}
			of[r] = append(of[r], entry{at.row, t.coef})
		}
	}
	var parts gorgonia.Nodes
	var wrt []bool
	var ones []coefs
	for _, arg := range slices.Sorted(maps.Keys(entries)) {
		form := e.b.forms[arg]
		size := int32(len(form.rows))
		k := affine{Base: [2]int32{size, size}}
		for _, row := range entries[arg] {
			k.add(0, row)
		}
		part, err := applyOp(k, gorgonia.Nodes{e.nodes[arg]}, []bool{form.latin})
		if err != nil {
			return nil, err
		}
		parts, wrt, ones = append(parts, part), append(wrt, form.latin), append(ones, coefs{1})
	}
	if len(parts) == 0 {
		return e.constant(c), nil
	}
	return applyOp(lin{C: makeCoefs(c), Coef: ones, K: len(rows)}, parts, wrt)
}

// flips makes the form of flips.
func (e *Graph) flips(f *form) (*gorgonia.Node, error) {
	k := flip{From: []int32{0}}
	signs, sums := make([]output, len(f.rows)), make([]output, len(f.rows))
	for r, id := range f.rows {
		both := e.b.flipSums(id)
		signs[r], sums[r].c = both[0], both[1].c
		for _, t := range both[1].terms {
			if e.b.st.nodes[t.atom].kind == kFlip {
				k.Ref, k.Coef = append(k.Ref, e.b.at[t.atom].row), append(k.Coef, t.coef)
			} else {
				sums[r].terms = append(sums[r].terms, t)
			}
		}
		k.From = append(k.From, int32(len(k.Ref)))
	}
	sign, err := e.sums(signs)
	if err != nil {
		return nil, err
	}
	x, err := e.sums(sums)
	if err != nil {
		return nil, err
	}
	return applyOp(k, gorgonia.Nodes{sign, x}, []bool{false, false})
}

// outputs makes a node of results.
func (e *Graph) outputs(outs []output) (*gorgonia.Node, error) {
	k := reduce{Rows: len(outs)}
	c := make([]float64, len(outs))
	rows := make([]rowList, len(e.b.forms))
	owner := make([]rowList, len(e.b.forms))
	weight := make([][]float64, len(e.b.forms))
	for o, out := range outs {
		c[o] = out.c
		for _, t := range out.terms {
			at := e.b.at[t.atom]
			if at.form == int32(fConst) {
				c[o] += t.coef * e.b.st.nodes[t.atom].v
				continue
			}
			rows[at.form] = append(rows[at.form], at.row)
			owner[at.form] = append(owner[at.form], int32(o))
			weight[at.form] = append(weight[at.form], t.coef)
		}
	}
	k.C = makeCoefs(c)
	var operands gorgonia.Nodes
	var wrt []bool
	for f := range e.b.forms {
		if len(rows[f]) == 0 {
			continue
		}
		operands, wrt = append(operands, e.nodes[f]), append(wrt, e.b.forms[f].latin)
		k.W, k.K = append(k.W, makeCoefs(weight[f])), append(k.K, len(e.b.forms[f].rows))
		k.Src, k.Owner = append(k.Src, rows[f]), append(k.Owner, owner[f])
	}
	if len(operands) == 0 { // constant: nothing depends on an input
		return e.constant(c), nil
	}
	return applyOp(k, operands, wrt)
}

// latinOutput reports whether o depends on the latents.
func (e *Graph) latinOutput(o *output) bool {
	for _, t := range o.terms {
		if e.b.forms[e.b.at[t.atom].form].latin {
			return true
		}
	}
	return false
}

// differentiate adds the gradient of Σ_samples log r. Samples do not interact,
// so that is the gradient of each.
func (e *Graph) differentiate(of *output) error {
	logProb, err := e.outputs([]output{*of})
	if err != nil {
		return err
	}
	cost, err := applyOp(total{}, gorgonia.Nodes{logProb}, []bool{true})
	if err != nil {
		return err
	}
	grads, err := gorgonia.Grad(cost, e.Z)
	if err != nil {
		return fmt.Errorf("graph: symbolic gradient: %w", err)
	}
	e.Grad = grads[0]
	return nil
}
