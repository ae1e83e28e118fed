package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// numbers returns n numbers, some of them special.
func numbers(rng *rand.Rand, n int) []float64 {
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 5e-324}
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
		if rng.IntN(10) == 0 {
			v[i] = special[rng.IntN(len(special))]
		}
	}
	return v
}

func signs(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(rng.IntN(2))
	}
	return v
}

func choose(ok bool, a, b float64) float64 {
	if ok {
		return a
	}
	return b
}

// A loop is a function of this package and what it says of one number. x, y, z
// are numbers and s signs.
type loop struct {
	name string
	run  func(dst, x, y []float64, s [][]float64)
	want func(dst, x, y float64, s [3]float64) float64
}

var table = []float64{1, 2, 3, 4, 5, 6, 7, 8}

var loops = []loop{
	{"Affine", func(dst, x, _ []float64, _ [][]float64) { Affine(dst, x, 1.7, -0.3) },
		func(_, x, _ float64, _ [3]float64) float64 { return -0.3 + float64(1.7*x) }},
	{"Affine2", func(dst, x, y []float64, _ [][]float64) { Affine2(dst, x, y, 1.7, 2.9, -0.3) },
		func(_, x, y float64, _ [3]float64) float64 { return -0.3 + float64(1.7*x) + float64(2.9*y) }},
	{"AndStep", func(dst, x, y []float64, _ [][]float64) { AndStep(dst, x, y, -0.9) },
		func(dst, x, y float64, _ [3]float64) float64 { return choose(x+float64(-0.9*y) > 0, dst, 0) }},
	{"AddScaled", func(dst, x, _ []float64, _ [][]float64) { AddScaled(dst, 1.7, x) },
		func(dst, x, _ float64, _ [3]float64) float64 { return dst + float64(1.7*x) }},
	{"Add", func(dst, x, y []float64, _ [][]float64) { Add(dst, x, y) },
		func(_, x, y float64, _ [3]float64) float64 { return x + y }},
	{"Add in place", func(dst, x, _ []float64, _ [][]float64) { Add(dst, dst, x) },
		func(dst, x, _ float64, _ [3]float64) float64 { return dst + x }},
	{"Add3", func(dst, x, y []float64, _ [][]float64) { Add3(dst, dst, x, y) },
		func(dst, x, y float64, _ [3]float64) float64 { return dst + x + y }},
	{"Mul", func(dst, x, y []float64, _ [][]float64) { Mul(dst, x, y) },
		func(_, x, y float64, _ [3]float64) float64 { return x * y }},
	{"Div", func(dst, x, y []float64, _ [][]float64) { Div(dst, x, y) },
		func(_, x, y float64, _ [3]float64) float64 { return x / y }},
	{"Larger", func(dst, x, y []float64, _ [][]float64) { Larger(dst, make([]float64, len(dst)), x, y) },
		func(_, x, y float64, _ [3]float64) float64 { return choose(x > y || math.IsNaN(x), x, y) }},
	{"Larger, apart", func(dst, x, y []float64, _ [][]float64) { Larger(make([]float64, len(dst)), dst, x, y) },
		func(_, x, y float64, _ [3]float64) float64 { return choose(x == y, 0, -math.Abs(x-y)) }},
	{"Poles", func(dst, x, _ []float64, _ [][]float64) { Poles(dst, make([]float64, len(dst)), x) },
		func(_, x, _ float64, _ [3]float64) float64 { w, _ := PoleOf(x); return w }},
	{"Poles, inverse", func(dst, x, _ []float64, _ [][]float64) { Poles(make([]float64, len(dst)), dst, x) },
		func(_, x, _ float64, _ [3]float64) float64 { _, inverse := PoleOf(x); return inverse }},
	{"AddMul", func(dst, x, y []float64, _ [][]float64) { AddMul(dst, x, y) },
		func(dst, x, y float64, _ [3]float64) float64 { return dst + float64(x*y) }},
	{"GatedMul", func(dst, x, y []float64, _ [][]float64) { GatedMul(dst, x, y, 2) },
		func(_, x, y float64, _ [3]float64) float64 { return choose(x == 0, 0, x*(2*y)) }},
	{"Gauss", func(dst, x, _ []float64, _ [][]float64) { Gauss(dst, x, 1.7) },
		func(_, x, _ float64, _ [3]float64) float64 { return 1.7 * ExpOf(-0.5*float64(x*x)) }},
	{"Exp", func(dst, x, _ []float64, _ [][]float64) { Exp(dst, x) },
		func(_, x, _ float64, _ [3]float64) float64 { return ExpOf(x) }},
	{"Log", func(dst, x, _ []float64, _ [][]float64) { Log(dst, x) },
		func(_, x, _ float64, _ [3]float64) float64 { return LogOf(x) }},
	{"ExpApart", func(dst, x, y []float64, _ [][]float64) { ExpApart(make([]float64, len(dst)), dst, x, y) },
		func(old, x, y float64, _ [3]float64) float64 { return old + ExpOf(x-y) }},
	{"Log1p", func(dst, x, y []float64, _ [][]float64) { Exp(dst, x); Log1p(dst, dst) },
		func(_, x, y float64, _ [3]float64) float64 {
			return Log1pOf(ExpOf(x))
		}},
	{"Select", func(dst, x, y []float64, s [][]float64) { Select(dst, s[0], x, y) },
		func(_, x, y float64, s [3]float64) float64 { return choose(s[0] == 1, x, y) }},
	{"Lookup of 1", func(dst, _, _ []float64, s [][]float64) { Lookup(dst, s[:1], table[:2]) },
		func(_, _, _ float64, s [3]float64) float64 { return 1 + s[0] }},
	{"Lookup of 2", func(dst, _, _ []float64, s [][]float64) { Lookup(dst, s[:2], table[:4]) },
		func(_, _, _ float64, s [3]float64) float64 { return 1 + s[0] + 2*s[1] }},
	{"Lookup of 3", func(dst, _, _ []float64, s [][]float64) { Lookup(dst, s, table) },
		func(_, _, _ float64, s [3]float64) float64 { return 1 + s[0] + 2*s[1] + 4*s[2] }},
	{"Gate on", func(dst, x, _ []float64, s [][]float64) { Gate(dst, s[0], x, 1) },
		func(_, x, _ float64, s [3]float64) float64 { return choose(s[0] == 1, x, 0) }},
	{"Gate off", func(dst, x, _ []float64, s [][]float64) { Gate(dst, s[0], x, 0) },
		func(_, x, _ float64, s [3]float64) float64 { return choose(s[0] == 0, x, 0) }},
	{"AddGate on", func(dst, x, _ []float64, s [][]float64) { AddGate(dst, s[0], x, 1) },
		func(dst, x, _ float64, s [3]float64) float64 { return dst + choose(s[0] == 1, x, 0) }},
	{"AddGate off", func(dst, x, _ []float64, s [][]float64) { AddGate(dst, s[0], x, 0) },
		func(dst, x, _ float64, s [3]float64) float64 { return dst + choose(s[0] == 0, x, 0) }},
	{"Step", func(dst, x, _ []float64, _ [][]float64) { Step(dst, x, -2, 0.5) },
		func(_, x, _ float64, _ [3]float64) float64 { return choose(0.5-2*x > 0, 1, 0) }},
	{"Step at the edge", func(dst, x, _ []float64, _ [][]float64) { Step(dst, x, 1, 0) },
		func(_, x, _ float64, _ [3]float64) float64 { return choose(x > 0, 1, 0) }},
}

// onBothPaths runs f with the vector loops, where there are any, and without.
func onBothPaths(t *testing.T, f func(t *testing.T)) {
	defer setLoops(useAVX512, useAVX2)
	for _, use := range []bool{useAVX2, false} {
		setLoops(useAVX512, use)
		t.Run(fmt.Sprintf("AVX2=%v", use), f)
	}
}

// requireSame compares bits, but for the payload of NaN.
func requireSame(t *testing.T, want, got float64, where ...any) {
	t.Helper()
	if math.IsNaN(want) && math.IsNaN(got) {
		return
	}
	require.Equal(t, math.Float64bits(want), math.Float64bits(got), where...)
}

func TestLoops(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 1))
		for _, l := range loops {
			for n := range 40 {
				const margin = 3 // what lies behind dst must stay
				dst, x, y := numbers(rng, n+margin), numbers(rng, n), numbers(rng, n)
				s := [][]float64{signs(rng, n), signs(rng, n), signs(rng, n)}
				before := append([]float64(nil), dst...)
				l.run(dst[:n:n], x, y, s)
				for i := range n {
					requireSame(t, l.want(before[i], x[i], y[i], [3]float64{s[0][i], s[1][i], s[2][i]}), dst[i], "%s, %d of %d", l.name, i, n)
				}
				for i := n; i < n+margin; i++ {
					requireSame(t, before[i], dst[i], "%s wrote behind its %d numbers", l.name, n)
				}
			}
		}
	})
}

// FirstExit is that of a search one by one, the first of those at the same time; NaN does not leave, nor what comes back from beyond.
func TestFirstExit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	onBothPaths(t, func(t *testing.T) {
		for n := range 150 {
			for range 40 {
				x, y, m := make([]float64, n), make([]float64, n), make([]float64, n)
				lo, hi := make([]float64, n), make([]float64, n)
				ends, speeds := make([]float64, n), make([]float64, n)
				want, first := -1, 0.0
				for k := range x {
					x[k], y[k], m[k], lo[k], hi[k] = float64(rng.IntN(9)), float64(rng.IntN(60)-30), float64(rng.IntN(3)-1), -1, 9
					switch rng.IntN(9) {
					case 0:
						x[k] = math.NaN()
					case 1:
						lo[k] = math.Inf(-1)
					case 2:
						hi[k] = math.Inf(1)
					}
					ends[k], speeds[k] = x[k]+2*m[k], y[k]+4*m[k]
					ago := (ends[k] - hi[k]) / speeds[k]
					if speeds[k] < 0 {
						ago = (ends[k] - lo[k]) / speeds[k]
					}
					if ago > first && speeds[k] != 0 {
						want, first = k, ago
					}
				}
				others, by, moved := make([]float64, rng.IntN(12)), []float64(nil), []float64(nil)
				for k := range others {
					others[k], by = float64(k), append(by, float64(3*k))
					moved = append(moved, float64(7*k))
				}
				state := slices.Concat(x, y, lo, hi, others)
				k, ago := FirstExit(state, slices.Concat(m, by), n, 2, 4)
				require.Equal(t, want, k)
				require.Equal(t, first, ago)
				for i, want := range slices.Concat(ends, speeds, lo, hi, moved) {
					requireSame(t, want, state[i])
				}
			}
		}
		k, _ := FirstExit([]float64{1e-20, 0, 1e-20, -1, -1, -1, 0, 0, 1, -1, 0, 0, 0, -2, -1, 9, 0, 0, 9, 0}, make([]float64, 5), 5, 0, 0)
		require.Equal(t, -1, k)
	})
}

func TestTranspose(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		for rows := range 10 {
			for n := 1; n < 10; n++ {
				for stride := rows; stride < rows+3; stride++ {
					x, dst := make([]float64, rows*n), make([]float64, stride*n)
					for k := range x {
						x[k] = float64(k)
					}
					Transpose(dst, stride, x, rows, n)
					for i, v := range dst {
						want := 0.0
						if k := i % stride; k < rows {
							want = x[k*n+i/stride]
						}
						require.Equal(t, want, v)
					}
				}
			}
		}
	})
}

func TestTake(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		for rows := 1; rows < 10; rows++ {
			for n := 1; n < 10; n++ {
				for stride := n; stride < n+3; stride++ {
					x, dst := make([]float64, rows*stride), make([]float64, rows*n)
					for k := range x {
						x[k] = 1 + float64(k)
					}
					for k := range dst {
						dst[k] = 1000 * float64(k)
					}
					Take(dst, x, stride, rows, n)
					for i, v := range dst {
						require.Equal(t, 1000*float64(i)+float64(1+i%rows*stride+i/rows), v)
					}
					for k, v := range x {
						require.Equal(t, k%stride < n, v == 0)
					}
				}
			}
		}
	})
}

func TestLookupOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := [][]float64{signs(rng, 9), signs(rng, 9), signs(rng, 9), signs(rng, 9)}
	dst, entries := make([]float64, 9), make([]float64, 16)
	for i := range entries {
		entries[i] = float64(i)
	}
	Lookup(dst, s, entries)
	for i, v := range dst {
		require.Equal(t, s[0][i]+2*s[1][i]+4*s[2][i]+8*s[3][i], v)
	}
}

// Both paths add in the same order: they agree bit for bit.
func TestSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for n := range 100 {
		x, y := make([]float64, 2*n), make([]float64, 2*n)
		for i := range x {
			x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
		}
		var all [][]float64
		onBothPaths(t, func(t *testing.T) {
			sum, dot := []float64{10, 20}, []float64{30, 40}
			AddSumDotRows(sum, dot, x, y, n)
			rows := []float64{-1, -1, -1}
			SumRows(rows, append(make([]float64, n), x...), n, []int32{1, 2})
			require.Equal(t, []float64{-1, Sum(x[:n]), Sum(x[n:])}, rows)
			all = append(all, append(append(append(sum, dot...), rows...), Sum(x)))
		})
		require.Equal(t, all[1], all[0], "%d numbers", n)
		want := []float64{10, 20, 30, 40}
		for i := range x {
			want[i/n] += x[i]
			want[2+i/n] += x[i] * y[i]
		}
		require.InDeltaSlice(t, want, all[0][:4], 1e-12)
		require.InDelta(t, want[0]+want[1]-30, all[0][7], 1e-12)
	}
}

// Lanes start at +0, so that a row of −0 sums to +0 on both paths; NaN and Inf
// come through.
func TestSumsOfSpecialNumbers(t *testing.T) {
	negative := math.Copysign(0, -1)
	onBothPaths(t, func(t *testing.T) {
		for n := 1; n < 70; n++ {
			for _, v := range []float64{negative, math.Inf(1), math.NaN()} {
				x := make([]float64, n)
				for i := range x {
					x[i] = v
				}
				sum, rows, dot := []float64{negative}, []float64{1}, []float64{negative}
				SumRows(rows, x, n, []int32{0})
				AddSumDotRows(sum, dot, x, x, n)
				requireSame(t, 0+v, Sum(x), "%d times %v", n, v)
				requireSame(t, 0+v, rows[0], "%d times %v", n, v)
				requireSame(t, 0+v, sum[0], "%d times %v", n, v)
				requireSame(t, 0+v*v, dot[0], "%d times %v", n, v)
			}
		}
	})
}

// Empty lists, and rows of no numbers, do nothing.
func TestNothing(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		require.Zero(t, Sum(nil))
		SumRows(nil, nil, 16, nil)
		AddSumDotRows(nil, nil, nil, nil, 16)
		AffineRows(nil, nil, 16, nil, nil)
		StepRows(nil, nil, 16, nil)
		MulRows(nil, nil, nil, 16, nil, nil)
		GatedMulRows(nil, nil, nil, 16, nil, nil, 1)
		SelectRows(nil, nil, nil, nil, 16, nil, nil, nil)
		one := []float64{1}
		AddSumDotRows(one, one, nil, nil, 0)
		AffineRows(nil, nil, 0, one, one)
		StepRows(nil, nil, 0, []StepRow{{1, 1, 3}})
		AddRows(nil, nil, []int32{0}, one)
		AddSparse(nil, nil, 0, []int32{0}, []int32{0}, one)
		require.Equal(t, []float64{1}, one)
		dst := []float64{1, 2, 3, 4, 5}
		AddSparse(dst, nil, 1, nil, nil, nil)
		AddDots(nil, nil, nil, 16, nil, nil)
		require.Equal(t, []float64{1, 2, 3, 4, 5}, dst)
	})
}

// What is too short is found out before anything is written.
func TestShortSlices(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		x, short := make([]float64, 32), make([]float64, 31)
		s := [][]float64{x, x, x}
		for _, l := range loops {
			switch l.name {
			case "Lookup of 1", "Lookup of 2", "Lookup of 3": // have no numbers
			default:
				require.Panics(t, func() { l.run(x, short[:31:31], short[:31:31], s) }, l.name)
			}
		}
		signs := [][]float64{short[:31:31], short[:31:31], short[:31:31]}
		for m := 1; m <= 3; m++ {
			require.Panics(t, func() { Lookup(x, signs[:m], table) })
		}
		two := []float64{1, 1}
		require.Panics(t, func() { AffineRows(x, short[:31:31], 16, two, two) })
		require.Panics(t, func() { AffineRows(x, x, 16, two[:1:1], two) })
		require.Panics(t, func() { AddSumDotRows(two, two, x, short[:31:31], 16) })
		require.Panics(t, func() { AddSumDotRows(two, two[:1:1], x, x, 16) })
		require.Panics(t, func() { StepRows(x, x, 16, []StepRow{{1, 1, 2}, {1, 1, 0}}) })
		require.Panics(t, func() { StepRows(x, x, 16, []StepRow{{1, 1, -1}, {1, 1, 0}}) })
		require.Panics(t, func() { AddRows(make([]float64, 16), x, []int32{0, 1, 0}, two[:2:2]) })
		require.Panics(t, func() { AddSparse(x, x, 16, []int32{0, 0}, []int32{1}, nil) })
		require.Panics(t, func() { AddSparse(x, x, 16, []int32{0, 0, 0}, []int32{1, 1, 1}, two[:2:2]) })
		require.Panics(t, func() { AddSparse(x, x, 16, []int32{0, 0}[:1:1], []int32{1, 1}, two) })
		require.Panics(t, func() { AddDots(two, x, x, 16, []int32{0, 0}[:1:1], []int32{1, 1}) })
	})
}

func TestRows(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 5))
		for n := 1; n < 40; n++ {
			x, a, c := numbers(rng, 3*n), numbers(rng, 3), numbers(rng, 3)
			dst := make([]float64, 3*n+1)
			dst[3*n] = -1
			AffineRows(dst[:3*n], x, n, a, c)
			for i, v := range x {
				requireSame(t, c[i/n]+float64(a[i/n]*v), dst[i], "%d of rows of %d", i, n)
			}
			y, sign := numbers(rng, 3*n), numbers(rng, 2*n)
			for i := range sign {
				sign[i] = float64(rng.IntN(2))
			}
			rx, ry, rs := []int32{2, 0, 2}, []int32{1, 2, 0}, []int32{0, 1, 1}
			at := func(of []float64, rows []int32, i int) float64 { return of[int(rows[i/n])*n+i%n] }
			MulRows(dst[:3*n], x, y, n, rx, ry)
			for i := range x {
				requireSame(t, at(x, rx, i)*at(y, ry, i), dst[i], "%d of products of rows of %d", i, n)
			}
			GatedMulRows(dst[:3*n], sign, x, n, rs, rx, 2)
			for i := range x {
				requireSame(t, choose(at(sign, rs, i) == 1, 2*at(x, rx, i), 0), dst[i], "%d of gated products of rows of %d", i, n)
			}
			SelectRows(dst[:3*n], sign, x, y, n, rs, rx, ry)
			for i := range x {
				requireSame(t, choose(at(sign, rs, i) == 1, at(x, rx, i), at(y, ry, i)), dst[i], "%d of selected rows of %d", i, n)
			}
			p := []StepRow{{1, 0.5, 2}, {-2, 0, 0}, {1, 0, 2}}
			StepRows(dst[:3*n], x, n, p)
			for i := range x {
				s := p[i/n]
				requireSame(t, choose(s.C+s.A*x[s.Row*n+i%n] > 0, 1, 0), dst[i], "%d of rows of %d", i, n)
			}
			require.EqualValues(t, -1, dst[3*n])
		}
	})
}

// Runs of entries in one row, of one weight and of one each; of x, and of dst itself.
func TestAddSparse(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 4))
		for n := 1; n < 70; n++ {
			for round := range 20 {
				const rows = 8
				dst, x := numbers(rng, rows*n+1), numbers(rng, rows*n)
				dst[rows*n] = -1
				inPlace := round%2 == 0
				if inPlace {
					x = dst
				}
				var row, col []int32
				for range rng.IntN(9) {
					r, c := int32(rng.IntN(rows)), int32(rng.IntN(rows))
					if len(row) > 0 && rng.IntN(2) == 0 {
						r = row[len(row)-1]
					}
					if !inPlace || r != c {
						row, col = append(row, r), append(col, c)
					}
				}
				w := numbers(rng, max(1, len(row)))
				if round%4 < 2 {
					w = w[:1]
				}
				want := slices.Clone(dst)
				from := x
				if inPlace {
					from = want
				}
				for e, r := range row {
					for i := range n {
						want[int(r)*n+i] += float64(w[min(e, len(w)-1)] * from[int(col[e])*n+i])
					}
				}
				AddSparse(dst, x, n, row, col, w)
				for i, v := range want {
					requireSame(t, v, dst[i], "%d of rows of %d", i, n)
				}
			}
		}
	})
}

func TestAddRows(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 5))
		for _, entries := range []int{0, 1, 5, 64, 65, 200} {
			const n, rows = 23, 4
			dst, x, w, ref := numbers(rng, n), numbers(rng, rows*n), numbers(rng, entries), make([]int32, entries)
			want := slices.Clone(dst)
			for e := range ref {
				ref[e] = int32(rng.IntN(rows))
				for i := range n {
					want[i] += float64(w[e] * x[int(ref[e])*n+i])
				}
			}
			AddRows(dst, x, ref, w)
			for i, v := range want {
				requireSame(t, v, dst[i], "%d of %d entries", i, entries)
			}
		}
	})
}

// The sums are those of AddSumDotRows, bit for bit.
func TestAddDots(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 7))
		for n := 1; n < 70; n++ {
			const rows = 5
			x, y := numbers(rng, rows*n), numbers(rng, rows*n)
			var row, col []int32
			for range 7 {
				row, col = append(row, int32(rng.IntN(rows))), append(col, int32(rng.IntN(rows)))
			}
			dst := numbers(rng, len(row)+1)
			want := slices.Clone(dst)
			for e := range row {
				AddSumDotRows(make([]float64, 1), want[e:e+1], x[int(row[e])*n:][:n], y[int(col[e])*n:][:n], n)
			}
			AddDots(dst[:len(row)], x, y, n, row, col)
			for e, v := range want {
				requireSame(t, v, dst[e], "%d of rows of %d", e, n)
			}
		}
	})
}

// A recurrence and plain sums, with rows of no entries.
func TestSparse(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 6))
		for n := range 70 {
			const inputs, rows = 3, 8
			a, c := numbers(rng, inputs*n), numbers(rng, rows)
			from, ref := []int32{0}, []int32{}
			for r := range rows {
				for range rng.IntN(5) {
					ref = append(ref, int32(rng.IntN(inputs+r)))
				}
				from = append(from, int32(len(ref)))
			}
			w := numbers(rng, len(ref))
			dst := make([]float64, rows*n+1)
			dst[rows*n] = -1
			Rows{A: a, B: dst, Split: inputs}.Sparse(dst[:rows*n], n, c, from, ref, w)
			for i := range rows * n {
				r, col := i/n, i%n
				want := c[r]
				for e := from[r]; e < from[r+1]; e++ {
					x := 0.0
					if ref[e] < inputs {
						x = a[int(ref[e])*n+col]
					} else {
						x = dst[int(ref[e]-inputs)*n+col]
					}
					want += float64(w[e] * x)
				}
				requireSame(t, want, dst[i], "%d of rows of %d", i, n)
			}
			require.EqualValues(t, -1, dst[rows*n])
		}
	})
}
