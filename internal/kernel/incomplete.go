package kernel

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"

	"github.com/facetvi/facet/internal/vec"
)

// The regularised incomplete gamma and beta functions, by their logarithms, with
// derivatives in all arguments. What is summed has terms of one sign, or converges
// geometrically: the series and the continued fraction are differentiated term by
// term in the shapes, so that a derivative has the digits of its value. A derivative
// in x is the density over the probability, in which the common factor cancels.

// A tail is one side of a distribution function: its logarithm, and the derivatives
// of that by the argument's logarithm or logit and by the shapes.
type tail struct {
	log, byX, byA, byB float64
	upper              bool
}

// side is the tail on the given side.
func (t tail) side(upper bool) tail {
	if t.upper == upper {
		return t
	}
	odds := -1 / math.Expm1(-t.log) // minus the odds of the other side
	return tail{log1mExp(t.log), odds * t.byX, odds * t.byA, odds * t.byB, upper}
}

// logOdds is log P(below)/P(above) in the place of a tail's logarithm.
func (t tail) logOdds() tail {
	log, times := t.log-log1mExp(t.log), -1/math.Expm1(t.log)
	if t.upper {
		log, times = -log, -times
	}
	return tail{log: log, byX: times * t.byX, byA: times * t.byA, byB: times * t.byB}
}

// mostTerms ends sums that do not converge, after about 50·√shape terms.
const mostTerms = 1 << 24

// gammaTail is a tail of the gamma distribution with shape a > 0 at x > 0, the one
// that is computed without cancellation. byX is ∂/∂log x; byA, which takes as long as all else, is there if it is asked for.
//
//	P(a, x) = D·(1 + x/(a+1) + x²/((a+1)(a+2)) + …),    D = xᵃe⁻ˣ/Γ(a+1)
//	Q(a, x) = a·D/(x + 1 − a − 1·(1−a)/(x + 3 − a − …))
func gammaTail(a, x float64, slope bool) tail {
	if a < smallShape && x < 0.7 {
		return smallGamma(a, x)
	}
	if a <= mostErlang && x < 1e15 && a == math.Trunc(a) && !slope {
		if t := erlangTail(a, x); t.log < -0.3 {
			return t
		}
	}
	logD := logPoisson(a, x)
	byA := 0.0 // of log D
	if slope {
		byA = logQuotient(x, a) + stirlingSlope(a, 0)
	}
	if x < a+1 && (x < 0.7 || a >= 1) {
		term, sum, harmonic, ofSum := 1.0, 1.0, 0.0, 0.0
		for n := 1.0; n < mostTerms && term > 0x1p-56*sum; n++ {
			term *= x / (a + n)
			sum += term
			if slope {
				harmonic -= 1 / (a + n)
				ofSum += term * harmonic
			}
		}
		return tail{logD + math.Log(sum), a / sum, byA + ofSum/sum, 0, false}
	}
	b := x + 1 - a // Lentz's algorithm, with ∂/∂a of each step
	d, slopeD := 1/b, 1/(b*b)
	c, slopeC := 0x1p1000, 0.0
	h, ofH := d, slopeD/d
	for n := 1.0; n < mostTerms; n++ {
		k := n * (a - n)
		b += 2
		e, was := b+k*d, c
		c = b + k/c
		h *= c / e
		done := math.Abs(c/e-1) < 0x1p-52
		if slope {
			slopeE := -1 + n*d + k*slopeD
			slopeC, slopeD = -1+n/was-k*slopeC/(was*was), -slopeE/(e*e)
			change := slopeC/c - slopeE/e
			ofH += change
			done = done && math.Abs(change) <= 0x1p-52*(math.Abs(ofH)+math.Abs(slopeC/c))
		}
		if d = 1 / e; done {
			break
		}
	}
	return tail{logD + math.Log(a) + math.Log(h), -1 / h, byA + 1/a + ofH, 0, true}
}

// mostErlang is the largest shape for which a finite sum is taken.
const mostErlang = 16

// erlangTail is Q(a, x) = e⁻ˣ·(1 + x + … + xᵃ⁻¹/(a−1)!) for a whole a, with few digits where it is near 1.
func erlangTail(a, x float64) tail {
	term, sum := 1.0, 1.0
	for n := 1.0; n < a; n++ {
		term *= x / n
		sum += term
	}
	return tail{log: vec.LogOf(sum) - x, byX: -x * term / sum, upper: true}
}

// logPoisson is log(xᵃe⁻ˣ/Γ(a+1)), where a is large by how far it is from that at x = a.
func logPoisson(a, x float64) float64 {
	if a < manyTerms {
		return a*vec.LogOf(x) - x - lgamma(1+a)
	}
	return stirling(a) + deviance(a, x-a) + a*logTail(math.Log(x)-math.Log(a))
}

// betaTail is a tail of the beta distribution with shapes a and b at x = 1 − y in
// (0, 1). byX is ∂/∂logit x.
//
//	I_x(a, b) = D·(1 + d₁/(1 + d₂/(1 + …))),    D = xᵃyᵇ/(a·B(a, b))
func betaTail(x, y, a, b float64) tail {
	if x > (a+1)/(a+b+2) {
		t := lowerBeta(y, x, b, a)
		return tail{t.log, -t.byX, t.byB, t.byA, true}
	}
	return lowerBeta(x, y, a, b)
}

func lowerBeta(x, y, a, b float64) tail {
	if a < smallShape {
		return smallBeta(x, a, b)
	}
	d := b*x - a*y // (a+b)x − a
	ofX, ofY := logOfShare(x, d, a, b), logOfShare(y, -d, b, a)
	logD := stirling(a) + stirling(b) - stirling(a+b) + logShare(b, a)
	logD += deviance(a, d) + a*logTail(ofX) + deviance(b, -d) + b*logTail(ofY)
	both := stirlingSlope(a+b, 0) + 1/(a+b) // log(a+b) − ψ(a+b)
	byA := ofX + stirlingSlope(a, 0) - both
	byB := ofY + stirlingSlope(b, 0) + 1/b - both

	var f fraction
	f.start(1-(a+b)*x/(a+1), -(1-b)*x/((a+1)*(a+1)), -x/(a+1))
	for n := 1.0; n < mostTerms; n++ {
		k := a + 2*n
		even := n * (b - n) * x / ((k - 1) * k)
		f.step(even, -even*(1/(k-1)+1/k), n*x/((k-1)*k))
		odd := -(a + n) * (a + b + n) * x / (k * (k + 1))
		if f.step(odd, odd*(1/(a+n)+1/(a+b+n)-1/k-1/(k+1)), odd/(a+b+n)) {
			break
		}
	}
	return tail{logD + math.Log(f.h), a / f.h, byA + f.slope[0], byB + f.slope[1], false}
}

// A probability with a shape a below smallShape is near 1, and what is left of it near a
// multiple of a: its logarithm is summed of terms of that size.
const smallShape = 0.01

// smallGamma is the lower tail of the gamma distribution for a small shape a:
//
//	P(a, x) = xᵃ/Γ(a+1)·(1 + a·S),    S = Σ_{n≥1} (−x)ⁿ/(n!·(a+n))
func smallGamma(a, x float64) tail {
	term, sum, slope := 1.0, 0.0, 0.0
	for n := 1.0; math.Abs(term) > 0x1p-56; n++ {
		term *= -x / n
		sum += term / (a + n)
		slope -= term / ((a + n) * (a + n))
	}
	one := 1 + a*sum
	byA := math.Log(x) - digamma(1+a) + (sum+a*slope)/one
	return tail{a*math.Log(x) - beyond(digamma, 1, a) + math.Log1p(a*sum), a * math.Exp(-x) / one, byA, 0, false}
}

// smallBeta is the lower tail of the beta distribution for a small shape a:
//
//	I_x(a, b) = xᵃ/(a·B(a, b))·(1 + a·S),    S = Σ_{n≥1} (1−b)(2−b)…(n−b)·xⁿ/(n!·(a+n))
func smallBeta(x, a, b float64) tail {
	term, byB := 1.0, 0.0
	sum, slopeA, slopeB := 0.0, 0.0, 0.0
	for n := 1.0; n < mostTerms && math.Abs(term)+math.Abs(byB) > 0x1p-56*(math.Abs(sum)+math.Abs(slopeB)); n++ {
		byB = (byB*(n-b) - term) * x / n
		term *= (n - b) * x / n
		sum += term / (a + n)
		slopeA -= term / ((a + n) * (a + n))
		slopeB += byB / (a + n)
	}
	one := 1 + a*sum
	// Γ(a+b)/Γ(b) = Γ(1+a+b)/Γ(1+b)·b/(a+b)
	log := a*math.Log(x) - math.Log1p(a/b) + beyond(digamma, 1+b, a) - beyond(digamma, 1, a) + math.Log1p(a*sum)
	return tail{
		log:   log,
		byX:   a * math.Exp(b*math.Log1p(-x)) / one,
		byA:   math.Log(x) + digamma(1+a+b) - 1/(a+b) - digamma(1+a) + (sum+a*slopeA)/one,
		byB:   a/b/(a+b) + beyond(trigamma, 1+b, a) + a*slopeB/one,
		upper: false,
	}
}

// beyond is F(x+a) − F(x) for x ≥ 1 and a small a, given F's derivative, to as many digits as it has.
func beyond(slope func(float64) float64, x, a float64) float64 {
	return a * quad.Fixed(func(t float64) float64 { return slope(x + a*t) }, 0, 1, 3, nil, 0)
}

func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// logOfShare is log(x·(a+b)/a) for d = (a+b)x − a.
func logOfShare(x, d, a, b float64) float64 {
	if r := d / a; math.Abs(r) < 0.5 {
		return math.Log1p(r)
	}
	return math.Log(x) - logShare(a, b)
}

// A fraction is 1/(e₀ + k₁/(1 + k₂/(1 + …))) by Lentz's algorithm, with the
// derivatives of its logarithm by the two shapes.
type fraction struct {
	h, c, d               float64
	slopeC, slopeD, slope [2]float64
}

func (f *fraction) start(e float64, slopes ...float64) {
	f.c, f.d, f.h = 1, 1/e, 1/e
	for i, s := range slopes {
		f.slopeD[i], f.slope[i] = -s/(e*e), -s/e
	}
}

// step goes on by k, and reports whether that changes nothing.
func (f *fraction) step(k float64, byA, byB float64) (done bool) {
	c, e := 1+k/f.c, 1+k*f.d
	done = math.Abs(c/e-1) < 0x1p-52
	for i, by := range [2]float64{byA, byB} {
		slopeC, slopeE := (by-k*f.slopeC[i]/f.c)/f.c, by*f.d+k*f.slopeD[i]
		change := slopeC/c - slopeE/e
		f.slope[i] += change
		f.slopeC[i], f.slopeD[i] = slopeC, -slopeE/(e*e)
		done = done && math.Abs(change) <= 0x1p-52*(math.Abs(f.slope[i])+math.Abs(slopeC/c))
	}
	f.c, f.d = c, 1/e
	f.h *= c / e
	return done
}

// gammaAt is a tail of the gamma distribution, also at the ends of its range, with byA if slope is true.
func gammaAt(a, x float64, slope bool) tail {
	switch {
	case !(a >= 0) || !(x >= 0): // also NaN
		return tail{log: math.NaN()}
	case x == 0 && a > 0 || math.IsInf(a, 1):
		return nothing(false)
	case a == 0 || math.IsInf(x, 1):
		return nothing(true)
	}
	return gammaTail(a, x, slope)
}

// nothing is a tail without mass.
func nothing(upper bool) tail { return tail{log: math.Inf(-1), upper: upper} }

// logOddsGamma is log P/Q of the gamma distribution with shape a at x.
func logOddsGamma(a, x float64) float64          { return gammaAt(a, x, false).logOdds().log }
func logOddsGammaSlopeA(a, x, _ float64) float64 { return gammaAt(a, x, true).logOdds().byA }
func logOddsGammaSlopeX(a, x, _ float64) float64 { return gammaAt(a, x, false).logOdds().byX / x }

// betaAt is a tail of the beta distribution, also at the ends of its range: for a = 0
// all is at 0, and for b = 0 all is at 1.
func betaAt(x, a, b float64) tail {
	switch {
	case !(a >= 0) || !(b >= 0) || !(x >= 0 && x <= 1) || a+b == 0:
		return tail{log: math.NaN()}
	case a == 0 || x == 1 && b > 0:
		return nothing(true)
	case b == 0 || x == 0:
		return nothing(false)
	}
	return betaTail(x, 1-x, a, b)
}

// logOddsBeta is log I/(1−I) for I = I_x(a, b).
func logOddsBeta(x, a, b float64) float64 { return betaAt(x, a, b).logOdds().log }
func logOddsBetaSlopeX(x, a, b, _ float64) float64 {
	return betaAt(x, a, b).logOdds().byX / (x * (1 - x))
}
func logOddsBetaSlopeA(x, a, b, _ float64) float64 { return betaAt(x, a, b).logOdds().byA }
func logOddsBetaSlopeB(x, a, b, _ float64) float64 { return betaAt(x, a, b).logOdds().byB }

// studentSide is the lower tail of Student's t distribution at t, of which byX is
// ∂/∂log |t| and byA ∂/∂ν. With w = ν/(ν+t²) it is ½·I_w(ν/2, ½) for t < 0.
func studentSide(t, nu float64) tail {
	switch {
	case math.IsNaN(t) || !(nu > 0):
		return tail{log: math.NaN()}
	case math.IsInf(t, 0):
		return nothing(t > 0).side(false)
	case t == 0:
		return tail{log: -math.Ln2}
	}
	if far := -farStudent * math.Sqrt(nu); t < far { // the tail falls as |t|^−ν from here on, to rounding; t² may be infinite
		out := studentSide(far, nu)
		more := math.Log(far / t)
		out.log += nu * more
		out.byA += more
		return out
	}
	r := t / math.Sqrt(nu) * (t / math.Sqrt(nu))
	w, rest := 1/(1+r), 1/(1+1/r)
	b := betaTail(w, rest, 0.5*nu, 0.5).side(false)
	out := tail{b.log - math.Ln2, -2 * b.byX, 0.5*b.byA + b.byX/nu, 0, t > 0}
	return out.side(false)
}

// farStudent is a distance in units of √ν.
const farStudent = 1e10

func logStudentCDF(t, nu float64) float64 {
	switch {
	case !hasLargeNu(t, nu):
		return studentSide(t, nu).log
	case t*t < 3:
		middle, _ := studentMiddle(t, nu)
		if t < 0 {
			return math.Log(0.5 + middle)
		}
		return math.Log1p(middle - 0.5)
	case t > 0:
		return log1mExp(logStudentCDF(-t, nu))
	}
	ratio, _ := studentTailOf(-t, nu)
	return logStudent(t, nu) + math.Log(ratio)
}

func logStudentCDFSlopeT(t, nu, y float64) float64 {
	switch {
	case t*t < 3 || t > 0 && hasLargeNu(t, nu): // also where byX and t vanish together
		return math.Exp(logStudent(t, nu) - y)
	case hasLargeNu(t, nu):
		ratio, _ := studentTailOf(-t, nu)
		return 1 / ratio
	}
	return studentSide(t, nu).byX / t
}

func logStudentCDFSlopeNu(t, nu, y float64) float64 {
	switch {
	case !hasLargeNu(t, nu):
		return studentSide(t, nu).byA
	case t*t < 3:
		_, slope := studentMiddle(t, nu)
		return math.Exp(-y) * slope
	case t > 0:
		return -math.Exp(logStudentCDF(-t, nu)-y) * logStudentCDFSlopeNu(-t, nu, 0)
	}
	_, slope := studentTailOf(-t, nu)
	return slope
}

// hasLargeNu reports whether t and ν are numbers at which the fraction of the incomplete beta
// function loses digits: its parts and their derivatives fall as 1/ν, and what they come to
// not at all, and as 1/ν².
func hasLargeNu(t, nu float64) bool {
	return nu >= 20 && t != 0 && !math.IsInf(t, 0) && !math.IsInf(nu, 0)
}

// logStudent is the log density f.
func logStudent(t, nu float64) float64 { return gammaRatio(0.5*nu) - studentTail(t, nu) - halfLog2Pi }

// studentMiddle is F(t) − ½ for the distribution function F, and its derivative by ν, for a small t:
//
//	F(t) − ½ = f(t)·t·Σ_n Π_{k<n} q_k,    q_k = t²(ν+1+2k)/((3+2k)(ν+t²))
//
// where ∂/∂ν log q_k = (t²−1−2k)/((ν+1+2k)(ν+t²)).
func studentMiddle(t, nu float64) (middle, byNu float64) {
	term, sum, logSlope, slope := 1.0, 1.0, 0.0, 0.0
	for k := 1.0; term > 0x1p-56*sum; k += 2 {
		term *= t * t / (k + 2) * ((nu + k) / (nu + t*t))
		logSlope += (t*t - k) / (nu + k) / (nu + t*t)
		sum += term
		slope += term * logSlope
	}
	scale := t * math.Exp(logStudent(t, nu))
	return scale * sum, scale * (studentByNu(t, nu)*sum + slope)
}

// studentByNu is ∂/∂ν of the log density at t.
func studentByNu(t, nu float64) float64 {
	return 0.5*gammaRatioSlope(0.5*nu, 0) - studentSlopeNu(t, nu, studentTail(t, nu))
}

// studentTailOf is P(X > t)/f(t) for t² ≥ 3, and ∂/∂ν log P(X > t), which is the mean of
// ∂/∂ν log f over the tail, where that has one sign:
//
//	f(x) dx = f(t)·(ν+t²)/(ν+1) · e⁻ˢ eᵘ/x ds,    x² = t² + (ν+t²)(eᵘ−1),    u = 2s/(ν+1)
func studentTailOf(t, nu float64) (ratio, byNu float64) {
	sum, slope := 0.0, 0.0
	for _, node := range tailNodes {
		e := math.Expm1(2 * node.s / (nu + 1))
		grown := math.Sqrt(1 + (nu/t/t+1)*e) // x/t
		weight := node.weight * (1 + e) / grown
		sum += weight
		slope += weight * studentByNu(t*grown, nu)
	}
	return (nu/t + t) / (nu + 1) * sum, slope / sum
}

// tailNodes integrate functions of s times e⁻ˢ from 0 on: the trapezoidal rule in v, where
// s = exp(v − e⁻ᵛ) (Takahasi and Mori, Double exponential formulas, 1974).
var tailNodes = func() (nodes []struct{ s, weight float64 }) {
	const h = 1. / 8
	for v := -4.; v < 4.; v += h {
		e := math.Exp(-v)
		s := math.Exp(v - e)
		if weight := h * s * (1 + e) * math.Exp(-s); weight > 1e-20 {
			nodes = append(nodes, struct{ s, weight float64 }{s, weight})
		}
	}
	return nodes
}()
