package kernel

import (
	"math"

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

func sigmoid(x float64) float64 {
	e := vec.ExpOf(-math.Abs(x))
	if x < 0 {
		return 1 / (1 + e) * e
	}
	return 1 / (1 + e)
}

func sigmoidLoop(out, x, _ []float64) {
	decay(out, x)
	for i, e := range out {
		out[i] = sigmoidOf(x[i], e)
	}
}

// sigmoidOf is the sigmoid of x, where e = exp(−|x|). Without a branch: the signs of numbers after each other are like those of coins.
func sigmoidOf(x, e float64) float64 {
	one := math.Float64bits(1)
	by := one ^ (one^math.Float64bits(e))&uint64(int64(math.Float64bits(x))>>63) // e below 0
	return 1 / (1 + e) * math.Float64frombits(by)
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

func softplusLoop(out, x, _ []float64) {
	decay(out, x)
	vec.Log1p(out, out)
	for i, v := range x[:len(out)] {
		out[i] += max(v, 0)
	}
}

func softplusSlopes(out, g, x, _ []float64) {
	decay(out, x)
	for i, e := range out {
		out[i] = gated(g[i], sigmoidOf(x[i], e))
	}
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
	for i, v := range a[:len(out)] {
		out[i] = -math.Abs(v - b[i])
	}
	vec.Exp(out, out)
	vec.Log1p(out, out)
	for i, v := range a[:len(out)] {
		if v == b[i] {
			out[i] = v + math.Ln2
		} else {
			out[i] += max(v, b[i])
		}
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
	for i, v := range a[:len(out)] {
		out[i] = -math.Abs(v - b[i])
	}
	vec.Exp(out, out)
	for i, e := range out {
		share := 1 / (1 + e)
		switch {
		case a[i] == b[i]:
			share = 0.5
		case a[i] < b[i]:
			share *= e
		}
		out[i] = gated(g[i], share)
	}
}
