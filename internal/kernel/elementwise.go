package kernel

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// Elementwise is F of each number, pair or triple of numbers.
type Elementwise struct{ F Function }

// Eval implements [Kernel].
func (k Elementwise) Eval(out Matrix, in []Matrix) {
	f, o := &functions[k.F], out.Data
	if len(in) == 1 {
		k.F.Values(o, in[0].Data)
		return
	}
	a, b := in[0].Data[:len(o)], in[1].Data[:len(o)]
	switch {
	case len(in) == 3:
		c := in[2].Data[:len(o)]
		for i, a := range a {
			o[i] = f.ternary(a, b[i], c[i])
		}
	case f.loop != nil:
		f.loop(o, a, b)
	default:
		for i, a := range a {
			o[i] = f.binary(a, b[i])
		}
	}
}

func (k Elementwise) diff(j int, _ []int) derivative {
	switch f := &functions[k.F]; {
	case f.diff != nil:
		return f.diff[j]
	case f.unary != nil:
		return derivative{Slope{k.F, j}, []operand{upstream, 0, result}}
	case f.binary != nil:
		return derivative{Slope{k.F, j}, []operand{upstream, 0, 1, result}}
	}
	return derivative{Slope{k.F, j}, []operand{upstream, 0, 1, 2, result}}
}

// Slope is g times the derivative of F by operand Of, for operands g, those of F, and what F is of them.
type Slope struct {
	F  Function
	Of int
}

// Eval implements [Kernel].
func (k Slope) Eval(out Matrix, in []Matrix) {
	f, o := &functions[k.F], out.Data
	g, a, b := in[0].Data[:len(o)], in[1].Data[:len(o)], in[2].Data[:len(o)]
	switch len(in) {
	case 3: // b is F(a)
		if f.slopeLoop != nil {
			f.slopeLoop(o, g, a, b)
			return
		}
		f.setSlope(o, g, a, b)
	case 4:
		if loop := f.slopeLoops[k.Of]; loop != nil {
			loop(o, g, a, b, in[3].Data)
			return
		}
		slope, y := f.slopes[k.Of], in[3].Data[:len(o)]
		for i, g := range g {
			o[i] = 0
			if g != 0 {
				o[i] = g * slope(a[i], b[i], y[i])
			}
		}
	default:
		slope, c, y := f.slopes3[k.Of], in[3].Data[:len(o)], in[4].Data[:len(o)]
		for i, g := range g {
			o[i] = 0
			if g != 0 {
				o[i] = g * slope(a[i], b[i], c[i], y[i])
			}
		}
	}
}

// setSlope is Slope of a function of one number. That of a coordinate that samples share is computed once.
func (f *function) setSlope(o, g, x, y []float64) {
	lastX, lastY, slope, known := 0.0, 0.0, 0.0, false
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

// GradTimes is C·g·x for an upstream gradient g, and 0 where g is 0.
type GradTimes struct{ C float64 }

// Eval implements [Kernel].
func (k GradTimes) Eval(out Matrix, in []Matrix) { vec.GatedMul(out.Data, in[0].Data, in[1].Data, k.C) }
