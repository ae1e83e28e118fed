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
	recipLoop(out, out, nil)
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

func softplusLoop(out, x, _ []float64) {
	var top [part]float64
	for len(out) > 0 {
		n := min(part, len(out))
		vec.Larger(top[:n], out[:n], x, zeros[:])
		vec.Exp(out[:n], out)
		vec.Log1p(out[:n], out)
		vec.Add(out[:n], out, top[:])
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

// logAddExp is log(eᵃ + eᵇ), of which [LogSum] is many.
func logAddExp(a, b float64) float64 {
	if a == b { // also where both are infinite
		return a + math.Ln2
	}
	return vec.Log1pOf(vec.ExpOf(-math.Abs(a-b))) + max(a, b)
}

// logAddSlopeA is the share of eᵃ in eᵃ + eᵇ.
func logAddSlopeA(a, b, _ float64) float64 {
	if a == b {
		return 0.5
	}
	return sigmoid(a - b)
}

func logAddSlopeB(a, b, y float64) float64 { return logAddSlopeA(b, a, y) }

// LogSum is log Σ_j exp(in[j]). After its rows it has working rows for [LogSumShare]: of each operand its share in the sum.
type LogSum struct{}

func (LogSum) outRows(in []int) int { return (1 + len(in)) * in[0] }

// Eval implements [Kernel].
func (LogSum) Eval(out Matrix, in []Matrix) {
	size := len(in[0].Data)
	var x logSum
	for from := 0; from < size; from += part {
		x.n = min(part, size-from)
		x.sum(out.Data[from:], in, from)
	}
}

func (LogSum) diff(j int, _ []int) derivative {
	return derivative{LogSumShare{j}, []operand{upstream, result}}
}

// LogSumShare is the derivative of LogSum by operand Of: g times its share.
type LogSumShare struct{ Of int }

// Eval implements [Kernel].
func (k LogSumShare) Eval(out Matrix, in []Matrix) {
	size := len(out.Data)
	vec.GatedMul(out.Data, in[0].Data[:size], in[1].Data[(1+k.Of)*size:], 1)
}

// A logSum has room for n numbers.
type logSum struct {
	n              int
	top, apart, by [part]float64
}

// sum sets the first n numbers of out to what is a LogSum of in from a number on, and the shares.
func (x *logSum) sum(out []float64, in []Matrix, from int) {
	n, size := x.n, len(in[0].Data)
	top, by, apart := x.top[:n], x.by[:n], x.apart[:n]
	copy(top, in[0].Data[from:])
	for _, a := range in[1:] {
		vec.Larger(top, apart, top, a.Data[from:])
	}
	if s := vec.Sum(top); s-s != 0 { // some are not finite
		x.limits(out, in, from)
		return
	}
	clear(by)
	for j, a := range in {
		share := out[(1+j)*size:][:n]
		vec.Affine2(share, a.Data[from:][:n], top, 1, -1, 0)
		vec.Exp(share, share)
		vec.Add(by, by, share)
	}
	if len(in) == 2 { // one share is 1
		vec.Mul(apart, out[size:][:n], out[2*size:])
		vec.Log1p(apart, apart)
	} else {
		vec.Log(apart, by)
	}
	vec.Add(out[:n], apart, top)
	vec.Div(by, ones[:n], by)
	for j := range in {
		share := out[(1+j)*size:][:n]
		vec.Mul(share, share, by)
	}
}

// limits is sum where operands are infinite or NaN.
func (x *logSum) limits(out []float64, in []Matrix, from int) {
	size := len(in[0].Data)
	for i := range x.n {
		top, total := x.top[i], 0.0
		for j, a := range in {
			share, v := &out[(1+j)*size+i], a.Data[from+i]
			if *share = 1; v != top { // where it is equal, perhaps infinite
				*share = math.Exp(v - top)
			}
			total += *share
		}
		out[i] = top + math.Log(total)
		for j := range in {
			out[(1+j)*size+i] /= total
		}
	}
}
