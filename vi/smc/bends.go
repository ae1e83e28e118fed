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

	all, one *regions.CurveBatch // Φ of the points of a batch, and of the column
	ends     [][]float64         // where these get to, latents of Φ × n
	here     [][]float64         // and the column, × 1
	slopes   [][]float64         // ∇Φ there
	normal   []float64           // and for all latents
	room     []float64
}

func newBend(c *regions.Curve, n, dim int) *bend {
	b := &bend{latents: c.Latents(), all: c.Bind(n), one: c.Bind(1), normal: make([]float64, dim), room: make([]float64, dim)}
	for j := range b.latents {
		b.ends, b.here = append(b.ends, make([]float64, n)), append(b.here, make([]float64, 1))
		b.all.In[j], b.one.In[j] = b.ends[j], b.here[j]
	}
	return b
}

// hits notes which points are behind another wall after a time than they were; plane are those of walls.
func (b *bend) hits(hit []bool, f *flight, plane []int, signs []float64, time float64) {
	n := f.of
	for k, i := range b.latents {
		vec.Affine2(b.ends[k], f.z[i*n:][:n], f.v[i*n:][:n], 1, time, 0)
	}
	values := b.all.Values()
	for k, l := range b.walls {
		sign := signs[plane[l]*n:][:n]
		for i, x := range values {
			if (x > b.at[k]) != (sign[i] == 1) {
				hit[i] = true
			}
		}
	}
}

// value is Φ where the column is after a time, if it meets no wall until then.
func (b *bend) value(f *flight, after float64) float64 {
	for k, i := range b.latents {
		b.here[k][0] = f.latent(i, f.time+after)
	}
	return b.one.Values()[0]
}

// justAfter a wall, as a share of the time that is left, a point is no longer on it.
const justAfter = 1e-9

// next is the wall that the column meets first, and after what time, NaN if that is not known; −1 if that is not within the time that is left.
func (b *bend) next(f *flight, left float64) (wall int, after float64) {
	above := 0 // those that the column is above
	for above < len(b.walls) && f.side[b.walls[above]] > 0 {
		above++
	}
	end, up, k := b.value(f, left), 1.0, above
	switch {
	case math.IsNaN(end):
		return b.walls[0], end
	case above < len(b.at) && end > b.at[above]:
	case above > 0 && end <= b.at[above-1]:
		up, k = -1, above-1
	default:
		return -1, 0
	}
	wall = b.walls[k]
	beyond := func(t float64) float64 { return up * (b.value(f, t) - b.at[k]) }
	from, met := 0.0, len(f.events) > 0 && f.events[len(f.events)-1].wall == wall
	if met {
		from = justAfter * left
	}
	switch begin := beyond(from); {
	case begin < 0:
		return wall, regions.Root(beyond, from, begin, left, up*(end-b.at[k]))
	case met:
		return wall, math.NaN()
	}
	return wall, 0
}

// meet is the speed s of Φ where the column meets a wall, with q = ∇Φᵀ·C·∇Φ and reach = C·∇Φ.
func (b *bend) meet(f *flight, covariance *linear, reach []float64) (s, q float64) {
	b.value(f, 0)
	b.slopes = b.one.Slopes()
	for k, i := range b.latents {
		b.normal[i] = b.slopes[k][0]
		s += b.slopes[k][0] * f.velocity(i)
	}
	covariance.apply(reach, b.normal, b.room, 1)
	for k, i := range b.latents {
		q += b.slopes[k][0] * reach[i]
	}
	return s, q
}
