package smc

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A bend is a function Φ with levels that is not affine. On its straight way a
// point meets the wall of the one threshold that it is between or of the other where Φ comes to it: a root that is found to the last bits.
// The normal there is the gradient of Φ; all else is as at an affine wall, for the map from before a wall to behind it keeps
// volumes whatever its shape is.
//
// A point that goes through a wall and comes back within a step does not pay, and does not on its way back either.
type bend struct {
	*levels
	number  int // of Φ among theirs
	latents []int

	all, one *regions.CurveBatch // Φ of the points of a batch, and of the column
	ends     [][]float64         // where these get to, latents of Φ × n
	here     [][]float64         // and the column, × 1
	up       float64             // 1 or −1 where Φ of it goes up or down to the next wall
	slopes   [][]float64         // ∇Φ there
	normal   []float64           // and for all latents
	reach    []float64           // C·∇Φ
	room     []float64
}

func newBend(c *regions.Curve, of *levels, n, dim int) *bend {
	b := &bend{levels: of, number: len(of.from), latents: c.Latents(), all: c.Bind(n), one: c.Bind(1)}
	b.normal, b.reach, b.room = make([]float64, dim), make([]float64, dim), make([]float64, dim)
	for j := range b.latents {
		b.ends, b.here = append(b.ends, make([]float64, n)), append(b.here, make([]float64, 1))
		b.all.In[j], b.one.In[j] = b.ends[j], b.here[j]
	}
	return b
}

// hits notes which points are behind another wall after a time than they were.
func (b *bend) hits(hit []bool, f *flight, time float64) {
	n := f.of
	for k, i := range b.latents {
		vec.Affine2(b.ends[k], f.z[i*n:][:n], f.v[i*n:][:n], 1, time, 0)
	}
	for i, x := range b.all.Values() {
		if b.leaves(i, b.number, x) != 0 {
			hit[i] = true
		}
	}
}

// value is Φ where the column is at a time, if it meets no wall until then.
func (b *bend) value(f *flight, time float64) float64 {
	for k, i := range b.latents {
		b.here[k][0] = f.latent(i, time)
	}
	return b.one.Values()[0]
}

// justAfter a wall, as a share of the time that is left, a point is no longer on it.
const justAfter = 1e-9

// next is when the column meets a wall, NaN if that is not known; it meets none if that is not until then.
func (b *bend) next(f *flight, until float64) (when float64, meets bool) {
	end := b.value(f, until)
	if math.IsNaN(end) {
		return end, true
	}
	up := b.leaves(f.column, b.number, end)
	if b.up = up; up == 0 {
		return 0, false
	}
	threshold := b.at[b.of(f.column, b.number)+int(up+1)/2]
	beyond := func(t float64) float64 { return up * (b.value(f, t) - threshold) }
	from, met := f.time, f.last == b.ahead(f.column, b.number, up)
	if met {
		from += justAfter * (until - from)
	}
	switch begin := beyond(from); {
	case begin < 0:
		return regions.Root(beyond, from, begin, until, up*(end-threshold)), true
	case met:
		return math.NaN(), true
	}
	return f.time, true
}

// meet is the speed s of Φ where the column meets a wall, with q = ∇Φᵀ·C·∇Φ.
func (b *bend) meet(f *flight, covariance *linear) (s, q float64) {
	b.value(f, f.time)
	b.slopes = b.one.Slopes()
	for k, i := range b.latents {
		b.normal[i] = b.slopes[k][0]
		s += b.slopes[k][0] * f.velocity(i)
	}
	covariance.apply(b.reach, b.normal, b.room, 1)
	for k, i := range b.latents {
		q += b.slopes[k][0] * b.reach[i]
	}
	return s, q
}
