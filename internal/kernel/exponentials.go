package kernel

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/vec"
)

// Functions that are made of exponentials, of one number and in loops, which do the same arithmetic. What a loop reads is none
// of out.

// decay is exp(−|x|).
func decay(out, x []float64) {
	for i, v := range x[:len(out)] {
		out[i] = -math.Abs(v)
	}
	vec.Exp(out, out)
}

func sigmoid(x float64) float64 { return 1 / (1 + vec.ExpOf(-x)) }

func sigmoidLoop(out, x, _ []float64) {
	growth(out, x)
	shares(out)
}

// shares makes 1/(1 + e) of each e.
func shares(out []float64) {
	vec.Affine(out, out, 1, 1)
	for len(out) > 0 {
		n := min(part, len(out))
		vec.Div(out[:n], ones[:n], out)
		out = out[n:]
	}
}

// zeros and ones are as many as a loop takes at a time.
var zeros, ones = [part]float64{}, [part]float64(slices.Repeat([]float64{1}, part))

// growth is exp(−x).
func growth(out, x []float64) {
	vec.Affine(out, x[:len(out)], -1, 0)
	vec.Exp(out, out)
}

func sigmoidSlope(x, _ float64) float64 {
	e := vec.ExpOf(-math.Abs(x))
	return e / ((1 + e) * (1 + e))
}

func sigmoidSlopes(out, g, x, _ []float64) {
	decay(out, x)
	for i, e := range out {
		out[i] = gated(g[i], e/((1+e)*(1+e)))
	}
}

// softplus is exact to rounding for every x.
func softplus(x float64) float64 {
	return vec.Log1pOf(vec.ExpOf(-math.Abs(x))) + max(x, 0)
}

// softplusLoop is logAddLoop beside zeros.
func softplusLoop(out, x, _ []float64) {
	for len(out) > 0 {
		n := min(part, len(out))
		logAddLoop(out[:n], x[:n], zeros[:n])
		out, x = out[n:], x[n:]
	}
}

func softplusSlopes(out, g, x, _ []float64) {
	growth(out, x)
	shares(out)
	vec.GatedMul(out, g, out, 1)
}

// gated is g times a slope, and 0 where g is 0.
func gated(g, slope float64) float64 {
	if g == 0 {
		return 0
	}
	return g * slope
}

func logLoop(out, x, _ []float64) { vec.Log(out, x) }

// logAddExp is log(eᵃ + eᵇ).
func logAddExp(a, b float64) float64 {
	if a == b { // also where both are infinite
		return a + math.Ln2
	}
	return vec.Log1pOf(vec.ExpOf(-math.Abs(a-b))) + max(a, b)
}

func logAddLoop(out, a, b []float64) {
	var top [part]float64
	for len(out) > 0 {
		n := min(part, len(out))
		vec.Larger(top[:n], out[:n], a, b)
		vec.Exp(out[:n], out)
		vec.Log1p(out[:n], out)
		vec.Add(out[:n], out, top[:])
		out, a, b = out[n:], a[n:], b[n:]
	}
}

// logAddSlopeA is the share of eᵃ in eᵃ + eᵇ.
func logAddSlopeA(a, b, _ float64) float64 {
	if a == b {
		return 0.5
	}
	return sigmoid(a - b)
}

func logAddSlopeB(a, b, y float64) float64 { return logAddSlopeA(b, a, y) }

func logAddSlopesB(out, g, a, b, y []float64) { logAddSlopesA(out, g, b, a, y) }

func logAddSlopesA(out, g, a, b, _ []float64) {
	vec.Affine2(out, b[:len(out)], a[:len(out)], 1, -1, 0)
	vec.Exp(out, out)
	shares(out)
	vec.GatedMul(out, g, out, 1)
	for i, x := range out {
		if x != x && a[i] == b[i] { // both are infinite
			out[i] = gated(g[i], 0.5)
		}
	}
}
