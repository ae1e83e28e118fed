package family

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/facetvi/facet/internal/truncnorm"
)

// cubeSize is the number of draws of a hypercube, but of the last one of a part in a batch, which has those that are left.
const cubeSize = 16

// Hypercubes are the sizes of those that DrawParts makes of draws of the given parts, one after the other: all draws of one are of the
// same part, and its sum is independent of the others'.
func Hypercubes(parts []int) (sizes []int) {
	for first := 0; first < len(parts); {
		end := first + 1
		for end < len(parts) && parts[end] == parts[first] {
			end++
		}
		for ; end-first >= 2*cubeSize; first += cubeSize {
			sizes = append(sizes, cubeSize)
		}
		sizes = append(sizes, end-first)
		first = end
	}
	return sizes
}

// A hypercube is m draws of some uniform numbers, of which each has one in each of m intervals of equal length (McKay, Beckman and
// Conover, Technometrics 1979). A mean over them has next to no error by what is a sum of functions of one number each, and its
// variance is at most m/(m − 1) times that of independent draws (Owen, Annals of Statistics 1997).
type hypercube struct {
	m int
	u []float64 // numbers × m
	// in are the last intervals of confined latents.
	in []truncnorm.Interval
}

// fill makes m draws of n numbers, between 0 and 1.
func (c *hypercube) fill(m, n int, rng *rand.Rand) {
	c.m = m
	c.u = slices.Grow(c.u[:0], m*n)[:m*n]
	for row := range slices.Chunk(c.u, m) {
		for k := range row { // a random permutation
			j := rng.IntN(k + 1)
			row[k] = row[j]
			row[j] = float64(k)
		}
		for k, at := range row {
			row[k] = min(max((at+rng.Float64())/float64(m), 0x1p-60), 1-0x1p-53)
		}
	}
}

// draw sets z to draw k of q, whose noise its numbers make, and returns log q(z); or to an independent one, and NaN, if q does not draw by a
// noise for each latent.
func (c *hypercube) draw(q Q, z []float64, k int, rng *rand.Rand) (log float64) {
	square, mass := 0.0, 1.0
	switch q := q.(type) {
	case *Normal:
		for i := range z {
			t := mathext.NormalQuantile(c.u[i*c.m+k])
			if q.put(i, z, t); i >= q.points {
				square += t * t
			}
		}
		return 0.5*(float64(len(z)-q.points)-square) - q.Entropy()
	case *confined:
		c.in = slices.Grow(c.in[:0], len(z))[:len(z)]
		for i := range z {
			in := &c.in[i]
			t := q.putQuantile(i, z, c.u[i*c.m+k], in)
			if i >= q.normal.points {
				square += t * t
			}
			if q.truncations[i] != nil {
				log -= times(&mass, in.Mass(), in.Lo, in.Hi)
			}
		}
		return log - math.Log(mass) + 0.5*(float64(len(z)-q.normal.points)-square) - q.normal.Entropy()
	}
	q.Rand(z, rng)
	return math.NaN()
}
