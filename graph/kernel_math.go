package graph

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// unary is F of each number.
type unary struct{ F function }

func (k unary) outRows(in []int) int { return in[0] }
func (k unary) eval(out mat, in []mat) {
	o := out.v
	x := in[0].v[:len(o)]
	switch k.F {
	case fnSquare:
		vec.Mul(o, x, x)
	case fnExp:
		for i, x := range x {
			o[i] = math.Exp(x)
		}
	default:
		for i, x := range x {
			o[i] = unaryValue(k.F, x)
		}
	}
}
func (k unary) diff(int, diffArgs) (kernel, []operandRef) {
	switch k.F {
	case fnSquare:
		return slopeSquare{}, []operandRef{refGrad, 0}
	case fnExp:
		return times2{}, []operandRef{refGrad, refOut}
	}
	return slope{F: k.F}, []operandRef{refGrad, 0, refOut}
}

// slope is g·F′(x), for operands g, x and y = F(x).
type slope struct {
	noDiff
	F function
}

func (k slope) outRows(in []int) int { return in[0] }
func (k slope) eval(out mat, in []mat) {
	g, x, y := in[0].v[:len(out.v)], in[1].v[:len(out.v)], in[2].v[:len(out.v)]
	for i, g := range g {
		if g == 0 {
			out.v[i] = 0
			continue
		}
		out.v[i] = g * unarySlope(k.F, x[i], y[i])
	}
}

// slopeSquare is 2·g·x.
type slopeSquare struct{ noDiff }

func (slopeSquare) outRows(in []int) int { return in[0] }
func (slopeSquare) eval(out mat, in []mat) {
	vec.GatedMul(out.v, in[0].v, in[1].v, 2)
}

// times2 is g·x for an upstream gradient g.
type times2 struct{ noDiff }

func (times2) outRows(in []int) int { return in[0] }
func (times2) eval(out mat, in []mat) {
	vec.GatedMul(out.v, in[0].v, in[1].v, 1)
}

// binary is F of pairs of numbers.
type binary struct{ F function }

func (k binary) outRows(in []int) int { return in[0] }
func (k binary) eval(out mat, in []mat) {
	o := out.v
	a, b := in[0].v[:len(o)], in[1].v[:len(o)]
	if k.F == fnMul {
		vec.Mul(o, a, b)
		return
	}
	for i, a := range a {
		o[i] = binaryValue(k.F, a, b[i])
	}
}
func (k binary) diff(j int, _ diffArgs) (kernel, []operandRef) {
	if k.F == fnMul || k.F == fnMulData {
		return times2{}, []operandRef{refGrad, operandRef(1 - j)}
	}
	return slope2{F: k.F, Of: j}, []operandRef{refGrad, 0, 1, refOut}
}

// slope2 is g·∂F/∂x, for operands g, a, b and y = F(a, b), where x is a if Of
// is 0, and b if Of is 1.
type slope2 struct {
	noDiff
	F  function
	Of int
}

func (k slope2) outRows(in []int) int { return in[0] }
func (k slope2) eval(out mat, in []mat) {
	g, a, b, y := in[0].v[:len(out.v)], in[1].v[:len(out.v)], in[2].v[:len(out.v)], in[3].v[:len(out.v)]
	for i, g := range g {
		if g == 0 {
			out.v[i] = 0
			continue
		}
		da, db := binarySlopes(k.F, a[i], b[i], y[i])
		if k.Of == 0 {
			out.v[i] = g * da
		} else {
			out.v[i] = g * db
		}
	}
}
