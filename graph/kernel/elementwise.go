package kernel

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// Unary is F of each number.
type Unary struct{ F Function }

// Eval implements [Kernel].
func (k Unary) Eval(out Matrix, in []Matrix) { k.F.Values(out.Data, in[0].Data) }

func (k Unary) diff(int, []int) derivative {
	if d := functions[k.F].diff; d != nil {
		return d[0]
	}
	return derivative{Slope(k), []operand{upstream, 0, result}}
}

// Slope is g·F′(x), for operands g, x and y = F(x).
type Slope struct{ F Function }

// Eval implements [Kernel].
func (k Slope) Eval(out Matrix, in []Matrix) {
	f, o := &functions[k.F], out.Data
	g, x, y := in[0].Data[:len(o)], in[1].Data[:len(o)], in[2].Data[:len(o)]
	lastX, lastY, slope, known := 0.0, 0.0, 0.0, false // of a coordinate that samples share
	for i, g := range g {
		o[i] = 0
		if g == 0 {
			continue
		}
		if x, y := x[i], y[i]; !known || math.Float64bits(x) != math.Float64bits(lastX) || math.Float64bits(y) != math.Float64bits(lastY) {
			lastX, lastY, slope, known = x, y, f.slopeAt(x, y), true
		}
		o[i] = g * slope
	}
}

// Binary is F of pairs of numbers.
type Binary struct{ F Function }

// Eval implements [Kernel].
func (k Binary) Eval(out Matrix, in []Matrix) {
	f, o := &functions[k.F], out.Data
	a, b := in[0].Data[:len(o)], in[1].Data[:len(o)]
	if f.loop != nil {
		f.loop(o, a, b)
		return
	}
	for i, a := range a {
		o[i] = f.binary(a, b[i])
	}
}

func (k Binary) diff(j int, _ []int) derivative {
	if d := functions[k.F].diff; d != nil {
		return d[j]
	}
	return derivative{Slope2{k.F, j}, []operand{upstream, 0, 1, result}}
}

// Slope2 is g·∂F/∂a if Of is 0, and g·∂F/∂b if Of is 1, for operands g, a, b and
// y = F(a, b).
type Slope2 struct {
	F  Function
	Of int
}

// Eval implements [Kernel].
func (k Slope2) Eval(out Matrix, in []Matrix) {
	slope, o := functions[k.F].slopes[k.Of], out.Data
	g, a, b, y := in[0].Data[:len(o)], in[1].Data[:len(o)], in[2].Data[:len(o)], in[3].Data[:len(o)]
	for i, g := range g {
		o[i] = 0
		if g != 0 {
			o[i] = g * slope(a[i], b[i], y[i])
		}
	}
}

// Ternary is F of triples of numbers.
type Ternary struct{ F Function }

// Eval implements [Kernel].
func (k Ternary) Eval(out Matrix, in []Matrix) {
	f, o := functions[k.F].ternary, out.Data
	a, b, c := in[0].Data[:len(o)], in[1].Data[:len(o)], in[2].Data[:len(o)]
	for i, a := range a {
		o[i] = f(a, b[i], c[i])
	}
}

func (k Ternary) diff(j int, _ []int) derivative {
	return derivative{Slope3{k.F, j}, []operand{upstream, 0, 1, 2, result}}
}

// Slope3 is g times the derivative of F by operand Of, for operands g, a, b, c and
// y = F(a, b, c).
type Slope3 struct {
	F  Function
	Of int
}

// Eval implements [Kernel].
func (k Slope3) Eval(out Matrix, in []Matrix) {
	slope, o := functions[k.F].slopes3[k.Of], out.Data
	g, a, b, c, y := in[0].Data[:len(o)], in[1].Data[:len(o)], in[2].Data[:len(o)], in[3].Data[:len(o)], in[4].Data[:len(o)]
	for i, g := range g {
		o[i] = 0
		if g != 0 {
			o[i] = g * slope(a[i], b[i], c[i], y[i])
		}
	}
}

// GradTimes is C·g·x for an upstream gradient g, and 0 where g is 0.
type GradTimes struct{ C float64 }

// Eval implements [Kernel].
func (k GradTimes) Eval(out Matrix, in []Matrix) { vec.GatedMul(out.Data, in[0].Data, in[1].Data, k.C) }
