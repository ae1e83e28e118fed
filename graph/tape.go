package graph

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// A tape is the traced body of a plate: the steps of one row, which are run for each row with
// its data.
//
//	body ── once ─▶ steps ── for each row ─▶ expressions, terms, latents
//
// While the body runs, values that differ by row are places on the tape: leaves of
// a model of their own, the traced one. A function is a step that calls the same
// function with the values in the row, or once if they are the same in all rows. So
// a row is made as a loop makes it.
type tape struct {
	m      *Model
	traced *Model
	steps  []step
	values []Guard // by place, in the current row; of expressions only the value is used
	fixed  []bool  // by place: the same in all rows
	open   *Plate  // the innermost plate whose body runs
	at     *place  // of the step that is run
	inner  *Plate  // the innermost plate of which a row is written out
}

// A step is a part of a row.
type step struct {
	at   *place
	run  func()
	once bool // in the first row only
	done bool
}

func newTape(m *Model) *tape {
	t := &tape{m: m, traced: NewModel()}
	t.traced.tape = t
	return t
}

// plate traces body as n rows inside outer, and returns what writes them out.
func (t *tape) plate(outer *Plate, n int, body func(p *Plate)) func() {
	p := &Plate{t: t, outer: outer, n: n}
	switch {
	case n < 0:
		t.m.fail("a plate of %d rows", n)
		return nil
	case body == nil:
		t.m.fail("a plate without a body")
		return nil
	}
	first := len(t.values)
	t.open, t.m.open = p, p
	steps := t.trace(func() { body(p) })
	t.open, t.m.open = outer, outer
	if outer != nil {
		outer.innerRows += n * max(1, p.innerRows)
	}
	last := len(t.values)
	return func() {
		p.blocks, p.made = nil, 0
		var before sizes
		for p.row = 0; p.row < p.n; {
			t.inner = p
			if rows := t.runBlocks(p); rows > 0 {
				p.row += rows
				continue
			}
			t.runRow(steps, p)
			switch {
			case t.m.err != nil:
				return
			case outer == nil && p.row == 0: // which makes more than others
				before = t.m.sizes()
			case outer == nil && p.row == 1:
				t.m.grow(before, p.n-2)
			}
			p.row++
		}
		t.inner = outer
		for k := first; k < last; k++ {
			if !t.fixed[k] {
				t.values[k] = t.nothing()
			}
		}
	}
}

// runBlocks makes rows of p by a block that has begun, and returns how many. Blocks of many rows come
// first.
func (t *tape) runBlocks(p *Plate) (rows int) {
	for k, c := range p.blocks {
		if rows = c.write(t.m, p); rows == 0 {
			continue
		}
		if c.made += rows; k > 0 && c.made > p.blocks[k-1].made {
			p.blocks[k], p.blocks[k-1] = p.blocks[k-1], c
		}
		return rows
	}
	return 0
}

// Limits of blocks: rows of a small one, and of a large one, for which a plate has at least so many; rows at the beginning that
// begin a block each; and blocks of a plate that have begun.
const (
	fewInBlock  = 16
	manyInBlock = 1024
	leastBlocks = 64
	manyBegin   = 8
	mostBlocks  = 8
)

// runRow makes a row of p, as one of many that are alike if that is worth while. It begins a block in place of one that has ended,
// and if few rows were made so before, or twice as many as the last time.
func (t *tape) runRow(steps []step, p *Plate) {
	if p.n < ir.FewRows || p.innerRows > ir.MostInnerRows || t.m.st.Start != ir.NoRow {
		t.run(steps)
		return
	}
	s := t.m.st
	s.BeginRow()
	var c *block
	if n, room := p.nextBlock(); n > 0 {
		c = &block{Block: s.BeginBlock(n, room), lo: p.row, before: t.m.sizes()}
		t.m.block, t.m.guards.Row = c, &c.compared
	}
	t.run(steps)
	ok := c.follow(t.m, p)
	t.m.block, t.m.guards.Row = nil, nil
	if s.EndRow(&p.patterns, p.n-p.row-1) && ok {
		p.blocks = append(p.blocks[:min(len(p.blocks), mostBlocks-1)], c)
	}
}

// nextBlock is how many rows the block has that begins with the current row, 0 if none does, and the room for it. It is long if
// most rows were made of the block before.
func (p *Plate) nextBlock() (n int, room *ir.Room) {
	n = fewInBlock
	if k := slices.IndexFunc(p.blocks, func(c *block) bool { return c.end() <= p.row }); k >= 0 {
		n, room = max(n, min(16*p.blocks[k].made, max(manyInBlock, p.n/leastBlocks))), p.blocks[k].Room
		p.blocks = slices.Delete(p.blocks, k, k+1)
	} else if p.made++; p.made == 1 || p.made > 1+manyBegin && (p.made-1)&(p.made-2) != 0 {
		return 0, nil
	}
	return min(n, p.n-p.row), room
}

// trace returns the steps of what body does.
func (t *tape) trace(body func()) []step {
	outside := t.steps
	t.steps = nil
	body()
	steps := t.steps
	t.steps = outside
	return steps
}

// block traces body, and returns what does the same in a row; nil for nil.
func (t *tape) block(body func()) func() {
	if body == nil {
		return nil
	}
	steps := t.trace(body)
	return func() { t.run(steps) }
}

// do adds a step.
func (t *tape) do(run func()) { t.steps = append(t.steps, step{at: t.m.here(), run: run}) }

func (t *tape) run(steps []step) {
	for i := range steps {
		if s := &steps[i]; !s.done {
			t.at, s.done = s.at, s.once
			s.run()
		}
	}
}

// writeOut adds the rows to the model.
func (t *tape) writeOut(rows func()) {
	if t.m.err == nil {
		t.m.err = t.traced.err
	}
	if t.m.err != nil {
		return
	}
	for k := range t.values {
		t.values[k] = t.nothing()
	}
	t.m.writing = t
	rows()
	t.m.writing = nil
	t.values = nil
}

// nothing is in a place that has no value.
func (t *tape) nothing() Guard { return Guard{value: t.traced.expr(0)} }

// guard adds a step that makes a guard, and expr one that makes an expression.
func (t *tape) guard(f func() Guard) Guard {
	k := len(t.values)
	t.values, t.fixed = append(t.values, Guard{}), append(t.fixed, false)
	t.do(func() { t.values[k] = f() })
	return Guard{value: t.traced.expr(t.traced.st.Leaf(ir.Point, k))}
}

func (t *tape) expr(f func() Expr) Expr {
	return t.guard(func() Guard { return Guard{value: f()} }).value
}

// condition is guard for an f that is a function of operands and does nothing else,
// and Function is expr for one.
func (t *tape) condition(f func() Guard, operands ...Expr) Guard {
	g := t.guard(f)
	if !slices.ContainsFunc(operands, t.varies) {
		t.steps[len(t.steps)-1].once, t.fixed[len(t.fixed)-1] = true, true
	}
	return g
}

func (t *tape) Function(f func() Expr, operands ...Expr) Expr {
	return t.condition(func() Guard { return Guard{value: f()} }, operands...).value
}

// varies reports whether x differs by row.
func (t *tape) varies(x Expr) bool {
	if modelOf(x) != t.traced {
		return false
	}
	n := t.traced.st.At(lang.ID(x))
	return n.Kind != ir.Point || !t.fixed[n.A]
}

// guardOf is g in the current row, and ValueOf x.
func (t *tape) guardOf(g Guard) Guard {
	if modelOf(g.value) != t.traced {
		t.captures(g.value)
		return g
	}
	n := t.traced.st.At(lang.ID(g.value))
	if n.Kind != ir.Point {
		t.m.fail("a function that is not made for values of a plate is used on one")
		return Guard{}
	}
	in := t.values[n.A]
	if modelOf(in.value) == t.traced {
		t.m.fail("a value of a plate inside this one is used outside its body; Collect gives its rows")
		return Guard{}
	}
	if t.fixed[n.A] {
		t.captures(in.value)
	}
	return in
}

// captures is called where a row uses x, which is the same in all.
func (t *tape) captures(x Expr) {
	if b := t.m.block; b != nil && lang.Of(x) != nil {
		b.captured = append(b.captured, lang.ID(x))
	}
}

func (t *tape) ValueOf(x Expr) Expr { return t.guardOf(Guard{value: x}).value }

func (t *tape) valuesOf(xs []Expr) []Expr {
	now := make([]Expr, len(xs))
	for i, x := range xs {
		now[i] = t.ValueOf(x)
	}
	return now
}

// dist is d in the current row.
func (t *tape) dist(d lang.Dist) lang.Dist {
	if !slices.ContainsFunc(d.Params(), lang.Traced) {
		for _, x := range d.Params() {
			t.captures(x)
		}
		return d
	}
	return lang.New(d.Law(), t.valuesOf(d.Params())...)
}

// traces is the tape that functions of values of m are added to: m's own if m is a
// trace, that of the open plate if there is one, or nil.
func (m *Model) traces() *tape {
	switch {
	case m == nil:
		return nil
	case m.tape != nil:
		return m.tape
	case m.open != nil:
		return m.open.t
	}
	return nil
}

// outsidePlates reports whether no plate's body runs, and fails if one does.
func (m *Model) outsidePlates(method string) bool {
	if m.open != nil {
		instead := "call that of the plate"
		if method == "Compile" {
			instead = "call it after the plate"
		}
		m.fail("%s of the model is called in the body of a plate; %s", method, instead)
		return false
	}
	return true
}
