package ir

import (
	"iter"
	"math"
	"slices"
	"sort"
)

// Nodes is a list of nodes by ID. The nodes of a plate's rows are not kept one by one:
// rows that are alike have one pattern, and columns of what differs between them.
//
//	ID   0 … 9   10 … 13   14 … 17   18 … 21   22 …
//	     list    row 0     row 1     row 2     list
//	             └─ pattern: 4 nodes, and columns of 3 rows
//
// So the nodes and their IDs are those of the loop that a plate stands for, whatever
// their form.
type Nodes struct {
	list     []Node    // those that are kept one by one, in the order of their IDs
	segments []segment // from plain on
	patterns []*pattern
	plain    ID // IDs below it are places in list; NoRow if all are
	Size     int

	Row       []Node // the row that is being written
	Start     ID     // its first ID; NoRow if there is none
	hashes    []uint32
	RowBounds []Bounds // of errors in the row
	rowTable  []int32  // of the row by hash: 1 + its number in the row
	Block     *Block   // of which the row that is being written is the first; nil mostly
}

const NoRow = math.MaxInt32

// A segment is rows of one pattern, one after the other, or a part of the list.
type segment struct {
	first   ID
	pattern int32 // number, or −1 for the list
	at      int32 // number of the first row among those of the pattern, or where in the list
}

// A patternRow is one of a pattern.
type patternRow struct {
	First ID
	At    int32 // its number among those of the pattern
}

// A pattern is what rows have in common, and the rest as columns.
type pattern struct {
	like []likeNode
	rows int
}

// A likeNode is one node of each row of a pattern.
type likeNode struct {
	Node         // of the first row; operands and terms are below
	A, b, c link // operands, and the number of a leaf
	atoms   []link
	numbers []numeral // the constant and the coefficients
	errs    []numeral // bounds of their errors; nil if all are 0
	root    bool      // no operand is in the row
}

// A link is an ID in each row: start of the row + id if it is in the row, the same id in
// all rows, or one by row.
type link struct {
	id    ID
	local bool
	col   []ID
}

func (r *link) At(row int32, start ID) ID {
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
func noNodes() Nodes { return Nodes{plain: NoRow, Start: NoRow} }

// Len is the number of nodes.
func (x *Nodes) Len() int { return x.Size + len(x.Row) }

// At is node id. The caller must not change its terms.
func (x *Nodes) At(id ID) Node {
	if id < x.plain {
		return x.list[id]
	}
	return x.inRow(id)
}

func (x *Nodes) inRow(id ID) Node {
	x.look(id)
	v := x.View(id)
	if v.Like == nil {
		return *v.Node
	}
	n := v.Like.head(v.Row)
	if k := len(v.Like.atoms); k > 0 {
		n.Terms = v.Like.terms(make([]Term, 0, k), v.Row)
	}
	return n
}

// look tells the block that the numbers of node id are looked at.
func (x *Nodes) look(id ID) {
	if x.Block != nil {
		x.Block.looks(x.Start, id)
	}
}

// Like is a node of the kind, function and flags of node id. Of one in a row it has
// neither operands nor numbers.
func (x *Nodes) Like(id ID) *Node {
	if id < x.plain {
		return &x.list[id]
	}
	return x.viewInRow(id).Node
}

// Head is node id without its terms.
func (x *Nodes) Head(id ID) Node {
	if id < x.plain {
		return x.list[id]
	}
	return x.headInRow(id)
}

func (x *Nodes) headInRow(id ID) Node {
	x.look(id)
	if v := x.viewInRow(id); v.Like == nil {
		return *v.Node
	} else {
		return v.Like.head(v.Row)
	}
}

// segment is the number of that of id, which is plain or above and not in the row that is
// being written.
func (x *Nodes) segment(id ID) int {
	last := len(x.segments) - 1
	if x.segments[last].first <= id {
		return last
	}
	return sort.Search(last, func(at int) bool { return x.segments[at].first > id }) - 1
}

// A run is a segment with its end.
type run struct {
	segment
	end  ID
	like []likeNode // of a pattern's rows
}

// run is the one of id, for which segment is defined.
func (x *Nodes) run(id ID) run {
	at := x.segment(id)
	r := run{segment: x.segments[at], end: ID(x.Size)}
	if at+1 < len(x.segments) {
		r.end = x.segments[at+1].first
	}
	if r.pattern >= 0 {
		r.like = x.patterns[r.pattern].like
	}
	return r
}

// head is the node in the row r without its terms.
func (l *likeNode) head(r patternRow) Node {
	n := l.Node
	n.V = l.numbers[0].at(r.At)
	n.A, n.B, n.C = l.A.At(r.At, r.First), l.b.At(r.At, r.First), l.c.At(r.At, r.First)
	return n
}

// terms appends those in the row r to list.
func (l *likeNode) terms(list []Term, r patternRow) []Term {
	for k := range l.atoms {
		list = append(list, Term{l.atoms[k].At(r.At, r.First), l.numbers[k+1].at(r.At)})
	}
	return list
}

// SumIn is the constant and the terms of node id. The terms are the node's own, which the
// caller must not change, or in room, if that is large enough.
func (x *Nodes) SumIn(id ID, room []Term) (float64, []Term) {
	if id < x.plain {
		return x.list[id].V, x.list[id].Terms
	}
	v := x.viewInRow(id)
	return v.Sum(room)
}

// boundsIn are those of the errors of a node in the row r.
func (l *likeNode) boundsIn(r patternRow) (b Bounds) {
	if l.errs == nil {
		return b
	}
	b.V = l.errs[0].at(r.At)
	for k := range l.atoms {
		if err := l.errs[k+1].at(r.At); err != 0 {
			if b.Coef == nil {
				b.Coef = make([]float64, len(l.atoms))
			}
			b.Coef[k] = err
		}
	}
	return b
}

// same reports whether the node in the row r is the same as n.
func (l *likeNode) same(n *Node, r patternRow) bool {
	if l.Kind != n.Kind || l.Fn != n.Fn || len(l.atoms) != len(n.Terms) {
		return false
	}
	var some [8]Term
	x := l.head(r)
	x.Terms = l.terms(some[:0], r)
	return Same(&x, n)
}

// Operands calls visit for each operand of id.
func (x *Nodes) Operands(id ID, visit func(ID)) {
	var some [8]ID
	for _, o := range x.AppendOperands(some[:0], id) {
		visit(o)
	}
}

// AppendOperands appends the operands of id to list.
func (x *Nodes) AppendOperands(list []ID, id ID) []ID {
	v := x.View(id)
	return v.Operands(list)
}

// operands appends those in the row r to list.
func (l *likeNode) operands(list []ID, r patternRow) []ID {
	for k := range l.atoms {
		list = append(list, l.atoms[k].At(r.At, r.First))
	}
	for k, o := range [...]*link{&l.A, &l.b, &l.c} {
		if k < l.Arity() {
			list = append(list, o.At(r.At, r.First))
		}
	}
	return list
}

// add adds a node to the list.
func (x *Nodes) add(n Node) ID {
	if len(x.list) == cap(x.list) { // append would copy more often
		x.list = slices.Grow(x.list, len(x.list)+1)
	}
	id := ID(x.Size)
	if last := len(x.segments) - 1; x.plain != NoRow && (last < 0 || x.segments[last].pattern >= 0) {
		x.segments = append(x.segments, segment{id, -1, int32(len(x.list))})
	}
	x.list = append(x.list, n)
	x.Size++
	return id
}

// inList is where in the list node id is; ok is false if it is in a row.
func (x *Nodes) inList(id ID) (at int, ok bool) {
	if id < x.plain {
		return int(id), true
	}
	if id >= x.Start {
		return 0, false
	}
	s := &x.segments[x.segment(id)]
	return int(s.at) + int(id-s.first), s.pattern < 0
}

// Clone is a copy that x does not change.
func (x *Nodes) Clone() Nodes {
	return Nodes{
		list: slices.Clip(x.list), segments: slices.Clip(x.segments), patterns: slices.Clip(x.patterns),
		plain: x.plain, Size: x.Size, Start: NoRow,
	}
}

// PlanesIn lists the planes whose signs id depends on.
func (x *Nodes) PlanesIn(id ID) (planes []int) {
	for id := range x.Under(id) {
		if x.Like(id).Kind == Sign {
			planes = append(planes, int(x.Head(id).A))
		}
	}
	return planes
}

// Under yields id and all that it is made of, each once.
func (x *Nodes) Under(id ID) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		seen := map[ID]bool{}
		goOn := true
		var visit func(ID)
		visit = func(id ID) {
			if goOn && !seen[id] {
				seen[id] = true
				if goOn = yield(id); goOn {
					x.Operands(id, visit)
				}
			}
		}
		visit(id)
	}
}

// DependsOnData reports whether an observation is a part of id.
func (x *Nodes) DependsOnData(id ID) bool {
	for id := range x.Under(id) {
		if x.Like(id).Kind == Data {
			return true
		}
	}
	return false
}

// Needed marks the nodes that roots are made of, roots included.
func Needed(nodes *Nodes, roots []ID) []bool {
	marked := make([]bool, nodes.Len())
	for _, id := range roots {
		marked[id] = true
	}
	for id, is := range slices.Backward(marked) { // users come after their operands
		if is {
			nodes.Operands(ID(id), func(o ID) { marked[o] = true })
		}
	}
	return marked
}
