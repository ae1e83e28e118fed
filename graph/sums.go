package graph

import (
	"encoding/binary"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph/kernel"
)

// Sums are log r of much data with the sums over the data taken. A term of log r that is a
// polynomial of few expressions, with coefficients that are numbers and one sign, is
//
//	Σ_k c_k·m_k(z) + s·Σ_k d_k·m_k(z),
//
// where the m_k, products of powers of the expressions, are the same for all terms: as
// (y − a − b·x − s·c)², or y·log λ − λ where s chooses λ. So log r, however many terms it has, is
//
//	log r(z) = rest(z) + Σ_k C_k·m_k(z) + Σ_l s_l·Σ_k D_lk·m_k(z)
//
// and its jumps along a line of parallel planes are partial sums of D. The latents in the
// m_k are differences from where the squares are least, so that nothing of
// their sum is lost to rounding.
type Sums struct {
	d        *Density
	shift    []float64 // by latent
	products *products
	constant float64
	rest     []term      // of log r, without the priors
	signs    []bool      // planes whose signs the rest depends on
	below    []float64   // C by monomial, where all signs are 0
	jump     [][]float64 // D by monomial and plane; nil where all are 0
}

// Limits of Sums.
const (
	fewTerms      = 16   // like expressions that are left as they are
	mostMonomials = 256  // products of powers,
	mostAtoms     = 32   // and what these are powers of
	mostPerTerm   = 200  // expressions of a term, where one counts as often as it is used
	mostJumps     = 1e8  // numbers D
	sumChunk      = 1024 // terms that are worked at together
	sumSample     = 4000 // terms from which it is seen where squares are least
)

// Sums returns nil if the density has a term that is not of that form, parameters, a
// guard that is not affine, or a discrete latent whose prior depends on others.
func (d *Density) Sums() *Sums {
	d.made()
	if !d.copies() {
		return nil
	}
	d.st.mu.Lock()
	defer d.st.mu.Unlock()
	s := &Sums{d: d, shift: make([]float64, d.Dim()), signs: make([]bool, d.arr.Len())}
	byForm, ok := s.terms()
	if !ok {
		return nil
	}
	sample := make([][]term, len(byForm))
	for i, terms := range byForm {
		for k := 0; k < len(terms); k += 1 + len(terms)/sumSample {
			sample[i] = append(sample[i], terms[k])
		}
	}
	if !s.add(sample) {
		return nil
	}
	for i, terms := range sample {
		if terms == nil {
			byForm[i] = nil // left
		}
	}
	s.center()
	if !s.add(byForm) {
		return nil
	}
	return s
}

// terms puts the terms of log r without the priors that are to be summed in a list for each form,
// and the others in s.rest.
func (s *Sums) terms() (byForm [][]term, ok bool) {
	d := s.d
	out := &d.outs[0]
	var priors []term
	for _, t := range d.m.terms {
		if t.prior {
			priors = append(priors, term{t.id, 1})
		}
	}
	prior := d.st.total(0, priors)
	weight := make(map[nodeID]float64, len(prior.terms))
	for _, t := range prior.terms {
		weight[t.atom] = t.coef
	}
	s.constant = out.c - prior.c
	byForm = make([][]term, len(d.b.forms))
	for _, t := range out.terms {
		if w, shared := weight[t.atom]; shared {
			delete(weight, t.atom)
			if w -= t.coef; math.Abs(w) <= 1e-14*math.Abs(t.coef) {
				continue
			}
			t.coef = -w
		}
		form := int(d.b.at[t.atom].form)
		byForm[form] = append(byForm[form], t)
	}
	if len(weight) > 0 { // which cancel with something else
		return nil, false
	}
	for i, terms := range byForm {
		if len(terms) > 0 && len(terms) <= fewTerms && !s.leave(terms, false) {
			byForm[i] = nil
		}
	}
	return byForm, true
}

// leave makes terms part of the rest: all, or those that depend on no signs. It reports whether
// some do and are still to be summed.
func (s *Sums) leave(terms []term, all bool) (left bool) {
	var signs []int
	for _, t := range terms {
		walk(&s.d.st.nodes, t.atom, func(id nodeID) {
			if n := s.d.st.head(id); n.kind == kSign {
				signs = append(signs, int(n.a))
			}
		})
	}
	if len(signs) > 0 && !all {
		return true
	}
	for _, l := range signs {
		s.signs[l] = true
	}
	s.rest = append(s.rest, terms...)
	return false
}

// add adds up terms.
func (s *Sums) add(byForm [][]term) (ok bool) {
	s.products = newProducts()
	s.below, s.jump = nil, nil
	f := sumFolder{s: s, atoms: map[int32]bool{}}
	for i, terms := range byForm {
		f.left = mostPerTerm * len(terms)
		for first := 0; first < len(terms); first += sumChunk {
			chunk := terms[first:min(first+sumChunk, len(terms))]
			ids := make([]nodeID, len(chunk))
			for k, t := range chunk {
				ids[k] = t.atom
			}
			v, ok := f.fold(ids)
			if !ok && len(terms) <= fewTerms {
				s.leave(terms, true)
				byForm[i] = nil
				break
			}
			if !ok || !s.addChunk(chunk, v) {
				return false
			}
		}
	}
	return true
}

func (s *Sums) addChunk(chunk []term, v signedPoly) (ok bool) {
	for side, p := range v.side {
		for k, m := range p.at {
			for m >= len(s.below) {
				s.below, s.jump = append(s.below, 0), append(s.jump, nil)
			}
			if side == 0 {
				sum := 0.0
				for r, x := range p.col[k] {
					sum += chunk[r].coef * x
				}
				s.below[m] += sum
			}
			if v.plane == nil {
				continue
			}
			sign := float64(2*side - 1)
			if s.jump[m] == nil {
				if float64(s.d.arr.Len())*float64(len(s.jump)) > mostJumps {
					return false
				}
				s.jump[m] = make([]float64, s.d.arr.Len())
			}
			for r, l := range v.plane {
				if l >= 0 {
					s.jump[m][l] += sign * chunk[r].coef * p.col[k][r]
				}
			}
		}
		if v.plane == nil {
			break
		}
	}
	return true
}

// center makes shift the point where the squares of what has been added are least, with all signs
// 0 for one half of it and 1 for the other half.
func (s *Sums) center() {
	n := len(s.shift)
	h, g := mat.NewSymDense(n, nil), make([]float64, n)
	for m, c := range s.below {
		if s.jump[m] != nil {
			for _, x := range s.jump[m] {
				c += x / 2
			}
		}
		var latents []int
		for _, p := range s.products.list[m] {
			if i, is := s.products.atoms[p.atom].latent(s.d.st); is && p.power > 0 {
				latents = append(latents, slices.Repeat([]int{i}, int(p.power))...)
			}
		}
		switch len(latents) {
		case 1:
			g[latents[0]] += c
		case 2:
			i, j := latents[0], latents[1]
			if i == j {
				c *= 2
			}
			h.SetSym(i, j, h.At(i, j)-c)
		}
	}
	for i := range n {
		if h.At(i, i) <= 0 {
			g[i] = 0
			for j := range n {
				h.SetSym(i, j, 0)
			}
			h.SetSym(i, i, 1)
		}
	}
	var chol mat.Cholesky
	x := mat.NewVecDense(n, nil)
	if chol.Factorize(h) && chol.SolveVecTo(x, mat.NewVecDense(n, g)) == nil {
		for i := range n {
			if v := x.AtVec(i); isFinite(v) {
				s.shift[i] = v
			}
		}
	}
}

// Along writes to dst by how much log r at z is higher in the intervals of a switch from interval first on
// than there, the other signs being the same.
func (s *Sums) Along(dst []float64, w SwitchLatent, z []float64, first int) {
	value := s.values(z)
	planes := w.Planes[first : first+len(dst)-1]
	sign, sum := 1.0, 0.0
	if w.Down {
		sign = -1
	}
	clear(dst)
	for m, d := range s.jump {
		if d != nil {
			for j, l := range planes {
				dst[j+1] += value[m] * d[l]
			}
		}
	}
	for j, x := range dst {
		sum += sign * x
		dst[j] = sum
	}
}

// values are those of the monomials at z.
func (s *Sums) values(z []float64) []float64 {
	ev := s.d.evaluate(z)
	defer ev.release()
	known := make([]float64, len(s.products.atoms))
	product := func(m int) float64 {
		x := 1.0
		for _, p := range s.products.list[m] {
			x *= math.Pow(known[p.atom], float64(p.power))
		}
		return x
	}
	for k, a := range s.products.atoms {
		if i, is := a.latent(s.d.st); is {
			known[k] = z[i] - s.shift[i]
			continue
		}
		if a.of == nil {
			known[k] = ev.value(a.node)
			continue
		}
		sum := 0.0
		for j, m := range a.of {
			sum += a.coef[j] * product(m)
		}
		known[k] = a.fn.Value(sum)
	}
	value := make([]float64, len(s.below))
	for m := range value {
		value[m] = product(m)
	}
	return value
}

// Splits reports whether Density can have groups of a switch's intervals.
func (s *Sums) Splits(w SwitchLatent) bool {
	return len(w.Index) == 0 && !w.Curved() && s.d.m.latents[w.Latent].discrete == nil &&
		!slices.ContainsFunc(w.Planes, func(l int) bool { return s.signs[l] })
}

// Groups are intervals of a switch that Density does not tell apart: group k is from interval First[k]
// to First[k+1] − 1, with all others after the last; First[0] is 0. In it log r is Add[k]
// higher than in interval At[k].
type Groups struct {
	Switch    SwitchLatent
	First, At []int
	Add       []float64
}

// Density is log r from its sums, with the same latents, of which switches have the given
// groups of intervals only. It has no observations, and no guards but those that these
// leave.
func (s *Sums) Density(groups ...Groups) (*Density, error) {
	d := s.d
	c := sumCopier{copier: newCopier(d), s: s}
	m := c.to
	for _, t := range s.rest {
		m.add(m.st.scale(t.coef, c.copy(t.atom)))
	}
	for _, a := range s.products.atoms {
		c.atoms = append(c.atoms, c.atom(a))
	}
	monomial := make([]nodeID, len(s.below))
	for k := range monomial {
		monomial[k] = c.product(k)
	}
	sum := func(coef []float64, v float64) nodeID {
		id := m.st.constant(v)
		for k, x := range coef {
			if x != 0 {
				id = m.st.sum(1, id, x, monomial[k])
			}
		}
		return id
	}
	base, constant := slices.Clone(s.below), s.constant
	grouped := make([]bool, d.arr.Len())
	jump := make([]float64, len(s.below))
	for _, g := range groups {
		for _, l := range g.Switch.Planes {
			grouped[l] = true
			if g.Switch.Down {
				for k, x := range s.jump {
					if x != nil {
						base[k] += x[l]
					}
				}
			}
		}
		sign, from := 1.0, 0
		if g.Switch.Down {
			sign = -1
		}
		for i, at := range g.At {
			clear(jump)
			for k, x := range s.jump {
				if x != nil {
					for _, l := range g.Switch.Planes[min(from, at):max(from, at)] {
						jump[k] += sign * x[l]
					}
					if at < from {
						jump[k] = -jump[k]
					}
				}
			}
			from = at
			if i == 0 {
				constant += g.Add[0]
				for k, x := range jump {
					base[k] += x
				}
				continue
			}
			cond := c.guard(g.Switch.Planes[g.First[i]-1])
			if g.Switch.Down {
				cond = m.st.not(cond)
			}
			m.add(m.st.sel(cond, sum(jump, g.Add[i]-g.Add[i-1]), m.st.constant(0)))
		}
	}
	for l, done := range grouped {
		if done {
			continue
		}
		clear(jump)
		any := false
		for k, x := range s.jump {
			if x != nil {
				jump[k] = x[l]
				any = any || x[l] != 0
			}
		}
		if any {
			m.add(m.st.sel(c.guard(l), sum(jump, 0), m.st.constant(0)))
		}
	}
	m.add(sum(base, constant))
	return m.Compile()
}

// A sumCopier copies sums to another model.
type sumCopier struct {
	copier
	s     *Sums
	atoms []nodeID
}

// atom is an atom, and of a latent the difference from its shift.
func (c *sumCopier) atom(a atom) nodeID {
	st := c.to.st
	if a.of == nil {
		x := c.copy(a.node)
		if i, is := a.latent(c.s.d.st); is {
			x = st.sum(1, x, -c.s.shift[i], st.constant(1))
		}
		return x
	}
	sum := st.constant(0)
	for j, m := range a.of {
		sum = st.sum(1, sum, a.coef[j], c.product(m))
	}
	return st.unary(a.fn, sum)
}

// product is a monomial of atoms that there are.
func (c *sumCopier) product(m int) nodeID {
	st := c.to.st
	out := st.constant(1)
	for _, p := range c.s.products.list[m] {
		out = st.mul(out, st.pow(c.atoms[p.atom], st.constant(float64(p.power))))
	}
	return out
}

// An atom is an expression of the latents, or fn of the sum of such, coef_j·monomial of_j.
type atom struct {
	node nodeID
	fn   kernel.Function
	of   []int // nil for node
	coef []float64
}

// latent is the latent that an atom is, if it is one.
func (a *atom) latent(st *store) (i int, is bool) {
	if a.of != nil {
		return 0, false
	}
	n := st.head(a.node)
	return int(n.a), n.kind == kLatent
}

// A power is a factor of a monomial: of the atom with that number.
type power struct{ atom, power int32 }

// products are monomials by number; number 0 is 1.
type products struct {
	list  [][]power // ascending by atom
	index map[string]int
	of    map[[2]int]int
	atoms []atom
	node  map[nodeID]int // monomials of atoms,
	apply map[string]int // and of those with a function
}

func newProducts() *products {
	p := &products{index: map[string]int{}, of: map[[2]int]int{}, node: map[nodeID]int{}, apply: map[string]int{}}
	p.number(nil)
	return p
}

// single is the monomial of a node alone.
func (p *products) single(id nodeID) int {
	m, ok := p.node[id]
	if !ok {
		m = p.add(atom{node: id})
		p.node[id] = m
	}
	return m
}

func (p *products) add(a atom) (monomial int) {
	p.atoms = append(p.atoms, a)
	return p.number([]power{{int32(len(p.atoms) - 1), 1}})
}

// function is the monomial of fn of row r of x.
func (p *products) function(fn kernel.Function, x *poly, r int) int {
	a, key := atom{fn: fn}, []byte{byte(fn)}
	for k, m := range x.at {
		if c := x.col[k][r]; c != 0 {
			a.of, a.coef = append(a.of, m), append(a.coef, c)
			key = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(key, uint32(m)), math.Float64bits(c))
		}
	}
	if a.of == nil {
		a.of, a.coef = []int{0}, []float64{0}
	}
	m, ok := p.apply[string(key)]
	if !ok {
		m = p.add(a)
		p.apply[string(key)] = m
	}
	return m
}

func (p *products) number(powers []power) int {
	var key []byte
	for _, x := range powers {
		key = binary.LittleEndian.AppendUint32(key, uint32(x.atom))
		key = binary.LittleEndian.AppendUint32(key, uint32(x.power))
	}
	k, ok := p.index[string(key)]
	if !ok {
		k = len(p.list)
		p.list = append(p.list, powers)
		p.index[string(key)] = k
	}
	return k
}

// times is the product of monomials i and j.
func (p *products) times(i, j int) int {
	key := [2]int{min(i, j), max(i, j)}
	if k, ok := p.of[key]; ok {
		return k
	}
	out := slices.Clone(p.list[i])
	for _, x := range p.list[j] {
		at, found := slices.BinarySearchFunc(out, x, func(a, b power) int { return int(a.atom) - int(b.atom) })
		switch {
		case !found:
			out = slices.Insert(out, at, x)
		case out[at].power+x.power == 0:
			out = slices.Delete(out, at, at+1)
		default:
			out[at].power += x.power
		}
	}
	k := p.number(out)
	p.of[key] = k
	return k
}

// inverse is 1 over monomial i.
func (p *products) inverse(i int) int {
	out := slices.Clone(p.list[i])
	for k := range out {
		out[k].power = -out[k].power
	}
	return p.number(out)
}

// A poly is Σ_k col_k·monomial at_k in each row.
type poly struct {
	at  []int
	col [][]float64
}

// column is that of a monomial, made if there is none.
func (p *poly) column(m, rows int) []float64 {
	if k := slices.Index(p.at, m); k >= 0 {
		return p.col[k]
	}
	col := make([]float64, rows)
	p.at, p.col = append(p.at, m), append(p.col, col)
	return col
}

// addTimes adds c·q, row by row.
func (p *poly) addTimes(c []float64, q *poly) {
	for k, m := range q.at {
		to := p.column(m, len(c))
		for r, x := range q.col[k] {
			to[r] += c[r] * x
		}
	}
}

// isNumber reports whether p is a number in each row.
func (p *poly) isNumber() bool { return len(p.at) == 0 || len(p.at) == 1 && p.at[0] == 0 }

// A signedPoly is one poly where a sign is 0 and one where it is 1. The sign is that of a
// plane for each row, −1 for none; if plane is nil no row has one, and the two are the same.
type signedPoly struct {
	side  [2]*poly
	plane []int32
}

// A sumFolder writes expressions as polynomials.
type sumFolder struct {
	s     *Sums
	left  int            // expressions that may still be worked at
	atoms map[int32]bool // forms that are atoms
}

// fold is the values of expressions of one form.
func (f *sumFolder) fold(ids []nodeID) (v signedPoly, ok bool) {
	rows, st, b := len(ids), f.s.d.st, f.s.d.b
	if f.left -= rows; f.left < 0 || len(f.s.products.list) > mostMonomials || len(f.s.products.atoms) > mostAtoms {
		return v, false
	}
	p := &poly{}
	v.side = [2]*poly{p, p}
	n := st.like(ids[0])
	switch {
	case n.kind == kConst:
		col := p.column(0, rows)
		for r, id := range ids {
			col[r] = st.head(id).v
		}
		return v, true
	case n.kind == kData:
		col := p.column(0, rows)
		for r, id := range ids {
			col[r] = f.s.d.data[st.head(id).a]
		}
		return v, true
	case n.kind == kSum && b.isAffineRow(b.view(ids[0])), n.kind == kLatent:
		for r, id := range ids {
			if !f.affine(p, r, rows, 1, id) {
				return v, false
			}
		}
		return v, true
	case n.kind == kSum:
		return f.sum(ids)
	case n.kind == kSelect && b.tableSigns(ids[0]) != nil:
		return f.steps(ids)
	case n.kind == kSelect:
		return f.selects(ids)
	case f.isAtom(ids[0]):
		for r, id := range ids {
			p.column(f.s.products.single(id), rows)[r] = 1
		}
		return v, true
	case n.kind == kUnary:
		a, ok := f.operand(ids, func(n *node) nodeID { return n.a })
		if !ok {
			return v, false
		}
		return f.each(a, a, func(x, _ *poly) (*poly, bool) {
			switch {
			case x.isNumber():
				out := &poly{}
				in, col := x.column(0, rows), out.column(0, rows)
				for r, v := range in {
					col[r] = n.fn.Value(v)
				}
				return out, true
			case n.fn == kernel.Square:
				return f.times(x, x, rows), true
			case n.fn == kernel.Recip:
				return f.inverse(x, rows)
			}
			out := &poly{}
			for r := range rows {
				if len(f.s.products.atoms) > mostAtoms {
					return nil, false
				}
				out.column(f.s.products.function(n.fn, x, r), rows)[r] = 1
			}
			return out, true
		})
	case n.kind == kBinary && (n.fn == kernel.Mul || n.fn == kernel.MulData || n.fn == kernel.Div):
		x, ok := f.operand(ids, func(n *node) nodeID { return n.a })
		if !ok {
			return v, false
		}
		y, ok := f.operand(ids, func(n *node) nodeID { return n.b })
		if !ok {
			return v, false
		}
		return f.each(x, y, func(x, y *poly) (*poly, bool) {
			ok := true
			if n.fn == kernel.Div {
				y, ok = f.inverse(y, rows)
			}
			if !ok {
				return nil, false
			}
			return f.times(x, y, rows), true
		})
	}
	return v, false
}

// isAtom reports whether id is one of few expressions of a form that neither data nor signs are in.
func (f *sumFolder) isAtom(id nodeID) bool {
	b, st := f.s.d.b, f.s.d.st
	form := b.at[id].form
	is, known := f.atoms[form]
	if !known {
		is = len(b.forms[form].rows) <= fewTerms
		for _, id := range b.forms[form].rows[:min(fewTerms, len(b.forms[form].rows))] {
			walk(&st.nodes, id, func(id nodeID) {
				k := st.like(id).kind
				is = is && k != kSign && k != kData
			})
		}
		f.atoms[form] = is
	}
	return is
}

// operand folds one operand of each expression.
func (f *sumFolder) operand(ids []nodeID, of func(n *node) nodeID) (signedPoly, bool) {
	list := make([]nodeID, len(ids))
	for r, id := range ids {
		n := f.s.d.st.head(id)
		list[r] = of(&n)
	}
	return f.foldMixed(list)
}

// foldMixed is fold of expressions that may be of several forms, of which most are of one.
func (f *sumFolder) foldMixed(ids []nodeID) (signedPoly, bool) {
	b := f.s.d.b
	if !slices.ContainsFunc(ids, func(id nodeID) bool { return b.at[id].form != b.at[ids[0]].form }) {
		return f.fold(ids)
	}
	return signedPoly{}, false
}

// each applies op on both sides.
func (f *sumFolder) each(x, y signedPoly, op func(x, y *poly) (*poly, bool)) (v signedPoly, ok bool) {
	if v.plane, ok = samePlanes(x.plane, y.plane); !ok {
		return v, false
	}
	for side := range 2 {
		if side == 1 && v.plane == nil {
			v.side[1] = v.side[0]
			break
		}
		if v.side[side], ok = op(x.side[side], y.side[side]); !ok {
			return v, false
		}
	}
	return v, true
}

// samePlanes are the planes of rows that have one in x or y; ok is false if a row has two.
func samePlanes(x, y []int32) (planes []int32, ok bool) {
	if x == nil || y == nil {
		if x == nil {
			x = y
		}
		return x, true
	}
	planes = slices.Clone(x)
	for r, l := range y {
		if planes[r] < 0 {
			planes[r] = l
		} else if l >= 0 && l != planes[r] {
			return nil, false
		}
	}
	return planes, true
}

func (f *sumFolder) times(x, y *poly, rows int) *poly {
	out := &poly{}
	for i, m := range x.at {
		for j, l := range y.at {
			col := out.column(f.s.products.times(m, l), rows)
			a, b := x.col[i], y.col[j]
			for r := range col {
				col[r] += a[r] * b[r]
			}
		}
	}
	return out
}

// inverse is 1/x, if x has one monomial in each row.
func (f *sumFolder) inverse(x *poly, rows int) (*poly, bool) {
	out, count := &poly{}, make([]int, rows)
	for k, m := range x.at {
		col := out.column(f.s.products.inverse(m), rows)
		for r, v := range x.col[k] {
			if v != 0 {
				count[r]++
				col[r] = 1 / v
			}
		}
	}
	return out, !slices.ContainsFunc(count, func(n int) bool { return n != 1 })
}

// affine adds c·id, an affine expression, to row r of p.
func (f *sumFolder) affine(p *poly, r, rows int, c float64, id nodeID) bool {
	st := f.s.d.st
	if f.left--; f.left < 0 {
		return false
	}
	switch st.like(id).kind {
	case kConst:
		p.column(0, rows)[r] += c * st.head(id).v
	case kLatent:
		i := int(st.head(id).a)
		p.column(f.s.products.single(id), rows)[r] += c
		if f.s.shift[i] != 0 {
			p.column(0, rows)[r] += c * f.s.shift[i]
		}
	case kSum:
		var room [8]term
		v, terms := st.sumIn(id, room[:])
		p.column(0, rows)[r] += c * v
		for _, t := range terms {
			if !f.affine(p, r, rows, c*t.coef, t.atom) {
				return false
			}
		}
	default:
		return false
	}
	return true
}

// sum folds sums of a few terms.
func (f *sumFolder) sum(ids []nodeID) (v signedPoly, ok bool) {
	b, rows := f.s.d.b, len(ids)
	constant := make([]float64, rows)
	var coef [][]float64
	var atom [][]nodeID
	for r, id := range ids {
		sum := b.slots(b.view(id))
		constant[r] = sum.c
		slots := sum.terms
		if r == 0 {
			for range slots {
				coef, atom = append(coef, make([]float64, rows)), append(atom, make([]nodeID, rows))
			}
		}
		if len(slots) != len(coef) {
			return v, false
		}
		for k, t := range slots {
			coef[k][r], atom[k][r] = t.coef, t.atom
		}
	}
	parts := make([]signedPoly, len(coef))
	for k := range parts {
		if parts[k], ok = f.foldMixed(atom[k]); !ok {
			return v, false
		}
		if v.plane, ok = samePlanes(v.plane, parts[k].plane); !ok {
			return v, false
		}
	}
	for side := range 2 {
		if side == 1 && v.plane == nil {
			v.side[1] = v.side[0]
			break
		}
		out := &poly{}
		copy(out.column(0, rows), constant)
		for k := range parts {
			out.addTimes(coef[k], parts[k].side[side])
		}
		v.side[side] = out
	}
	return v, true
}

// condition is a formula where its only sign is 0, and where it is 1.
func (f *sumFolder) condition(id nodeID) (plane int32, holds [2]bool, ok bool) {
	switch n := f.s.d.st.head(id); n.kind {
	case kSign:
		return int32(n.a), [2]bool{false, true}, true
	case kNot:
		plane, holds, ok = f.condition(n.a)
		return plane, [2]bool{!holds[0], !holds[1]}, ok
	case kAnd:
		p, x, ok1 := f.condition(n.a)
		q, y, ok2 := f.condition(n.b)
		return p, [2]bool{x[0] && y[0], x[1] && y[1]}, ok1 && ok2 && p == q
	}
	return 0, holds, false
}

// steps folds numbers that are chosen by signs.
func (f *sumFolder) steps(ids []nodeID) (v signedPoly, ok bool) {
	rows := len(ids)
	v.plane = make([]int32, rows)
	var col [2][]float64
	for side := range 2 {
		v.side[side] = &poly{}
		col[side] = v.side[side].column(0, rows)
	}
	for r, id := range ids {
		v.plane[r] = -1
		for side := range 2 {
			at := id
			for f.s.d.st.like(at).kind == kSelect {
				n := f.s.d.st.head(at)
				l, holds, ok := f.condition(n.a)
				if !ok || v.plane[r] >= 0 && v.plane[r] != l {
					return v, false
				}
				v.plane[r] = l
				if at = n.c; holds[side] {
					at = n.b
				}
			}
			col[side][r] = f.s.d.st.head(at).v
		}
	}
	return v, true
}

// selects folds expressions that are chosen by signs.
func (f *sumFolder) selects(ids []nodeID) (v signedPoly, ok bool) {
	rows, st := len(ids), f.s.d.st
	v.plane = make([]int32, rows)
	var of [2]signedPoly
	var chosen [2][2][]float64 // by side and operand: 1 where it is
	for side := range 2 {
		for k := range 2 {
			chosen[side][k] = make([]float64, rows)
		}
	}
	for r, id := range ids {
		l, holds, ok := f.condition(st.head(id).a)
		if !ok {
			return v, false
		}
		v.plane[r] = l
		for side, holds := range holds {
			if holds {
				chosen[side][0][r] = 1
			} else {
				chosen[side][1][r] = 1
			}
		}
	}
	if of[0], ok = f.operand(ids, func(n *node) nodeID { return n.b }); !ok {
		return v, false
	}
	if of[1], ok = f.operand(ids, func(n *node) nodeID { return n.c }); !ok {
		return v, false
	}
	for k := range of {
		if v.plane, ok = samePlanes(v.plane, of[k].plane); !ok {
			return v, false
		}
	}
	for side := range 2 {
		v.side[side] = &poly{}
		for k := range of {
			v.side[side].addTimes(chosen[side][k], of[k].side[side])
		}
	}
	return v, true
}
