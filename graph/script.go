package graph

import (
	"runtime"
	"slices"
	"sync"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
	"github.com/facetvi/facet/regions"
)

// A script makes rows that are like a recorded one, from their data alone: what a row
// adds to the model, and where in it the numbers and IDs are that differ. The numbers of
// many rows are computed at once, and what is left is done row by row:
//
//	operations ─▶ questions ─▶ columns of a pattern      a block of rows, in parts that
//	          └─▶ hashes of roots                        goroutines share
//	is there such a node? a plane? ─▶ table, terms       row by row
type script struct {
	rowRecording
	block

	row     []ir.Node // as recorded, from start on; of a root with the numbers that it had last
	bounds  []ir.Bounds
	from    [][]int32     // by place in the row: the sources of the constant and the coefficients; −1 without one
	roots   []int         // nodes that other rows may have
	twins   [][2]int      // nodes that differ by their numbers alone
	leaves  [ir.Sum][]int // by kind: of latents, observations and guards, by place in the row
	next    [ir.Sum]int   // by kind: the number of the next leaf
	pattern int32

	latents  []latent
	observed []observation
	terms    []modelTerm
	derived  []deterministic
	named    []namedGuard
	guarded  int                   // the first comparison
	dists    []map[ir.ID]*observed // by observation: what it is by the node in a hole; see observedIn
	fixed    []ir.ID               // the nodes outside that the row knows, ascending
	start    ir.ID                 // of the recorded row
	most     int                   // rows to try at once
	rows     int                   // that it made
	room     []ir.ID               // for operands
}

// A block is the results of a script in rows lo … hi−1 of the plate.
type block struct {
	lo, hi int

	rowsBefore int         // that the script had made then
	v, err     [][]float64 // by operation
	is         []bool      // by row: all questions have the answers that they had
	ids        [][]ir.ID   // by hole
	hashes     [][]uint32  // by root
}

// blockRows is the size of a block.
const blockRows = 1024

// Limits of recording: rows at the beginning that are recorded if no script makes them, and
// scripts of a plate.
const (
	manyRecorded = 8
	mostScripts  = 8
)

// newScript is that of the row which is being written, of which m had so many
// observations, terms and planes before. ok is false if the recording does not tell all
// about it.
func newScript(m *Model, before contents) (c *script, ok bool) {
	s := m.st
	c = &script{rowRecording: *m.rec, start: s.Start, most: 1}
	if c.Spoilt || m.err != nil || len(s.Row) > ir.MostNodes || len(m.obs)-before.obs != len(c.rowRecording.data) {
		return nil, false
	}
	c.observed, c.terms = append(c.observed, m.obs[before.obs:]...), append(c.terms, m.terms[before.terms:]...)
	c.latents, c.derived = append(c.latents, m.latents[before.latents:]...), append(c.derived, m.derived[before.derived:]...)
	c.named, c.guarded = append(c.named, m.named[before.named:]...), before.guards
	c.row, c.bounds, c.from = slices.Clone(s.Row), slices.Clone(s.RowBounds), make([][]int32, len(s.Row))
	c.next = before.leaves()
	for j := range c.row {
		n := &c.row[j]
		from, has := c.Nodes[j]
		switch {
		case n.IsLeaf():
			of := &c.leaves[n.Kind]
			if int(n.A) != c.next[n.Kind]+len(*of) {
				return nil, false
			}
			*of = append(*of, j)
		case n.LastOperand() < s.Start:
			n.Operands(func(o ir.ID) { has = has || c.IsHole(o) })
			if !has { // which later rows would find
				return nil, false
			}
			c.roots = append(c.roots, j)
		}
		c.findTwins(j)
		c.from[j] = from.Operations(len(n.Terms))
	}
	for i := range c.observed {
		c.observed[i].local = c.start
	}
	if c.looksAtData() || slices.ContainsFunc(c.latents, func(l latent) bool { return l.discrete != nil }) {
		return nil, false
	}
	for q, g := range c.compared.Guards {
		if g.Side.Plane != before.planes+q {
			return nil, false
		}
	}
	c.dists = make([]map[ir.ID]*observed, len(c.observed))
	if c.fixed, ok = c.fixedNodes(m); !ok {
		return nil, false
	}
	for _, x := range c.Holes {
		if _, is := c.among(x.ID); is && x.Index < 0 {
			return nil, false
		}
	}
	return c, len(c.leaves[ir.Data]) == len(c.observed) && len(c.leaves[ir.Sign]) == len(c.compared.Guards) &&
		len(c.leaves[ir.Latent]) == len(c.latents) && len(c.names) == len(c.latents)
}

// looksAtData reports whether a parameter of a law, or a deterministic expression, is a number that comes from row data.
func (c *script) looksAtData() bool {
	return slices.ContainsFunc(c.observed, func(o observation) bool { return o.as.HasData() }) ||
		slices.ContainsFunc(c.latents, func(l latent) bool { return l.prior.HasData() }) ||
		slices.ContainsFunc(c.derived, func(x deterministic) bool { return lang.Source(x.x) != nil })
}

// findTwins lists the nodes before node j that would be the same but for numbers that
// differ by row.
func (c *script) findTwins(j int) {
	x := &c.row[j]
	_, differs := c.Nodes[j]
	for i := range c.row[:j] {
		y := &c.row[i]
		if _, too := c.Nodes[i]; !differs && !too || x.Kind != y.Kind || x.Fn != y.Fn || x.A != y.A || x.B != y.B || x.C != y.C {
			continue
		}
		if slices.EqualFunc(x.Terms, y.Terms, func(s, t ir.Term) bool { return s.Atom == t.Atom }) {
			c.twins = append(c.twins, [2]int{i, j})
		}
	}
}

// compute computes the block that begins with the row of p. It is long if most rows of the
// last one were made by the script.
func (c *script) compute(m *Model, p *Plate) {
	if c.is == nil {
		size := min(blockRows, p.n)
		c.v, c.err = ir.Columns[float64](len(c.Operations), size), ir.Columns[float64](len(c.Operations), size)
		c.ids, c.hashes, c.is = ir.Columns[ir.ID](len(c.Holes), size), ir.Columns[uint32](len(c.roots), size), make([]bool, size)
	}
	n := min(blockRows, max(16, 4*(c.rows-c.rowsBefore)), p.n-p.row)
	c.lo, c.hi, c.rowsBefore = p.row, p.row+n, c.rows
	for i := range c.indexings {
		x := &c.indexings[i]
		for r := range n {
			c.take(m, x, x.at[x.p.atRow(p, c.lo+r)])
		}
	}
	parts := min(runtime.GOMAXPROCS(0), 1+n/64)
	var wg sync.WaitGroup
	for k := range parts - 1 {
		wg.Go(func() { c.computeRows(m, p, k*n/parts, (k+1)*n/parts) })
	}
	c.computeRows(m, p, (parts-1)*n/parts, n)
	wg.Wait()
}

// computeRows computes rows first … end−1 of the block.
func (c *script) computeRows(m *Model, p *Plate, first, end int) {
	inputs := c.inputs
	for i := range c.Operations {
		o, v, err := &c.Operations[i], c.v[i], c.err[i]
		if o.Make == nil {
			x := inputs[0]
			inputs = inputs[1:]
			for r := first; r < end; r++ {
				v[r] = x.data[x.of.atRow(p, c.lo+r)]
			}
			continue
		}
		for r := first; r < end; r++ {
			x := o.Make(c.value(o.X, r), c.value(o.Y, r))
			v[r], err[r] = x.V, x.Err
		}
	}
	for r := first; r < end; r++ {
		c.is[r] = true
	}
	c.computeHoles(m, p, first, end)
	for i := range c.Questions {
		q := &c.Questions[i]
		for r := first; r < end; r++ {
			c.is[r] = c.is[r] && q.Ask(c.value(q.Of, r).V) == q.Answer
		}
	}
	for i, from := range c.rowRecording.data {
		for r := first; r < end; r++ {
			c.is[r] = c.is[r] && c.observed[i].as.Check(c.v[from.At][r]) == nil
		}
	}
	for _, x := range c.twins {
		a, b := c.nodeAt(x[0]), c.nodeAt(x[1])
		for r := first; r < end; r++ {
			c.is[r] = c.is[r] && !ir.Same(a(r), b(r))
		}
	}
	for k, j := range c.roots {
		root := c.nodeAt(j)
		for r := first; r < end; r++ {
			c.hashes[k][r] = root(r).Hash()
		}
	}
}

// value is an argument in row r of the block.
func (c *script) value(a ir.Argument, r int) ir.Rounded {
	if a.At >= 0 {
		return ir.Rounded{V: c.v[a.At][r], Err: c.err[a.At][r]}
	}
	return a.Number
}

// nodeAt returns node j in a row of the block; see maker.
func (c *script) nodeAt(j int) func(r int) *ir.Node { return c.maker(c.row[j], c.from[j]) }

// maker returns a node in a row of the block: n with numbers from the given operations, and
// with what is in holes. A call changes what the last one returned.
func (c *script) maker(n ir.Node, from []int32) func(r int) *ir.Node {
	n.Terms = slices.Clone(n.Terms)
	type place struct {
		id   *ir.ID
		rows []ir.ID
	}
	var holes []place
	add := func(id *ir.ID) {
		if at, is := c.HoleOf[*id]; is {
			holes = append(holes, place{id, c.ids[at]})
		}
	}
	out := &n
	for i, id := range []*ir.ID{&n.A, &n.B, &n.C} {
		if i < n.Arity() {
			add(id)
		}
	}
	for i := range n.Terms {
		add(&n.Terms[i].Atom)
	}
	return func(r int) *ir.Node {
		if from[0] >= 0 {
			out.V = c.v[from[0]][r]
		}
		for k := range out.Terms {
			if at := from[k+1]; at >= 0 {
				out.Terms[k].Coef = c.v[at][r]
			}
		}
		for _, x := range holes {
			*x.id = x.rows[r]
		}
		return out
	}
}

func (c *script) InHole(id ir.ID, first, n int) []ir.ID {
	if !c.IsHole(id) {
		return nil
	}
	return c.ids[c.HoleOf[id]][first : first+n]
}

// write makes rows of p from the current one on, and returns how many: not those from the
// first one on that is another one, and not more than come at once.
func (c *script) write(m *Model, p *Plate) (rows int) {
	if p.row < c.lo || p.row >= c.hi {
		c.compute(m, p)
	}
	first := p.row - c.lo
	for rows < c.most && first+rows < c.hi-c.lo && c.is[first+rows] {
		rows++
	}
	if rows == 0 {
		return 0
	}
	wanted := rows
	s, like := m.st, m.st.Patterns[c.pattern]
	before, start := like.Rows, ir.ID(s.Size)
	c.next = m.contents().leaves()
	like.AddRows(c.row, c.bounds, c, first, rows, p.n-p.row-rows)
	for _, hashes := range c.hashes {
		s.Touch(hashes[first : first+rows])
	}
	roots := make([]func(r int) *ir.Node, len(c.roots))
	for k, j := range c.roots {
		roots[k] = c.nodeAt(j)
	}
	for i := range rows {
		if !c.writeRow(m, p, first+i, roots) {
			rows = i
			break
		}
		if i == 0 {
			s.AddRows(c.pattern, start, before)
		}
	}
	like.Rows = before + rows
	if rows < wanted {
		c.most = 1
	} else {
		c.most = min(2*c.most, blockRows)
	}
	return rows
}

// writeRow adds row r of the block to the table and the model. It does nothing and returns
// false if the row is another one.
func (c *script) writeRow(m *Model, p *Plate, r int, roots []func(r int) *ir.Node) bool {
	s := m.st
	start := ir.ID(s.Size)
	names := make([]string, len(c.names))
	for q, name := range c.names {
		names[q] = p.latentName(name, c.lo+r)
		if m.wrongName(aLatent, names[q]) != "" {
			return false
		}
	}
	for k, root := range roots {
		n := root(r)
		if _, known := s.Known(n, s.Slot(n, c.hashes[k][r])); known {
			return false
		}
	}
	guards, next := len(m.guards.Made), m.contents().leaves()
	if !c.addPlanes(m, r) {
		m.guards.Made = m.guards.Made[:guards]
		return false
	}
	s.Own()
	for _, x := range c.compared.Zeros {
		s.Zeros.Add(m.guards.Arr.Len()-len(c.compared.Guards)+x.Guard, c.idIn(x.ID, r, start))
	}
	for _, x := range c.named {
		m.named = append(m.named, namedGuard{x.name, c.movedGuard(x.guard, guards, r, start)})
	}
	for k, root := range roots {
		s.Enter(s.Slot(root(r), c.hashes[k][r]), c.hashes[k][r], start+ir.ID(c.roots[k]))
	}
	s.Size += len(c.row)
	for k, of := range c.leaves {
		for q, j := range of {
			s.SetLeaf(ir.Kind(k), next[k]+q, start+ir.ID(j))
		}
	}
	for q := range c.observed {
		o := &c.observed[q]
		m.obs = append(m.obs, observation{observed: c.observedIn(q, guards, r, start), shift: start - o.local, value: c.v[c.rowRecording.data[q].At][r]})
	}
	c.addContents(m, r, guards, start, names)
	return true
}

// addContents adds the terms, the latents with the given names, and what else is asked of row r of the block.
func (c *script) addContents(m *Model, r, guards int, start ir.ID, names []string) {
	for _, f := range c.firsts {
		for i, x := range f.params {
			f.params[i] = c.moved(x, r, start)
		}
		m.firsts[f.sharing] = c.moved(f.x, r, start)
	}
	prior := 0
	for _, t := range c.terms {
		if t.id = c.idIn(t.id, r, start); t.prior {
			t.what = priorOf(names[prior])
			prior++
		}
		m.terms = append(m.terms, t)
	}
	for q, l := range c.latents {
		l.name, l.value, l.prior = names[q], c.idIn(l.value, r, start), l.prior.With(c.movedAll(l.prior.Params(), r, start))
		m.names[l.name] = aLatent
		m.latents = append(m.latents, l)
	}
	for _, x := range c.collected {
		*x.dst = append(*x.dst, c.moved(x.x, r, start))
	}
	for _, x := range c.derived {
		x.x, x.u, x.where = c.moved(x.x, r, start), c.moved(x.u, r, start), c.movedGuard(x.where, guards, r, start)
		m.derive(x)
	}
}

// movedGuard is moved of a guard, where the row's comparisons have numbers from guards on.
func (c *script) movedGuard(g Guard, guards, r int, start ir.ID) Guard {
	switch shift := guards - c.guarded; {
	case g.made > c.guarded:
		g.made += shift
	case -g.made > c.guarded:
		g.made -= shift
	}
	g.value = c.moved(g.value, r, start)
	return g
}

// idIn is what node id of the recorded row is in row r of the block, which begins at start.
func (c *script) idIn(id ir.ID, r int, start ir.ID) ir.ID {
	if id >= c.start {
		return id + start - c.start
	}
	if at, is := c.HoleOf[id]; is {
		return c.ids[at][r]
	}
	return id
}

func (c *script) moved(x Expr, r int, start ir.ID) Expr {
	if lang.Of(x) == nil {
		return x
	}
	return lang.Node(lang.Of(x), c.idIn(lang.ID(x), r, start))
}

// movedAll is moved of a list: a copy, unless all of it is the same in all rows.
func (c *script) movedAll(list []Expr, r int, start ir.ID) []Expr {
	if !slices.ContainsFunc(list, func(x Expr) bool { return lang.Of(x) != nil && (lang.ID(x) >= c.start || c.IsHole(lang.ID(x))) }) {
		return list
	}
	list = slices.Clone(list)
	for i, x := range list {
		list[i] = c.moved(x, r, start)
	}
	return list
}

// observedIn is what observation q has in common with others in row r of the block: with all
// if no parameter is in a hole, or else with those of the same one.
func (c *script) observedIn(q, guards, r int, start ir.ID) *observed {
	o := c.observed[q].observed
	branch := lang.Of(o.where.value) != nil && (lang.ID(o.where.value) >= c.start || c.IsHole(lang.ID(o.where.value)))
	holes, local := 0, branch
	var in ir.ID
	for _, x := range o.as.Params() {
		if lang.Of(x) == nil {
			continue
		}
		local = local || lang.ID(x) >= c.start
		if at, is := c.HoleOf[lang.ID(x)]; is {
			holes, in = holes+1, c.ids[at][r]
		}
	}
	if holes == 0 && !branch {
		return o
	}
	shared := holes == 1 && !local
	if shared && c.dists[q][in] != nil {
		return c.dists[q][in]
	}
	own := *o
	own.local, own.as, own.where = ir.NoRow, o.as.With(c.movedAll(o.as.Params(), r, start)), c.movedGuard(o.where, guards, r, start)
	if shared {
		if c.dists[q] == nil {
			c.dists[q] = map[ir.ID]*observed{}
		}
		c.dists[q][in] = &own
	}
	return &own
}

// addPlanes adds those of the row's comparisons, and these. It returns false if one is not a
// plane of its own, or the other side of it.
func (c *script) addPlanes(m *Model, row int) bool {
	for q := range c.compared.Guards {
		g := &c.compared.Guards[q]
		constant := c.value(g.Constant, row)
		h := regions.Hyperplane{Index: g.Plane().Index, Coef: make([]float64, len(g.Coef)), Const: constant.V}
		if slices.ContainsFunc(g.Latents, func(id ir.ID) bool { return id >= c.start || c.IsHole(id) }) {
			h.Index = slices.Clone(h.Index)
		}
		r := regions.Rounding{Coef: make([]float64, len(g.Coef)), Const: constant.Err}
		for k := range g.Coef {
			x := c.value(g.Coef[k], row)
			h.Coef[k], r.Coef[k] = x.V, x.Err
			if in := c.InHole(g.Latents[k], row, 1); in != nil {
				h.Index[k] = int(m.st.At(in[0]).A)
			} else if j := int(g.Latents[k] - c.start); j >= 0 {
				h.Index[k] = len(m.latents) + slices.Index(c.leaves[ir.Latent], j)
			}
		}
		if !m.guards.AddPlane(g, h, r) {
			return false
		}
	}
	return true
}

func (c *script) Operands(j, k, first, n int) []ir.ID {
	x := &c.row[j]
	switch {
	case k == 0 && x.IsLeaf():
		of := c.leaves[x.Kind]
		c.room = c.room[:0]
		for r := range n {
			c.room = append(c.room, ir.ID(c.next[x.Kind]+r*len(of)+slices.Index(of, j)))
		}
		return c.room
	case k < x.Arity():
		return c.InHole([...]ir.ID{x.A, x.B, x.C}[k], first, n)
	}
	return nil
}

func (c *script) Numbers(j, k, first, n int) (v, err []float64) {
	if c.from[j][k] < 0 {
		return nil, nil
	}
	at := c.from[j][k]
	return c.v[at][first : first+n], c.err[at][first : first+n]
}
