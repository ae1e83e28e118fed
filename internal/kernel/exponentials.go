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

// logAddExp is log(eᵃ + eᵇ), the LogSum of two.
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

// LogSum is log Σ_j exp(in[j]). Unless it is alone, it has working rows for [LogSumShare] after its own: of each operand its share in the sum.
type LogSum struct{ Alone bool }

func (k LogSum) outRows(in []int) int {
	if k.Alone {
		return in[0]
	}
	return (1 + len(in)) * in[0]
}

// Eval implements [Kernel].
func (k LogSum) Eval(out Matrix, in []Matrix) {
	x := logSum{LogSum: k}
	for from := 0; from < len(in[0].Data); from += part {
		x.n = min(part, len(in[0].Data)-from)
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
	LogSum
	n                    int
	top, apart, by, room [part]float64
}

// share is where the shares of operand j go, in operands of so many numbers.
func (x *logSum) share(out []float64, j, size int) []float64 {
	if x.Alone {
		return x.room[:x.n]
	}
	return out[(1+j)*size:][:x.n]
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
	if len(in) == 2 && x.Alone {
		vec.Exp(apart, apart)
		vec.Log1p(apart, apart)
		vec.Add(out[:n], apart, top)
		return
	}
	clear(by)
	for j, a := range in {
		vec.ExpApart(x.share(out, j, size), by, a.Data[from:], top)
	}
	if len(in) == 2 { // one of the two is 1
		vec.Mul(apart, x.share(out, 0, size), x.share(out, 1, size))
		vec.Log1p(apart, apart)
	} else {
		vec.Log(apart, by)
	}
	vec.Add(out[:n], apart, top)
	if x.Alone {
		return
	}
	recipLoop(by, by, nil)
	for j := range in {
		share := x.share(out, j, size)
		vec.Mul(share, share, by)
	}
}

// limits is sum where operands are infinite or NaN.
func (x *logSum) limits(out []float64, in []Matrix, from int) {
	for i := range x.n {
		top, total := x.top[i], 0.0
		above := func(a Matrix) float64 {
			if v := a.Data[from+i]; v != top {
				return math.Exp(v - top)
			}
			return 1 // also where both are infinite
		}
		for _, a := range in {
			total += above(a)
		}
		out[i] = top + math.Log(total)
		for j, a := range in {
			x.share(out, j, len(in[0].Data))[i] = above(a) / total
		}
	}
}
