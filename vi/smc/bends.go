package smc

import (
	"math"

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
	here     [][]float64         // the latents of Φ at the column, × 1
	up       float64             // 1 or −1 where Φ of it goes up or down to the next wall
	push     push                // along ∇Φ there
}

func newBend(c *regions.Curve, of *levels, n int) *bend {
	b := &bend{levels: of, number: len(of.from), latents: c.Latents(), all: c.Bind(n), one: c.Bind(1)}
	b.push.a = make([]float64, len(b.latents))
	for j, i := range b.latents {
		b.push.latents = append(b.push.latents, int32(i))
		b.here = append(b.here, make([]float64, 1))
		b.one.In[j] = b.here[j]
	}
	return b
}

// hits notes which points end behind another wall than they were.
func (b *bend) hits(hit []bool, f *flight) {
	for k, i := range b.latents {
		b.all.In[k] = f.z[i*f.of:][:f.of]
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
	f.settle()
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
	_, ahead := b.ahead(f.column, b.number, up)
	from, met := f.time, f.last == ahead
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

// meet is the speed of Φ where the column meets a wall.
func (b *bend) meet(f *flight) (s float64) {
	b.value(f, f.time)
	for k, slope := range b.one.Slopes() {
		b.push.a[k] = slope[0]
		s += slope[0] * f.velocity(b.latents[k])
	}
	return s
}
