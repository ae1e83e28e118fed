package graph

import (
	"fmt"
	"math"
	"slices"

	"gorgonia.org/gorgonia"
)

// A plan executes a Gorgonia graph without Gorgonia's machines: nodes in
// topological order, each kernel bound once to slices of one arena, whose parts
// are used again when their value is dead. Nodes that depend on data and
// constants alone are computed when the plan is made. A run allocates nothing.
type plan struct {
	steps []step
}

type step struct {
	k   kernel
	out mat
	in  []mat
}

func (p *plan) run() {
	for i := range p.steps {
		s := &p.steps[i]
		s.k.eval(s.out, s.in)
	}
}

// A planNode is a node of the graph on its way into a plan.
type planNode struct {
	k      kernel // nil for inputs and views
	in     []*planNode
	rows   int
	static bool
	view   int // first row in in[0], if k is nil and there is an in
	uses   int
	last   int // number of the last step that reads the value
	val    mat
	owned  bool // val is part of the arena
}

// planner turns nodes into steps.
type planner struct {
	cols  int
	nodes map[*gorgonia.Node]*planNode
	order []*planNode
	arena arena
}

// A result is a node that a plan computes, and where to. A nil node is 0. The
// output is as wide as the batch, or one column for the sums over the samples.
type result struct {
	node *gorgonia.Node
	out  mat
	sum  bool
}

// newPlan makes a plan for batches of cols samples; in gives the values of the
// inputs.
func newPlan(cols int, in map[*gorgonia.Node]mat, results []result) (*plan, error) {
	p := &planner{cols: cols, nodes: map[*gorgonia.Node]*planNode{}}
	for n, v := range in {
		p.nodes[n] = &planNode{rows: v.rows, static: v.cols == 1 && n.Shape()[1] == 1, val: v}
	}
	var roots []*planNode
	for _, w := range results {
		if w.node == nil {
			roots = append(roots, nil)
			continue
		}
		r, err := p.visit(w.node)
		if err != nil {
			return nil, err
		}
		r.uses++
		roots = append(roots, r)
	}
	p.fuse(roots)
	for i, w := range results {
		if r := roots[i]; w.sum && r != nil && !r.static {
			roots[i] = p.sumRoot(r)
		}
	}
	return p.bind(roots, results), nil
}

// visit adds n and what it needs, operands first.
func (p *planner) visit(n *gorgonia.Node) (*planNode, error) {
	if pn, ok := p.nodes[n]; ok {
		return pn, nil
	}
	pn := &planNode{rows: 1}
	if shape := n.Shape(); len(shape) == 2 {
		pn.rows = shape[0]
	}
	kids := childrenOf(n)
	if len(kids) == 0 {
		v, ok := n.Value().Data().(float64)
		if !ok {
			return nil, fmt.Errorf("graph: input %v has no value", n)
		}
		pn.static, pn.val = true, mat{[]float64{v}, 1, 1}
		p.nodes[n] = pn
		return pn, nil
	}
	pn.static = true
	for _, c := range kids {
		k, err := p.visit(c)
		if err != nil {
			return nil, err
		}
		pn.in = append(pn.in, k)
		pn.static = pn.static && k.static
	}
	switch o := n.Op().(type) {
	case *op:
		pn.k = o.k
	default:
		if n.Op().String() != "+ false" {
			return nil, fmt.Errorf("graph: the plan has no kernel for Gorgonia's %v", n.Op())
		}
		pn.k = plus{}
	}
	if f, ok := pn.k.(fill); ok { // only the shape of the second operand counts
		pn.static, pn.in, pn.k = pn.in[0].static, pn.in[:1], f
	}
	for _, k := range pn.in {
		k.uses++
	}
	p.nodes[n] = pn
	if pn.static {
		pn.evaluate()
	}
	p.order = append(p.order, pn)
	return pn, nil
}

// evaluate computes a static node.
func (n *planNode) evaluate() {
	n.val = mat{make([]float64, n.rows), n.rows, 1}
	in := make([]mat, len(n.in))
	for j, k := range n.in {
		in[j] = k.val
	}
	n.k.eval(n.val, in)
}

// fuse turns gathers of neighbouring rows into views, products with constant
// gradients into scalings, and sums of scattered gradients into one
// accumulation.
func (p *planner) fuse(roots []*planNode) {
	for _, n := range p.order {
		n.scaleByConstant()
		n.foldReduce()
		if g, ok := n.k.(gather); ok && !n.static && !n.in[0].static {
			if first, ok := g.Idx.run(); ok {
				n.k, n.view = nil, first
			}
		}
	}
	for _, n := range slices.Backward(p.order) {
		if n.static || n.uses == 0 {
			continue
		}
		a := accumulate{}
		var in []*planNode
		switch n.k.(type) {
		case plus:
			a.collect(n, &in)
		case scatter:
			a.add(&planNode{k: n.k, in: n.in, uses: 1}, &in)
		default:
			continue
		}
		n.k, n.in = a, in
	}
	p.prune(roots)
}

// scaleByConstant simplifies a product whose first factor, an upstream gradient
// or observations, is the same in each run. It must not be 0 (which would stop
// NaN) or infinite.
func (n *planNode) scaleByConstant() {
	if b, ok := n.k.(binary); ok && b.F == fnMul && len(n.in) == 2 && n.in[1].static {
		n.in = []*planNode{n.in[1], n.in[0]}
	}
	if n.static || len(n.in) != 2 || !n.in[0].static {
		return
	}
	c := slices.Clone(n.in[0].val.v)
	for r, g := range c {
		if g == 0 || math.IsInf(g, 0) || math.IsNaN(g) {
			return
		}
		if _, ok := n.k.(slopeSquare); ok {
			c[r] = 2 * g
		}
	}
	switch k := n.k.(type) {
	case slopeSquare, times2:
		n.k, n.in = scale{makeCoefs(c)}, n.in[1:]
	case binary:
		if k.F == fnMul || k.F == fnMulData {
			n.k, n.in = scale{makeCoefs(c)}, n.in[1:]
		}
	}
}

// foldReduce lets a reduce read through scalings and gathers.
func (n *planNode) foldReduce() {
	r, ok := n.k.(reduce)
	if !ok || n.static {
		return
	}
	folded := reduce{Rows: r.Rows, C: r.C}
	in := slices.Clone(n.in)
	for j, x := range in {
		src, owner, w := r.Src[j], r.Owner[j], r.W[j]
		for !x.static {
			if k, ok := x.k.(binary); ok && k.F == fnMulData && x.in[0].static {
				src, owner, w = dropZeros(src, owner, coefs(x.in[0].val.v).of(src).times(w))
				x = x.in[1]
				continue
			}
			if len(x.in) != 1 {
				break
			}
			if k, ok := x.k.(gather); ok {
				src = src.of(k.Idx)
			} else if k, ok := x.k.(scale); ok {
				w = k.Coef.of(src).times(w)
			} else if x.k == nil {
				src = src.of(firstRows(x.rows).shift(x.view))
			} else {
				break
			}
			x = x.in[0]
		}
		in[j] = x
		folded.Src, folded.Owner, folded.W = append(folded.Src, src), append(folded.Owner, owner), append(folded.W, w)
		folded.K = append(folded.K, x.rows)
	}
	n.k, n.in = folded, in
}

// dropZeros drops the entries of observations that are 0, which stop even NaN.
func dropZeros(src, owner rowList, w coefs) (rowList, rowList, coefs) {
	var s, o rowList
	var c []float64
	for e := range src {
		if v := w.at(e); v != 0 {
			s, o, c = append(s, src[e]), append(o, owner[e]), append(c, v)
		}
	}
	return s, o, makeCoefs(c)
}

// prune counts uses anew and drops nodes without any.
func (p *planner) prune(roots []*planNode) {
	for _, n := range p.order {
		n.uses = 0
	}
	for _, r := range roots {
		if r != nil {
			r.uses++
		}
	}
	var live []*planNode
	for _, n := range slices.Backward(p.order) {
		if n.uses == 0 {
			continue
		}
		live = append(live, n)
		for _, k := range n.in {
			k.uses++
		}
	}
	slices.Reverse(live)
	p.order = live
}

// sumRoot makes the node of the sums of r over the samples. The sums of a reduce
// are a reduce of sums, which is cheaper.
func (p *planner) sumRoot(r *planNode) *planNode {
	n := &planNode{rows: r.rows, in: r.in, uses: 1}
	if k, ok := r.k.(reduce); ok && r.uses == 1 {
		n.k = newSumReduce(k)
		p.order[slices.Index(p.order, r)] = n
		return n
	}
	n.k, n.in = sumRows{}, []*planNode{r}
	p.order = append(p.order, n)
	return n
}

// bind gives every node its memory and makes the steps.
func (p *planner) bind(roots []*planNode, results []result) *plan {
	for i, n := range p.order {
		for _, k := range n.in {
			k.keep(i)
		}
	}
	for i, r := range roots {
		if r == nil {
			continue
		}
		r.keep(len(p.order))
		if !r.static && r.k != nil && r.val.v == nil {
			r.val = results[i].out
		}
	}
	pl := &plan{}
	for i, n := range p.order {
		pl.steps = append(pl.steps, p.step(n, i)...)
	}
	for i, r := range roots {
		out := results[i].out
		switch {
		case r == nil:
			clear(out.v)
		case r.static && results[i].sum:
			for k, v := range r.val.v {
				out.v[k] = v * float64(p.cols)
			}
		case r.static:
			spreadColumns(out, r.val.v)
		case len(out.v) > 0 && &r.val.v[0] != &out.v[0]:
			pl.steps = append(pl.steps, step{gather{Idx: firstRows(r.rows)}, out, []mat{r.val}})
		}
	}
	return pl
}

// keep marks that step i reads n, and what n is a view of.
func (n *planNode) keep(i int) {
	n.last = max(n.last, i)
	if n.k == nil && len(n.in) == 1 {
		n.in[0].keep(i)
	}
}

// step binds node number i.
func (p *planner) step(n *planNode, i int) []step {
	if n.k == nil {
		src := n.in[0].val
		n.val = mat{src.v[n.view*p.cols : (n.view+n.rows)*p.cols], n.rows, p.cols}
		return nil
	}
	if n.static {
		return nil
	}
	if n.val.v == nil {
		n.val = mat{p.arena.take(n.rows * p.cols), n.rows, p.cols}
		n.owned = true
	}
	if a, ok := n.k.(accumulate); ok {
		n.k, n.in = a.settle(n)
	}
	s := step{k: n.k, out: n.val}
	for _, k := range n.in {
		s.in = append(s.in, p.wide(k))
	}
	for _, k := range n.in {
		if k.owned && k.last == i {
			p.arena.give(k.val.v)
			k.owned = false
		} else if k.k == nil && len(k.in) == 1 && k.in[0].owned && k.in[0].last == i {
			p.arena.give(k.in[0].val.v)
			k.in[0].owned = false
		}
	}
	return []step{s}
}

// wide is the value of n at the full number of samples.
func (p *planner) wide(n *planNode) mat {
	if !n.static {
		return n.val
	}
	if n.val.cols != p.cols {
		wide := mat{make([]float64, n.rows*p.cols), n.rows, p.cols}
		spreadColumns(wide, n.val.v)
		return wide
	}
	return n.val
}

// An arena hands out memory and takes it back by size.
type arena struct{ free map[int][][]float64 }

func (a *arena) take(n int) []float64 {
	if list := a.free[n]; len(list) > 0 {
		a.free[n] = list[:len(list)-1]
		return list[len(list)-1]
	}
	return make([]float64, n)
}

func (a *arena) give(v []float64) {
	if a.free == nil {
		a.free = map[int][][]float64{}
	}
	a.free[len(v)] = append(a.free[len(v)], v)
}

// accumulate is a sum of gradients, each gated, scaled and scattered on the
// way: the plan's form of Gorgonia's chain of additions.
type accumulate struct {
	noDiff
	parts []part
	base  []float64 // what a row starts from; nil for 0
}

// A part is one summand of accumulate.
type part struct {
	to   *scatter // nil: all rows as they are
	coef coefs    // nil for one
	gate *gate    // nil for none; else the part's operands are a sign and a gradient
}

func (k *accumulate) collect(n *planNode, in *[]*planNode) {
	for _, x := range n.in {
		if _, ok := x.k.(plus); ok && x.inner() {
			k.collect(x, in)
			continue
		}
		k.add(x, in)
	}
}

// add makes x a part, with the scattering, scaling and gating that lead to it.
func (k *accumulate) add(x *planNode, in *[]*planNode) {
	var pt part
	if s, ok := x.k.(scatter); ok && x.inner() {
		pt.to, x = &s, x.in[0]
	}
	for { // scaling costs nothing here, so even one that others use is done again
		s, ok := x.k.(scale)
		if !ok || x.static {
			break
		}
		pt.coef, x = s.Coef.times(pt.coef), x.in[0]
	}
	if g, ok := x.k.(gate); ok && x.inner() && pt.coef == nil {
		pt.gate = &g
		*in = append(*in, x.in[0])
		x = x.in[1]
	}
	k.parts = append(k.parts, pt)
	*in = append(*in, x)
}

// inner reports whether n is computed in each run for one user alone.
func (n *planNode) inner() bool { return n.uses == 1 && !n.static }

func (k accumulate) outRows([]int) int { panic("graph: accumulate is made by the plan") }

// settle replaces gates on gradients that are the same in each run by scaled
// signs: g where the sign is 1 is g·sign, and where it is 0, g − g·sign.
func (k accumulate) settle(n *planNode) (accumulate, []*planNode) {
	out := accumulate{base: make([]float64, n.rows)}
	var in []*planNode
	at := 0
	for _, pt := range k.parts {
		if pt.gate == nil {
			out.parts, in = append(out.parts, pt), append(in, n.in[at])
			at++
			continue
		}
		sign, g := n.in[at], n.in[at+1]
		at += 2
		if !g.static || slices.ContainsFunc(g.val.v, func(x float64) bool { return math.IsInf(x, 0) || math.IsNaN(x) }) {
			out.parts, in = append(out.parts, pt), append(in, sign, g)
			continue
		}
		coef := slices.Clone(g.val.v)
		if !pt.gate.On {
			for r := range coef {
				out.base[pt.row(r)] += coef[r]
				coef[r] = -coef[r]
			}
		}
		out.parts, in = append(out.parts, part{to: pt.to, coef: makeCoefs(coef)}), append(in, sign)
	}
	if !slices.ContainsFunc(out.base, func(x float64) bool { return x != 0 }) {
		out.base = nil
	}
	return out, in
}

func (k accumulate) eval(out mat, in []mat) {
	if k.base == nil {
		clear(out.v)
	} else {
		spreadColumns(out, k.base)
	}
	for j := range k.parts {
		pt := &k.parts[j]
		if pt.gate != nil {
			pt.addGated(out, in[0], in[1])
			in = in[2:]
			continue
		}
		pt.addTo(out, in[0])
		in = in[1:]
	}
}

func (pt *part) addTo(out, x mat) {
	n := out.cols
	coef := pt.coef
	if coef == nil {
		coef = coefs{1}
	}
	first, run := pt.run()
	switch {
	case run && pt.coef == nil:
		addTo(out.v[first*n:first*n+len(x.v)], x.v)
	case run:
		axpy(mat{out.v[first*n : first*n+len(x.v)], x.rows, n}, x, coef, coefs{0}, false)
	case n == 1:
		for r, i := range pt.to.Idx {
			out.v[i] += coef.at(r) * x.v[r]
		}
	default:
		for r, i := range pt.to.Idx {
			axpyFlat(out.v[int(i)*n:][:n], x.v[r*n:][:n], coef.at(r), 0, false)
		}
	}
}

func (pt *part) addGated(out, s, g mat) {
	n := out.cols
	if first, run := pt.run(); run {
		pt.gate.addTo(out.v[first*n:first*n+len(g.v)], s.v, g.v)
		return
	}
	for r, i := range pt.to.Idx {
		pt.gate.addTo(out.v[int(i)*n:][:n], s.v[r*n:], g.v[r*n:])
	}
}

// row is where row r of the part goes.
func (pt *part) row(r int) int {
	if pt.to == nil {
		return r
	}
	return int(pt.to.Idx[r])
}

// run reports whether the part goes to neighbouring rows, and the first one.
func (pt *part) run() (first int, ok bool) {
	if pt.to == nil {
		return 0, true
	}
	return pt.to.Idx.run()
}
