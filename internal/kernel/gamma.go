package kernel

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// A series is Σ_k c_k/x²ᵏ⁻¹, k = 1, 2, …, 8. Stirling's has c_k = B₂ₖ/(2k(2k−1)):
//
//	log Γ(x) = (x − ½) log x − x + ½ log 2π + Σ_k c_k/x²ᵏ⁻¹
//
// From x = manyTerms on, what is left out is below 1e-17.
type series [8]float64

const (
	manyTerms  = 10
	halfLog2Pi = 0.91893853320467274178
)

var stirlings = series{1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360, 1. / 156, -3617. / 122400}

// ratios make the series of log Γ(x+½) − log Γ(x) − ½ log x: −(2 − 2¹⁻²ᵏ)·c_k.
var ratios = func() (c series) {
	for i := range c {
		c[i] = (math.Ldexp(0.5, -2*i) - 2) * stirlings[i]
	}
	return c
}()

func (c *series) at(x float64) float64 {
	square, sum := 1/x/x, 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = sum*square + c[i]
	}
	return sum / x
}

// slope is the derivative at x.
func (c *series) slope(x float64) float64 {
	square, sum := 1/x/x, 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = sum*square - float64(2*i+1)*c[i]
	}
	return sum * square
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// digamma is d/dx log Γ(x) for x > 0, to about 1e-15, by
//
//	ψ(x) = ψ(x+1) − 1/x    and    ψ(x) = log x − 1/(2x) + Σ_k …
//
// for large x, the derivative of Stirling's series.
func digamma(x float64) float64 {
	if !(x > 0) {
		return math.NaN()
	}
	sum := 0.0
	for ; x < manyTerms; x++ {
		sum += 1 / x
	}
	return math.Log(x) - 0.5/x + stirlings.slope(x) - sum
}

// stirling is log(xˣe⁻ˣ/Γ(1+x)) for x ≥ 0, the log probability of a Poisson count
// x at its mean: about −½ log 2πx where x is large. Where x is small its error is
// below 1e-16, as 1 + x is rounded.
func stirling(x float64) float64 {
	switch {
	case x == 0:
		return 0
	case x < manyTerms:
		return x*(math.Log(x)-1) - lgamma(1+x)
	}
	return -0.5*math.Log(x) - halfLog2Pi - stirlings.at(x)
}

// stirlingSlope is log x − ψ(1+x). It has no cancellation, as the terms of its
// recurrence have one sign:
//
//	f(x) = f(x+1) + log(1 − s) + s    for s = 1/(x+1)
func stirlingSlope(x, _ float64) float64 {
	sum := 0.0
	if x < 1 {
		sum = 1/(x+1) - math.Log1p(1/x)
		x++
	}
	for ; x < manyTerms; x++ {
		sum += log1pmx(-1 / (x + 1))
	}
	return sum - 0.5/x - stirlings.slope(x)
}

// gammaRatio is log(Γ(x+½)/(Γ(x)·√x)) for x > 0. It has no cancellation, as the
// terms of its recurrence have one sign:
//
//	f(x) = f(x+1) − ½ log(1 + 1/(4x(x+1)))
func gammaRatio(x float64) float64 {
	sum := 0.0
	if x < 0 {
		return math.NaN()
	}
	for ; x < manyTerms; x++ {
		sum += 0.5 * math.Log1p(0.25/x/(x+1))
	}
	return ratios.at(x) - sum
}

func gammaRatioSlope(x, _ float64) float64 {
	sum := 0.0
	for ; x < manyTerms; x++ {
		sum += 0.5 / x / ((x + 1) * (2*x + 1))
	}
	return ratios.slope(x) + sum
}

// choose is log(Γ(x+n)/(Γ(x+1)·Γ(n))), the log of x+n−1 choose x. It is exactly 0
// for x = 0.
func choose(x, n float64) float64 { return lgamma(x+n) - lgamma(n) - lgamma(x+1) }

func chooseSlopeX(x, n, _ float64) float64 { return digamma(x+n) - digamma(x+1) }
func chooseSlopeN(x, n, _ float64) float64 { return digamma(x+n) - digamma(n) }

// studentTail is ½(ν+1)·log(1 + t²/ν).
func studentTail(t, nu float64) float64 { return float64(0.5*nu+0.5) * log1pSquares(t, nu) }

func studentTailLoop(out, t, nu []float64) {
	var square, ratio [part]float64
	for len(out) > 0 {
		n := min(part, len(out))
		o := out[:n]
		vec.Mul(square[:n], t, t)
		vec.Div(ratio[:n], square[:], nu)
		vec.Log1p(o, ratio[:])
		for i, r := range ratio[:n] {
			if !ordinary(square[i], r) {
				o[i] = log1pSquares(t[i], nu[i])
			}
		}
		vec.Affine(ratio[:n], nu, 0.5, 0.5)
		vec.Mul(o, ratio[:], o)
		out, t, nu = out[n:], t[n:], nu[n:]
	}
}

// ordinary reports whether the digits of t² and t²/ν are all there.
func ordinary(square, ratio float64) bool {
	return square > 0x1p-1000 && ratio >= 0 && ratio < 0x1p1023
}

// log1pSquares is log(1 + t²/ν), also where t² has left the range of float64.
func log1pSquares(t, nu float64) float64 {
	square := t * t
	if ratio := square / nu; ordinary(square, ratio) {
		return vec.Log1pOf(ratio)
	}
	r := math.Abs(t) / math.Sqrt(nu)
	if r > 1 {
		return 2*math.Log(r) + math.Log1p(1/r/r)
	}
	return math.Log1p(r * r)
}

// studentSlopeT is (ν+1)·t/(ν + t²).
func studentSlopeT(t, nu, _ float64) float64 {
	if square := t * t; square < math.MaxFloat64 {
		return (nu + 1) / (nu + square) * t
	}
	return (nu + 1) / (nu/t + t)
}

func studentSlopesT(out, g, t, nu, _ []float64) {
	var below, slope [part]float64
	for len(out) > 0 {
		n := min(part, len(out))
		vec.Mul(slope[:n], t, t)
		vec.Add(below[:n], nu, slope[:])
		vec.Affine(slope[:n], nu, 1, 1)
		vec.Div(slope[:n], slope[:], below[:])
		vec.Mul(slope[:n], slope[:], t)
		vec.GatedMul(out[:n], g, slope[:], 1)
		for i, b := range below[:n] {
			if !(b < math.MaxFloat64) {
				out[i] = gated(g[i], studentSlopeT(t[i], nu[i], 0))
			}
		}
		out, g, t, nu = out[n:], g[n:], t[n:], nu[n:]
	}
}

// studentSlopeNu is ½(−log(1−s) − s − s/ν) for s = t²/(ν + t²).
func studentSlopeNu(t, nu, y float64) float64 {
	root := math.Sqrt(nu) / t
	s := 1 / (1 + root*root)
	bend := y/(0.5*(nu+1)) - s
	if s < 0.5 {
		bend = -log1pmx(-s)
	}
	return 0.5 * (bend - s/nu)
}
