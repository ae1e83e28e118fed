package graph

import (
	"cmp"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
	"github.com/facetvi/facet/internal/rows"
	"github.com/facetvi/facet/regions"
)

// A script makes rows that are like a recorded one, from their data alone: nodes (package rows), and what else the row adds to the model. The
// numbers of many rows are computed at once, and what is left is done row by row.
type script struct {
	*rows.Script
	recorded rowRecording
	adds     additions
	dists    []map[ir.ID]*observed // by observation: what it is by the node in a hole; see observedIn
	pattern  int32
	lo, hi   int // the rows of the block

	most       int // rows to try at once
	rows       int // that it made
	rowsBefore int // that it had made when it computed the block
}

// additions are what the recorded row adds to the model, but for its comparisons.
type additions struct {
	latents  []latent
	observed []observation
	terms    []modelTerm
	derived  []deterministic
	named    []namedGuard
	guarded  int // the first comparison
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
func newScript(m *Model, before sizes) (c *script, ok bool) {
	c = &script{recorded: *m.rec, most: 1, adds: additions{
		latents: slices.Clone(m.latents[before.latents:]), observed: slices.Clone(m.obs[before.obs:]), terms: slices.Clone(m.terms[before.terms:]),
		derived: slices.Clone(m.derived[before.derived:]), named: slices.Clone(m.named[before.named:]), guarded: before.guards,
	}}
	if m.err != nil || len(c.adds.observed) != len(c.recorded.data) || c.adds.looksAtData() {
		return nil, false
	}
	if slices.ContainsFunc(c.adds.latents, func(l latent) bool { return l.discrete != nil }) {
		return nil, false
	}
	for q, g := range c.recorded.compared.Guards {
		if g.Side.Plane != before.planes+q {
			return nil, false
		}
	}
	if c.Script, ok = rows.New(m.st, m.rec.Recording, before.leaves(), m.rec.captured, m.guards.Arr.Latents); !ok {
		return nil, false
	}
	for i := range c.adds.observed {
		c.adds.observed[i].local = c.Start
	}
	c.dists = make([]map[ir.ID]*observed, len(c.adds.observed))
	return c, c.Leaves(ir.Data) == len(c.adds.observed) && c.Leaves(ir.Sign) == len(c.recorded.compared.Guards) &&
		c.Leaves(ir.Latent) == len(c.adds.latents) && len(c.recorded.names) == len(c.adds.latents)
}

// looksAtData reports whether a parameter of a law, or a deterministic expression, is a number that comes from row data.
func (a *additions) looksAtData() bool {
	return slices.ContainsFunc(a.observed, func(o observation) bool { return o.as.HasData() }) ||
		slices.ContainsFunc(a.latents, func(l latent) bool { return l.prior.HasData() }) ||
		slices.ContainsFunc(a.derived, func(x deterministic) bool { return lang.Source(x.x) != nil })
}

// compute computes the block that begins with the row of p. It is long if most rows of the
// last one were made by the script.
func (c *script) compute(m *Model, p *Plate) {
	n := min(blockRows, max(16, 4*(c.rows-c.rowsBefore)), p.n-p.row)
	c.lo, c.hi, c.rowsBefore = p.row, p.row+n, c.rows
	for i := range c.recorded.indexings {
		x := &c.recorded.indexings[i]
		for r := range n {
			c.take(m, x, x.at[x.p.atRow(p, c.lo+r)])
		}
	}
	c.Compute(rowData{c, p}, c.recorded.data, n, min(blockRows, p.n))
}

// rowData are the data of rows of a plate as package rows sees them.
type rowData struct {
	c *script
	p *Plate
}

func (d rowData) Input(k int, dst []float64, first int) {
	x := d.c.recorded.inputs[k]
	for i := range dst {
		dst[i] = x.data[x.of.atRow(d.p, d.c.lo+first+i)]
	}
}

func (d rowData) Indexed(k, r int) []ir.ID {
	x := &d.c.recorded.indexings[k]
	return x.alike[x.at[x.p.atRow(d.p, d.c.lo+r)]]
}

func (d rowData) Admits(k int, x float64) bool { return d.c.adds.observed[k].as.Check(x) == nil }

// write makes rows of p from the current one on, and returns how many: not those from the
// first one on that is another one, and not more than come at once.
func (c *script) write(m *Model, p *Plate) (made int) {
	if p.row < c.lo || p.row >= c.hi {
		c.compute(m, p)
	}
	first := p.row - c.lo
	wanted := c.Ready(first, c.most)
	if wanted == 0 {
		return 0
	}
	w := c.Begin(c.pattern, m.sizes().leaves(), first, wanted, p.n-p.row-wanted)
	for made < wanted && c.writeRow(m, p, first+made, w) {
		made++
	}
	w.End(made)
	if made < wanted {
		c.most = 1
	} else {
		c.most = min(2*c.most, blockRows)
	}
	return made
}

// writeRow adds row r of the block to the table and the model. It does nothing and returns
// false if the row is another one.
func (c *script) writeRow(m *Model, p *Plate, r int, w *rows.Writing) bool {
	s := m.st
	start := ir.ID(s.Size)
	names := make([]string, len(c.recorded.names))
	for q, name := range c.recorded.names {
		names[q] = p.latentName(name, c.lo+r)
		if m.wrongName(aLatent, names[q]) != "" {
			return false
		}
	}
	if !w.IsNew(r) {
		return false
	}
	guards, next := len(m.guards.Made), m.sizes().leaves()
	if !c.addPlanes(m, r) {
		m.guards.Made = m.guards.Made[:guards]
		return false
	}
	s.Own()
	for _, x := range c.recorded.compared.Zeros {
		s.Zeros.Add(m.guards.Arr.Len()-len(c.recorded.compared.Guards)+x.Guard, c.Moved(x.ID, r, start))
	}
	for _, x := range c.adds.named {
		m.named = append(m.named, namedGuard{x.name, c.movedGuard(x.guard, guards, r, start)})
	}
	w.Enter(r, next)
	for q := range c.adds.observed {
		o := &c.adds.observed[q]
		m.obs = append(m.obs, observation{observed: c.observedIn(q, guards, r, start), shift: start - o.local, value: c.Number(c.recorded.data[q], r)})
	}
	c.addContents(m, r, guards, start, names)
	return true
}

// addContents adds the terms, the latents with the given names, and what else is asked of row r of the block.
func (c *script) addContents(m *Model, r, guards int, start ir.ID, names []string) {
	for _, f := range c.recorded.firsts {
		for i, x := range f.params {
			f.params[i] = c.moved(x, r, start)
		}
		m.firsts[f.sharing] = c.moved(f.x, r, start)
	}
	prior := 0
	for _, t := range c.adds.terms {
		if t.id = c.Moved(t.id, r, start); t.prior {
			t.what = priorOf(names[prior])
			prior++
		}
		m.terms = append(m.terms, t)
	}
	for q, l := range c.adds.latents {
		l.name, l.value, l.prior = names[q], c.Moved(l.value, r, start), l.prior.With(c.movedAll(l.prior.Params(), r, start))
		m.names[l.name] = aLatent
		m.latents = append(m.latents, l)
	}
	for _, x := range c.recorded.collected {
		*x.dst = append(*x.dst, c.moved(x.x, r, start))
	}
	for _, x := range c.adds.derived {
		x.x, x.u, x.where = c.moved(x.x, r, start), c.moved(x.u, r, start), c.movedGuard(x.where, guards, r, start)
		m.derive(x)
	}
}

// movedGuard is moved of a guard, where the row's comparisons have numbers from guards on.
func (c *script) movedGuard(g Guard, guards, r int, start ir.ID) Guard {
	switch shift := guards - c.adds.guarded; {
	case g.made > c.adds.guarded:
		g.made += shift
	case -g.made > c.adds.guarded:
		g.made -= shift
	}
	g.value = c.moved(g.value, r, start)
	return g
}

// moved is x in row r of the block, which begins at start.
func (c *script) moved(x Expr, r int, start ir.ID) Expr {
	if lang.Of(x) == nil {
		return x
	}
	return lang.Node(lang.Of(x), c.Moved(lang.ID(x), r, start))
}

// movedAll is moved of a list: a copy, unless all of it is the same in all rows.
func (c *script) movedAll(list []Expr, r int, start ir.ID) []Expr {
	if !slices.ContainsFunc(list, func(x Expr) bool { return lang.Of(x) != nil && c.Differs(lang.ID(x)) }) {
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
	o := c.adds.observed[q].observed
	branch := lang.Of(o.where.value) != nil && c.Differs(lang.ID(o.where.value))
	holes, local := 0, branch
	var in ir.ID
	for _, x := range o.as.Params() {
		if lang.Of(x) == nil {
			continue
		}
		local = local || lang.ID(x) >= c.Start
		if c.IsHole(lang.ID(x)) {
			holes, in = holes+1, c.Moved(lang.ID(x), r, start)
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
	for q := range c.recorded.compared.Guards {
		g := &c.recorded.compared.Guards[q]
		constant := c.Value(g.Constant, row)
		h := regions.Hyperplane{Index: g.Plane().Index, Coef: make([]float64, len(g.Coef)), Const: constant.V}
		if slices.ContainsFunc(g.Latents, c.Differs) {
			h.Index = slices.Clone(h.Index)
		}
		r := regions.Rounding{Coef: make([]float64, len(g.Coef)), Const: constant.Err}
		for k := range g.Coef {
			x := c.Value(g.Coef[k], row)
			h.Coef[k], r.Coef[k] = x.V, x.Err
			if in := c.InHole(g.Latents[k], row, 1); in != nil {
				h.Index[k] = int(m.st.At(in[0]).A)
			} else if i := c.LeafOf(ir.Latent, g.Latents[k]); i >= 0 {
				h.Index[k] = len(m.latents) + i
			}
		}
		if !m.guards.AddPlane(g, h, r) {
			return false
		}
	}
	return true
}

// take finds what value k of x has for the holes, if that is not known.
func (c *script) take(m *Model, x *indexing, k int) {
	if x.alike[k] != nil {
		return
	}
	x.alike[k] = []ir.ID{}
	if lang.Of(x.values[k]) == nil {
		return
	}
	nodes := m.below(nil, lang.ID(x.values[k]))
	if len(nodes) != len(x.nodes) {
		return
	}
	for i, id := range nodes {
		if !c.Stays(x.nodes[i], id) || !m.alike(x.nodes[i], id) {
			return
		}
		for j := range i {
			if cmp.Compare(x.nodes[i], x.nodes[j]) != cmp.Compare(id, nodes[j]) {
				return
			}
		}
	}
	x.alike[k] = nodes
}
