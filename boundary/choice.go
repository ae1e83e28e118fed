package boundary

import "math/rand/v2"

// A choice draws the guards that each sample uses.
type choice struct {
	s      Settings
	n      int
	factor []float64 // of each jump, planes × N
	prob   []float64 // of choosing a plane
	cum    []float64
	scaled []float64 // one plane's jumps, times their factors
}

func newChoice(s Settings, planes, n int) *choice {
	return &choice{
		s: s, n: n, factor: make([]float64, planes*n), prob: make([]float64, planes), cum: make([]float64, planes),
		scaled: make([]float64, n),
	}
}

// locate finds the probabilities of the planes: those where log r jumps.
func (c *choice) locate(axes []axisPlane, dense []densePlane) {
	clear(c.prob)
	for l := range axes {
		c.prob[axes[l].plane] = c.share(axes[l].w)
	}
	for l := range dense {
		c.prob[dense[l].plane] = c.share(dense[l].w)
	}
	sum := 0.0
	for l, p := range c.prob {
		sum += p
		c.cum[l] = sum
	}
	if sum > 0 {
		for l := range c.prob {
			c.prob[l] /= sum
			c.cum[l] /= sum
		}
	}
}

// share is what the probability of a plane with weight w is proportional to.
func (c *choice) share(w float64) float64 {
	if c.s.By == Uniform {
		return 1
	}
	return w
}

// draw chooses the planes of each sample.
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

// search is the first position whose cumulative probability exceeds u.
func search(cum []float64, u float64) int {
	lo, hi := 0, len(cum)-1
	for lo < hi {
		mid := (lo + hi) / 2
		if cum[mid] > u {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	for lo > 0 && cum[lo-1] == cum[lo] { // u rounded up to 1: step back to a guard that can be chosen
		lo--
	}
	return lo
}

// apply returns the jumps at a plane times their factors; where a factor is 0
// the jump does not count, whatever it is. The jumps stay as they are: constant
// ones are computed once. The result is valid until the next call.
func (c *choice) apply(plane int, delta []float64) []float64 {
	for i, f := range c.factor[plane*c.n:][:c.n] {
		if c.scaled[i] = 0; f != 0 {
			c.scaled[i] = f * delta[i]
		}
	}
	return c.scaled
}
