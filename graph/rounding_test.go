package graph

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// planesOf are the numbers of the hyperplanes of guards, which are made one after
// the other in one model.
func planesOf(t require.TestingT, guards ...func(x, y, rate, share Expr) Guard) (out []int) {
	m := NewModel()
	x, y := m.Sample("x", Normal(0, 1)), m.Sample("y", Normal(0, 1))
	rate, share := m.Sample("rate", Exponential(1)), m.Sample("share", Beta(1, 1))
	for _, g := range guards {
		planes := g(x, y, rate, share).Planes()
		require.LessOrEqual(t, len(planes), 1)
		out = append(out, append(planes, -1)[0])
	}
	_, err := m.Compile()
	require.NoError(t, err)
	return out
}

type comparison = func(x, y, rate, share Expr) Guard

// Equal mathematics is one guard, however it is computed.
func TestEqualMathematicsMerges(t *testing.T) {
	for name, c := range map[string][]comparison{
		"sums of decimals": {
			func(x, _, _, _ Expr) Guard { return Greater(Add(x, 0.3), 0) },
			func(x, _, _, _ Expr) Guard { return Greater(Add(Add(x, 0.1), 0.2), 0) },
			func(x, _, _, _ Expr) Guard { return Less(Sub(0, x), 0.3) },
		},
		"decimals cancel": {
			func(x, _, _, _ Expr) Guard { return Greater(x, 0) },
			func(x, _, _, _ Expr) Guard { return Greater(Add(Add(x, 0.1), 0.2), 0.3) },
			func(x, _, _, _ Expr) Guard { return Greater(Sub(Add(Add(x, 0.7), 0.1), 0.8), 0) },
		},
		"sums of coefficients": {
			func(x, y, _, _ Expr) Guard { return Greater(Add(Mul(0.3, x), y), 1) },
			func(x, y, _, _ Expr) Guard { return Greater(Add(Add(Mul(0.1, x), y), Mul(0.2, x)), 1) },
			func(x, y, _, _ Expr) Guard { return Greater(Add(Mul(0.6, x), Mul(2, y)), 2) },
		},
		"quotients": {
			func(x, _, _, _ Expr) Guard { return Greater(x, 0.3) },
			func(x, _, _, _ Expr) Guard { return Greater(Div(x, 3), 0.1) },
			func(x, _, _, _ Expr) Guard { return Greater(Mul(7, Div(x, 49)), Div(0.3, 7)) },
			func(x, _, _, _ Expr) Guard { return Less(Sub(1, Mul(10, x)), -2) },
			func(x, _, _, _ Expr) Guard { return Greater(Mul(1.0/3, x), 0.1) },
		},
		"a tenth, ten times": {
			func(x, y, _, _ Expr) Guard { return Greater(Add(x, y), 1) },
			func(x, y, _, _ Expr) Guard {
				total := y
				for range 10 {
					total = Add(total, Mul(0.1, x))
				}
				return Greater(total, 1)
			},
		},
		"large terms that go": {
			func(x, y, _, _ Expr) Guard { return Greater(Add(x, Mul(0.3, y)), 0.7) },
			func(x, y, _, _ Expr) Guard {
				return Greater(Add(Sub(Add(Add(x, Mul(0.3, y)), 123456789.1), 0.7), Mul(1e5, y)), Add(Mul(1e5, y), 123456789.1))
			},
		},
		"transformed": {
			func(_, _, rate, _ Expr) Guard { return Greater(rate, 0.3) },
			func(_, _, rate, _ Expr) Guard { return Greater(Add(Mul(0.1, rate), Mul(0.2, rate)), 0.09) },
			func(_, _, rate, _ Expr) Guard { return Greater(Div(rate, 3), 0.1) },
			func(_, _, rate, _ Expr) Guard { return Greater(Log(rate), math.Log(0.3)) },
		},
		"transformed, at the origin": {
			func(_, _, rate, _ Expr) Guard { return Greater(rate, 1) },
			func(_, _, rate, _ Expr) Guard { return Greater(Add(Mul(0.1, rate), Mul(0.2, rate)), 0.3) },
		},
		"bounded": {
			func(_, _, _, share Expr) Guard { return Greater(share, 0.3) },
			func(_, _, _, share Expr) Guard { return Greater(Add(Add(share, 0.1), 0.2), 0.6) },
			func(_, _, _, share Expr) Guard { return Less(Sub(1, share), 0.7) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			for k := range c { // each of them first
				require.Equal(t, make([]int, len(c)), planesOf(t, slices.Concat(c[k:], c[:k])...))
			}
		})
	}
	require.Equal(t, []int{-1}, planesOf(t, func(x, _, _, _ Expr) Guard {
		return Greater(Add(Mul(0.1, x), Mul(0.2, x)), Mul(0.3, x))
	}), "no guard at all")
}

// One affine form, its terms in any order and nesting, times any factor: one
// guard. One number of it changed by a millionth part of a millionth: another.
func TestOrderOfArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := math.Pow10(rapid.IntRange(-280, 280).Draw(t, "magnitude"))
		numbers := make([]float64, 6)
		for i := range numbers {
			numbers[i] = size * rapid.Float64Range(0.1, 10).Draw(t, "number")
		}
		form := func(numbers []float64) comparison {
			order := rapid.Permutation([]int{0, 1, 2, 3, 4, 5}).Draw(t, "order")
			factor := rapid.SampledFrom([]float64{1, 3, 0.1, -7.3, 1e10}).Draw(t, "factor")
			inside := rapid.IntRange(0, 5).Draw(t, "inside")
			return func(x, y, _, _ Expr) Guard {
				value := func(i int) Expr { // the coefficients are those of x, x, y and y
					if i < 4 {
						return Mul(numbers[i], []Expr{x, y}[i/2])
					}
					return modelOf(x).expr(modelOf(x).st.Constant(numbers[i]))
				}
				nested, total := value(order[0]), Expr{}
				for k, i := range order[1:] {
					if k < inside {
						nested = Add(nested, value(i))
					} else {
						total = Add(total, value(i))
					}
				}
				total = Mul(factor, Add(total, nested))
				if factor < 0 {
					return Less(total, 0)
				}
				return Greater(total, 0)
			}
		}
		require.Equal(t, []int{0, 0, 0}, planesOf(t, form(numbers), form(numbers), form(numbers)))
		other := slices.Clone(numbers)
		other[rapid.IntRange(0, 5).Draw(t, "changed")] *= 1 + 1e-12
		require.Equal(t, []int{0, 1}, planesOf(t, form(numbers), form(other)))
	})
}

// Different numbers are different guards, also after exact arithmetic: here in
// seconds, milliseconds and nanoseconds of today and at all magnitudes.
func TestDifferentNumbersDoNotMerge(t *testing.T) {
	ten := func(guard func(x, rate Expr, k float64) Guard) []int {
		var all []comparison
		for k := range 10 {
			all = append(all, func(x, _, rate, _ Expr) Guard { return guard(x, rate, float64(k)) })
		}
		return planesOf(t, all...)
	}
	want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, now := range []struct{ at, unit float64 }{
		{1.7e9, 1e-3}, {1.7e9, 0x1p-22}, {1.7e12, 1}, {1.7e12, 0x1p-12}, {1.7e18, 1e6}, {1.7e18, 256},
	} {
		require.Equal(t, want, ten(func(x, _ Expr, k float64) Guard { return Greater(x, now.at+k*now.unit) }), now)
		require.Equal(t, want, ten(func(x, _ Expr, k float64) Guard { return Greater(Sub(x, now.at), k*now.unit) }), now)
		require.Equal(t, want, ten(func(x, _ Expr, k float64) Guard { return Less(Add(x, now.at), now.at+k*now.unit) }), now)
		require.Equal(t, want, ten(func(x, _ Expr, k float64) Guard { return Greater(Mul(1e-3, x), now.at+4*k*now.unit) }), now)
		require.Equal(t, want, ten(func(x, _ Expr, k float64) Guard { return Greater(Div(x, 86.4), now.at+4*k*now.unit) }), now)
	}
	require.Equal(t, want, ten(func(_, rate Expr, k float64) Guard { return Greater(rate, 1.7e12+k) }))
	for e := -300; e <= 300; e += 20 {
		size := math.Pow10(e)
		require.Equal(t, want, ten(func(x, _ Expr, k float64) Guard { return Greater(x, size*(1+k*0x1p-52)) }), size)
		require.Equal(t, want, ten(func(x, _ Expr, k float64) Guard { return Greater(Mul(3, x), size*(1+k*0x1p-50)) }), size)
	}
}

// Ten guards a millisecond apart, in milliseconds of today, each with a factor of
// its own: log r counts those that hold.
func TestMillisecondsOfToday(t *testing.T) {
	const now, factor = 1.7e12, -30.0
	m := NewModel()
	x := m.Sample("x", Normal(now, 5))
	for k := range 10 {
		m.Factor(If(Greater(x, now+float64(k)), factor, 0))
	}
	d, err := m.Compile()
	require.NoError(t, err)
	require.Equal(t, 10, d.Arrangement().Len())
	for held := range 11 {
		z := now - 0.5 + float64(held)
		got, err := d.LogProb([]float64{z})
		require.NoError(t, err)
		want := float64(held)*factor - (z-now)*(z-now)/50 - math.Log(5*math.Sqrt(2*math.Pi))
		require.InDelta(t, want, got, 1e-9, fmt.Sprint(held, " hold"))
	}
}
