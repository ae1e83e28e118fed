package mixture

import (
	"math/rand/v2"
	"slices"
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

// A hypercube is m draws of n uniform numbers, of which each has one in each of m intervals of equal length (McKay, Beckman and
// Conover, Technometrics 1979). A mean over them has next to no error by what is a sum of functions of one number each, and its
// variance is at most m/(m − 1) times that of independent draws (Owen, Annals of Statistics 1997).
type hypercube struct {
	n   int
	u   []float64 // draws × n
	row []float64 // scratch: one number of all draws
}

// fill makes m draws of n numbers, between 0 and 1.
func (c *hypercube) fill(m, n int, rng *rand.Rand) {
	c.n, c.u, c.row = n, slices.Grow(c.u[:0], m*n)[:m*n], slices.Grow(c.row[:0], m)[:m]
	for i := range n {
		for k := range c.row { // a random permutation
			j := rng.IntN(k + 1)
			c.row[k] = c.row[j]
			c.row[j] = float64(k)
		}
		for k, at := range c.row {
			c.u[k*n+i] = min(max((at+rng.Float64())/float64(m), 0x1p-60), 1-0x1p-53)
		}
	}
}

// draw are the numbers of draw k.
func (c *hypercube) draw(k int) []float64 { return c.u[k*c.n:][:c.n] }
