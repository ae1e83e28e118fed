package plan

import "github.com/facetvi/facet/internal/kernel"

// bind gives every node its memory and makes the steps, and those of them that the last root needs.
func (p *planner) bind(roots []*root) (steps, last []step) {
	p.markLastReads(roots)
	needed := map[*node]bool{}
	if len(roots) > 0 {
		roots[len(roots)-1].n.need(needed)
	}
	for _, r := range roots {
		if r.direct = r.n.k != nil && r.n.val.Data == nil; r.direct {
			r.n.val = r.out
		}
	}
	free := arena{}
	for i, n := range p.order {
		if n.viewed != nil {
			n.val = n.viewed.val.Span(n.first, n.rows)
			continue
		}
		if n.val.Data == nil {
			n.val = kernel.Matrix{Data: free.take(n.rows * p.cols), Rows: n.rows, Cols: p.cols}
			n.owned = true
		}
		steps = append(steps, p.step(n))
		if needed[n] {
			last = append(last, steps[len(steps)-1])
		}
		n.release(i, free)
	}
	for k, r := range roots {
		switch {
		case r.n.static:
			r.setStatic(p.cols)
		case !r.direct:
			same := step{kernel.Gather{Idx: kernel.RowRange(0, r.n.rows)}, r.out, []kernel.Matrix{r.n.val}}
			if steps = append(steps, same); k == len(roots)-1 {
				last = append(last, same)
			}
		}
	}
	return steps, last
}

// need notes n and all that it is computed from.
func (n *node) need(needed map[*node]bool) {
	if needed[n] {
		return
	}
	needed[n] = true
	for _, x := range n.in {
		x.need(needed)
	}
	if n.viewed != nil {
		n.viewed.need(needed)
	}
}

// markLastReads says of each node up to which step its value must be kept.
func (p *planner) markLastReads(roots []*root) {
	for i, n := range p.order {
		for _, x := range n.in {
			x.storage().last = i
		}
	}
	for _, r := range roots {
		r.n.storage().last = len(p.order)
	}
}

// storage is the node that has the memory of n: for a view the node viewed.
func (n *node) storage() *node {
	for n.viewed != nil {
		n = n.viewed
	}
	return n
}

// step binds a node whose operands have their memory.
func (p *planner) step(n *node) step {
	s := step{k: n.k, out: n.val}
	for _, x := range n.in {
		v := x.val
		if x.static && p.cols != 1 {
			v = kernel.NewMatrix(x.rows, p.cols)
			v.SetConstant(x.val.Data)
		}
		s.in = append(s.in, v)
	}
	if p.cols > 1 {
		s.k = byRows(s.k, s.in)
	}
	return s
}

// release frees the memory of the values that node n, number i, is the last to
// read.
func (n *node) release(i int, free arena) {
	for _, x := range n.in {
		if x = x.storage(); x.owned && x.last == i {
			free.give(x.val.Data)
			x.owned = false
		}
	}
}

// setStatic sets a result that is the same in each run.
func (r *root) setStatic(samples int) {
	if !r.sum {
		r.out.SetConstant(r.n.val.Data)
		return
	}
	for i, v := range r.n.val.Data {
		r.out.Data[i] = v * float64(samples)
	}
}

// An arena is free memory, by size.
type arena map[int][][]float64

func (a arena) take(n int) []float64 {
	list := a[n]
	if len(list) == 0 {
		return make([]float64, n)
	}
	a[n] = list[:len(list)-1]
	return list[len(list)-1]
}

func (a arena) give(v []float64) { a[len(v)] = append(a[len(v)], v) }
