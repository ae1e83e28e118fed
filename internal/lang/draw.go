package lang

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Draw is a draw from d with the given parameters: in the unconstrained
// coordinate if d has a transform. It is finite, or NaN if the parameters have
// no meaning.
func (d Dist) Draw(p []float64, rng *rand.Rand) float64 {
	if d.excludes(p) {
		return math.NaN()
	}
	x := d.law.rand(p, rng)
	if !math.IsInf(x, 0) {
		return x
	}
	switch s := d.Support(); { // a parameter was rounded to the edge of its range, or is far out
	case s.whole:
		return math.NaN()
	case x > 0:
		return s.greatest
	default:
		return s.least
	}
}

// excludes reports whether parameters have no meaning.
func (d Dist) excludes(p []float64) bool {
	for i, v := range p {
		if d.law.params[i].rule.excludes(v) {
			return true
		}
	}
	return false
}

// draws is draw for each number of dst, with the parameters p.
func (d Dist) draws(dst []float64, p func(k int) []float64, rng *rand.Rand) {
	for k := range dst {
		dst[k] = d.Draw(p(k), rng)
	}
}

// FromCoordinate maps a draw to the support. Where the transform rounds to an edge that
// is not in the support, it returns the nearest number that is.
func (d Dist) FromCoordinate(u float64) float64 {
	if !d.Transformed() || math.IsNaN(u) {
		return u
	}
	s := d.Support()
	return s.nearest(s.value(s, u))
}

// unitRand is uniform on (0, 1), never 0 or 1.
func unitRand(rng *rand.Rand) float64 { return (float64(rng.Uint64()>>12) + 0.5) * 0x1p-52 }

// logitRand is a draw of the standard logistic distribution.
func logitRand(rng *rand.Rand) float64 {
	u := unitRand(rng)
	return math.Log(u) - math.Log1p(-u)
}

// expRand is a draw of the exponential distribution with rate 1, never 0.
func expRand(rng *rand.Rand) float64 { return -math.Log(unitRand(rng)) }

// logHalfNormalRand is log |x| for a standard normal x.
func logHalfNormalRand(rng *rand.Rand) float64 {
	for {
		if x := rng.NormFloat64(); x != 0 { // the ziggurat can give 0
			return math.Log(math.Abs(x))
		}
	}
}

// logGammaRand is the logarithm of a draw of the gamma distribution with shape
// alpha and rate 1. For a shape below 1 it raises a draw of shape alpha + 1 to
// the power that takes it down (Marsaglia and Tsang 2000, section 6), in
// logarithms, where it cannot underflow.
func logGammaRand(alpha float64, rng *rand.Rand) float64 {
	if alpha < 1 {
		return logGammaRand(alpha+1, rng) - expRand(rng)/alpha
	}
	for {
		if g := (distuv.Gamma{Alpha: alpha, Beta: 1, Src: rng}).Rand(); g > 0 {
			return math.Log(g)
		}
	}
}
