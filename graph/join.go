package graph

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
func (b *Builder) Join(outs []Expr) (joined [][]PointSignOf) {
	j := joiner{st: b.d.st, uses: map[nodeID]int{}, inAnd: map[nodeID]bool{}}
	for _, o := range outs {
		j.visit(o.in(b.d.m))
	}
	w := &rewriter{m: b.d.m, done: map[nodeID]nodeID{}}
	for _, id := range j.list {
		if n := b.d.st.at(id); n.kind == kFlip { // which a rewriter leaves as it is
			w.done[id] = b.d.st.intern(node{kind: kFlip, a: w.rewrite(n.a), b: w.rewrite(n.b)})
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
		joint := b.d.st.leaf(kPointSign, j.signs[0].Number)
		for _, o := range j.others {
			joint = b.d.st.and(joint, w.rewrite(o))
		}
		w.done[id] = joint
		joined = append(joined, j.signs)
	}
	if len(joined) > 0 {
		for i, o := range outs {
			outs[i] = Expr{m: b.d.m, id: w.rewrite(o.in(b.d.m))}
		}
	}
	return joined
}

// A joiner looks for conjunctions.
type joiner struct {
	st    *store
	uses  map[nodeID]int
	list  []nodeID // conjunctions and flips, operands first
	inAnd map[nodeID]bool

	signs  []PointSignOf // factors of a conjunction that are used there alone
	others []nodeID
}

func (j *joiner) visit(id nodeID) {
	if j.uses[id]++; j.uses[id] > 1 {
		return
	}
	n := j.st.at(id)
	n.operands(j.visit)
	switch n.kind {
	case kAnd:
		j.inAnd[n.a], j.inAnd[n.b] = true, true
		fallthrough
	case kFlip:
		j.list = append(j.list, id)
	}
}

// isInner reports whether a conjunction is part of one other alone.
func (j *joiner) isInner(id nodeID) bool { return j.inAnd[id] && j.uses[id] == 1 }

// factors lists those of a conjunction.
func (j *joiner) factors(and nodeID) {
	n := j.st.at(and)
	for _, id := range [2]nodeID{n.a, n.b} {
		at, not := j.st.at(id), false
		if at.kind == kAnd && j.isInner(id) {
			j.factors(id)
			continue
		}
		sign := id
		if at.kind == kNot && j.uses[id] == 1 {
			sign, not = at.a, true
			at = j.st.at(sign)
		}
		if at.kind == kPointSign && j.uses[sign] == 1 {
			j.signs = append(j.signs, PointSignOf{int(at.a), not})
		} else {
			j.others = append(j.others, id)
		}
	}
}
