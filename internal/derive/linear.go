package derive

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lower"
)

// A linear is the rows of a tabulation as polynomials of few expressions: a row is, with monomials m_k and gates s_l of signs of other planes than
// the switches',
//
//	Σ_k c_k·m_k(z) + Σ_l s_l·Σ_k d_lk·m_k(z).
//
// So with given gates the sums of rows have coefficients of the m_k that are the same for all points.
type linear struct {
	prog      *lower.Program // of what depends on no switch, and of the m_k
	planes    []int          // on whose signs the former depends
	data      []float64      // whose the coefficients are
	monomials int
	size      []float64 // by monomial: the sum of the absolute values of its coefficients
	gates     []ir.ID
	logic     logic     // of the gates
	parts     [][]gated // by row of the tables,
	same      []int     // or those of the first row that is known to be the same
}

// gated are coefficients of a row where a gate is 1.
type gated struct {
	gate int // or −1
	coef []float64
}

// Limits of a linear.
const (
	leastShared  = 32      // coefficients in the rows for each monomial at least: of fewer there is little to share
	mostLinear   = 1 << 22 // rows × monomials
	mostRounding = 1e-7    // nats that sums of rows may be rounded by
)

// linear is that of a tabulation, for some data; nil if its rows are no such polynomials, or have too many monomials.
func (b *Builder) linear(t *Tabulation, rest ir.ID, data []float64) (*linear, error) {
	f := &linearFolder{gates: map[ir.ID]int{}}
	f.sumFolder = sumFolder{prog: t.prog, st: b.Store, data: data, shift: make([]float64, b.sz.Latents), atoms: map[int32]bool{}}
	x := &linear{data: data}
	for k, factor := range t.Factors {
		for _, first := range factor.First {
			x.same = append(x.same, t.first[k]-1+first)
		}
	}
	for _, shifted := range []bool{false, true} {
		x.parts, f.products = make([][]gated, len(x.same)), newProducts(false)
		if !f.addTo(x) {
			return nil, nil
		}
		total := x.total(len(f.products.list))
		if !ir.IsFinite(floats.Sum(x.size)) {
			return nil, nil
		}
		if !shifted {
			f.products.center(b.Store, total, f.shift)
		}
	}
	used, count := x.reduce()
	if x.monomials = len(used); x.monomials*leastShared > count || x.monomials*len(x.same) > mostLinear {
		return nil, nil
	}
	s := &Sums{st: b.Store, shift: f.shift, products: f.products, below: make([]float64, len(f.products.list))}
	c := &sumCopier{Target: Target{Store: b.Store, Copy: func(id ir.ID) ir.ID { return id }}, s: s}
	c.findProducts()
	var ok bool
	if x.logic, ok = newLogic(b.Store, x.gates); !ok {
		return nil, nil
	}
	var err error
	x.planes = b.Store.PlanesIn(rest)
	outs := []ir.ID{rest}
	for _, m := range used {
		outs = append(outs, c.monomials[m])
	}
	x.prog, err = b.Compile(outs)
	return x, err
}

// total is the sum of the coefficients of all parts, by monomial. It sets size.
func (x *linear) total(monomials int) []float64 {
	total := make([]float64, monomials)
	x.size = make([]float64, monomials)
	for _, row := range x.parts {
		for _, part := range row {
			for m, c := range part.coef {
				total[m] += c
				x.size[m] += math.Abs(c)
			}
		}
	}
	return total
}

// reduce leaves out the monomials without coefficients. It returns the others, and the number of coefficients.
func (x *linear) reduce() (used []int, count int) {
	at, size := make([]int, len(x.size)), x.size[:0]
	for m, s := range x.size {
		if s > 0 {
			at[m], used, size = len(used), append(used, m), append(size, s)
		}
	}
	x.size = size
	for _, row := range x.parts {
		for k, part := range row {
			row[k].coef = make([]float64, len(used))
			for m, c := range part.coef {
				if c != 0 {
					row[k].coef[at[m]] = c
					count++
				}
			}
		}
	}
	return used, count
}

// A linearFolder writes rows as polynomials with gates.
type linearFolder struct {
	sumFolder
	gates map[ir.ID]int // their numbers
}

// A rowTerm is a term of a row.
type rowTerm struct {
	row, gate int
	ir.Term
}

// addTo adds the rows of the program to x.
func (f *linearFolder) addTo(x *linear) (ok bool) {
	byForm := map[int32][]rowTerm{}
	var forms []int32
	for r, out := range f.prog.Outs[1:] {
		if x.same[r] != r {
			continue
		}
		x.add(r, -1, 0, out.C)
		for _, t := range out.Terms {
			term := f.termOf(x, r, t)
			form := f.prog.Batch.At[term.Atom].Form
			if byForm[form] == nil {
				forms = append(forms, form)
			}
			byForm[form] = append(byForm[form], term)
		}
	}
	for _, form := range forms {
		terms := byForm[form]
		f.left = mostPerTerm * len(terms)
		for chunk := range slices.Chunk(terms, sumChunk) {
			ids := make([]ir.ID, len(chunk))
			for k, t := range chunk {
				ids[k] = t.Atom
			}
			v, ok := f.fold(ids)
			if !ok || slices.ContainsFunc(v.plane, func(l int32) bool { return l >= 0 }) {
				return false
			}
			for k, m := range v.side[0].at {
				for r, c := range v.side[0].col[k] {
					x.add(chunk[r].row, chunk[r].gate, m, c*chunk[r].Coef)
				}
			}
		}
	}
	return true
}

// termOf is a term of row r, without its gate.
func (f *linearFolder) termOf(x *linear, r int, t ir.Term) rowTerm {
	st := f.st
	n := st.Head(t.Atom)
	if n.Kind != ir.Select {
		return rowTerm{r, -1, t}
	}
	isZero := func(id ir.ID) bool { m := st.Head(id); return m.Kind == ir.Const && m.V == 0 }
	g := n.A
	switch {
	case isZero(n.C):
		t.Atom = n.B
	case isZero(n.B):
		g, t.Atom = st.Not(g), n.C
	default:
		return rowTerm{r, -1, t}
	}
	at := ir.Remembered(f.gates, g, func() int {
		x.gates = append(x.gates, g)
		return len(x.gates) - 1
	})
	return rowTerm{r, at, t}
}

// add adds c to the coefficient of monomial m in row r where a gate is 1.
func (x *linear) add(r, gate, m int, c float64) {
	k := slices.IndexFunc(x.parts[r], func(p gated) bool { return p.gate == gate })
	if k < 0 {
		k = len(x.parts[r])
		x.parts[r] = append(x.parts[r], gated{gate: gate})
	}
	p := &x.parts[r][k]
	for len(p.coef) <= m {
		p.coef = append(p.coef, 0)
	}
	p.coef[m] += c
}

// fill writes the coefficients of all rows, rows × monomials, where gates are open.
func (x *linear) fill(dst []float64, open []bool) {
	for r, from := range x.same {
		row := dst[r*x.monomials:][:x.monomials]
		if from != r {
			copy(row, dst[from*x.monomials:])
			continue
		}
		clear(row)
		for _, p := range x.parts[r] {
			if p.gate < 0 || open[p.gate] {
				floats.Add(row[:len(p.coef)], p.coef)
			}
		}
	}
}

// isNear reports whether sums of rows are rounded by little where the monomials are x, monomials × n.
func (x *linear) isNear(at []float64, n int) bool {
	sum := 0.0
	for m, size := range x.size {
		sum += size * floats.Norm(at[m*n:][:n], math.Inf(1))
	}
	return sum < mostRounding*0x1p53
}

// of reports whether the coefficients are those of data.
func (x *linear) of(data []float64) bool {
	return len(data) == len(x.data) && (len(data) == 0 || &data[0] == &x.data[0])
}

// A tableSums computes the polynomials of a table at n points.
type tableSums struct {
	of         *linear
	x          *lower.Executor
	next, open []bool    // the gates at the points, and those for which
	coef       []float64 // are, rows × monomials; nil before the first ones
}

func (x *linear) bind(d Density, n int) (s *tableSums, err error) {
	s = &tableSums{of: x, next: make([]bool, len(x.gates)), open: make([]bool, len(x.gates))}
	s.x, err = d.Executor(x.prog, n, lower.Compute{Out: true})
	return s, err
}

// Monomials is the number of those in Polynomials, or 0 where the rows of factors are no polynomials of few expressions.
func (x *Table) Monomials() int {
	if x.sums == nil {
		return 0
	}
	return x.sums.of.monomials
}

// Polynomials computes Rest, and monomials, Monomials × N, of which the rows of factors are sums with the coefficients that Coefficients tells, and not
// the rows; fresh says whether the coefficients are others than before. It is nil where the points differ in
// what these depend on, or where the sums would be rounded by much.
func (x *Table) Polynomials() (rest, monomials []float64, fresh bool, err error) {
	s, n := x.sums, x.X.N
	if !s.of.logic.same(s.next, x.X.Signs, n) {
		return nil, nil, false, nil
	}
	copy(s.x.Z, x.X.Z)
	for _, l := range s.of.planes {
		copy(s.x.Signs[l*n:][:n], x.X.Signs[l*n:])
	}
	if err := s.x.Run(); err != nil {
		return nil, nil, false, err
	}
	if !s.of.isNear(s.x.Out[n:], n) {
		return nil, nil, false, nil
	}
	if s.coef == nil || !slices.Equal(s.open, s.next) {
		fresh = true
		copy(s.open, s.next)
		if s.coef == nil {
			s.coef = make([]float64, len(s.of.same)*s.of.monomials)
		}
		s.of.fill(s.coef, s.open)
	}
	return s.x.Out[:n], s.x.Out[n:], fresh, nil
}

// Coefficients are those of factor k, its rows × monomials.
func (x *Table) Coefficients(k int) []float64 {
	m := x.Monomials()
	return x.sums.coef[(x.t.first[k]-1)*m : (x.t.first[k+1]-1)*m]
}
