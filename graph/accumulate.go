package graph

import (
	"cmp"
	"slices"

	"github.com/facetvi/facet/internal/vec"
)

// accumulate is a sum of gradients, each gated, scaled and scattered on the
// way: the plan's form of Gorgonia's chain of additions.
type accumulate struct {
	noDiff
	parts []part
	base  []float64 // what a row starts from; nil for 0
}

// A part is one summand of accumulate.
type part struct {
	to   rowList // row r is added to row to[r]; nil: all rows as they are
	from rowList // if not nil, row from[r] is, and has the number coef[r]
	coef coefs   // nil for one
	gate *gate   // nil for none; else the part's operands are a sign and a gradient
	off  mat     // of settled gates that are open where the sign is 0: room for 1 − sign
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
		pt.to, x = s.Idx, x.in[0]
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

// simplest is a gather if k only reorders its rows, else k.
func (k accumulate) simplest(rows int) kernel {
	if len(k.parts) != 1 || k.base != nil || k.parts[0].off.v != nil {
		return k
	}
	pt := k.parts[0]
	if first, run := pt.to.run(); pt.from == nil || !run || first != 0 || len(pt.to) != rows || len(pt.coef) != 1 || pt.coef[0] != 1 {
		return k
	}
	return gather{Idx: pt.from}
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
		x := in[0]
		if pt.off.v != nil {
			vec.Affine(pt.off.v, x.v, -1, 1)
			x = pt.off
		}
		pt.addTo(out, x)
		in = in[1:]
	}
}

// sorted puts the rows of a scattered part into the order of where they go,
// which is fastest.
func (pt part) sorted(rows int) part {
	if _, run := pt.run(); run || pt.gate != nil {
		return pt
	}
	pt.from = firstRows(rows)
	slices.SortStableFunc(pt.from, func(x, y int32) int { return cmp.Compare(pt.to[x], pt.to[y]) })
	if pt.coef == nil {
		pt.coef = coefs{1}
	}
	pt.to, pt.coef = pt.from.of(pt.to), pt.coef.of(pt.from)
	return pt
}

func (pt *part) addTo(out, x mat) {
	n := out.cols
	first, _ := pt.run()
	switch {
	case pt.from != nil:
		addRows(out, pt.to, x, pt.from, pt.coef)
	case pt.coef == nil:
		to := out.v[first*n : first*n+len(x.v)]
		vec.Add(to, to, x.v)
	default:
		axpy(mat{out.v[first*n : first*n+len(x.v)], x.rows, n}, x, pt.coef, coefs{0}, false)
	}
}

func (pt *part) addGated(out, s, g mat) {
	n := out.cols
	if first, run := pt.run(); run {
		vec.AddGate(out.v[first*n:first*n+len(g.v)], s.v, g.v, pt.gate.At)
		return
	}
	for r, i := range pt.to {
		vec.AddGate(out.v[int(i)*n:][:n], s.v[r*n:], g.v[r*n:], pt.gate.At)
	}
}

// row is where row r of the part goes.
func (pt *part) row(r int) int {
	if pt.to == nil {
		return r
	}
	return int(pt.to[r])
}

// run reports whether the part goes to neighbouring rows, and the first one.
func (pt *part) run() (first int, ok bool) {
	if pt.to == nil {
		return 0, true
	}
	return pt.to.run()
}
