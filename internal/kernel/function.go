package kernel

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// A Function is a scalar function of one number, of two or of three. Each is an
// entry of one table, which has everything that depends on the function.
type Function uint8

// The functions. None is not one.
const (
	None Function = iota
	Exp
	Log
	Log1p
	Expm1
	Sqrt
	Sin
	Cos
	Tan
	Tanh
	Sigmoid  // 1/(1 + e⁻ˣ)
	Softplus // log(1 + eˣ)
	Square
	Recip  // 1/x
	Lgamma // log Γ(x), of x > 0
	Abs
	Stirling   // log(xˣe⁻ˣ/Γ(1+x)), of x ≥ 0
	GammaRatio // log(Γ(x+½)/(Γ(x)·√x))
	Ramp       // about max(0, x), smoothly
	LogRampSlope
	LogTail // of x < −log 2, what the tangent of log at ½ leaves of it at eˣ; else 0
	Mul
	Div
	Pow
	MulData     // a·b, and 0 where the observed value a is 0, whatever b is
	Choose      // log(Γ(a+b)/(Γ(a+1)·Γ(b)))
	Deviance    // a·log(1 + b/a) − b, with the tangent of log at ½ below ½
	LogShare    // log(a/(a + b))
	StudentTail // ½(b+1)·log(1 + a²/b)

	Erf
	NormalCDF
	LogNormalCDF
	NormalQuantile
	LogNormalQuantile // the inverse of LogNormalCDF
	LogErf
	LogNormalMass     // log(Φ(b) − Φ(a))
	LogExponentialCDF // log(1 − exp(−eᵃ)), at the logarithm of what is distributed
	LogLaplaceCDF     // of the standard distribution, as the next two
	LogCauchyCDF      //
	LogHalfCauchyCDF  //
	LogStudentCDF     // at a, with b degrees of freedom
	LogOddsGamma      // log P/Q for the tails of the gamma distribution with shape a below and above b
	LogOddsBeta       // the same of the beta distribution with shapes b and c at a
	LogAddExp         // log(eᵃ + eᵇ)
	LogDiffExp        // log(eᵃ − eᵇ)
	Log1mRatio        // log(1 − eᵃ/eᵇ)
	Log1mExp          // log(1 − eˣ)
	LogQuotient       // log(a/b)
	Is0               // 1 for 0, else 0
	IfNonNegative     // b where a ≥ 0, else −∞
	Greatest          // the larger one of a and b
	Least             // the smaller one

	// Quantiles of standard distributions at Φ(x).
	ExponentialOfNormal
	LogisticOfNormal
	LaplaceOfNormal
	CauchyOfNormal
	HalfNormalOfNormal
	HalfCauchyOfNormal
	LogGammaOfNormal  // log x, with shape b
	LogitBetaOfNormal // logit x, with shapes b and c
	StudentOfNormal   // with b degrees of freedom
)

// String is the function's name.
func (f Function) String() string { return functions[f].name }

// Value is f(x). It panics unless f is a function of one number.
func (f Function) Value(x float64) float64 { return functions[f].unary(x) }

// Values writes f(x) to dst, of a number that samples share once.
func (f Function) Values(dst, x []float64) {
	x = x[:len(dst)]
	e := &functions[f]
	if e.loop != nil {
		e.loop(dst, x, nil)
		return
	}
	if len(x) == 0 {
		return
	}
	last, y := x[0], e.unary(x[0])
	for i, x := range x {
		if math.Float64bits(x) != math.Float64bits(last) {
			last, y = x, e.unary(x)
		}
		dst[i] = y
	}
}

// Value2 is f(a, b). It panics unless f is a function of two numbers.
func (f Function) Value2(a, b float64) float64 { return functions[f].binary(a, b) }

// Value3 is f(a, b, c). It panics unless f is a function of three numbers.
func (f Function) Value3(a, b, c float64) float64 { return functions[f].ternary(a, b, c) }

// Slope is f′(x), given also y = f(x). It panics unless f is a function of one number.
func (f Function) Slope(x, y float64) float64 {
	return functions[f].slopeAt(x, y)
}

// AddSlopes adds g·f′(x) to dst, given also y = f(x).
func (f Function) AddSlopes(dst, g, x, y []float64) {
	dst, x, y = dst[:len(g)], x[:len(g)], y[:len(g)]
	if f == Exp {
		for i, v := range g {
			dst[i] += float64(v * y[i])
		}
		return
	}
	for i, v := range g {
		dst[i] += float64(v * f.Slope(x[i], y[i]))
	}
}

// Inverse are the x with f(x) = y, NaN in place of those that are not there. There are no roots at all if f cannot be inverted, and two
// if it is even.
func (f Function) Inverse(y float64) (x [2]float64, roots int) {
	switch e := &functions[f]; {
	case f == Recip:
		return [2]float64{1 / y}, 1
	case e.inverse == nil:
		return x, 0
	case e.even:
		r := e.inverse(y)
		return [2]float64{r, -r}, 2
	default:
		return [2]float64{e.inverse(y)}, 1
	}
}

// Increasing reports whether f is strictly increasing wherever it has a value.
func (f Function) Increasing() bool {
	e := &functions[f]
	return e.inverse != nil && !e.even
}

// Positive reports whether all values of f are > 0.
func (f Function) Positive() bool {
	switch f {
	case Exp, Sigmoid, Softplus, Ramp, NormalCDF, ExponentialOfNormal, HalfNormalOfNormal, HalfCauchyOfNormal:
		return true
	}
	return false
}

// A function is an entry of the table: the value of a function of one number or
// of two, and its slope or a derivative that is a kernel of its own.
type function struct {
	name   string // part of the fingerprints of programs: it stays
	unary  func(x float64) float64
	slope  func(x, y float64) float64 // f′(x), given also y = f(x)
	binary func(a, b float64) float64
	slopes slopes // ∂f/∂a and ∂f/∂b, given also y = f(a, b)
	// ternary is f(a, b, c), with its three derivatives; the functions of one and two
	// numbers have none.
	ternary func(a, b, c float64) float64
	slopes3 [3]func(a, b, c, y float64) float64
	// diff are the derivatives with respect to each operand; nil for Slope.
	diff []derivative
	// inverse is the x with f(x) = y, NaN where there is none; nil for even functions, of which it is the root ≥ 0, and others.
	inverse func(y float64) float64
	even    bool // f(−x) = f(x), and f increases from 0 on
	// loop fills out with f(a) or f(a, b); nil where a loop over the value is as fast.
	loop func(out, a, b []float64)
	// slopeLoop fills out with g·f′(x), and 0 where g is 0, given also y = f(x); nil for a loop over slope.
	slopeLoop func(out, g, x, y []float64)
	// slopeLoops are those of a function of two numbers.
	slopeLoops slopeLoops
}

// slopeLoops fill out with g times a derivative of f(a, b), and 0 where g is 0, given also y = f(a, b).
type slopeLoops [2]func(out, g, a, b, y []float64)

// slopes are the derivatives of f(a, b) with respect to a and to b.
type slopes [2]func(a, b, y float64) float64

// slopeAt is f′(x), given also y = f(x). Where f is NaN so is its slope: the 1/x
// of a logarithm would let a fit wander on below 0.
func (f *function) slopeAt(x, y float64) float64 {
	if math.IsNaN(y) {
		return y
	}
	return f.slope(x, y)
}

// product is the derivative of a·b.
var product = []derivative{{GradTimes{1}, []operand{upstream, 1}}, {GradTimes{1}, []operand{upstream, 0}}}

var functions = [...]function{
	None: {name: "none"},
	Exp: {
		name: "exp", unary: vec.ExpOf, loop: func(out, x, _ []float64) { vec.Exp(out, x) }, inverse: math.Log, slope: func(_, y float64) float64 { return y },
		diff: []derivative{{GradTimes{1}, []operand{upstream, result}}},
	},
	Log:   {name: "log", unary: vec.LogOf, loop: logLoop, slope: func(x, _ float64) float64 { return 1 / x }, inverse: math.Exp},
	Log1p: {name: "log1p", unary: math.Log1p, slope: func(x, _ float64) float64 { return 1 / (1 + x) }, inverse: math.Expm1},
	Expm1: {name: "expm1", unary: math.Expm1, slope: expm1Slope, inverse: math.Log1p},
	Sqrt:  {name: "sqrt", unary: math.Sqrt, slope: func(_, y float64) float64 { return 0.5 / y }, inverse: sqrtInverse},
	Sin:   {name: "sin", unary: math.Sin, slope: func(x, _ float64) float64 { return math.Cos(x) }},
	Cos:   {name: "cos", unary: math.Cos, slope: func(x, _ float64) float64 { return -math.Sin(x) }},
	Tan:   {name: "tan", unary: math.Tan, slope: func(_, y float64) float64 { return 1 + y*y }},
	Tanh:  {name: "tanh", unary: math.Tanh, slope: tanhSlope, inverse: math.Atanh},
	Sigmoid: {
		name: "sigmoid", unary: sigmoid, slope: sigmoidSlope, inverse: logit,
		loop: sigmoidLoop, slopeLoop: sigmoidSlopes,
	},
	Softplus: {
		name: "softplus", unary: softplus, slope: func(x, _ float64) float64 { return sigmoid(x) }, inverse: softplusInverse,
		diff: []derivative{{Slope{F: Softplus}, []operand{upstream, 0, 0}}}, // which needs no value
		loop: softplusLoop, slopeLoop: softplusSlopes,
	},
	Square: {
		name: "square", unary: func(x float64) float64 { return x * x }, inverse: math.Sqrt, even: true, slope: func(x, _ float64) float64 { return 2 * x },
		loop: func(out, x, _ []float64) { vec.Mul(out, x, x) },
		diff: []derivative{{GradTimes{2}, []operand{upstream, 0}}},
	},
	Recip: {
		name: "recip", unary: func(x float64) float64 { return 1 / x }, slope: func(_, y float64) float64 { return -y * y },
		loop: recipLoop, slopeLoop: recipSlopes,
	},
	Lgamma: {name: "lgamma", unary: lgamma, slope: func(x, _ float64) float64 { return digamma(x) }},
	Abs:    {name: "abs", unary: math.Abs, inverse: absInverse, even: true, slope: func(x, _ float64) float64 { return math.Copysign(1, x) }},

	Stirling:     {name: "stirling", unary: stirling, slope: stirlingSlope},
	GammaRatio:   {name: "gammaratio", unary: gammaRatio, slope: gammaRatioSlope},
	Ramp:         {name: "ramp", unary: ramp, slope: rampSlope, inverse: rampInverse, loop: rampLoop, slopeLoop: rampSlopes},
	LogRampSlope: {name: "logrampslope", unary: logRampSlope, slope: logRampSlopeSlope, loop: logRampSlopeLoop, slopeLoop: logRampSlopeSlopes},
	LogTail:      {name: "logtail", unary: logTail, slope: logTailSlope},

	Mul: {name: "mul", binary: func(a, b float64) float64 { return a * b }, loop: vec.Mul, diff: product},
	Div: {
		name: "div", binary: func(a, b float64) float64 { return a / b }, loop: vec.Div,
		slopes:     slopes{func(_, b, _ float64) float64 { return 1 / b }, func(_, b, y float64) float64 { return -y / b }},
		slopeLoops: slopeLoops{divSlopesA, divSlopesB},
	},
	Pow:      {name: "pow", binary: math.Pow, slopes: slopes{powSlopeA, powSlopeB}},
	MulData:  {name: "muldata", binary: mulData, loop: mulDataLoop, diff: product},
	Choose:   {name: "choose", binary: choose, slopes: slopes{chooseSlopeX, chooseSlopeN}},
	Deviance: {name: "deviance", binary: deviance, slopes: slopes{devianceSlopeK, devianceSlopeD}},
	LogShare: {name: "logshare", binary: logShare, slopes: slopes{logShareSlopeA, logShareSlopeB}},
	StudentTail: {
		name: "studenttail", binary: studentTail, loop: studentTailLoop, slopes: slopes{studentSlopeT, studentSlopeNu},
		diff: []derivative{ // the first needs no value
			{Slope{StudentTail, 0}, []operand{upstream, 0, 1, 0}},
			{Slope{StudentTail, 1}, []operand{upstream, 0, 1, result}},
		},
		slopeLoops: slopeLoops{studentSlopesT, nil},
	},

	Erf:            {name: "erf", unary: math.Erf, slope: erfSlope, inverse: erfInverse},
	NormalCDF:      {name: "normalcdf", unary: normalCDF, slope: normalCDFSlope, inverse: normalQuantile},
	LogNormalCDF:   {name: "lognormalcdf", unary: logNormalCDF, loop: logNormalCDFLoop, slope: logNormalCDFSlope, inverse: logNormalQuantile},
	NormalQuantile: {name: "normalquantile", unary: normalQuantile, slope: normalQuantileSlope, inverse: normalCDF},
	LogErf:         {name: "logerf", unary: logErf, slope: logErfSlope},
	LogNormalMass:  {name: "lognormalmass", binary: logNormalMass, slopes: slopes{logNormalMassSlopeA, logNormalMassSlopeB}},

	LogNormalQuantile:   {name: "lognormalquantile", unary: logNormalQuantile, slope: logNormalQuantileSlope, inverse: logNormalCDF},
	ExponentialOfNormal: {name: "exponentialofnormal", unary: exponentialOfNormal, slope: exponentialOfNormalSlope, inverse: normalOfExponential},
	LogisticOfNormal:    {name: "logisticofnormal", unary: logisticOfNormal, slope: logisticOfNormalSlope, inverse: normalOfLogistic},
	LaplaceOfNormal:     {name: "laplaceofnormal", unary: laplaceOfNormal, slope: laplaceOfNormalSlope, inverse: normalOfLaplace},
	CauchyOfNormal:      {name: "cauchyofnormal", unary: cauchyOfNormal, slope: cauchyOfNormalSlope, inverse: normalOfCauchy},
	HalfNormalOfNormal:  {name: "halfnormalofnormal", unary: halfNormalOfNormal, slope: halfNormalOfNormalSlope, inverse: normalOfHalfNormal},
	HalfCauchyOfNormal:  {name: "halfcauchyofnormal", unary: halfCauchyOfNormal, slope: halfCauchyOfNormalSlope, inverse: normalOfHalfCauchy},

	LogExponentialCDF: {name: "logexponentialcdf", unary: logExponentialCDF, slope: logExponentialCDFSlope},
	LogLaplaceCDF:     {name: "loglaplacecdf", unary: logLaplaceCDF, slope: logLaplaceCDFSlope},
	LogCauchyCDF:      {name: "logcauchycdf", unary: logCauchyCDF, slope: logCauchyCDFSlope},
	LogHalfCauchyCDF:  {name: "loghalfcauchycdf", unary: logHalfCauchyCDF, slope: logHalfCauchyCDFSlope},
	LogStudentCDF:     {name: "logstudentcdf", binary: logStudentCDF, slopes: slopes{logStudentCDFSlopeT, logStudentCDFSlopeNu}},
	LogOddsGamma:      {name: "logoddsgamma", binary: logOddsGamma, slopes: slopes{logOddsGammaSlopeA, logOddsGammaSlopeX}},
	LogOddsBeta:       {name: "logoddsbeta", ternary: logOddsBeta, slopes3: [3]func(x, a, b, y float64) float64{logOddsBetaSlopeX, logOddsBetaSlopeA, logOddsBetaSlopeB}},

	LogGammaOfNormal: {
		name: "loggammaofnormal", binary: logGammaOfNormal, slopes: slopes{
			func(u, a, t float64) float64 { return shapedTail(ofGamma).slope(0, u, a, 0, t) },
			func(u, a, t float64) float64 { return shapedTail(ofGamma).slope(1, u, a, 0, t) },
		},
	},
	LogitBetaOfNormal: {
		name: "logitbetaofnormal", ternary: logitBetaOfNormal, slopes3: [3]func(u, a, b, t float64) float64{
			func(u, a, b, t float64) float64 { return shapedTail(ofBeta).slope(0, u, a, b, t) },
			func(u, a, b, t float64) float64 { return shapedTail(ofBeta).slope(1, u, a, b, t) },
			func(u, a, b, t float64) float64 { return shapedTail(ofBeta).slope(2, u, a, b, t) },
		},
	},
	StudentOfNormal: {name: "studentofnormal", binary: studentOfNormal, slopes: slopes{studentOfNormalSlope(0), studentOfNormalSlope(1)}},

	LogAddExp:     {name: "logaddexp", binary: logAddExp, slopes: slopes{logAddSlopeA, logAddSlopeB}},
	LogDiffExp:    {name: "logdiffexp", binary: logDiffExp, slopes: slopes{logDiffSlopeA, logDiffSlopeB}},
	Log1mRatio:    {name: "log1mratio", binary: log1mRatio, slopes: slopes{log1mRatioSlopeA, log1mRatioSlopeB}},
	Log1mExp:      {name: "log1mexp", unary: log1mExp, slope: log1mExpSlope},
	LogQuotient:   {name: "logquotient", binary: logQuotient, slopes: slopes{logQuotientSlopeA, logQuotientSlopeB}},
	Is0:           {name: "is0", unary: is0, slope: func(_, _ float64) float64 { return 0 }},
	IfNonNegative: {name: "inside", binary: ifNonNegative, slopes: slopes{func(_, _, _ float64) float64 { return 0 }, ifNonNegativeSlope}},
	Greatest:      {name: "greatest", binary: math.Max, slopes: slopes{maxSlopeA, maxSlopeB}},
	Least:         {name: "least", binary: math.Min, slopes: slopes{minSlopeA, minSlopeB}},
}

// The inverses are NaN outside a function's range.

func logit(y float64) float64 { return math.Log(y) - math.Log1p(-y) }

func softplusInverse(y float64) float64 { return y + math.Log(-math.Expm1(-y)) }

func sqrtInverse(y float64) float64 {
	if y < 0 {
		return math.NaN()
	}
	return y * y
}

func absInverse(y float64) float64 {
	if y < 0 {
		return math.NaN()
	}
	return y
}

// expm1Slope is eˣ = y + 1, where that keeps its digits.
func expm1Slope(x, y float64) float64 {
	if y > -0.5 {
		return y + 1
	}
	return math.Exp(x)
}

// tanhSlope is 1/cosh² x = 1 − y², where that keeps its digits.
func tanhSlope(x, y float64) float64 {
	if math.Abs(y) < 0.9 {
		return 1 - y*y
	}
	e := math.Exp(-2 * math.Abs(x))
	return 4 * e / ((1 + e) * (1 + e))
}

func powSlopeA(a, b, _ float64) float64 {
	if b == 0 {
		return 0
	}
	return b * math.Pow(a, b-1)
}

func powSlopeB(a, b, y float64) float64 {
	if a == 0 && b > 0 {
		return 0
	}
	return y * math.Log(a)
}

func recipLoop(out, x, _ []float64) {
	for len(out) > 0 {
		n := min(part, len(out))
		vec.Div(out[:n], ones[:n], x)
		out, x = out[n:], x[n:]
	}
}

func recipSlopes(out, g, _, y []float64) {
	vec.Mul(out, y, y)
	vec.GatedMul(out, g, out, -1)
}

func divSlopesA(out, g, _, b, _ []float64) {
	recipLoop(out, b, nil)
	vec.GatedMul(out, g, out, 1)
}

func divSlopesB(out, g, _, b, y []float64) {
	var room [part]float64
	for len(out) > 0 {
		n := min(part, len(out))
		x := room[:n]
		vec.Div(x, y, b)
		vec.GatedMul(out[:n], g, x, -1)
		out, g, b, y = out[n:], g[n:], b[n:], y[n:]
	}
}

func mulData(a, b float64) float64 {
	if a == 0 {
		return 0
	}
	return a * b
}

func mulDataLoop(out, a, b []float64) {
	b = b[:len(out)]
	for i, a := range a[:len(out)] {
		v := a * b[i]
		if a == 0 {
			v = 0
		}
		out[i] = v
	}
}
