package boundary

import (
	"math/rand/v2"
	"sort"
)

// A choice draws the pieces that each sample uses.
type choice struct {
	s      Settings
	n      int
	factor []float64 // of each jump, pieces × N
	prob   []float64 // of choosing a piece
	cum    []float64
	scaled []float64 // one piece's jumps, times their factors
}

func newChoice(s Settings, pieces, n int) *choice {
	return &choice{
		s: s, n: n, factor: make([]float64, pieces*n), prob: make([]float64, pieces), cum: make([]float64, pieces),
		scaled: make([]float64, n),
	}
}

// locate finds the probabilities of the pieces.
func (c *choice) locate(surface Surface) {
	sum := 0.0
	for k := range c.prob {
		c.prob[k] = 1
		if c.s.By == ByWeight {
			c.prob[k] = surface.Density(k)
		}
		sum += c.prob[k]
		c.cum[k] = sum
	}
	if sum > 0 {
		for k := range c.prob {
			c.prob[k] /= sum
			c.cum[k] /= sum
		}
	}
}

// draw chooses the pieces of each sample.
func (c *choice) draw(rng *rand.Rand) {
	clear(c.factor)
	if len(c.cum) == 0 || c.cum[len(c.cum)-1] == 0 {
		return
	}
	for i := range c.n {
		for range c.s.Guards {
			l := search(c.cum, rng.Float64())
			c.factor[l*c.n+i] += 1 / (c.prob[l] * float64(c.s.Guards))
		}
	}
}

// search is the first piece whose cumulative probability exceeds u; if rounding
// left u above them all, the last that can be chosen.
func search(cum []float64, u float64) int {
	last := cum[len(cum)-1]
	if u >= last {
		return sort.SearchFloat64s(cum, last)
	}
	return sort.Search(len(cum), func(k int) bool { return cum[k] > u })
}

// apply returns the jumps at a piece times their factors; where a factor is 0
// the jump does not count, whatever it is. The jumps stay as they are: constant
// ones are computed once. The result is valid until the next call.
func (c *choice) apply(piece int, delta []float64) []float64 {
	for i, f := range c.factor[piece*c.n:][:c.n] {
		if c.scaled[i] = 0; f != 0 {
			c.scaled[i] = f * delta[i]
		}
	}
	return c.scaled
}
