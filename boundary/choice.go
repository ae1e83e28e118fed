package boundary

import "math/rand/v2"

// A choice draws the pieces that each sample uses.
type choice struct {
	guards, n int
	factor    []float64 // of each jump, pieces × N
	scaled    []float64 // one piece's jumps, times their factors
}

func newChoice(guards, pieces, n int) *choice {
	return &choice{guards: guards, n: n, factor: make([]float64, pieces*n), scaled: make([]float64, n)}
}

// draw chooses the pieces of each sample.
func (c *choice) draw(rng *rand.Rand) {
	clear(c.factor)
	pieces := len(c.factor) / c.n
	if pieces == 0 {
		return
	}
	for i := range c.n {
		for range c.guards {
			c.factor[rng.IntN(pieces)*c.n+i] += float64(pieces) / float64(c.guards)
		}
	}
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
