package kernel

import "math"

// stirlings are the coefficients B₂ₖ/(2k(2k−1)) of Stirling's series, k = 1, 2, …
//
//	log Γ(x) = (x − ½) log x − x + ½ log 2π + Σ_k B₂ₖ/(2k(2k−1)) / x²ᵏ⁻¹
//
// From x = manyTerms on, what is left out is below 1e-17.
var stirlings = [...]float64{
	1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360, 1. / 156, -3617. / 122400,
}

const manyTerms = 10

// series is Σ_k c_k·w_k/x²ᵏ⁻¹ for Stirling's coefficients c and weights w, and
// its derivative.
func series(x float64, weight func(k int) float64) (sum, slope float64) {
	square := 1 / x / x
	for k := len(stirlings); k > 0; k-- {
		c := stirlings[k-1] * weight(k)
		sum = sum*square + c
		slope = slope*square - float64(2*k-1)*c
	}
	return sum / x, slope * square
}

func evenly(int) float64 { return 1 }

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
	switch {
	case !(x > 0):
		return math.NaN()
	case x < manyTerms:
		return digamma(x+1) - 1/x
	}
	_, slope := series(x, evenly)
	return math.Log(x) - 0.5/x + slope
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
	sum, _ := series(x, evenly)
	return -0.5*math.Log(2*math.Pi*x) - sum
}

func stirlingSlope(x, _ float64) float64 {
	if x < manyTerms {
		return math.Log(x) - digamma(1+x)
	}
	_, slope := series(x, evenly)
	return -0.5/x - slope
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
	far, _ := series(x, ratioWeight)
	return far - sum
}

func gammaRatioSlope(x, _ float64) float64 { // a NaN of gammaRatio is one here
	sum := 0.0
	for ; x < manyTerms; x++ {
		sum += 0.5 / x / ((x + 1) * (2*x + 1))
	}
	_, far := series(x, ratioWeight)
	return far + sum
}

// ratioWeight makes Stirling's series of log Γ(x) that of log Γ(x+½) − log Γ(x).
func ratioWeight(k int) float64 { return math.Ldexp(2, -2*k) - 2 }

// choose is log(Γ(x+n)/(Γ(x+1)·Γ(n))), the log of x+n−1 choose x. It is exactly 0
// for x = 0.
func choose(x, n float64) float64 { return lgamma(x+n) - lgamma(n) - lgamma(x+1) }

func chooseSlopes(x, n, _ float64) (dx, dn float64) {
	both := digamma(x + n)
	return both - digamma(x+1), both - digamma(n)
}

// studentTail is ½(ν+1)·log(1 + t²/ν).
func studentTail(t, nu float64) float64 { return 0.5 * (nu + 1) * log1pSquare(t/math.Sqrt(nu)) }

// log1pSquare is log(1 + r²).
func log1pSquare(r float64) float64 {
	if r = math.Abs(r); r > 1 {
		return 2*math.Log(r) + math.Log1p(1/r/r)
	}
	return math.Log1p(r * r)
}

// studentSlopes are, for s = t²/(ν + t²),
//
//	∂f/∂t = (ν+1)·t/(ν + t²)
//	∂f/∂ν = ½(−log(1−s) − s − s/ν)
func studentSlopes(t, nu, _ float64) (dt, dnu float64) {
	root := math.Sqrt(nu)
	r := t / root
	s := 1 / (1 + 1/r/r)
	bend := log1pSquare(r) - s
	if s < 0.5 {
		bend = -log1pmx(-s)
	}
	return (nu + 1) / root / (r + 1/r), 0.5 * (bend - s/nu)
}
