package regions

import (
	"math"
	"math/bits"
	"slices"
)

// tolerance is the relative difference up to which two numbers of canonical forms are equal. It is far above the rounding that a factor
// leaves behind, about 1e-15, and far below any difference that a model means.
const tolerance = 1e-12

// near reports whether x and y agree to the tolerance. Zero agrees only with zero.
func near(x, y float64) bool {
	return math.Abs(x-y) <= tolerance*max(math.Abs(x), math.Abs(y))
}

// coincide reports whether two canonical forms have one zero set.
func coincide(g, h Hyperplane) bool {
	return near(g.Const, h.Const) && slices.Equal(g.Index, h.Index) && slices.EqualFunc(g.Coef, h.Coef, near)
}

// cells finds the plane that coincides with a canonical form without a look at all of them. It folds the numbers of a form into one
// position on a circle of 2⁶⁴ points, such that coincident forms lie close together, and cuts the circle into cells a little wider than
// twice that distance. So what coincides with a form lies in one of two cells. What else lies there is told apart by coincide.
type cells struct {
	newest map[cell]int // 1 + the plane last put into the cell
	older  []int        // for each plane, 1 + the plane put into its cell before it; 0 if none
}

// cell is one cell of the circle that belongs to the forms of one pattern.
type cell struct{ pattern, number uint64 }

func newCells() *cells { return &cells{newest: make(map[cell]int)} }

// find returns the lowest number of a plane that coincides with h.
func (c *cells) find(h Hyperplane, planes []Hyperplane) (l int, ok bool) {
	p := place(h)
	low, high := p.cell(p.at-p.reach), p.cell(p.at+p.reach)
	l = c.search(low, h, planes, len(planes))
	if high != low {
		l = c.search(high, h, planes, l)
	}
	return l, l < len(planes)
}

// search returns the lowest number below limit of a plane in the cell that coincides with h, or limit.
func (c *cells) search(in cell, h Hyperplane, planes []Hyperplane, limit int) int {
	for next := c.newest[in]; next > 0; next = c.older[next-1] {
		if l := next - 1; l < limit && coincide(planes[l], h) {
			limit = l
		}
	}
	return limit
}

// insert puts h into its cell, as the next plane.
func (c *cells) insert(h Hyperplane) {
	p := place(h)
	in := p.cell(p.at)
	c.older = append(c.older, c.newest[in])
	c.newest[in] = len(c.older)
}

// position is the place of a form on the circle of its pattern, and the cells there.
type position struct {
	pattern uint64
	at      uint64
	reach   uint64 // coincident forms are no farther away
	shift   int    // a cell has 2^shift points, more than 2·reach
}

// cell returns the cell of a point of the same circle.
func (p position) cell(at uint64) cell { return cell{p.pattern, at >> p.shift} }

// place sums the bit patterns of the magnitudes. A bit pattern, read as an integer, is a logarithm: exact, increasing, with at most
// 2⁵³ units to a relative difference of 1. So numbers that are near are at most tolerance·2⁵³ < 2¹⁴ units apart. The weights keep
// apart forms that differ by an exchange of numbers.
func place(h Hyperplane) position {
	at, weights := magnitude(h.Const), uint64(1)
	for k, c := range h.Coef {
		weight := uint64(2*k+3) % 16
		at += weight * magnitude(c)
		weights += weight
	}
	reach := weights << 14
	return position{pattern: pattern(h), at: at, reach: reach, shift: bits.Len64(2 * reach)}
}

func magnitude(x float64) uint64 { return math.Float64bits(math.Abs(x)) }

// pattern hashes what coincident forms share exactly: coordinates, signs, and whether the constant is zero. It is FNV-1a by words.
func pattern(h Hyperplane) uint64 {
	const offset, prime = 0xcbf29ce484222325, 0x100000001b3
	hash := (offset ^ sign(h.Const)) * prime
	for k, i := range h.Index {
		hash = (hash ^ uint64(i)<<2 ^ sign(h.Coef[k])) * prime
	}
	return hash
}

// sign returns a different number for a positive x, a negative one and zero, in two bits.
func sign(x float64) uint64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return 2
	}
	return 0
}
