package graph

import (
	"math"
	"slices"
)

// nodes is a list of nodes by ID. The nodes of a plate's rows are not kept one by one:
// rows that are alike have one pattern, and columns of what differs between them.
//
//	ID   0 … 9   10 … 13   14 … 17   18 … 21   22 …
//	     list    row 0     row 1     row 2     list
//	             └─ pattern: 4 nodes, and columns of 3 rows
//
// So the nodes and their IDs are those of the loop that a plate stands for, whatever
// their form.
type nodes struct {
	list     []node    // those that are kept one by one, in the order of their IDs
	segments []segment // from plain on
	near     []int32   // by (ID − plain)/nearIDs: the segment of the first of these IDs; perhaps short
	patterns []*pattern
	plain    nodeID // IDs below it are places in list; noRow if all are
	size     int

	row       []node // the row that is being written
	start     nodeID // its first ID; noRow if there is none
	hashes    []uint32
	rowBounds []bounds   // of errors in the row
	rowTable  []int32    // of the row by hash: 1 + its number in the row
	rec       *recording // of the row that is being written; nil mostly
}

const (
	noRow   = math.MaxInt32
	nearIDs = 16
)

// A segment is rows of one pattern, one after the other, or a part of the list.
type segment struct {
	first   nodeID
	pattern int32 // number, or −1 for the list
	at      int32 // number of the first row among those of the pattern, or where in the list
}

// A patternRow is one of a pattern.
type patternRow struct {
	first nodeID
	at    int32 // its number among those of the pattern
}

// A pattern is what rows have in common, and the rest as columns.
type pattern struct {
	like []likeNode
	rows int
}

// A likeNode is one node of each row of a pattern.
type likeNode struct {
	node         // of the first row; operands and terms are below
	a, b, c link // operands, and the number of a leaf
	atoms   []link
	numbers []numeral // the constant and the coefficients
	errs    []numeral // bounds of their errors; nil if all are 0
	root    bool      // no operand is in the row
}

// A link is an ID in each row: start of the row + id if it is in the row, the same id in
// all rows, or one by row.
type link struct {
	id    nodeID
	local bool
	col   []nodeID
}

func (r *link) at(row int32, start nodeID) nodeID {
	switch {
	case r.local:
		return start + r.id
	case r.col != nil:
		return r.col[row]
	}
	return r.id
}

// A numeral is a number in each row: v if col is nil.
type numeral struct {
	v   float64
	col []float64
}

func (x *numeral) at(row int32) float64 {
	if x.col != nil {
		return x.col[row]
	}
	return x.v
}

// noNodes is an empty list.
func noNodes() nodes { return nodes{plain: noRow, start: noRow} }

// len is the number of nodes.
func (x *nodes) len() int { return x.size + len(x.row) }

// at is node id. The caller must not change its terms.
func (x *nodes) at(id nodeID) node {
	if id < x.plain {
		return x.list[id]
	}
	return x.inRow(id)
}

func (x *nodes) inRow(id nodeID) node {
	x.look(id)
	l, r := x.likeNode(id)
	if l == nil {
		return *x.like(id)
	}
	n := l.head(r)
	if len(l.atoms) > 0 {
		n.terms = l.terms(make([]term, 0, len(l.atoms)), r)
	}
	return n
}

// look tells the recording that the numbers of node id are looked at.
func (x *nodes) look(id nodeID) {
	if x.rec != nil {
		x.rec.looks(x, id)
	}
}

// like is a node of the kind, function and flags of node id. Of one in a row it has
// neither operands nor numbers.
func (x *nodes) like(id nodeID) *node {
	if id < x.plain {
		return &x.list[id]
	}
	return x.likeInRow(id)
}

func (x *nodes) likeInRow(id nodeID) *node {
	if id >= x.start {
		return &x.row[id-x.start]
	}
	s := &x.segments[x.segment(id)]
	if s.pattern < 0 {
		return &x.list[s.at+int32(id-s.first)]
	}
	l, _ := x.likeNodeIn(s, id)
	return &l.node
}

// head is node id without its terms.
func (x *nodes) head(id nodeID) node {
	if id < x.plain {
		return x.list[id]
	}
	return x.headInRow(id)
}

func (x *nodes) headInRow(id nodeID) node {
	x.look(id)
	if l, r := x.likeNode(id); l != nil {
		return l.head(r)
	}
	return *x.like(id)
}

// segment is the number of that of id, which is plain or above and not in the row that is
// being written.
func (x *nodes) segment(id nodeID) int {
	at := len(x.segments) - 1
	if k := int(id-x.plain) / nearIDs; k < len(x.near) {
		for at = int(x.near[k]); at+1 < len(x.segments) && x.segments[at+1].first <= id; {
			at++
		}
	}
	return at
}

// A run is a segment with its end.
type run struct {
	segment
	end  nodeID
	like []likeNode // of a pattern's rows
}

// run is the one of id, for which segment is defined.
func (x *nodes) run(id nodeID) run {
	at := x.segment(id)
	r := run{segment: x.segments[at], end: nodeID(x.size)}
	if at+1 < len(x.segments) {
		r.end = x.segments[at+1].first
	}
	if r.pattern >= 0 {
		r.like = x.patterns[r.pattern].like
	}
	return r
}

func (x *nodes) addSegment(s segment) {
	for k := nodeID(len(x.near)) * nearIDs; x.plain+k <= s.first; k += nearIDs {
		at := len(x.segments)
		if x.plain+k < s.first {
			at--
		}
		x.near = append(x.near, int32(at))
	}
	x.segments = append(x.segments, s)
}

// head is the node in the row r without its terms.
func (l *likeNode) head(r patternRow) node {
	n := l.node
	n.v = l.numbers[0].at(r.at)
	n.a, n.b, n.c = l.a.at(r.at, r.first), l.b.at(r.at, r.first), l.c.at(r.at, r.first)
	return n
}

// terms appends those in the row r to list.
func (l *likeNode) terms(list []term, r patternRow) []term {
	for k := range l.atoms {
		list = append(list, term{l.atoms[k].at(r.at, r.first), l.numbers[k+1].at(r.at)})
	}
	return list
}

// sumIn is the constant and the terms of node id. The terms are the node's own, which the
// caller must not change, or in room, if that is large enough.
func (x *nodes) sumIn(id nodeID, room []term) (float64, []term) {
	if id < x.plain {
		return x.list[id].v, x.list[id].terms
	}
	if l, r := x.likeNode(id); l != nil {
		return l.numbers[0].at(r.at), l.terms(room[:0], r)
	}
	n := x.like(id)
	return n.v, n.terms
}

// likeNode is that of node id, with its row; nil if it is in none.
func (x *nodes) likeNode(id nodeID) (*likeNode, patternRow) {
	if id < x.plain || id >= x.start {
		return nil, patternRow{}
	}
	return x.likeNodeIn(&x.segments[x.segment(id)], id)
}

func (x *nodes) likeNodeIn(s *segment, id nodeID) (*likeNode, patternRow) {
	if s.pattern < 0 {
		return nil, patternRow{}
	}
	like := x.patterns[s.pattern].like
	n := uint32(len(like))
	k := uint32(id-s.first) / n
	first := s.first + nodeID(k*n)
	return &like[id-first], patternRow{first, s.at + int32(k)}
}

// operands calls visit for each operand of id.
func (x *nodes) operands(id nodeID, visit func(nodeID)) {
	var some [8]nodeID
	for _, o := range x.appendOperands(some[:0], id) {
		visit(o)
	}
}

// appendOperands appends the operands of id to list.
func (x *nodes) appendOperands(list []nodeID, id nodeID) []nodeID {
	if l, in := x.likeNode(id); l != nil {
		return l.operands(list, in)
	}
	return x.like(id).appendOperands(list)
}

// operands appends those in the row r to list.
func (l *likeNode) operands(list []nodeID, r patternRow) []nodeID {
	for k := range l.atoms {
		list = append(list, l.atoms[k].at(r.at, r.first))
	}
	for k, o := range [...]*link{&l.a, &l.b, &l.c} {
		if k < l.arity() {
			list = append(list, o.at(r.at, r.first))
		}
	}
	return list
}

// add adds a node to the list.
func (x *nodes) add(n node) nodeID {
	if len(x.list) == cap(x.list) { // append would copy more often
		x.list = slices.Grow(x.list, len(x.list)+1)
	}
	id := nodeID(x.size)
	if last := len(x.segments) - 1; x.plain != noRow && (last < 0 || x.segments[last].pattern >= 0) {
		x.addSegment(segment{id, -1, int32(len(x.list))})
	}
	x.list = append(x.list, n)
	x.size++
	return id
}

// inList is where in the list node id is; ok is false if it is in a row.
func (x *nodes) inList(id nodeID) (at int, ok bool) {
	if id < x.plain {
		return int(id), true
	}
	if id >= x.start {
		return 0, false
	}
	s := &x.segments[x.segment(id)]
	return int(s.at) + int(id-s.first), s.pattern < 0
}

// clone is a copy that x does not change.
func (x *nodes) clone() nodes {
	return nodes{
		list: slices.Clip(x.list), segments: slices.Clip(x.segments), near: slices.Clip(x.near), patterns: slices.Clip(x.patterns),
		plain: x.plain, size: x.size, start: noRow,
	}
}
