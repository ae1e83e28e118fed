package ir

import "slices"

// A Recording is of how the numbers of one row of a plate come from its data, while that
// row is made as any other. Numbers that differ by row have a source, and so has what is
// computed from them; what is asked of them is kept as a question. A row in which all
// questions have the same answers has the same nodes, and its numbers are those of the
// recorded operations:
//
//	x ─▶ written ─▶ times −1 ─▶ coefficient of slope in y − level − slope·x
//	└──▶ is it finite?         └──▶ is it 0?
//
// Whatever looks at such a number in another way spoils the recording, and so does what does more than make values, latents, observations, terms and
// deterministic expressions of the data, of what is the same in all rows and of what Index gives.
type Recording struct {
	arithmetic
	Nodes  map[int]sources // by place in the row
	node   *sources        // of the node that is being made
	Holes  []Hole
	HoleOf map[ID]int // number of the first with a node
}

// sources are those of a node's constant and coefficients.
type sources struct {
	v    *Source
	coef []*Source // nil without any
}

func NewRecording() *Recording {
	return &Recording{arithmetic: arithmetic{known: map[operationKey]*Source{}}, Nodes: map[int]sources{}, HoleOf: map[ID]int{}}
}

// Spoil gives a recording up; r may be nil.
func (r *Recording) Spoil() {
	if r != nil {
		r.Spoilt = true
	}
}

// looks is called where node id is looked at, with its numbers. The row starts at start.
func (r *Recording) looks(start, id ID) {
	if id < start {
		if at, is := r.HoleOf[id]; is && r.Holes[at].From.any() {
			r.Spoilt = true
		}
	} else if r.Nodes[int(id-start)].any() {
		r.Spoilt = true
	}
}

func (x sources) any() bool { return x.v != nil || x.coef != nil }

// finds is called where a node that is made turns out to be node j of the row. That has
// to be so in all rows.
func (r *Recording) finds(j int) {
	from, has := r.Nodes[j]
	if !has && r.node == nil {
		return
	}
	if !has || r.node == nil || !r.isTimesOne(r.node.v, from.v) || !slices.EqualFunc(r.node.coef, from.coef, r.isTimesOne) {
		r.Spoilt = true
		return
	}
	r.Nodes[j] = *r.node
}

// isTimesOne reports whether x is y, or 1·y: the same number, with an error that may be
// larger, as that of its node is then.
func (r *Recording) isTimesOne(x, y *Source) bool {
	return x == y || x != nil && y != nil && r.known[operationKey{timesOperation, NewArgument(Rounded{V: 1}), Argument{At: y.At}}] == x
}

// A Hole of a recording is a node outside the row that may be another one in other rows:
//
//	effects[group] ─▶ what Index gives, and what that is made of
//	slope·x        ─▶ what is there already, for a number or for what is in a hole
//
// Rows are alike whose nodes in holes are alike, and in the same order among each other and
// among all other nodes that the row knows.
type Hole struct {
	ID    ID   // in the recorded row
	Index int  // number of the Index call, −1 for what was found
	Place int  // in the list of what that gives
	Found Node // what was looked for, with the recorded IDs
	From  sources
}

func (r *Recording) AddHole(s Hole) {
	if _, known := r.HoleOf[s.ID]; !known {
		r.HoleOf[s.ID] = len(r.Holes)
	}
	r.Holes = append(r.Holes, s)
}

// IsHole reports whether id is in a hole.
func (r *Recording) IsHole(id ID) bool {
	_, is := r.HoleOf[id]
	return is
}

// findsOutside is called where node n of the row turns out to be a node outside it, which may be plain: before all rows.
func (r *Recording) findsOutside(n *Node, id ID, plain bool) {
	depends := r.node != nil
	n.Operands(func(o ID) { depends = depends || r.IsHole(o) })
	if !depends {
		return
	}
	x := Hole{ID: id, Index: -1, Found: *n}
	if r.node != nil {
		x.From = *r.node
		r.Spoilt = r.Spoilt || plain
	}
	if at, known := r.HoleOf[id]; known {
		y := &r.Holes[at]
		r.Spoilt = r.Spoilt || y.Index >= 0 || !Same(&y.Found, n) || y.From.v != x.From.v || !slices.Equal(y.From.coef, x.From.coef)
		return
	}
	r.AddHole(x)
}

// sourcesOf are the sources of the numbers of node id. The row starts at start.
func (r *Recording) sourcesOf(start, id ID) sources {
	if id >= start {
		return r.Nodes[int(id-start)]
	}
	if at, is := r.HoleOf[id]; is {
		return r.Holes[at].From
	}
	return sources{}
}

// Operations are the numbers of the operations that make the constant and n coefficients; −1
// for a number.
func (x sources) Operations(n int) []int32 {
	from := slices.Repeat([]int32{-1}, 1+n)
	for k, x := range x.coef {
		if x != nil {
			from[k+1] = x.At
		}
	}
	if x.v != nil {
		from[0] = x.v.At
	}
	return from
}
