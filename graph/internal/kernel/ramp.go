package kernel

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// The ramp rises from 0 to about x, and its slope from 0 to 1 about as Φ(x):
//
//	f(x) = exp(−w²/2)/w,    f′(x) = exp(−w²/2),    1/w − w = x

// rampPole is the w > 0 of x.
func rampPole(x float64) float64 {
	if r := math.Sqrt(x*x + 4); x > 0 {
		return 2 / (r + x)
	} else {
		return 0.5 * (r - x)
	}
}

func ramp(x float64) float64 {
	w := rampPole(x)
	return vec.ExpOf(-0.5*w*w) / w
}

func rampLoop(out, x, _ []float64) {
	logRampSlopeLoop(out, x, nil)
	vec.Exp(out, out)
	for i, x := range x {
		out[i] /= rampPole(x)
	}
}

func rampSlope(x, y float64) float64 { return y * rampPole(x) }

func rampSlopes(out, g, x, y []float64) {
	for i, g := range g {
		out[i] = gated(g, rampSlope(x[i], y[i]))
	}
}

// rampInverse has v·exp(v) = 1/y² for v = w²: a rough v, and two steps of the iteration of Fritsch, Shafer and Crowley (Comm. ACM 16, 1973).
func rampInverse(y float64) float64 {
	if y < 0 {
		return math.NaN()
	}
	c := -2 * vec.LogOf(y) // v + log v
	v := 1 / (y * y)
	switch {
	case math.IsInf(c, 1):
		return -c
	case c > 6:
		v = c - vec.LogOf(c)
	case c > -1:
		v = 1 + (c-1)*(0.5+(c-1)*(1./16-(c-1)/192))
	case c > -50:
		v /= 1 + v
	default:
		return y
	}
	for range 2 {
		z := c - v - vec.LogOf(v)
		p := 2 * (1 + v) * (1 + v + 2./3*z)
		v += v * z / (1 + v) * (p - z) / (p - 2*z)
	}
	w := math.Sqrt(v)
	return 1/w - w
}

// logRampSlope is log f′(x).
func logRampSlope(x float64) float64 {
	w := rampPole(x)
	return -0.5 * w * w
}

func logRampSlopeLoop(out, x, _ []float64) {
	for i, x := range x[:len(out)] {
		out[i] = logRampSlope(x)
	}
}

func logRampSlopeSlope(x, _ float64) float64 {
	w := rampPole(x)
	return w / (1 + 1/(w*w))
}

func logRampSlopeSlopes(out, g, x, y []float64) {
	for i, g := range g {
		out[i] = gated(g, logRampSlopeSlope(x[i], y[i]))
	}
}
