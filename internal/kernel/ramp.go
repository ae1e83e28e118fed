package kernel

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// The ramp rises from 0 to about x, and its slope from 0 to 1 about as Φ(x):
//
//	f(x) = exp(−w²/2)/w,    f′(x) = exp(−w²/2),    1/w − w = x

// The w > 0 of x is vec.PoleOf.

func ramp(x float64) float64 {
	w, inverse := vec.PoleOf(x)
	return vec.ExpOf(-0.5*float64(w*w)) * inverse
}

func rampLoop(out, x, _ []float64) {
	var inverses [64]float64
	for len(out) > 0 {
		n := min(len(out), len(inverses))
		y := out[:n]
		vec.Poles(y, inverses[:n], x[:n])
		vec.Gauss(y, y, 1)
		vec.Mul(y, y, inverses[:n])
		out, x = out[n:], x[n:]
	}
}

func rampSlope(x, y float64) float64 {
	w, _ := vec.PoleOf(x)
	return y * w
}

func rampSlopes(out, g, x, y []float64) {
	for i, g := range g {
		out[i] = gated(g, rampSlope(x[i], y[i]))
	}
}

// rampInverse has v·exp(v) = 1/y² for v = w²: a rough v, and two steps of the iteration of Fritsch, Shafer and Crowley (Comm. ACM 16, 1973).
func rampInverse(y float64) float64 {
	log := vec.LogOf(y)
	v := roughPole(y, log)
	for range 2 {
		v = nearerPole(v, log, vec.LogOf(v))
	}
	return rampAt(v, y, log)
}

// roughPole is about v, given y and its logarithm.
func roughPole(y, log float64) float64 {
	switch c := -2 * log; { // v + log v
	case c > 6:
		return c - vec.LogOf(c)
	case c > -1:
		return 1 + (c-1)*(0.5+(c-1)*(1./16-(c-1)/192))
	default:
		return 1 / (1 + y*y)
	}
}

func nearerPole(v, log, logV float64) float64 {
	z := -2*log - v - logV
	p := 2 * (1 + v) * (1 + v + 2./3*z)
	return v + v*z*(p-z)/((1+v)*(p-2*z))
}

// rampAt is x, given v and what is known of y. Of y > 1e11 it is y.
func rampAt(v, y, log float64) float64 {
	switch {
	case log > 25:
		return y
	case log < -math.MaxFloat64:
		return log
	}
	w := math.Sqrt(v)
	return 1/w - w
}

// logRampSlope is log f′(x).
func logRampSlope(x float64) float64 {
	w, _ := vec.PoleOf(x)
	return -0.5 * w * w
}

func logRampSlopeLoop(out, x, _ []float64) {
	var inverses [64]float64
	for len(out) > 0 {
		n := min(len(out), len(inverses))
		y := out[:n]
		vec.Poles(y, inverses[:n], x[:n])
		vec.Mul(y, y, y)
		vec.Affine(y, y, -0.5, 0)
		out, x = out[n:], x[n:]
	}
}

func logRampSlopeSlope(x, _ float64) float64 {
	w, inverse := vec.PoleOf(x)
	return w / (1 + inverse*inverse)
}

func logRampSlopeSlopes(out, g, x, y []float64) {
	for i, g := range g {
		out[i] = gated(g, logRampSlopeSlope(x[i], y[i]))
	}
}
