package derive

import (
	"encoding/binary"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// An atom is an expression of the latents, or fn of the sum of such, coef_j·monomial of_j.
type atom struct {
	node ir.ID
	fn   kernel.Function
	of   []int // nil for node
	coef []float64
}

// latent is the latent that an atom is, if it is one.
func (a *atom) latent(st *ir.Store) (i int, is bool) {
	if a.of != nil {
		return 0, false
	}
	n := st.Head(a.node)
	return int(n.A), n.Kind == ir.Latent
}

// A power is a factor of a monomial: of the atom with that number.
type power struct{ atom, power int32 }

// products are monomials by number; number 0 is 1.
type products struct {
	list  [][]power // ascending by atom
	index map[string]int
	of    map[[2]int]int
	atoms []atom
	node  map[ir.ID]int  // monomials of atoms,
	apply map[string]int // and of those with a function
	// second says that multiply leaves out what is of more than second order.
	second bool
}

func newProducts(second bool) *products {
	p := &products{second: second, index: map[string]int{}, of: map[[2]int]int{}, node: map[ir.ID]int{}, apply: map[string]int{}}
	p.number(nil)
	return p
}

// single is the monomial of a node alone.
func (p *products) single(id ir.ID) int {
	return ir.Remembered(p.node, id, func() int { return p.add(atom{node: id}) })
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
	return ir.Remembered(p.apply, string(key), func() int { return p.add(a) })
}

func (p *products) number(powers []power) int {
	var key []byte
	for _, x := range powers {
		key = binary.LittleEndian.AppendUint32(key, uint32(x.atom))
		key = binary.LittleEndian.AppendUint32(key, uint32(x.power))
	}
	return ir.Remembered(p.index, string(key), func() int {
		p.list = append(p.list, powers)
		return len(p.list) - 1
	})
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

// center moves shift, by latent, to where the squares in Σ_m coef_m·monomial m are least.
func (p *products) center(st *ir.Store, coef, shift []float64) {
	n := len(shift)
	h, g := mat.NewSymDense(n, nil), make([]float64, n)
	for m, c := range coef {
		var latents []int
		for _, x := range p.list[m] {
			if i, is := p.atoms[x.atom].latent(st); is && x.power > 0 {
				latents = append(latents, slices.Repeat([]int{i}, int(x.power))...)
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
			if v := x.AtVec(i); ir.IsFinite(v) {
				shift[i] = v
			}
		}
	}
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

// degree is the sum of the powers of monomial i.
func (p *products) degree(i int) (sum int32) {
	for _, x := range p.list[i] {
		sum += x.power
	}
	return sum
}

// multiply is x·y in each row.
func (p *products) multiply(x, y *poly, rows int) *poly {
	out := &poly{}
	for i, m := range x.at {
		for j, l := range y.at {
			if p.second && p.degree(m)+p.degree(l) > 2 {
				continue
			}
			col := out.column(p.times(m, l), rows)
			a, b := x.col[i], y.col[j]
			for r := range col {
				col[r] += a[r] * b[r]
			}
		}
	}
	return out
}

// invert is 1/x, if x has one monomial in each row.
func (p *products) invert(x *poly, rows int) (*poly, bool) {
	out, count := &poly{}, make([]int, rows)
	for k, m := range x.at {
		col := out.column(p.inverse(m), rows)
		for r, v := range x.col[k] {
			if v != 0 {
				count[r]++
				col[r] = 1 / v
			}
		}
	}
	return out, !slices.ContainsFunc(count, func(n int) bool { return n != 1 })
}

// A signedPoly is one poly where a sign is 0 and one where it is 1. The sign is that of a
// plane for each row, −1 for none; if plane is nil no row has one, and the two are the same.
type signedPoly struct {
	side  [2]*poly
	plane []int32
}

// fill makes the sides, as far as they differ.
func (v *signedPoly) fill(make func(side int) (*poly, bool)) (ok bool) {
	if v.side[0], ok = make(0); !ok || v.plane == nil {
		v.side[1] = v.side[0]
		return ok
	}
	v.side[1], ok = make(1)
	return ok
}
