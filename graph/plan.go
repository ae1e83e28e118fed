package graph

import (
	"fmt"
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
		a, n.in = a.settle(n.in, n.rows, p.cols)
		n.k = a.simplest(n.rows)
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
