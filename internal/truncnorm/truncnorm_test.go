package truncnorm

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/long"
)

// The reference is math/big: power series of erf and exp, and the continued
// fraction of the Mills ratio, in 400 bits.
const bits = 400

func num(x float64) *big.Float            { return new(big.Float).SetPrec(bits).SetFloat64(x) }
func add(x, y *big.Float) *big.Float      { return num(0).Add(x, y) }
func sub(x, y *big.Float) *big.Float      { return num(0).Sub(x, y) }
func mul(x, y *big.Float) *big.Float      { return num(0).Mul(x, y) }
func div(x, y *big.Float) *big.Float      { return num(0).Quo(x, y) }
func ratio(x, y *big.Float) (out float64) { out, _ = div(x, y).Float64(); return out }

// bigExp is eˣ, by its series at x/2^k.
func bigExp(x *big.Float) *big.Float {
	k := max(0, x.MantExp(nil)+20)
	small := num(0).SetMantExp(x, -k)
	sum, term := num(1), num(1)
	for n := 1; n < 22; n++ {
		term = div(mul(term, small), num(float64(n)))
		sum = add(sum, term)
	}
	for range k {
		sum = mul(sum, sum)
	}
	return sum
}

var bigRoot2Pi = func() *big.Float {
	pi, _ := num(0).SetString("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651328230664709384460955058223172535940812848111745028410270193852110555964462294895493038196")
	return num(0).Sqrt(mul(num(2), pi))
}()

func bigDensity(x *big.Float) *big.Float {
	return div(bigExp(num(0).Neg(div(mul(x, x), num(2)))), bigRoot2Pi)
}

// tailOf remembers.
var tailOf = map[float64]*big.Float{}

// bigTail is Φ(−x).
func bigTail(x float64) *big.Float {
	if tailOf[x] == nil {
		tailOf[x] = makeTail(x)
	}
	return tailOf[x]
}

func makeTail(x float64) *big.Float {
	switch {
	case math.IsInf(x, 1):
		return num(0)
	case x < 0:
		return sub(num(1), bigTail(-x))
	}
	b := num(x)
	if x > 6 {
		f := b
		for k := 300; k > 0; k-- {
			f = add(b, div(num(float64(k)), f))
		}
		return div(bigDensity(b), f)
	}
	sum, term := num(0), b
	for k := 1.0; k < 400; k += 2 {
		sum = add(sum, term)
		term = div(mul(term, mul(b, b)), num(k+2))
	}
	return sub(num(0.5), mul(bigDensity(b), sum))
}

// bigMass is Φ(β) − Φ(α).
func bigMass(lo, hi float64) *big.Float {
	if lo+hi < 0 {
		lo, hi = -hi, -lo
	}
	return sub(bigTail(lo), bigTail(hi))
}

// bigLog is log x, by Newton's method.
func bigLog(x *big.Float) float64 {
	m := num(0)
	e := x.MantExp(m)
	f, _ := m.Float64()
	y := add(num(math.Log(f)), mul(num(float64(e)), bigLn2))
	for range 4 {
		y = add(y, sub(div(x, bigExp(y)), num(1)))
	}
	out, _ := y.Float64()
	return out
}

var bigLn2 = func() *big.Float {
	y := num(math.Ln2)
	for range 6 {
		y = add(y, sub(div(num(2), bigExp(y)), num(1)))
	}
	return y
}()

var inf = math.Inf(1)

// intervals are of all kinds: one-sided and not, around 0, in the tails, wide and
// narrow; and the mirror image of each.
func intervals() (all [][2]float64) {
	for _, x := range []float64{0, 1e-14, 1e-3, 0.3, 1, 3, 7.5, 20, 30, 36.5, 40, 1000} {
		for _, d := range []float64{1e-12, 1e-6, 1e-3, 0.03, 0.09, 0.11, 1, 5, 50, inf} {
			all = append(all, [2]float64{x, x + d}, [2]float64{-x - d, -x})
		}
		all = append(all, [2]float64{-x, inf}, [2]float64{-inf, x}, [2]float64{-x, 2 * x}, [2]float64{-x, x + 1e-12}, [2]float64{-2, x})
	}
	var good [][2]float64
	for k, i := range all {
		if i[0] < i[1] && (long.On() || k%3 == 0) {
			good = append(good, i)
		}
	}
	return good
}

func name(i [2]float64) string { return fmt.Sprintf("(%v, %v)", i[0], i[1]) }

func TestMass(t *testing.T) {
	var last Interval
	for _, i := range intervals() {
		want := bigMass(i[0], i[1])
		value, _ := want.Float64()
		require.InDelta(t, value, Mass(i[0], i[1]), 1e-12*value+1e-300, name(i))
		for range 2 {
			last.Set(i[0], i[1])
			require.Equal(t, Mass(i[0], i[1]), last.Mass(), name(i))
			require.Equal(t, Quantile(0.3, i[0], i[1]), last.Quantile(0.3), name(i))
		}
		log := bigLog(want)
		if out := add(bigTail(-i[0]), bigTail(i[1])); out.Cmp(num(1e-20)) < 0 {
			log, _ = num(0).Neg(out).Float64()
		}
		require.InDelta(t, log, LogMass(i[0], i[1]), 1e-12*math.Abs(log)+1e-300, name(i))
		m := massOf(i[0], i[1])
		require.InEpsilon(t, 1, ratio(mul(num(m.rest), bigExp(num(0).Neg(div(mul(num(m.near), num(m.near)), num(2))))), want), 1e-12, name(i))
	}
	require.Zero(t, LogMass(-inf, inf))
	require.Equal(t, 1.0, Mass(-inf, inf))
	for _, x := range []float64{0, 1, -40} {
		require.Zero(t, Mass(x, x))
	}
}

// points are numbers inside an interval, near its ends too.
func points(i [2]float64) (xs []float64) {
	for _, u := range []float64{1e-9, 1e-3, 0.3, 0.5, 0.9, 1 - 1e-6} {
		if x := Quantile(u, i[0], i[1]); x > i[0] && x < i[1] {
			xs = append(xs, x)
		}
	}
	return xs
}

// The density is right at the points themselves.
func TestAtPoints(t *testing.T) {
	for _, i := range intervals() {
		all := bigMass(i[0], i[1])
		for _, x := range points(i) {
			at := fmt.Sprintf("%v in %s", x, name(i))
			density := bigDensity(num(x))
			require.InEpsilon(t, 1+math.Abs(bigLog(div(density, all))), 1+math.Abs(LogProb(x, i[0], i[1])), 1e-12, at)
		}
	}
	require.Equal(t, math.Inf(-1), LogProb(1, 1, 2))
	require.Equal(t, math.Inf(-1), LogProb(3, 1, 2))
}

// T lies inside the interval, and is what has the probability of ε, in both tails
// of ε: the distance to the exact one, from the residual in exact arithmetic, is
// less than 1e-12 relative, or where the sum of terms of both signs cancels,
// 3e-16 absolute.
func TestAt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, i := range intervals() {
		for _, e := range []float64{-36, -20, -8, -3, -0.5, 0, 1e-9, 0.7, 4, 9, 25, 36, rng.NormFloat64(), rng.NormFloat64()} {
			x := At(e, i[0], i[1])
			at := fmt.Sprintf("%v in %s is %v", e, name(i), x)
			if math.IsInf(i[0], -1) && math.IsInf(i[1], 1) {
				require.Equal(t, e, x)
				continue
			}
			if math.Nextafter(i[0], inf) >= i[1] {
				continue
			}
			require.True(t, i[0] < x && x < i[1], at)
			lo, hi, sign := i[0], i[1], 1.0
			if x < 0 {
				lo, hi, sign = -hi, -lo, -1
			}
			want := add(mul(bigTail(sign*e), bigTail(lo)), mul(bigTail(-sign*e), bigTail(hi))) // above
			off := ratio(sub(bigTail(sign*x), want), bigDensity(num(x)))
			limit := 1e-12 * math.Abs(x)
			if lo < 0 {
				limit = max(limit, 3e-16)
			}
			require.Less(t, math.Abs(off), limit, at)
		}
	}
	require.Equal(t, 1.25, At(1.25, math.Inf(-1), inf))
	require.InEpsilon(t, At(0.4, 1, 3), -At(-0.4, -3, -1), 1e-15)
	u, _ := tails(0.4)
	require.InEpsilon(t, At(0.4, 1, 3), Quantile(u, 1, 3), 1e-15)
}

// Moments are those of the closed forms in exact arithmetic.
func TestMoments(t *testing.T) {
	at := func(x float64) (density, times *big.Float) {
		if math.IsInf(x, 0) {
			return num(0), num(0)
		}
		p := bigDensity(num(x))
		return p, mul(p, num(x))
	}
	for _, i := range intervals() {
		all := bigMass(i[0], i[1])
		byLo, byHi := AtEnds(i[0], i[1])
		for k, got := range []float64{byLo, byHi} {
			end, _ := at(i[k])
			want := ratio(end, all)
			require.InDelta(t, want, got, 1e-12*want+1e-300, name(i))
		}
		lo, lo1 := at(i[0])
		hi, hi1 := at(i[1])
		mean := div(sub(lo, hi), all)
		variance, _ := sub(add(num(1), div(sub(lo1, hi1), all)), mul(mean, mean)).Float64()
		want, _ := mean.Float64()
		require.InEpsilon(t, variance, Variance(i[0], i[1]), 1e-12, name(i))
		require.InDelta(t, want, Mean(i[0], i[1]), 1e-12*math.Abs(want)+1e-300, name(i))
	}
	require.Zero(t, Mean(-inf, inf))
	require.InEpsilon(t, 1, Variance(-inf, inf), 1e-12)
	require.InEpsilon(t, 1-2/math.Pi, Variance(0, inf), 1e-12)
}

func BenchmarkAt(b *testing.B) {
	for _, i := range [][2]float64{{-0.5, inf}, {2, inf}, {-1, 1}, {30, inf}, {40, 41}} {
		b.Run(name(i), func(b *testing.B) {
			for k := range b.N {
				At(float64(k%5)-2.3, i[0], i[1])
			}
		})
	}
}
