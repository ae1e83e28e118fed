package graph

import (
	"math"
	"math/big"
	"strconv"
)

// A rounded number v is off by at most err from x, what the program says in real
// arithmetic.
//
// In the standard model of floating-point arithmetic fl(a∘b) = (a∘b)(1 + δ) with
// |δ| ≤ u = 2⁻⁵³. The rounding error r = a∘b − fl(a∘b) of a sum, a product or a
// quotient is known, by the two-sum algorithm or one fused multiply-add, so it
// takes the place of u·|a∘b|, and exact operations cost nothing:
//
//	x + y:  err = err_x + err_y + |r|
//	x · y:  err = |v_x|·err_y + |v_y|·err_x + err_x·err_y + |r|
//	x / y:  err = (err_x + |v|·err_y + |v_x − v·v_y|) / (|v_y| − err_y)
//
// Where a sum is not larger than its error, it is 0: what is left says nothing.
type rounded struct {
	v, err float64
	from   *source // see recording
}

func (x rounded) plus(y rounded) rounded {
	sum := x.v + y.v
	part := sum - x.v
	r := (x.v - (sum - part)) + (y.v - part)
	out := rounded{v: sum, err: upwards(x.err + y.err + math.Abs(r))}.snapped()
	if x.from != nil || y.from != nil {
		out.from = recorded(plusOperation, rounded.plus, x, y)
	}
	return out
}

func (x rounded) times(y rounded) rounded {
	v := float64(x.v * y.v) // the conversion forbids a fused multiply-add later
	err := math.Abs(math.FMA(x.v, y.v, -v)) + math.Abs(x.v)*y.err + math.Abs(y.v)*x.err + x.err*y.err
	out := rounded{v: v, err: upwards(err + underflow(v, x.v, y.v))}
	if (x.from != nil || y.from != nil) && !(x.isNothing() && y.is(isFinite) || y.isNothing() && x.is(isFinite)) {
		out.from = recorded(timesOperation, rounded.times, x, y)
	}
	return out
}

// isNothing reports whether x is 0 in all rows.
func (x rounded) isNothing() bool { return x == rounded{} }

func (x rounded) over(y rounded) rounded {
	v := x.v / y.v
	err := (math.Abs(math.FMA(-v, y.v, x.v)) + x.err + math.Abs(v)*y.err) / (math.Abs(y.v) - y.err)
	return rounded{v: v, err: upwards(err + underflow(v, x.v, 1/y.v)), from: recorded(overOperation, rounded.over, x, y)}
}

// mapped is f(x) for an increasing function f. Its error is where f has the ends
// of what x may be: as good as f(v) for equal x, however f itself is rounded. It
// is taken for 0 where f has no value.
func (x rounded) mapped(f func(float64) float64) rounded {
	v := f(x.v)
	err := max(f(x.v+x.err)-v, v-f(x.v-x.err))
	if !isFinite(err) {
		err = 0
	}
	out := rounded{v: v, err: err}.snapped()
	if x.from != nil {
		out.from = recorded(otherOperation, func(x, _ rounded) rounded { return x.mapped(f) }, x, rounded{})
	}
	return out
}

// negated is −x.
func (x rounded) negated() rounded {
	out := rounded{v: -x.v, err: x.err}
	if x.from != nil {
		out.from = recorded(negatedOperation, func(x, _ rounded) rounded { return x.negated() }, x, rounded{})
	}
	return out
}

// log is the natural logarithm of a positive x, and its error in real arithmetic: for
// sums with other logarithms. Each one that is computed is right to a unit in the last
// place.
func (x rounded) log() rounded {
	y := rounded{v: x.v, err: x.err}.mapped(math.Log)
	out := rounded{v: y.v, err: upwards(y.err + 0x1p-51*math.Abs(y.v))}
	if x.from != nil {
		out.from = recorded(otherOperation, func(x, _ rounded) rounded { return x.log() }, x, rounded{})
	}
	return out
}

// computed is f of two numbers of a program. An operand that is not whole may be off by a
// unit in the last place, since it is written as a decimal, and f by another one, if it is
// not the whole function of whole numbers.
func computed(f func(a, b float64) float64, x, y rounded) rounded {
	out := rounded{v: f(x.v, y.v)}
	if dx := x.unit(); dx > 0 {
		out.err += math.Abs(f(x.v+dx, y.v) - out.v)
	}
	if dy := y.unit(); dy > 0 {
		out.err += math.Abs(f(x.v, y.v+dy) - out.v)
	}
	if out.err > 0 || !isWhole(out.v) {
		out.err = upwards(out.err + 0x1p-52*math.Abs(out.v))
	}
	if !isFinite(out.err) {
		out.err = 0
	}
	return out
}

// unit is what x may be off by as an operand: its error, or a unit in the last place of
// what is written as a decimal.
func (x rounded) unit() float64 {
	if isWhole(x.v) {
		return x.err
	}
	return max(x.err, 0x1p-52*math.Abs(x.v))
}

func isWhole(v float64) bool { return v == math.Trunc(v) && math.Abs(v) < 1<<53 }

// snapped is 0 where x may be 0.
func (x rounded) snapped() rounded {
	if math.Abs(x.v) <= x.err {
		return rounded{}
	}
	return x
}

// upwards is a bound for an error that was computed by a few operations, which
// were rounded themselves.
func upwards(err float64) float64 {
	if err == 0 {
		return 0
	}
	return err*(1+0x1p-50) + 0x1p-1074
}

// underflow is the error of the product v of x and y that no fused multiply-add
// sees: where v is so small that its own rounding error is no float64.
func underflow(v, x, y float64) float64 {
	if math.Abs(v) < 0x1p-968 && x != 0 && y != 0 {
		return 0x1p-1073
	}
	return 0
}

// written is the number v of a program. It stands for some number that rounds to v, such as
// 1/10 where v is 0.1: so 0.1 + 0.2 is 0.3, and still no two numbers are one, for it is off by less than half of what v is apart from the
// next number. Whole numbers and multiples of 1/1024 stand for themselves, and very large ones for the shortest decimal that rounds to them.
func written(v float64) rounded {
	switch {
	case isWhole(1024*v) || math.IsInf(v, 0) || math.IsNaN(v):
		return rounded{v: v}
	case math.Abs(v) >= 1<<53:
		return rounded{v: v, err: decimalError(v)}
	}
	return rounded{v: v, err: max(0, (0.5-0x1p-30)*math.Abs(v-math.Nextafter(v, 0))-0x1p-1065)}
}

// writtenAs is written of a number that may have been computed, or have a source.
func writtenAs(x rounded) rounded {
	out := written(x.v + 0)
	out.err = max(out.err, x.err)
	if x.from != nil {
		out.from = recorded(writtenOperation, func(x, _ rounded) rounded { return writtenAs(x) }, x, rounded{})
	}
	return out
}

// decimalError is the distance of v from the shortest decimal that rounds to it.
func decimalError(v float64) float64 {
	d, _, err := big.ParseFloat(strconv.FormatFloat(v, 'e', -1, 64), 10, 53+64, big.ToNearestEven)
	if err != nil {
		panic("graph: " + err.Error())
	}
	distance, _ := d.Sub(d, big.NewFloat(v)).Float64()
	return upwards(math.Abs(distance))
}
