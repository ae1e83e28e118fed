package lower

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/plan"
)

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

	consts []plan.Input     // inputs with fixed values
	nodes  []*gorgonia.Node // by form
	b      *batch
	err    error // the first one
}

// emit builds the Gorgonia graph of a batch for n samples: the outputs, and the
// gradient of the density of.
func emit(b *batch, outs []ir.Output, of *ir.Output, sz Sizes, n int) (*Graph, error) {
	if err := sz.check("a graph for", n, len(outs)); err != nil {
		return nil, err
	}
	e := &Graph{G: gorgonia.NewGraph(), nodes: make([]*gorgonia.Node, len(b.Forms)), b: b}
	e.Z = e.input("z", fLatent, sz.Latents, n)
	e.Signs = e.input("signs", fSign, sz.Signs, n)
	e.Data = e.input("data", fData, sz.Data, 1)
	e.Points = e.input("points", fPoint, sz.Points, n)
	e.PointSigns = e.input("point signs", fPointSign, sz.PointSigns, n)
	e.order()
	for i := range b.Forms {
		e.form(i)
	}
	e.Out = e.outputs(outs)
	if e.onLatents(of) {
		e.differentiate(outs, of)
	}
	return e, e.err
}

// apply is kernel.Apply, and nil after an error.
func (e *Graph) apply(k kernel.Kernel, operands gorgonia.Nodes, wrt ...bool) (n *gorgonia.Node) {
	if e.err == nil {
		n, e.err = kernel.Apply(k, operands, wrt)
	}
	return n
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
func (e *Graph) order() {
	for i, f := range e.b.Forms[:fConst] {
		perm := make(kernel.RowList, len(f.Rows))
		for r, id := range f.Rows {
			perm[r] = int32(e.b.st.Head(id).A)
		}
		if first, ok := perm.Run(); ok && first == 0 {
			continue
		}
		e.nodes[i] = e.apply(kernel.Gather{Idx: perm}, gorgonia.Nodes{e.nodes[i]}, f.onLatents)
	}
}

// constant is an input with the numbers v. Gorgonia merges tensor constants that
// print alike, so numbers are inputs with names of their own.
func (e *Graph) constant(v []float64) *gorgonia.Node {
	name := fmt.Sprintf("const %d", len(e.consts))
	n := gorgonia.NewMatrix(e.G, tensor.Float64, gorgonia.WithShape(len(v), 1), gorgonia.WithName(name))
	e.consts = append(e.consts, plan.Input{Node: n, Value: kernel.Column(v)})
	return n
}

// operand is the matrix with the given rows of a form.
func (e *Graph) operand(formNo int, ids []ir.ID) *gorgonia.Node {
	f := e.b.Forms[formNo]
	if f.key.kind == fConst {
		v := make([]float64, len(ids))
		for i, id := range ids {
			v[i] = e.b.st.Head(id).V
		}
		return e.constant(v)
	}
	if slices.Equal(ids, f.Rows) {
		return e.nodes[formNo]
	}
	rows := make(kernel.RowList, len(ids))
	for i, id := range ids {
		rows[i] = e.b.At[id].row
	}
	return e.apply(kernel.Gather{Idx: rows}, gorgonia.Nodes{e.nodes[formNo]}, f.onLatents)
}

// form makes the node of form number i.
func (e *Graph) form(i int) {
	f := e.b.Forms[i]
	if len(f.Rows) == 0 || f.key.kind <= fConst {
		return
	}
	switch f.key.kind {
	case fAffine:
		e.nodes[i] = e.affine(f)
	case fFlip:
		e.nodes[i] = e.flips(f)
	case fFormula:
		e.nodes[i] = e.formulas(f)
	case fSparse:
		e.nodes[i] = e.sparse(f)
	case fForward:
		e.nodes[i] = e.forward(f)
	case fSum:
		if f.isProduct() {
			e.nodes[i] = e.sparse(f)
		} else {
			e.nodes[i] = e.sum(f)
		}
	default:
		e.nodes[i] = e.elementwise(f)
	}
}

// elementwise makes a form whose operands are matrices with one row for each of
// its own rows.
func (e *Graph) elementwise(f *form) *gorgonia.Node {
	operands := make(gorgonia.Nodes, len(f.args))
	wrt := make([]bool, len(f.args))
	for j, arg := range f.args {
		operands[j] = e.operand(arg, f.columns[j])
		wrt[j] = e.b.Forms[arg].onLatents
	}
	var k kernel.Kernel
	switch f.key.kind {
	case fFunction:
		if k = (kernel.Elementwise{F: f.key.fn}); f.key.fn == kernel.LogAddExp {
			all := e.apply(kernel.LogSum{}, operands, wrt...)
			return e.apply(kernel.Head{Rows: len(f.Rows)}, gorgonia.Nodes{all}, f.onLatents)
		}
		if by := e.b.Forms[f.args[len(f.args)-1]]; f.key.fn == kernel.Div && by.onLatents && len(by.Rows) < len(f.Rows) {
			k, operands[1] = kernel.Elementwise{F: kernel.Mul}, e.inverses(f)
		}
	case fSelect:
		k = kernel.Select{}
		wrt[0] = false
	case fTable:
		k = e.table(f)
		clear(wrt)
	}
	return e.apply(k, operands, wrt...)
}

// inverses are one by one those of the second operands of quotients, each computed once.
func (e *Graph) inverses(f *form) *gorgonia.Node {
	once := slices.Clone(f.columns[1])
	slices.Sort(once)
	once = slices.Compact(once)
	rows := make(kernel.RowList, len(f.Rows))
	for r, id := range f.columns[1] {
		at, _ := slices.BinarySearch(once, id)
		rows[r] = int32(at)
	}
	all := e.apply(kernel.Elementwise{F: kernel.Recip}, gorgonia.Nodes{e.operand(f.args[1], once)}, true)
	return e.apply(kernel.Gather{Idx: rows}, gorgonia.Nodes{all}, true)
}

// leastFactors is the number of operands of one form from which on a sum with data for coefficients is a product with a matrix.
const leastFactors = 4

// isProduct reports whether rows of sums are a product of a matrix of data with the rows of another form.
func (f *form) isProduct() bool {
	of, count := -1, 0
	for j, arg := range f.args {
		if arg != of {
			of, count = arg, 0
		}
		if len(kernel.NewCoefs(f.coefs[j+1])) > 1 {
			count++
		}
		if count == leastFactors {
			return true
		}
	}
	return false
}

// sum makes a form of short sums. Several operands that are the same for all rows are added once.
func (e *Graph) sum(f *form) *gorgonia.Node {
	all, once := summands{c: kernel.NewCoefs(f.coefs[0])}, summands{c: kernel.Coefs{0}}
	var alike []int // operands
	for j, arg := range f.args {
		rows := f.columns[j]
		if e.b.Forms[arg].onLatents && len(rows) > 1 && len(kernel.NewCoefs(f.coefs[j+1])) == 1 &&
			!slices.ContainsFunc(rows, func(id ir.ID) bool { return id != rows[0] }) {
			alike = append(alike, j)
		}
	}
	for j, arg := range f.args {
		on, coef := e.b.Forms[arg].onLatents, kernel.NewCoefs(f.coefs[j+1])
		if len(alike) < 2 || !slices.Contains(alike, j) {
			all.add(coef, e.operand(arg, f.columns[j]), on)
			continue
		}
		if once.add(coef, e.operand(arg, f.columns[j][:1]), on); len(once.of) == len(alike) {
			all.add(kernel.Coefs{1}, e.apply(kernel.Gather{Idx: make(kernel.RowList, len(f.Rows))}, gorgonia.Nodes{e.summed(once)}, true), true)
		}
	}
	return e.summed(all)
}

// Summands are the operands of a weighted sum.
type summands struct {
	c     kernel.Coefs
	coefs []kernel.Coefs
	of    gorgonia.Nodes
	wrt   []bool
}

func (s *summands) add(coef kernel.Coefs, of *gorgonia.Node, wrt bool) {
	s.coefs, s.of, s.wrt = append(s.coefs, coef), append(s.of, of), append(s.wrt, wrt)
}

func (e *Graph) summed(s summands) *gorgonia.Node {
	return e.apply(kernel.WeightedSum{C: s.c, Coef: s.coefs}, s.of, s.wrt...)
}

// table is the kernel of a form of selects over constants.
func (e *Graph) table(f *form) kernel.Kernel {
	var all []float64
	size, equal := 1<<len(f.args), true
	for _, id := range f.Rows {
		all = append(all, e.b.Tables.values(id)...)
		equal = equal && slices.Equal(all[:size], all[len(all)-size:])
	}
	if equal {
		all = all[:size]
	}
	return kernel.Table{T: all}
}

// affine makes the form of long affine sums.
func (e *Graph) affine(f *form) *gorgonia.Node {
	nz, np := len(e.b.Forms[fLatent].Rows), len(e.b.Forms[fPoint].Rows)
	n := 0
	for _, id := range f.Rows {
		v := e.b.View(id)
		n += v.Size()
	}
	k := kernel.Affine{C: make([]float64, 0, len(f.Rows)), From: make([]int32, 1, len(f.Rows)+1), Ref: make([]int32, 0, n), Coef: make([]float64, 0, n)}
	k.Base = [2]int32{int32(nz), int32(nz + np)}
	for _, id := range f.Rows {
		v, terms := e.b.st.SumIn(id, e.b.some[:])
		for _, t := range terms {
			at := e.b.At[t.Atom]
			switch int(at.Form) {
			case int(fPoint):
				at.row += k.Base[0]
			case int(fAffine):
				at.row += k.Base[1]
			}
			k.Ref, k.Coef = append(k.Ref, at.row), append(k.Coef, t.Coef)
		}
		k.C, k.From = append(k.C, v), append(k.From, int32(len(k.Ref)))
	}
	if e.Points != nil {
		return e.apply(k, gorgonia.Nodes{e.nodes[fLatent], e.nodes[fPoint]}, true, false)
	}
	return e.apply(k, gorgonia.Nodes{e.nodes[fLatent]}, true)
}

// formulas makes the form of formulas.
func (e *Graph) formulas(f *form) *gorgonia.Node {
	signs, pointSigns := int32(len(e.b.Forms[fSign].Rows)), int32(len(e.b.Forms[fPointSign].Rows))
	k := kernel.Formulas{From: []int32{0}, Base: [2]int32{signs, signs + pointSigns}}
	row := func(id ir.ID) int32 {
		at := e.b.At[id]
		switch int(at.Form) {
		case int(fSign):
			return at.row
		case int(fPointSign):
			return k.Base[0] + at.row
		}
		return k.Base[1] + at.row
	}
	var factors func(id ir.ID)
	factors = func(id ir.ID) {
		if e.b.At[id] != nowhere {
			k.Ref = append(k.Ref, row(id))
			return
		}
		n := e.b.st.Head(id)
		factors(n.A)
		factors(n.B)
	}
	for _, id := range f.Rows {
		if c, is := e.b.choices[id]; is {
			k.Ref = append(k.Ref, row(c.by), row(c.yes), -1-row(c.no))
		} else if n := e.b.st.Head(id); n.Kind == ir.Not {
			k.Ref = append(k.Ref, -1-row(n.A))
		} else {
			factors(n.A)
			factors(n.B)
		}
		k.From = append(k.From, int32(len(k.Ref)))
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
	return e.apply(k.Join(), operands, make([]bool, len(operands))...)
}

// sparse makes a form of long sums.
func (e *Graph) sparse(f *form) *gorgonia.Node {
	rows := make([]ir.Output, len(f.Rows))
	for r, id := range f.Rows {
		rows[r] = e.b.sum(e.b.View(id))
		rows[r].Terms = slices.Clone(rows[r].Terms)
	}
	return e.outputs(rows)
}

// forward makes a form of forward sums.
func (e *Graph) forward(f *form) *gorgonia.Node {
	var rows []ir.Output
	for _, id := range f.Rows {
		rows = append(rows, e.b.forwardRows(id)...)
	}
	k := e.b.st.Layout(e.b.st.At(f.Rows[0])).Forward
	all := e.apply(k, gorgonia.Nodes{e.outputs(rows)}, f.onLatents)
	return e.apply(kernel.Head{Rows: len(f.Rows)}, gorgonia.Nodes{all}, f.onLatents)
}

// flips makes the form of flips.
func (e *Graph) flips(f *form) *gorgonia.Node {
	k := kernel.Flip{From: []int32{0}}
	signs, sums := make([]ir.Output, len(f.Rows)), make([]ir.Output, len(f.Rows))
	for r, id := range f.Rows {
		both := e.b.flipSums(id)
		signs[r], sums[r].C = both[0], both[1].C
		for _, t := range both[1].Terms {
			if e.b.st.Like(t.Atom).Kind == ir.Flip {
				k.Ref, k.Coef = append(k.Ref, e.b.At[t.Atom].row), append(k.Coef, t.Coef)
			} else {
				sums[r].Terms = append(sums[r].Terms, t)
			}
		}
		k.From = append(k.From, int32(len(k.Ref)))
	}
	return e.apply(k, gorgonia.Nodes{e.outputs(signs), e.outputs(sums)}, false, false)
}

// outputs makes a matrix of sums.
func (e *Graph) outputs(outs []ir.Output) *gorgonia.Node {
	c := make([]float64, len(outs))
	terms := make([]kernel.Sparse, len(e.b.Forms)) // of each form
	count := make([]int, len(e.b.Forms))
	for _, out := range outs {
		for _, t := range out.Terms {
			count[e.b.At[t.Atom].Form]++
		}
	}
	for f, n := range count {
		terms[f] = kernel.Sparse{Row: make(kernel.RowList, 0, n), Col: make(kernel.RowList, 0, n), W: make(kernel.Coefs, 0, n)}
	}
	for o, out := range outs {
		c[o] = out.C
		for _, t := range out.Terms {
			at := e.b.At[t.Atom]
			if at.Form == int32(fConst) {
				c[o] += t.Coef * e.b.st.Head(t.Atom).V
				continue
			}
			m := &terms[at.Form]
			m.Row, m.Col, m.W = append(m.Row, int32(o)), append(m.Col, at.row), append(m.W, t.Coef)
		}
	}
	k := kernel.Reduce{Rows: len(outs), C: kernel.NewCoefs(c)}
	var operands gorgonia.Nodes
	var wrt []bool
	for f, m := range terms {
		if len(m.W) > 0 {
			m.W = kernel.NewCoefs(m.W)
			k.M, operands, wrt = append(k.M, m), append(operands, e.nodes[f]), append(wrt, e.b.Forms[f].onLatents)
		}
	}
	if len(operands) == 0 { // constant: nothing depends on an input
		return e.constant(c)
	}
	return e.apply(k, operands, wrt...)
}

// onLatents reports whether o depends on the latents.
func (e *Graph) onLatents(o *ir.Output) bool {
	for _, t := range o.Terms {
		if e.b.Forms[e.b.At[t.Atom].Form].onLatents {
			return true
		}
	}
	return false
}

// differentiate adds the gradient of Σ_samples log r. Samples do not interact,
// so that is the gradient of each.
func (e *Graph) differentiate(outs []ir.Output, of *ir.Output) {
	logProb := e.Out
	if len(outs) != 1 || len(outs[0].Terms) == 0 || &outs[0].Terms[0] != &of.Terms[0] {
		logProb = e.outputs([]ir.Output{*of})
	}
	cost := e.apply(kernel.Total{}, gorgonia.Nodes{logProb}, true)
	if e.err != nil {
		return
	}
	// gorgonia.Grad starts from a constant that all graphs share and that is written to when it is first used: a data race of
	// programs that are compiled side by side.
	one := e.G.AddNode(gorgonia.NewConstant(1.0))
	grads, err := gorgonia.Backpropagate(gorgonia.Nodes{cost}, gorgonia.Nodes{one}, gorgonia.Nodes{e.Z})
	if err != nil {
		e.err = fmt.Errorf("graph: symbolic gradient: %w", err)
		return
	}
	e.Grad = grads[0]
}
