package regions

import (
	"math"
	"math/bits"
)

// An index finds the planes that coincide with a guard without a look at all of them. It folds the numbers of a form into one position on
// a circle of 2⁶⁴ points, such that coincident forms lie close together, the closer the smaller their errors are. Forms are in layers by
// their errors. A layer cuts the circle into cells at least twice as wide as the distance at which two of its forms can coincide, so
// what coincides with a form lies in one of two cells. What else lies there is told apart by coincide.
type index struct {
	newest  map[cell]int // 1 + the entry last put into the cell
	entries []entry
	used    [layers]bool
}

// An entry is a plane in a cell.
type entry struct {
	plane int
	older int // 1 + the entry put into the cell before it; 0 if none
}

// A cell is a hash of the number of a cell of a layer of the circle of a pattern. It holds the layer's own planes, or those of the layers
// before it.
type cell uint64

// The errors of layer k are below 2^reaches[k] units of 2⁻⁵³, relative to the number. What has been rounded a few times is in layer 0. The
// last layer, of numbers with hardly a digit left, has one cell.
var layerReaches = [layers]int{3, 16, 28, 64}

const layers = 4

// newIndex returns an index of planes.
func newIndex(planes []plane) index {
	x := index{newest: map[cell]int{}}
	for l := range planes {
		o := planes[l].position()
		x.use(o.layer, planes[:l])
		x.insert(o, l)
	}
	return x
}

// find returns the lowest number of a plane that coincides with p, which is at o.
func (x *index) find(p *plane, o position, planes []plane) (l int, ok bool) {
	x.use(o.layer, planes)
	l = len(planes)
	if o.layer > 0 {
		l = x.search(p, o, o.layer, false, planes, l)
	}
	for layer := o.layer; layer < layers; layer++ {
		if x.used[layer] {
			l = x.search(p, o, layer, true, planes, l)
		}
	}
	return l, l < len(planes)
}

// use puts the planes of earlier layers into the cells of this one too, when its first form comes.
func (x *index) use(layer int, planes []plane) {
	if x.used[layer] {
		return
	}
	x.used[layer] = true
	for l := range planes {
		if o := planes[l].position(); o.layer < layer {
			x.put(o, l, layer)
		}
	}
}

// insert puts plane l, which is at o, into its own layer and into the later ones that are used.
func (x *index) insert(o position, l int) {
	for layer := o.layer; layer < layers; layer++ {
		if x.used[layer] {
			x.put(o, l, layer)
		}
	}
}

func (x *index) put(o position, l, layer int) {
	in := o.cell(o.at, layer, layer == o.layer)
	x.entries = append(x.entries, entry{l, x.newest[in]})
	x.newest[in] = len(x.entries)
}

// search returns the lowest number below limit of a plane in the cells of a layer around p that coincides with p, or limit.
func (x *index) search(p *plane, o position, layer int, own bool, planes []plane, limit int) int {
	low, high := o.cell(o.at-o.reach(layer), layer, own), o.cell(o.at+o.reach(layer), layer, own)
	limit = x.searchCell(low, p, planes, limit)
	if high != low {
		limit = x.searchCell(high, p, planes, limit)
	}
	return limit
}

func (x *index) searchCell(in cell, p *plane, planes []plane, limit int) int {
	for next := x.newest[in]; next > 0; next = x.entries[next-1].older {
		if l := x.entries[next-1].plane; l < limit && coincide(&planes[l], p) {
			limit = l
		}
	}
	return limit
}

// position is the place of a form on the circle of its pattern.
type position struct {
	pattern uint64
	at      uint64
	weights uint64
	layer   int
}

// reach is a distance within which forms up to this layer coincide.
func (o position) reach(layer int) uint64 { return o.weights << (layerReaches[layer] + 2) }

// cell returns the cell of a point of the same circle.
func (o position) cell(at uint64, layer int, own bool) cell {
	number := uint64(0)
	if layer < layers-1 {
		number = at >> bits.Len64(2*o.reach(layer)-1)
	}
	kind := uint64(2 * layer)
	if own {
		kind++
	}
	high, low := bits.Mul64(o.pattern^number, 0x9e3779b97f4a7c15+2*kind)
	return cell(high ^ low)
}

// position sums the bit patterns of the magnitudes. A bit pattern, read as an integer, is a logarithm: exact, increasing, with at most
// 2⁵³ units to a relative difference of 1. So two numbers with relative errors of at most ε < 2⁻²⁴ coincide only if they are less than
// 4ε·2⁵³ units apart. The weights keep apart forms that differ by an exchange of numbers. A single coefficient is 1.
func (p *plane) position() position {
	o := position{pattern: p.hash()}
	worst, n := 0.0, len(p.Coef)
	if n == 1 {
		n = 0
	}
	for k := constTerm; k < n; k++ {
		q, weight := math.Abs(p.number(k)), uint64(2*k+3)%16
		o.at += weight * math.Float64bits(q)
		o.weights += weight
		if q > 0 {
			worst = max(worst, p.off(k, false)/q)
		}
	}
	for o.layer < layers-1 && !(worst <= math.Ldexp(1, layerReaches[o.layer]-53)) {
		o.layer++
	}
	return o
}

// hash hashes what coincident forms share exactly: coordinates, signs, and whether the constant is zero. It is FNV-1a by words.
func (h *Hyperplane) hash() uint64 {
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
