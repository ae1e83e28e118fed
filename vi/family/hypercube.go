package family

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"
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

// draw sets z to draw k of q, whose noise its numbers make; to an independent one if q does not draw by a noise for each latent.
func (c *hypercube) draw(q Q, z []float64, k int, rng *rand.Rand) {
	var put func(i int, z []float64, eps float64)
	switch q := q.(type) {
	case *Normal:
		put = q.put
	case *confined:
		put = q.put
	}
	if put == nil {
		q.Rand(z, rng)
		return
	}
	for i := range z {
		put(i, z, mathext.NormalQuantile(c.u[i*c.m+k]))
	}
}
