package graph

import (
	"slices"
	"strings"

	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// A block is rows of a plate that are made at once: nodes ([ir.Block]), and what else they add to the model. It has that of the first row,
// which is made as any other, and what is different in another row is done row by row.
type block struct {
	*ir.Block
	lo        int          // the number of the first row
	data      []*ir.Column // of what is observed
	collected []collected
	firsts    []firstOf // that the model got
	compared  compare.Row
	indexed   int     // calls of Index
	captured  []ir.ID // what the body uses of the model outside
	before    sizes   // what the model had

	adds  additions
	dists []map[ir.ID]*observed // by observation: what it is by the node in a hole; see observedIn
	most  int                   // rows to try at once
	made  int                   // rows after the first
}

// collected is what Collect appends.
type collected struct {
	dst *[]Expr
	x   Expr
}

// firstOf is the first data to share something.
type firstOf struct {
	sharing
	x Expr
}

// additions are what the first row adds to the model, but for its comparisons.
type additions struct {
	latents  []latent // with names without the row
	observed []observation
	terms    []modelTerm
	derived  []deterministic
	named    []namedGuard
}

// input is the column of the data of plate p; nil if there is no block, or all its rows have the same number.
func (t *tape) input(p *Plate, data []float64) *ir.Column {
	b := t.m.block
	if b == nil || p != t.inner {
		return nil
	}
	return b.Input(data[p.at():][:len(b.Alike)])
}

// follow is called when the first row has been made. It is false if other rows do not follow from it.
func (c *block) follow(m *Model, p *Plate) bool {
	if c == nil || c.Spoilt || m.err != nil {
		return false
	}
	before := c.before
	c.adds = additions{
		latents: slices.Clone(m.latents[before.latents:]), observed: slices.Clone(m.obs[before.obs:]), terms: slices.Clone(m.terms[before.terms:]),
		derived: slices.Clone(m.derived[before.derived:]), named: slices.Clone(m.named[before.named:]),
	}
	if len(c.adds.observed) != len(c.data) || c.adds.looksAtData() {
		return false
	}
	if slices.ContainsFunc(c.adds.latents, func(l latent) bool { return l.discrete != nil }) {
		return false
	}
	for q, g := range c.compared.Guards {
		if g.Side.Plane != before.planes+q {
			return false
		}
	}
	for i := range c.adds.latents {
		l := &c.adds.latents[i]
		l.name = strings.TrimSuffix(l.name, p.latentName("", p.row))
	}
	for i := range c.adds.observed {
		o := &c.adds.observed[i]
		o.local = m.st.Start
		c.Keep(func(r int) bool { return o.as.Check(c.data[i].V[r]) == nil })
	}
	c.most, c.dists = 1, make([]map[ir.ID]*observed, len(c.adds.observed))
	return c.Follow(before.leaves(), c.captured, m.guards.Arr.Latents) && c.Leaves(ir.Data) == len(c.adds.observed) &&
		c.Leaves(ir.Sign) == len(c.compared.Guards) && c.Leaves(ir.Latent) == len(c.adds.latents)
}

// looksAtData reports whether a parameter of a law, or a deterministic expression, is a number that differs by row.
func (a *additions) looksAtData() bool {
	return slices.ContainsFunc(a.observed, func(o observation) bool { return o.as.HasData() }) ||
		slices.ContainsFunc(a.latents, func(l latent) bool { return l.prior.HasData() }) ||
		slices.ContainsFunc(a.derived, func(x deterministic) bool { return lang.Column(x.x) != nil })
}

// end is the row after the block.
func (c *block) end() int { return c.lo + len(c.Alike) }

// write makes rows of p from the current one on, and returns how many: not those from the
// first one on that is another one, and not more than come at once.
func (c *block) write(m *Model, p *Plate) (made int) {
	first := p.row - c.lo
	wanted := 0
	for wanted < min(c.most, len(c.Alike)-first) && c.Alike[first+wanted] {
		wanted++
	}
	if wanted == 0 {
		return 0
	}
	c.Begin(m.sizes().leaves(), first, wanted, p.n-p.row-wanted)
	for made < wanted && c.writeRow(m, p, first+made) {
		made++
	}
	if c.most *= 2; made < wanted {
		c.most = 1
	}
	return made
}

// writeRow adds row r of the block to the table and the model. It does nothing and returns
// false if the row is another one.
func (c *block) writeRow(m *Model, p *Plate, r int) bool {
	s := m.st
	start := ir.ID(s.Size)
	names := make([]string, len(c.adds.latents))
	for q, l := range c.adds.latents {
		names[q] = p.latentName(l.name, c.lo+r)
		if m.wrongName(aLatent, names[q]) != "" {
			return false
		}
	}
	if !c.IsNew(r) {
		return false
	}
	guards := len(m.guards.Made)
	if !c.addPlanes(m, r) {
		m.guards.Made = m.guards.Made[:guards]
		return false
	}
	s.Own()
	for _, x := range c.compared.Zeros {
		s.Zeros.Add(m.guards.Arr.Len()-len(c.compared.Guards)+x.Guard, c.Moved(x.ID, r, start))
	}
	for _, x := range c.adds.named {
		m.named = append(m.named, namedGuard{x.name, c.movedGuard(x.guard, guards, r, start)})
	}
	c.Enter(r)
	for q := range c.adds.observed {
		o := &c.adds.observed[q]
		m.obs = append(m.obs, observation{observed: c.observedIn(q, guards, r, start), shift: start - o.local, value: c.data[q].V[r]})
	}
	c.addContents(m, r, guards, start, names)
	return true
}

// addContents adds the terms, the latents with the given names, and what else is asked of row r of the block.
func (c *block) addContents(m *Model, r, guards int, start ir.ID, names []string) {
	for _, f := range c.firsts {
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
	for _, x := range c.collected {
		*x.dst = append(*x.dst, c.moved(x.x, r, start))
	}
	for _, x := range c.adds.derived {
		x.x, x.u, x.where = c.moved(x.x, r, start), c.moved(x.u, r, start), c.movedGuard(x.where, guards, r, start)
		m.derive(x)
	}
}

// movedGuard is moved of a guard, where the row's comparisons have numbers from guards on.
func (c *block) movedGuard(g Guard, guards, r int, start ir.ID) Guard {
	switch shift := guards - c.before.guards; {
	case g.made > c.before.guards:
		g.made += shift
	case -g.made > c.before.guards:
		g.made -= shift
	}
	g.value = c.moved(g.value, r, start)
	return g
}

// moved is x in row r of the block, which begins at start.
func (c *block) moved(x Expr, r int, start ir.ID) Expr {
	if lang.Of(x) == nil {
		return x
	}
	return lang.Node(lang.Of(x), c.Moved(lang.ID(x), r, start))
}

// movedAll is moved of a list: a copy, unless all of it is the same in all rows.
func (c *block) movedAll(list []Expr, r int, start ir.ID) []Expr {
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
func (c *block) observedIn(q, guards, r int, start ir.ID) *observed {
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

// addPlanes adds those of the comparisons in row r of the block, and these. It returns false if one is not a
// plane of its own, or the other side of it.
func (c *block) addPlanes(m *Model, r int) bool {
	latent := func(i int) int {
		id := m.st.Leaf(ir.Latent, i)
		if k := c.LeafOf(ir.Latent, id); k >= 0 {
			return len(m.latents) + k
		}
		return int(m.st.Head(c.Moved(id, r, 0)).A)
	}
	for q := range c.compared.Guards {
		if !m.guards.AddInRow(&c.compared.Guards[q], r, latent) {
			return false
		}
	}
	return true
}
