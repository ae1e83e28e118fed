package ir

import (
	"math"
	"slices"
)

// Limits of what is kept as rows that are alike.
const (
	FewRows       = 3    // so few are no columns
	MostInnerRows = 64   // rows of plates inside a row
	MostNodes     = 4096 // of a row that is one of a pattern
	mostPatterns  = 32   // of a plate
)

// BeginRow begins a row: nodes that are made belong to it until EndRow.
func (s *Store) BeginRow() {
	s.Own()
	s.Start = ID(s.Size)
	s.plain = min(s.plain, s.Start)
}

// internInRow is intern in a row.
func (s *Store) internInRow(n Node, hash uint32) ID {
	mask := len(s.rowTable) - 1
	for i := int(hash); mask > 0 && s.rowTable[i&mask] > 0; i++ {
		if j := s.rowTable[i&mask] - 1; s.hashes[j] == hash && Same(&s.Row[j], &n) {
			if s.Block != nil {
				s.Block.finds(int(j))
			}
			return s.Start + ID(j)
		}
	}
	if n.LastOperand() < s.Start {
		if id, ok := s.Known(&n, s.Slot(&n, hash)); ok {
			if s.Block != nil {
				s.Block.findsOutside(&n, id, id < s.plain)
			}
			return id
		}
	}
	return s.addToRow(n, hash)
}

// addToRow adds a node that there is not yet.
func (s *Store) addToRow(n Node, hash uint32) ID {
	s.Row, s.hashes, s.RowBounds = append(s.Row, n), append(s.hashes, hash), append(s.RowBounds, Bounds{})
	if 2*len(s.Row) > len(s.rowTable) {
		s.rowTable = make([]int32, max(16, 2*len(s.rowTable)))
		for j := range s.Row {
			s.enterInRow(j)
		}
	} else {
		s.enterInRow(len(s.Row) - 1)
	}
	return s.Start + ID(len(s.Row)) - 1
}

func (s *Store) enterInRow(j int) {
	if s.Row[j].IsLeaf() {
		return
	}
	mask := len(s.rowTable) - 1
	i := int(s.hashes[j]) & mask
	for s.rowTable[i] > 0 {
		i = (i + 1) & mask
	}
	s.rowTable[i] = int32(j) + 1
}

// EndRow ends a row, of which at most left more will come. If it is like others, those
// with one of the given patterns, it becomes a row of their columns; else it makes a
// pattern, the first of them then, if there are not too many.
func (s *Store) EndRow(patterns *[]int32, left int) (ok bool) {
	if len(s.Row) == 0 || len(s.Row) > MostNodes {
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
func (s *Store) commit(k int32, left int) {
	if s.Block != nil {
		s.Block.pattern = k
	}
	p := s.patterns[k]
	p.addColumns(s.Row, s.RowBounds, nil, 0, 1, left)
	s.addRow(k, s.Start)
	for j := range p.like {
		if n := &s.Row[j]; p.like[j].root && !n.IsLeaf() {
			s.Enter(s.Slot(n, s.hashes[j]), s.hashes[j], s.Start+ID(j))
		}
	}
	s.Size += len(s.Row)
	s.clearRow()
}

// addRow adds the next row of pattern k, with the nodes from first on, to the last segment, or as one of its own.
func (s *Store) addRow(k int32, first ID) {
	if last := len(s.segments) - 1; last < 0 || s.segments[last].pattern != k {
		s.segments = append(s.segments, segment{first, k, int32(s.patterns[k].rows)})
	}
	s.patterns[k].rows++
}

// keepRow moves the row to the list.
func (s *Store) keepRow() {
	row, hashes, errs, start := s.Row, s.hashes, s.RowBounds, s.Start
	s.Row, s.Start = nil, NoRow
	for j, n := range row {
		id := s.add(n)
		if !n.IsLeaf() {
			s.Enter(s.Slot(&n, hashes[j]), hashes[j], id)
		}
		if b := errs[j]; !b.exact() {
			s.setBounds(start+ID(j), b)
		}
	}
	s.Row = row
	s.clearRow()
}

func (s *Store) clearRow() {
	s.Row, s.hashes, s.RowBounds, s.Start = s.Row[:0], s.hashes[:0], s.RowBounds[:0], NoRow
	s.Block = nil
	if clear(s.rowTable); len(s.rowTable) > 4*MostNodes {
		s.rowTable = nil
	}
}

// newPattern is that of the row which is being written, without rows.
func newPattern(s *Store) *pattern {
	p := &pattern{like: make([]likeNode, len(s.Row))}
	for j := range s.Row {
		n, l := &s.Row[j], &p.like[j]
		l.Node = *n
		l.Node.Terms = nil
		l.root = n.LastOperand() < s.Start
		l.A, l.b, l.c = link{id: n.A}, link{id: n.B}, link{id: n.C}
		for k, r := range []*link{&l.A, &l.b, &l.c} {
			if k < n.Arity() {
				*r = newLink(r.id, s.Start)
			}
		}
		l.numbers = append(l.numbers, numeral{v: n.V})
		for _, t := range n.Terms {
			l.atoms, l.numbers = append(l.atoms, newLink(t.Atom, s.Start)), append(l.numbers, numeral{v: t.Coef})
		}
	}
	return p
}

func newLink(id, start ID) link {
	if id >= start {
		return link{id: id - start, local: true}
	}
	return link{id: id}
}

// matches reports whether the row that is being written has the pattern.
func (p *pattern) matches(s *Store) bool {
	if len(s.Row) != len(p.like) {
		return false
	}
	for j := range s.Row {
		n, l := &s.Row[j], &p.like[j]
		if n.Kind != l.Kind || n.Fn != l.Fn || n.Affine != l.Affine || n.Steps != l.Steps || len(n.Terms) != len(l.atoms) {
			return false
		}
		switch k := n.Arity(); {
		case k > 0 && !l.A.admits(n.A, s.Start), k > 1 && !l.b.admits(n.B, s.Start), k > 2 && !l.c.admits(n.C, s.Start):
			return false
		}
		for i := range n.Terms {
			if !l.atoms[i].admits(n.Terms[i].Atom, s.Start) {
				return false
			}
		}
	}
	return true
}

func (r *link) admits(id, start ID) bool {
	if id >= start {
		return r.local && r.id == id-start
	}
	return !r.local
}

// addColumns adds those of n rows like row, with errors like errs, which addRow may then add. What differs in them is that of block c, which may be
// nil, from its row first on. At most left more will come.
func (p *pattern) addColumns(row []Node, errs []Bounds, c *Block, first, n, left int) {
	for j := range row {
		x, l, b := &row[j], &p.like[j], &errs[j]
		for k, o := range [...]ID{x.A, x.B, x.C} {
			[...]*link{&l.A, &l.b, &l.c}[k].addRows(c.operandsOf(j, k, first, n), o, p.rows, n, left)
		}
		v, e := c.numbersAt(j, 0, first, n)
		l.numbers[0].addRows(v, x.V, p.rows, n, left)
		l.addErrors(0, e, b.V, p.rows, n, left)
		for k, t := range x.Terms {
			l.atoms[k].addRows(c.inHole(t.Atom, first, n), t.Atom, p.rows, n, left)
			v, e := c.numbersAt(j, k+1, first, n)
			l.numbers[k+1].addRows(v, t.Coef, p.rows, n, left)
			l.addErrors(k+1, e, b.Of(k+1), p.rows, n, left)
		}
	}
}

// addErrors adds n rows with the given errors of number k, or with err in all if these are nil.
func (l *likeNode) addErrors(k int, errs []float64, err float64, rows, n, left int) {
	if l.errs == nil && err == 0 && !slices.ContainsFunc(errs, IsNonzero) {
		return
	}
	if l.errs == nil {
		l.errs = make([]numeral, len(l.numbers))
	}
	l.errs[k].addRows(errs, err, rows, n, left)
}

// addRows adds n rows with the given IDs, or with id in all if these are nil.
func (r *link) addRows(ids []ID, id ID, rows, n, left int) {
	if !r.local {
		r.col = added(r.col, &r.id, id, ids, rows, n, left, func(a, b ID) bool { return a == b })
	}
}

// addRows adds n rows with the given values, or with v in all if these are nil.
func (x *numeral) addRows(values []float64, v float64, rows, n, left int) {
	x.col = added(x.col, &x.v, v, values, rows, n, left, SameBits)
}

func SameBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

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

// sameInRow is the node in the row of id, if id is in one, that is the same as n.
func (s *Store) sameInRow(n *Node, id ID) (ID, bool) {
	v := s.View(id)
	if v.Like == nil {
		return 0, false
	}
	like := s.run(id).like
	for j := range like {
		if like[j].same(n, v.Row) {
			return v.Row.First + ID(j), true
		}
	}
	return 0, false
}

// Columns are n columns of a block.
func Columns[T any](n, rows int) [][]T {
	all := make([][]T, n)
	for i := range all {
		all[i] = make([]T, rows)
	}
	return all
}
