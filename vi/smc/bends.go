package smc

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A bend is the walls Φ(z) = c of one function Φ of the latents that is not affine, one for each threshold c. On its straight way a
// point is between two thresholds, and meets the wall of the one or of the other where Φ comes to it: a root that is found to the last bits.
// The normal there is the gradient of Φ; all else is as at an affine wall, for the map from before a wall to behind it keeps
// volumes whatever its shape is.
//
// A point that goes through a wall and comes back within a step does not pay, and does not on its way back either.
type bend struct {
	latents []int
	walls   []int     // by threshold
	at      []float64 // the thresholds, ascending
	above   []int     // by column: how many of them it is above

	all, one *regions.CurveBatch // Φ of the points of a batch, and of the column
	ends     [][]float64         // where these get to, latents of Φ × n
	here     [][]float64         // and the column, × 1
	slopes   [][]float64         // ∇Φ there
	normal   []float64           // and for all latents
	reach    []float64           // C·∇Φ
	room     []float64
}

func newBend(c *regions.Curve, n, dim int) *bend {
	b := &bend{latents: c.Latents(), all: c.Bind(n), one: c.Bind(1), above: make([]int, n)}
	b.normal, b.reach, b.room = make([]float64, dim), make([]float64, dim), make([]float64, dim)
	for j := range b.latents {
		b.ends, b.here = append(b.ends, make([]float64, n)), append(b.here, make([]float64, 1))
		b.all.In[j], b.one.In[j] = b.ends[j], b.here[j]
	}
	return b
}

// begin counts the thresholds that points are above; plane are those of walls.
func (b *bend) begin(signs []float64, plane []int, n int) {
	clear(b.above)
	for _, l := range b.walls {
		for i, sign := range signs[plane[l]*n:][:n] {
			b.above[i] += int(sign)
		}
	}
}

// hits notes which points are behind another wall after a time than they were.
func (b *bend) hits(hit []bool, f *flight, time float64) {
	n := f.of
	for k, i := range b.latents {
		vec.Affine2(b.ends[k], f.z[i*n:][:n], f.v[i*n:][:n], 1, time, 0)
	}
	for i, x := range b.all.Values() {
		if b.leaves(i, x) != 0 {
			hit[i] = true
		}
	}
}

// leaves is 1 or −1 if Φ = x is above or below the thresholds that a column is between, 0 if not.
func (b *bend) leaves(column int, x float64) float64 {
	switch k := b.above[column]; {
	case k < len(b.at) && x > b.at[k]:
		return 1
	case k > 0 && !(x > b.at[k-1]):
		return -1
	}
	return 0
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

// next is the wall that the column meets first, and when, NaN if that is not known; −1 if that is not until then.
func (b *bend) next(f *flight, until float64) (wall int, when float64) {
	end := b.value(f, until)
	if math.IsNaN(end) {
		return b.walls[0], end
	}
	up, k := b.leaves(f.column, end), b.above[f.column]
	switch up {
	case 0:
		return -1, 0
	case -1:
		k--
	}
	wall = b.walls[k]
	beyond := func(t float64) float64 { return up * (b.value(f, t) - b.at[k]) }
	from, met := f.time, f.last == wall
	if met {
		from += justAfter * (until - from)
	}
	switch begin := beyond(from); {
	case begin < 0:
		return wall, regions.Root(beyond, from, begin, until, up*(end-b.at[k]))
	case met:
		return wall, math.NaN()
	}
	return wall, f.time
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
