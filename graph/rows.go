package graph

import (
	"math"
	"slices"
)

// Limits of what is kept as rows that are alike.
const (
	fewRows       = 3    // so few are no columns
	mostInnerRows = 64   // rows of plates inside a row
	mostNodes     = 4096 // of a row that is one of a pattern
	mostPatterns  = 32   // of a plate
)

// beginRow begins a row: nodes that are made belong to it until endRow.
func (s *store) beginRow() {
	s.own()
	s.start = nodeID(s.size)
	s.plain = min(s.plain, s.start)
}

// internInRow is intern in a row.
func (s *store) internInRow(n node, hash uint32) nodeID {
	mask := len(s.rowTable) - 1
	for i := int(hash); mask > 0 && s.rowTable[i&mask] > 0; i++ {
		if j := s.rowTable[i&mask] - 1; s.hashes[j] == hash && same(&s.row[j], &n) {
			if s.rec != nil {
				s.rec.finds(int(j))
			}
			return s.start + nodeID(j)
		}
	}
	if n.lastOperand() < s.start {
		if id, ok := s.known(&n, s.slot(&n, hash)); ok {
			if s.rec != nil {
				s.rec.findsOutside(s, &n, id)
			}
			return id
		}
	}
	return s.addToRow(n, hash)
}

// addToRow adds a node that there is not yet.
func (s *store) addToRow(n node, hash uint32) nodeID {
	s.row, s.hashes, s.rowBounds = append(s.row, n), append(s.hashes, hash), append(s.rowBounds, bounds{})
	if 2*len(s.row) > len(s.rowTable) {
		s.rowTable = make([]int32, max(16, 2*len(s.rowTable)))
		for j := range s.row {
			s.enterInRow(j)
		}
	} else {
		s.enterInRow(len(s.row) - 1)
	}
	return s.start + nodeID(len(s.row)) - 1
}

func (s *store) enterInRow(j int) {
	if s.row[j].isLeaf() {
		return
	}
	mask := len(s.rowTable) - 1
	i := int(s.hashes[j]) & mask
	for s.rowTable[i] > 0 {
		i = (i + 1) & mask
	}
	s.rowTable[i] = int32(j) + 1
}

// isLeaf reports whether n is known by its number, and not by the table.
func (n *node) isLeaf() bool { return n.kind < kSum && n.kind != kConst }

// endRow ends a row, of which at most left more will come. If it is like others, those
// with one of the given patterns, it becomes a row of their columns; else it makes a
// pattern, the first of them then, if there are not too many.
func (s *store) endRow(patterns *[]int32, left int) (ok bool) {
	if len(s.row) == 0 || len(s.row) > mostNodes {
		s.keepRow()
		return false
	}
	at := slices.IndexFunc(*patterns, func(k int32) bool { return s.patterns[k].matches(s) })
	switch {
	case at > 0: // the last one comes first
		(*patterns)[0], (*patterns)[at] = (*patterns)[at], (*patterns)[0]
	case at < 0 && len(*patterns) == mostPatterns:
		s.keepRow()
		return false
	case at < 0:
		s.patterns = append(s.patterns, newPattern(s))
		*patterns = slices.Insert(*patterns, 0, int32(len(s.patterns)-1))
	}
	s.commit((*patterns)[0], left)
	return true
}

// commit makes the row one of pattern k.
func (s *store) commit(k int32, left int) {
	p := s.patterns[k]
	s.addRows(k, s.start, p.rows)
	p.addRows(s.row, s.rowBounds, alone{}, 0, 1, left)
	for j := range p.like {
		if n := &s.row[j]; p.like[j].root && !n.isLeaf() {
			s.enter(s.slot(n, s.hashes[j]), s.hashes[j], s.start+nodeID(j))
		}
	}
	s.size += len(s.row)
	s.clearRow()
}

// addRows adds a segment of rows of pattern k from number at on, if they do not continue the last one.
func (s *store) addRows(k int32, first nodeID, at int) {
	if last := len(s.segments) - 1; last >= 0 && s.segments[last].pattern == k {
		return
	}
	s.addSegment(segment{first, k, int32(at)})
}

// keepRow moves the row to the list.
func (s *store) keepRow() {
	row, hashes, errs, start := s.row, s.hashes, s.rowBounds, s.start
	s.row, s.start = nil, noRow
	for j, n := range row {
		id := s.add(n)
		if !n.isLeaf() {
			s.enter(s.slot(&n, hashes[j]), hashes[j], id)
		}
		if b := errs[j]; !b.exact() {
			s.setBounds(start+nodeID(j), b)
		}
	}
	s.row = row
	s.clearRow()
}

func (s *store) clearRow() {
	s.row, s.hashes, s.rowBounds, s.start = s.row[:0], s.hashes[:0], s.rowBounds[:0], noRow
	if clear(s.rowTable); len(s.rowTable) > 4*mostNodes {
		s.rowTable = nil
	}
}

// newPattern is that of the row which is being written, without rows.
func newPattern(s *store) *pattern {
	p := &pattern{like: make([]likeNode, len(s.row))}
	for j := range s.row {
		n, l := &s.row[j], &p.like[j]
		l.node = *n
		l.node.terms = nil
		l.root = n.lastOperand() < s.start
		l.a, l.b, l.c = link{id: n.a}, link{id: n.b}, link{id: n.c}
		for k, r := range []*link{&l.a, &l.b, &l.c} {
			if k < n.arity() {
				*r = newLink(r.id, s.start)
			}
		}
		l.numbers = append(l.numbers, numeral{v: n.v})
		for _, t := range n.terms {
			l.atoms, l.numbers = append(l.atoms, newLink(t.atom, s.start)), append(l.numbers, numeral{v: t.coef})
		}
	}
	return p
}

func newLink(id, start nodeID) link {
	if id >= start {
		return link{id: id - start, local: true}
	}
	return link{id: id}
}

// matches reports whether the row that is being written has the pattern.
func (p *pattern) matches(s *store) bool {
	if len(s.row) != len(p.like) {
		return false
	}
	for j := range s.row {
		n, l := &s.row[j], &p.like[j]
		if n.kind != l.kind || n.fn != l.fn || n.affine != l.affine || n.steps != l.steps || len(n.terms) != len(l.atoms) {
			return false
		}
		switch k := n.arity(); {
		case k > 0 && !l.a.admits(n.a, s.start), k > 1 && !l.b.admits(n.b, s.start), k > 2 && !l.c.admits(n.c, s.start):
			return false
		}
		for i := range n.terms {
			if !l.atoms[i].admits(n.terms[i].atom, s.start) {
				return false
			}
		}
	}
	return true
}

func (r *link) admits(id, start nodeID) bool {
	if id >= start {
		return r.local && r.id == id-start
	}
	return !r.local
}

// variation is what differs in rows of a block that are like one: nil slices where all n rows from row first on are the same. A slice is good until the
// next call.
type variation interface {
	// operands are those with number k of node j, or of leaves their numbers.
	operands(j, k, first, n int) []nodeID
	// numbers are the constants of node j for k = 0, or its coefficients with number k − 1, with their errors.
	numbers(j, k, first, n int) (v, err []float64)
	// inHole is what is in the place of node id outside the row.
	inHole(id nodeID, first, n int) []nodeID
}

// alone is the variation of one row.
type alone struct{}

func (alone) operands(_, _, _, _ int) []nodeID          { return nil }
func (alone) numbers(_, _, _, _ int) (v, err []float64) { return nil, nil }
func (alone) inHole(nodeID, int, int) []nodeID          { return nil }

// addRows adds n rows like row, with errors like errs, to the columns. What differs in them is that of c, from row first of its block on. At most left
// more will come.
func (p *pattern) addRows(row []node, errs []bounds, c variation, first, n, left int) {
	for j := range row {
		x, l, b := &row[j], &p.like[j], &errs[j]
		for k, o := range [...]nodeID{x.a, x.b, x.c} {
			[...]*link{&l.a, &l.b, &l.c}[k].addRows(c.operands(j, k, first, n), o, p.rows, n, left)
		}
		v, e := c.numbers(j, 0, first, n)
		l.numbers[0].addRows(v, x.v, p.rows, n, left)
		l.addErrors(0, e, b.v, p.rows, n, left)
		for k, t := range x.terms {
			l.atoms[k].addRows(c.inHole(t.atom, first, n), t.atom, p.rows, n, left)
			v, e := c.numbers(j, k+1, first, n)
			l.numbers[k+1].addRows(v, t.coef, p.rows, n, left)
			err := 0.0
			if b.coef != nil {
				err = b.coef[k]
			}
			l.addErrors(k+1, e, err, p.rows, n, left)
		}
	}
	p.rows += n
}

// addErrors adds n rows with the given errors of number k, or with err in all if these are nil.
func (l *likeNode) addErrors(k int, errs []float64, err float64, rows, n, left int) {
	if l.errs == nil && err == 0 && !slices.ContainsFunc(errs, isNonzero) {
		return
	}
	if l.errs == nil {
		l.errs = make([]numeral, len(l.numbers))
	}
	l.errs[k].addRows(errs, err, rows, n, left)
}

// addRows adds n rows with the given IDs, or with id in all if these are nil.
func (r *link) addRows(ids []nodeID, id nodeID, rows, n, left int) {
	if !r.local {
		r.col = added(r.col, &r.id, id, ids, rows, n, left, func(a, b nodeID) bool { return a == b })
	}
}

// addRows adds n rows with the given values, or with v in all if these are nil.
func (x *numeral) addRows(values []float64, v float64, rows, n, left int) {
	x.col = added(x.col, &x.v, v, values, rows, n, left, sameBits)
}

func sameBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// added is the column col, of which rows rows count, nil if all are v, with n more: values, or value in
// all if that is nil. At most left more will come.
func added[T any](col []T, v *T, value T, values []T, rows, n, left int, same func(a, b T) bool) []T {
	if col == nil {
		if values != nil {
			value = values[0]
		}
		if rows == 0 {
			*v = value
		}
		if same(*v, value) && !slices.ContainsFunc(values, func(x T) bool { return !same(*v, x) }) {
			return nil
		}
		col = slices.Repeat([]T{*v}, rows)
	}
	col = col[:rows]
	if len(col)+n > cap(col) {
		col = slices.Grow(col, n+min(left, max(8*len(col), 64)))
	}
	if values != nil {
		return append(col, values...)
	}
	for range n {
		col = append(col, value)
	}
	return col
}

// boundsIn are those of the errors of a node in the row r.
func (l *likeNode) boundsIn(r patternRow) (b bounds) {
	if l.errs == nil {
		return b
	}
	b.v = l.errs[0].at(r.at)
	for k := range l.atoms {
		if err := l.errs[k+1].at(r.at); err != 0 {
			if b.coef == nil {
				b.coef = make([]float64, len(l.atoms))
			}
			b.coef[k] = err
		}
	}
	return b
}

// sameInRow is the node in the row of id, if id is in one, that is the same as n.
func (s *store) sameInRow(n *node, id nodeID) (nodeID, bool) {
	first, in := s.likeNode(id)
	if first == nil {
		return 0, false
	}
	like := s.run(id).like
	for j := range like {
		if like[j].same(n, in) {
			return in.first + nodeID(j), true
		}
	}
	return 0, false
}

// same reports whether the node in the row r is the same as n.
func (l *likeNode) same(n *node, r patternRow) bool {
	if l.kind != n.kind || l.fn != n.fn || len(l.atoms) != len(n.terms) {
		return false
	}
	var some [8]term
	x := l.head(r)
	x.terms = l.terms(some[:0], r)
	return same(&x, n)
}
