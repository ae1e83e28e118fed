package ir

import "slices"

// A Block is rows of a plate that are made at once, while the first of them is made as any other. A number that differs by row has a column,
// and so has what is computed from it. What is asked of it is asked in all rows: those with another answer than the first are not alike,
// and others make the same nodes, with the numbers of their columns:
//
//	x ─▶ written ─▶ times −1 ─▶ coefficient of slope in y − level − slope·x
//	└──▶ is it finite?         └──▶ is it 0?
//
// Whatever looks at such a number in another way spoils the block, and so does what does more than make values, latents, observations, terms and
// deterministic expressions of the data, of what is the same in all rows and of what Index gives.
type Block struct {
	Alike  []bool // by row
	Spoilt bool   // no other row is made as the first one
	Holes  []Hole
	HoleOf map[ID]int // number of the first with a node
	Room   *Room

	Start   ID              // the first node of the first row
	pattern int32           // of the rows
	numbers map[int]Numbers // by place in the row
	node    *Numbers        // of the node that is being made

	st     *Store
	nodes  []Node // as in the first row; of a root with the numbers that it had last
	bounds []Bounds
	roots  []root     // nodes that other rows may have
	leaves [Sum][]int // by kind: places in the row
	next   Leaves     // the number of the next leaf
}

// A Column is a number in each row of a block, with the bound of its error.
type Column struct {
	block  *Block
	V, Err []float64
}

// Numbers are the columns of a node's constant and coefficients, nil where all rows have the same.
type Numbers struct {
	v    *Column
	coef []*Column // nil without any
}

// BeginBlock has the row that is being made be the first of a block of n, with the room of one that is done.
func (s *Store) BeginBlock(n int, room *Room) *Block {
	if room == nil {
		room = &Room{}
	}
	room.Floats.used, room.IDs.used, room.Hashes.used = 0, 0, 0
	s.Block = &Block{Alike: slices.Repeat([]bool{true}, n), HoleOf: map[ID]int{}, Room: room, numbers: map[int]Numbers{}, st: s}
	return s.Block
}

// A Room has the columns that are made for a block.
type Room struct {
	Floats pool[float64]
	IDs    pool[ID]
	Hashes pool[uint32]
	zeros  []float64
	leaves []ID // numbers of leaves
}

type pool[T any] struct {
	all  [][]T
	used int
}

// Column is one of n rows, with any values.
func (p *pool[T]) Column(n int) []T {
	if p.used == len(p.all) {
		p.all = append(p.all, nil)
	}
	c := &p.all[p.used]
	p.used++
	if cap(*c) < n {
		*c = make([]T, n)
	}
	return (*c)[:n]
}

// Keep has the rows alike for which the predicate holds, too.
func (b *Block) Keep(holds func(r int) bool) {
	for r, is := range b.Alike {
		b.Alike[r] = is && holds(r)
	}
}

// Input is a column of the data; nil if the block, which may be, is nil or spoilt.
func (b *Block) Input(v []float64) *Column {
	if b == nil || b.Spoilt {
		return nil
	}
	if len(b.Room.zeros) < len(v) {
		b.Room.zeros = make([]float64, len(v))
	}
	return &Column{b, v, b.Room.zeros[:len(v)]}
}

// column is that of a function of x and y; nil if neither has one.
func column(f func(x, y Rounded) Rounded, x, y Rounded) *Column {
	from := x.From
	if from == nil {
		from = y.From
	}
	if from == nil || from.block.Spoilt {
		return nil
	}
	floats, n := &from.block.Room.Floats, len(from.V)
	out := &Column{from.block, floats.Column(n), floats.Column(n)}
	for r := range n {
		z := f(x.In(r), y.In(r))
		out.V[r], out.Err[r] = z.V, z.Err
	}
	return out
}

// In is x in row r of its block.
func (x Rounded) In(r int) Rounded {
	if x.From != nil {
		return Rounded{V: x.From.V[r], Err: x.From.Err[r]}
	}
	return x
}

// Is evaluates the predicate at x; of row data it keeps the rows with that answer.
func (x Rounded) Is(ask func(v float64) bool) bool {
	answer := ask(x.V)
	if x.From != nil {
		x.From.block.Keep(func(r int) bool { return ask(x.From.V[r]) == answer })
	}
	return answer
}

// Raw is the number itself, for what has no columns.
func (x Rounded) Raw() float64 {
	if x.From != nil {
		x.From.block.Spoil()
	}
	return x.V
}

// Spoil gives a block up; b may be nil.
func (b *Block) Spoil() {
	if b != nil {
		b.Spoilt = true
	}
}

// looks is called where node id is looked at, with its numbers. The row starts at start.
func (b *Block) looks(start, id ID) {
	if b.numbersOf(start, id).any() {
		b.Spoilt = true
	}
}

func (x Numbers) any() bool { return x.v != nil || x.coef != nil }

// Of is the column of the constant for k = 0, or that of coefficient k − 1.
func (x Numbers) Of(k int) *Column {
	switch {
	case k == 0:
		return x.v
	case x.coef == nil:
		return nil
	}
	return x.coef[k-1]
}

// finds is called where a node that is made turns out to be node j of the row. That has
// to be so in all rows.
func (b *Block) finds(j int) {
	if from, has := b.numbers[j]; b.node != nil {
		b.numbers[j] = b.joined(from, *b.node)
	} else if has {
		b.Spoilt = true
	}
}

// joined are the numbers of a node that is made twice. The bounds of their errors are the larger ones.
func (b *Block) joined(x, y Numbers) Numbers {
	b.Spoilt = b.Spoilt || len(x.coef) != len(y.coef)
	if b.Spoilt {
		return x
	}
	out := Numbers{b.same(x.v, y.v), slices.Clone(x.coef)}
	for k := range out.coef {
		out.coef[k] = b.same(x.coef[k], y.coef[k])
	}
	return out
}

// same keeps the rows in which x and y are the same number.
func (b *Block) same(x, y *Column) *Column {
	if x == y {
		return x
	}
	if x == nil || y == nil {
		b.Spoilt = true
		return x
	}
	b.Keep(func(r int) bool { return x.V[r] == y.V[r] })
	out := &Column{b, x.V, b.Room.Floats.Column(len(x.V))}
	for r := range out.Err {
		out.Err[r] = max(x.Err[r], y.Err[r])
	}
	return out
}

// A Hole of a block is a node outside the row that may be another one in other rows:
//
//	effects[group] ─▶ what Index gives, and what that is made of
//	slope·x        ─▶ what is there already, for a number or for what is in a hole
//
// Rows are alike whose nodes in holes are alike, and in the same order among each other and
// among all other nodes that the row knows.
type Hole struct {
	ID    ID      // in the first row
	In    []ID    // by row, where rows are alike
	Index int     // number of the Index call, −1 for what was found
	Found Node    // what was looked for, with the IDs of the first row
	From  Numbers // its numbers
}

func (b *Block) AddHole(x Hole) {
	if _, known := b.HoleOf[x.ID]; !known {
		b.HoleOf[x.ID] = len(b.Holes)
	}
	b.Holes = append(b.Holes, x)
}

// IsHole reports whether id is in a hole.
func (b *Block) IsHole(id ID) bool {
	_, is := b.HoleOf[id]
	return is
}

// findsOutside is called where node n of the row turns out to be a node outside it, which may be plain: before all rows.
func (b *Block) findsOutside(n *Node, id ID, plain bool) {
	depends := b.node != nil
	n.Operands(func(o ID) { depends = depends || b.IsHole(o) })
	if !depends {
		return
	}
	x := Hole{ID: id, Index: -1, Found: *n}
	if b.node != nil {
		x.From = *b.node
		b.Spoilt = b.Spoilt || plain
	}
	if at, known := b.HoleOf[id]; known {
		y := &b.Holes[at]
		b.Spoilt = b.Spoilt || y.Index >= 0 || !Same(&y.Found, n)
		y.From = b.joined(y.From, x.From)
		return
	}
	x.In = b.Room.IDs.Column(len(b.Alike))
	b.AddHole(x)
}

// numbersOf are those of node id. The row starts at start.
func (b *Block) numbersOf(start, id ID) Numbers {
	if id >= start {
		return b.numbers[int(id-start)]
	}
	if at, is := b.HoleOf[id]; is {
		return b.Holes[at].From
	}
	return Numbers{}
}
