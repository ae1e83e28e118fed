package ir

import (
	"math"
	"math/big"
	"strconv"
)

// A Rounded number v is off by at most err from x, what the program says in real
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
type Rounded struct {
	V, Err float64
	From   *Column // in a block of rows; nil where all have the same
}

func isZero(v float64) bool { return v == 0 }

func isOne(v float64) bool { return v == 1 }

func IsNegative(v float64) bool { return v < 0 }

func (x Rounded) plus(y Rounded) Rounded {
	sum := x.V + y.V
	part := sum - x.V
	r := (x.V - (sum - part)) + (y.V - part)
	out := Rounded{V: sum, Err: upwards(x.Err + y.Err + math.Abs(r))}.snapped()
	if x.From != nil || y.From != nil {
		out.From = column(Rounded.plus, x, y)
	}
	return out
}

func (x Rounded) Times(y Rounded) Rounded {
	switch one := (Rounded{V: 1}); {
	case x == one:
		return y
	case y == one:
		return x
	}
	v := float64(x.V * y.V) // the conversion forbids a fused multiply-add later
	err := math.Abs(math.FMA(x.V, y.V, -v)) + math.Abs(x.V)*y.Err + math.Abs(y.V)*x.Err + x.Err*y.Err
	out := Rounded{V: v, Err: upwards(err + underflow(v, x.V, y.V))}
	if (x.From != nil || y.From != nil) && !(x.isNothing() && y.Is(IsFinite) || y.isNothing() && x.Is(IsFinite)) {
		out.From = column(Rounded.Times, x, y)
	}
	return out
}

// isNothing reports whether x is 0 in all rows.
func (x Rounded) isNothing() bool { return x == Rounded{} }

func (x Rounded) Over(y Rounded) Rounded {
	v := x.V / y.V
	err := (math.Abs(math.FMA(-v, y.V, x.V)) + x.Err + math.Abs(v)*y.Err) / (math.Abs(y.V) - y.Err)
	return Rounded{V: v, Err: upwards(err + underflow(v, x.V, 1/y.V)), From: column(Rounded.Over, x, y)}
}

// Mapped is f(x) for an increasing function f. Its error is where f has the ends
// of what x may be: as good as f(v) for equal x, however f itself is rounded. It
// is taken for 0 where f has no value.
func (x Rounded) Mapped(f func(float64) float64) Rounded {
	v := f(x.V)
	err := max(f(x.V+x.Err)-v, v-f(x.V-x.Err))
	if !IsFinite(err) {
		err = 0
	}
	out := Rounded{V: v, Err: err}.snapped()
	out.From = column(func(x, _ Rounded) Rounded { return x.Mapped(f) }, x, Rounded{})
	return out
}

// Negated is −x.
func (x Rounded) Negated() Rounded {
	out := Rounded{V: -x.V, Err: x.Err}
	out.From = column(func(x, _ Rounded) Rounded { return x.Negated() }, x, Rounded{})
	return out
}

// Log is the natural logarithm of a positive x, and its error in real arithmetic: for
// sums with other logarithms. Each one that is computed is right to a unit in the last
// place.
func (x Rounded) Log() Rounded {
	y := Rounded{V: x.V, Err: x.Err}.Mapped(math.Log)
	out := Rounded{V: y.V, Err: upwards(y.Err + 0x1p-51*math.Abs(y.V))}
	out.From = column(func(x, _ Rounded) Rounded { return x.Log() }, x, Rounded{})
	return out
}

// Computed is f of two numbers of a program. An operand that is not whole may be off by a
// unit in the last place, since it is written as a decimal, and f by another one, if it is
// not the whole function of whole numbers.
func Computed(f func(a, b float64) float64, x, y Rounded) Rounded {
	out := Rounded{V: f(x.V, y.V)}
	if dx := x.unit(); dx > 0 {
		out.Err += math.Abs(f(x.V+dx, y.V) - out.V)
	}
	if dy := y.unit(); dy > 0 {
		out.Err += math.Abs(f(x.V, y.V+dy) - out.V)
	}
	if out.Err > 0 || !isWhole(out.V) {
		out.Err = upwards(out.Err + 0x1p-52*math.Abs(out.V))
	}
	if !IsFinite(out.Err) {
		out.Err = 0
	}
	out.From = column(func(x, y Rounded) Rounded { return Computed(f, x, y) }, x, y)
	return out
}

// unit is what x may be off by as an operand: its error, or a unit in the last place of
// what is written as a decimal.
func (x Rounded) unit() float64 {
	if isWhole(x.V) {
		return x.Err
	}
	return max(x.Err, 0x1p-52*math.Abs(x.V))
}

func isWhole(v float64) bool { return v == math.Trunc(v) && math.Abs(v) < 1<<53 }

// snapped is 0 where x may be 0.
func (x Rounded) snapped() Rounded {
	if math.Abs(x.V) <= x.Err {
		return Rounded{}
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
// So do powers of two, for which that may be further above than half of what they are apart from the number below: that one has what is left.
// Numbers below 2⁻⁹⁶⁰ have less of an error than that, as half of what they are apart is hardly a number itself.
func written(v float64) Rounded {
	const mantissa = 1<<52 - 1
	if isWhole(1024*v) || math.IsInf(v, 0) || math.IsNaN(v) {
		return Rounded{V: v}
	}
	less := func(err float64) float64 { return (1-0x1p-29)*err - 0x1p-1065 }
	bits, below := math.Float64bits(v)&mantissa, math.Abs(v-math.Nextafter(v, 0))
	err := less(below / 2)
	if bits == 0 || math.Abs(v) >= 1<<53 {
		err = decimalError(v)
	}
	if bits == mantissa && math.Abs(v) < math.MaxFloat64 {
		err = min(err, less(below-decimalError(v+math.Copysign(below, v))))
	}
	return Rounded{V: v, Err: max(0, err)}
}

// WrittenAs is written of a number that may have been computed, or have a source.
func WrittenAs(x Rounded) Rounded {
	out := written(x.V + 0)
	out.Err = max(out.Err, x.Err)
	out.From = column(func(x, _ Rounded) Rounded { return WrittenAs(x) }, x, Rounded{})
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

func IsNonzero(v float64) bool { return v != 0 }

// IsFinite reports whether x may be the coefficient of a sum: 1/0 behind a guard
// is an operation of its own, whose derivative is 0 where it is not taken.
func IsFinite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }
