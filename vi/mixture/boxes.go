package mixture

import (
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"

	"github.com/facetvi/facet/vi/family"
)

// boxes tell fast at which parts of a mixture there may be a density at a point: by those of their sides that bound one latent by a
// number. The ends of the intervals of all parts cut the latent's line into pieces; for each piece there is a set of parts.
type boxes struct {
	of   []family.Q // with sides that do not change
	once sync.Once
	list []boxLatent // at most mostBoxLatents, made when they are asked for first
}

// A boxLatent has the set of parts in piece i, from cut i−1 to cut i, at words [i·n, (i+1)·n) of n.
type boxLatent struct {
	latent int
	cuts   []float64
	sets   []uint64
}

const (
	mostBoxLatents = 48      // those with the most pieces tell the most
	mostBoxWords   = 1 << 17 // of a latent; with fewer cuts a set is larger, and holds what it must
)

// A boxSide is the interval of a latent in a part, wider by more than what rounding lets in.
type boxSide struct {
	latent, part int
	lo, hi       float64
}

func (b *boxes) make() {
	var few [64]boxSide
	sides := few[:0]
	for k, q := range b.of {
		if q, ok := q.(family.Truncated); ok {
			sides = appendBox(sides, k, q.Sides())
		}
	}
	slices.SortStableFunc(sides, func(x, y boxSide) int { return x.latent - y.latent })
	for len(sides) > 0 {
		n := sort.Search(len(sides), func(i int) bool { return sides[i].latent > sides[0].latent })
		b.list = append(b.list, newBoxLatent(sides[:n], len(b.of)))
		sides = sides[n:]
	}
	slices.SortStableFunc(b.list, func(x, y boxLatent) int { return len(y.cuts) - len(x.cuts) })
	b.list = b.list[:min(len(b.list), mostBoxLatents)]
}

// appendBox adds the intervals of a part's latents. Sides of one latent follow each other.
func appendBox(list []boxSide, part int, sides []family.Side) []boxSide {
	wider := func(at float64) float64 { return 1e-12*math.Abs(at) + 1e-300 }
	for _, s := range sides {
		lo, hi := s.Interval()
		if math.IsInf(lo, -1) && math.IsInf(hi, 1) {
			continue
		}
		lo, hi = lo-wider(lo), hi+wider(hi)
		if n := len(list) - 1; n >= 0 && list[n].part == part && list[n].latent == s.Index[0] {
			list[n].lo, list[n].hi = max(list[n].lo, lo), min(list[n].hi, hi)
		} else {
			list = append(list, boxSide{s.Index[0], part, lo, hi})
		}
	}
	return list
}

// newBoxLatent is of the sides of one latent.
func newBoxLatent(sides []boxSide, parts int) boxLatent {
	l := boxLatent{latent: sides[0].latent, cuts: make([]float64, 0, 2*len(sides))}
	for _, s := range sides {
		for _, at := range [...]float64{s.lo, s.hi} {
			if !math.IsInf(at, 0) {
				l.cuts = append(l.cuts, at)
			}
		}
	}
	slices.Sort(l.cuts)
	l.cuts = slices.Compact(l.cuts)
	n := words(parts)
	if step := 1 + len(l.cuts)*n/mostBoxWords; step > 1 {
		few := l.cuts[:0]
		for i := 0; i < len(l.cuts); i += step {
			few = append(few, l.cuts[i])
		}
		l.cuts = few
	}
	l.sets = make([]uint64, (len(l.cuts)+1)*n)
	free := l.sets[:n] // parts that the latent does not bound
	for k := range parts {
		free[k/64] |= 1 << (k % 64)
	}
	for _, s := range sides {
		free[s.part/64] &^= 1 << (s.part % 64)
	}
	for i := range l.cuts {
		copy(l.sets[(i+1)*n:], free)
	}
	for _, s := range sides {
		for i := l.piece(s.lo); i <= len(l.cuts) && (i == 0 || l.cuts[i-1] < s.hi); i++ {
			l.sets[i*n+s.part/64] |= 1 << (s.part % 64)
		}
	}
	return l
}

func words(parts int) int { return (parts + 63) / 64 }

// piece is the number of cuts at or below x.
func (l *boxLatent) piece(x float64) int {
	return sort.Search(len(l.cuts), func(i int) bool { return x < l.cuts[i] })
}

// A place is where in the sets of each latent of boxes a point is, as far as there are any.
type place [mostBoxLatents]int

// put makes p that of point k of n, latents × n.
func (p *place) put(b *boxes, z []float64, n, k int) {
	b.once.Do(b.make)
	for i := range b.list {
		p[i] = b.list[i].piece(z[b.list[i].latent*n+k]) * words(len(b.of))
	}
}

// same reports whether p is the place of point k of n, too.
func (p *place) same(b *boxes, z []float64, n, k int) bool {
	for i := range b.list {
		if p[i] != b.list[i].piece(z[b.list[i].latent*n+k])*words(len(b.of)) {
			return false
		}
	}
	return true
}

// each visits the parts that may have a density at a place, in their order.
func (b *boxes) each(from *place, visit func(k int)) {
	n := words(len(b.of))
	for w := range n {
		set := ^uint64(0)
		if left := len(b.of) - 64*w; left < 64 {
			set = 1<<left - 1
		}
		for i := range b.list {
			if set &= b.list[i].sets[from[i]+w]; set == 0 {
				break
			}
		}
		for ; set != 0; set &= set - 1 {
			visit(64*w + bits.TrailingZeros64(set))
		}
	}
}
