package derive

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lower"
)

// Sums are log r of much data, with its terms added up beforehand. A term of log r that is a
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
// m_k are measured from where the sum of squares is least, so that rounding loses nothing of
// it.
type Sums struct {
	st       *ir.Store
	prog     *lower.Program
	of       Terms
	data     []float64
	discrete []bool    // latents
	shift    []float64 // by latent
	products *products
	constant float64
	rest     []ir.Term   // of log r, without the priors
	signs    []bool      // planes whose signs the rest depends on
	local    bool        // squares in place of what is no polynomial; see Density.Sums
	below    []float64   // C by monomial, where all signs are 0
	jump     [][]float64 // D by monomial and plane; nil where all are 0
}

// Limits of Sums.
const (
	mostPerTerm = 200  // expressions of a term, where one counts as often as it is used
	mostJumps   = 1e8  // numbers D
	sumChunk    = 1024 // terms that are worked at together
	sumSample   = 4000 // terms from which it is seen where squares are least
)

// MostNear is the largest number n of latents for which there are sums near a point, of n²/2 squares and products.
const MostNear = 60

// Sums returns the sums of d. It returns nil if a term is not of that form, and for a density that is not simple. Where at is not
// nil, they are expanded around that point: terms that are no polynomials are replaced, each on each side
// of its sign, by their value, slope and curvature there. So the posterior becomes a normal in each region, whose mode is one
// step of Newton's away. Priors, and terms that are alone of their kind, stay what they are. Then it returns nil
// if a term is not finite there, or has a function of more than two numbers, and if there are more than MostNear latents.
func (d Density) Sums(at []float64) *Sums {
	if at != nil && len(at) != d.Dim {
		panic(fmt.Sprintf("graph: %d coordinates for %d latents", len(at), d.Dim))
	}
	if !d.Simple || at != nil && d.Dim > MostNear {
		return nil
	}
	p := d.Program
	p.Store.Mu.Lock()
	defer p.Store.Mu.Unlock()
	s := &Sums{st: p.Store, prog: p, of: d.Terms, data: d.Data, discrete: d.Discrete, shift: make([]float64, d.Dim), signs: make([]bool, d.Arr.Len()), local: at != nil}
	copy(s.shift, at)
	byForm, ok := s.terms()
	if !ok {
		return nil
	}
	if s.local {
		if !s.add(byForm) {
			return nil
		}
		return s
	}
	sample := make([][]ir.Term, len(byForm))
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
	middle := slices.Clone(s.below) // with all signs 0 for one half of it and 1 for the other half
	for m, jump := range s.jump {
		for _, x := range jump {
			middle[m] += x / 2
		}
	}
	s.products.center(s.st, middle, s.shift)
	if !s.add(byForm) {
		return nil
	}
	return s
}

// terms puts the terms of log r without the priors that are to be summed in a list for each form,
// and the others in s.rest.
func (s *Sums) terms() (byForm [][]ir.Term, ok bool) {
	out := &s.prog.Outs[0]
	var priors []ir.Term
	for _, t := range s.of.List {
		if t.Of >= 0 {
			priors = append(priors, ir.Term{Atom: t.ID, Coef: 1})
		}
	}
	prior := s.st.Total(0, priors)
	weight := make(map[ir.ID]float64, len(prior.Terms))
	for _, t := range prior.Terms {
		weight[t.Atom] = t.Coef
	}
	s.constant = out.C - prior.C
	byForm = make([][]ir.Term, len(s.prog.Batch.Forms))
	for _, t := range out.Terms {
		if w, shared := weight[t.Atom]; shared {
			delete(weight, t.Atom)
			if w -= t.Coef; math.Abs(w) <= 1e-14*math.Abs(t.Coef) {
				continue
			}
			t.Coef = -w
		}
		form := int(s.prog.Batch.At[t.Atom].Form)
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
func (s *Sums) leave(terms []ir.Term, all bool) (left bool) {
	var signs []int
	for _, t := range terms {
		signs = append(signs, s.st.PlanesIn(t.Atom)...)
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
func (s *Sums) add(byForm [][]ir.Term) (ok bool) {
	s.products = newProducts(s.local)
	s.below, s.jump = nil, nil
	f := sumFolder{prog: s.prog, st: s.st, data: s.data, shift: s.shift, products: s.products, local: s.local, atoms: map[int32]bool{}}
	for i, terms := range byForm {
		f.left = mostPerTerm * len(terms)
		for first := 0; first < len(terms); first += sumChunk {
			chunk := terms[first:min(first+sumChunk, len(terms))]
			ids := make([]ir.ID, len(chunk))
			for k, t := range chunk {
				ids[k] = t.Atom
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

func (s *Sums) addChunk(chunk []ir.Term, v signedPoly) (ok bool) {
	for side, p := range v.side {
		for k, m := range p.at {
			for m >= len(s.below) {
				s.below, s.jump = append(s.below, 0), append(s.jump, nil)
			}
			if side == 0 {
				sum := 0.0
				for r, x := range p.col[k] {
					sum += chunk[r].Coef * x
				}
				s.below[m] += sum
			}
			if v.plane == nil {
				continue
			}
			sign := float64(2*side - 1)
			if s.jump[m] == nil {
				if float64(s.of.Arr.Len())*float64(len(s.jump)) > mostJumps {
					return false
				}
				s.jump[m] = make([]float64, s.of.Arr.Len())
			}
			for r, l := range v.plane {
				if l >= 0 {
					s.jump[m][l] += sign * chunk[r].Coef * p.col[k][r]
				}
			}
		}
		if v.plane == nil {
			break
		}
	}
	return true
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
	ev := s.st.Evaluator(s.of.Nodes)
	ev.Z, ev.Data, ev.Arr = z, s.data, s.of.Arr
	defer ev.Release()
	known := make([]float64, len(s.products.atoms))
	product := func(m int) float64 {
		x := 1.0
		for _, p := range s.products.list[m] {
			x *= math.Pow(known[p.atom], float64(p.power))
		}
		return x
	}
	for k, a := range s.products.atoms {
		if i, is := a.latent(s.st); is {
			known[k] = z[i] - s.shift[i]
			continue
		}
		if a.of == nil {
			known[k] = ev.Value(a.node)
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

// Splits reports whether Write can have groups of a switch's intervals.
func (s *Sums) Splits(w SwitchLatent) bool {
	return len(w.Index) == 0 && !w.Curved() && !s.discrete[w.Latent] &&
		!slices.ContainsFunc(w.Planes, func(l int) bool { return s.signs[l] })
}

// Groups are intervals of a switch that Write does not tell apart: group k is from interval First[k]
// to First[k+1] − 1, with all others after the last; First[0] is 0. In it log r is Add[k]
// higher than in interval At[k].
type Groups struct {
	Switch    SwitchLatent
	First, At []int
	Add       []float64
}

// A Target is another program, to which Write adds terms.
type Target struct {
	Store *ir.Store
	Copy  func(id ir.ID) ir.ID // copies a node
	Guard func(plane int) ir.ID
	Add   func(term ir.ID)
}

// Write writes log r from its sums to a program with the same latents, of which switches have the given
// groups of intervals only. It has no observations, and no guards but those that these
// leave.
func (s *Sums) Write(to Target, groups ...Groups) {
	c, st := &sumCopier{Target: to, s: s}, to.Store
	for _, t := range s.rest {
		c.Add(st.Scale(t.Coef, c.Copy(t.Atom)))
	}
	c.findProducts()
	base, constant := slices.Clone(s.below), s.constant
	grouped := make([]bool, s.of.Arr.Len())
	jump := make([]float64, len(s.below))
	for _, g := range groups {
		for _, l := range g.Switch.Planes {
			if grouped[l] = true; g.Switch.Down {
				s.addJump(base, 1, l)
			}
		}
		from := 0
		for i, at := range g.At {
			clear(jump)
			s.addJumps(jump, g.Switch, from, at)
			from = at
			if i == 0 {
				constant += g.Add[0]
				floats.Add(base, jump)
				continue
			}
			cond := c.Guard(g.Switch.Planes[g.First[i]-1])
			if g.Switch.Down {
				cond = st.Not(cond)
			}
			c.Add(st.Sel(cond, c.sum(jump, g.Add[i]-g.Add[i-1]), st.Constant(0)))
		}
	}
	for l, done := range grouped {
		if done {
			continue
		}
		clear(jump)
		if s.addJump(jump, 1, l); slices.ContainsFunc(jump, ir.IsNonzero) {
			c.Add(st.Sel(c.Guard(l), c.sum(jump, 0), st.Constant(0)))
		}
	}
	c.Add(c.sum(base, constant))
}

// addJumps adds what log r jumps by between two intervals of a switch to sums by monomial.
func (s *Sums) addJumps(sums []float64, w SwitchLatent, from, to int) {
	by := 1.0
	if to < from != w.Down {
		by = -1
	}
	for _, l := range w.Planes[min(from, to):max(from, to)] {
		s.addJump(sums, by, l)
	}
}

// addJump adds D of plane l, times by, to sums by monomial.
func (s *Sums) addJump(sums []float64, by float64, l int) {
	for k, x := range s.jump {
		if x != nil {
			sums[k] += by * x[l]
		}
	}
}

// A sumCopier copies sums to another program.
type sumCopier struct {
	Target
	s         *Sums
	atoms     []ir.ID
	monomials []ir.ID
}

// findProducts makes the atoms and the monomials.
func (c *sumCopier) findProducts() {
	for _, a := range c.s.products.atoms {
		c.atoms = append(c.atoms, c.atom(a))
	}
	for k := range c.s.below {
		c.monomials = append(c.monomials, c.product(k))
	}
}

// sum is v and the monomials times coef.
func (c *sumCopier) sum(coef []float64, v float64) ir.ID {
	id := c.Store.Constant(v)
	for k, x := range coef {
		if x != 0 {
			id = c.Store.Sum(1, id, x, c.monomials[k])
		}
	}
	return id
}

// atom is an atom, and of a latent the difference from its shift.
func (c *sumCopier) atom(a atom) ir.ID {
	st := c.Store
	if a.of == nil {
		x := c.Copy(a.node)
		if i, is := a.latent(c.s.st); is {
			x = st.Sum(1, x, -c.s.shift[i], st.Constant(1))
		}
		return x
	}
	sum := st.Constant(0)
	for j, m := range a.of {
		sum = st.Sum(1, sum, a.coef[j], c.product(m))
	}
	return st.Unary(a.fn, sum)
}

// product is a monomial of atoms that there are.
func (c *sumCopier) product(m int) ir.ID {
	st := c.Store
	out := st.Constant(1)
	for _, p := range c.s.products.list[m] {
		out = st.Mul(out, st.Pow(c.atoms[p.atom], st.Constant(float64(p.power))))
	}
	return out
}
