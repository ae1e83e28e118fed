package ir

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// decimal is the shortest decimal that rounds to v, exactly.
func decimal(v float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	return r
}

// Whatever a program computes from decimals, at any magnitude, it is within its
// error of the rational number, and the error is a few roundings of what went in.
func TestErrorsAreBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := math.Pow10(rapid.IntRange(-290, 290).Draw(t, "magnitude"))
		number := func() (Rounded, *big.Rat) {
			v := rapid.Float64Range(-10, 10).Draw(t, "number")
			if rapid.Bool().Draw(t, "short") {
				v = math.Round(v*10) / 10
			}
			if math.Abs(v) < 0x1p-960 || math.Float64bits(v)<<12 == ^uint64(1<<12-1) { // numbers whose errors are less; see written
				v = 0.1
			}
			return written(v), decimal(v)
		}
		first, exact := number()
		x := first.Times(written(size))
		exact.Mul(exact, decimal(size))
		largest, least := math.Abs(x.V), 0x1p-1060 // the latter of errors that are hardly numbers
		for range rapid.IntRange(0, 12).Draw(t, "operations") {
			y, q := number()
			switch op := rapid.IntRange(0, 2).Draw(t, "operation"); {
			case op == 0:
				y, q = y.Times(written(size)), q.Mul(q, decimal(size))
				largest = max(largest, math.Abs(y.V))
				x = x.plus(y)
				exact.Add(exact, q)
			case op == 1 || math.Abs(y.V) < 1e-2:
				x, largest, least = x.Times(y), largest*math.Abs(y.V), least*max(1, math.Abs(y.V))
				exact.Mul(exact, q)
			default:
				x, largest, least = x.Over(y), largest/math.Abs(y.V), least*max(1, 1/math.Abs(y.V))
				exact.Quo(exact, q)
			}
			if x.V == 0 { // snapped: it has no error any more
				return
			}
			largest = max(largest, math.Abs(x.V))
			off := new(big.Rat).Sub(exact, new(big.Rat).SetFloat64(x.V))
			require.LessOrEqual(t, off.Abs(off).Cmp(new(big.Rat).SetFloat64(x.Err)), 0, "%v ± %v is not %v", x.V, x.Err, exact)
			require.LessOrEqual(t, x.Err, 100*0x1p-53*largest+least)
		}
	})
}

// A power of two is within its error of the shortest decimal that rounds to it, and is neither of its neighbours.
func TestPowersOfTwoAreWritten(t *testing.T) {
	written(math.MaxFloat64)
	for k := -1000; k < 1023; k++ {
		v := math.Ldexp(1, k)
		x := written(v)
		if !isWhole(1024 * v) {
			off := new(big.Rat).Sub(decimal(v), new(big.Rat).SetFloat64(v))
			require.LessOrEqual(t, off.Abs(off).Cmp(new(big.Rat).SetFloat64(x.Err)), 0, v)
		}
		for _, to := range []float64{0, math.Inf(1)} {
			for _, sign := range []float64{1, -1} {
				next := written(sign * math.Nextafter(v, to))
				require.NotZero(t, written(sign*v).plus(next.Negated()).V, next)
			}
		}
	}
}
