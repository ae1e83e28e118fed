package derive

import "github.com/facetvi/facet/internal/ir"

// fewJoined is the least number of point signs that are worth joining.
const fewJoined = 4

// A PointSignOf is a point sign by its number, or its negation.
type PointSignOf struct {
	Number int
	Not    bool
}

// Join rewrites outs so that point signs which occur in one conjunction alone are one row: of each list that it returns the first one's
// row then is the conjunction of all. It is for guards on a path: their jumps multiply all signs at the points of each, and a
// product that is made where signs are found takes no memory for them.
func (b *Builder) Join(outs []ir.ID) (joined [][]PointSignOf) {
	j := joiner{st: b.Store, uses: map[ir.ID]int{}, inAnd: map[ir.ID]bool{}}
	for _, o := range outs {
		j.visit(o)
	}
	w := ir.NewRewriter(b.Store, ir.Substitution{})
	for _, id := range j.list {
		if n := b.Store.At(id); n.Kind == ir.Flip { // which a rewriter leaves as it is
			w.Done[id] = b.Store.Intern(ir.Node{Kind: ir.Flip, A: w.Rewrite(n.A), B: w.Rewrite(n.B)})
			continue
		}
		if j.isInner(id) {
			continue
		}
		j.signs, j.others = nil, nil
		j.factors(id)
		if len(j.signs) < fewJoined {
			continue
		}
		joint := b.Store.Leaf(ir.PointSign, j.signs[0].Number)
		for _, o := range j.others {
			joint = b.Store.And(joint, w.Rewrite(o))
		}
		w.Done[id] = joint
		joined = append(joined, j.signs)
	}
	if len(joined) > 0 {
		for i, o := range outs {
			outs[i] = w.Rewrite(o)
		}
	}
	return joined
}

// A joiner looks for conjunctions.
type joiner struct {
	st    *ir.Store
	uses  map[ir.ID]int
	list  []ir.ID // conjunctions and flips, operands first
	inAnd map[ir.ID]bool

	signs  []PointSignOf // factors of a conjunction that are used there alone
	others []ir.ID
}

func (j *joiner) visit(id ir.ID) {
	if j.uses[id]++; j.uses[id] > 1 {
		return
	}
	n := j.st.At(id)
	n.Operands(j.visit)
	switch n.Kind {
	case ir.And:
		j.inAnd[n.A], j.inAnd[n.B] = true, true
		fallthrough
	case ir.Flip:
		j.list = append(j.list, id)
	}
}

// isInner reports whether a conjunction is part of one other alone.
func (j *joiner) isInner(id ir.ID) bool { return j.inAnd[id] && j.uses[id] == 1 }

// factors lists those of a conjunction.
func (j *joiner) factors(and ir.ID) {
	n := j.st.At(and)
	for _, id := range [2]ir.ID{n.A, n.B} {
		at, not := j.st.At(id), false
		if at.Kind == ir.And && j.isInner(id) {
			j.factors(id)
			continue
		}
		sign := id
		if at.Kind == ir.Not && j.uses[id] == 1 {
			sign, not = at.A, true
			at = j.st.At(sign)
		}
		if at.Kind == ir.PointSign && j.uses[sign] == 1 {
			j.signs = append(j.signs, PointSignOf{int(at.A), not})
		} else {
			j.others = append(j.others, id)
		}
	}
}
