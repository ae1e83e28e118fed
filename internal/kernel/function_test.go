package kernel

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"

	"github.com/facetvi/facet/internal/truncnorm"
)

// Every entry of the table is a whole one: it has a name of its own, and the
// derivative kernels are the derivatives of the value.
func TestFunctions(t *testing.T) {
	names := map[string]bool{}
	for f := None + 1; int(f) < len(functions); f++ {
		t.Run(f.String(), func(t *testing.T) {
			require.NotEmpty(t, f.String())
			require.False(t, names[f.String()])
			names[f.String()] = true
			for _, a := range pointsOf(f) {
				switch {
				case functions[f].unary != nil:
					checkDerivatives(t, Elementwise{f}, []float64{a}, func(x []float64) float64 { return f.Value(x[0]) })
				case functions[f].binary != nil:
					checkDerivatives(t, Elementwise{f}, []float64{a, secondOf(f)}, func(x []float64) float64 { return f.Value2(x[0], x[1]) })
				default:
					checkDerivatives(t, Elementwise{f}, []float64{a, 1.2, 0.7}, func(x []float64) float64 { return f.Value3(x[0], x[1], x[2]) })
				}
			}
		})
	}
}

// pointsOf are where a function, or its first operand, has a derivative that is
// not 0.
func pointsOf(f Function) []float64 {
	switch f {
	case LogTail:
		return []float64{-0.8, -2, -30}
	case Stirling, GammaRatio, Deviance: // in each of their cases
		return []float64{0.3, 1.7, 9.5, 15}
	case Log1mExp:
		return []float64{-0.3, -0.8, -30}
	case LogNormalQuantile:
		return []float64{-700, -3, -0.1}
	case ExponentialOfNormal, LogisticOfNormal, LaplaceOfNormal, CauchyOfNormal, HalfNormalOfNormal, HalfCauchyOfNormal:
		return []float64{-2.5, -0.4, 0.7, 3}
	case NormalQuantile, LogOddsBeta:
		return []float64{0.15, 0.3, 0.8}
	case LogStudentCDF, LogLaplaceCDF, LogCauchyCDF, LogNormalCDF, Ramp, LogRampSlope, IfNonNegative:
		return []float64{-3, -0.8, 0.3, 2}
	}
	return []float64{0.3, 0.8, 1.7}
}

// secondOf is the second operand of f.
func secondOf(f Function) float64 {
	switch f {
	case LogDiffExp:
		return -1.2
	case LogNormalMass, Log1mRatio:
		return 2.1
	}
	return 1.2
}

// checkDerivatives compares a kernel at x, for one row and one sample, and its
// derivatives, for an upstream gradient of 3 and of 0, with f.
func checkDerivatives(t *testing.T, k Kernel, x []float64, f func(x []float64) float64) {
	t.Helper()
	eval := func(k Kernel, operands ...float64) float64 {
		in := make([]Matrix, len(operands))
		for i, v := range operands {
			in[i] = Column([]float64{v})
		}
		out := NewMatrix(1, 1)
		k.Eval(out, in)
		return out.Data[0]
	}
	y := eval(k, x...)
	require.Equal(t, f(x), y)
	if math.IsInf(y, -1) { // where IfNonNegative is outside
		return
	}
	slope := fd.Gradient(nil, f, x, &fd.Settings{Formula: fd.Central, Step: 1e-5})
	for j := range x {
		d := k.(differentiable).diff(j, []int{1, 1, 1})
		operands := map[operand]float64{upstream: 3, result: y}
		for i, v := range x {
			operands[operand(i)] = v
		}
		at := func() (list []float64) {
			for _, o := range d.of {
				list = append(list, operands[o])
			}
			return list
		}
		require.InDelta(t, 3*slope[j], eval(d.k, at()...), 1e-8*math.Abs(3*slope[j]), "operand %d", j)
		operands[upstream], operands[result], operands[0] = 0, math.NaN(), math.Inf(1)
		require.Zero(t, eval(d.k, at()...), "of an untaken branch")
	}
}

// The inverse of the ramp is good to the last digits, where the ramp is about exp(−x²/2)/|x|, and where it is about x.
func TestRampInverse(t *testing.T) {
	for x := -37.0; x < 50; x += 0.125 {
		root, n := Ramp.Inverse(Ramp.Value(x))
		require.Equal(t, 1, n)
		require.InDelta(t, x, root[0], 1e-14*(1+math.Abs(x)))
	}
	for y, x := range map[float64]float64{0: math.Inf(-1), 1e300: 1e300, math.Exp(-0.5): 0, math.Inf(1): math.Inf(1)} {
		root, _ := Ramp.Inverse(y)
		if require.Equal(t, math.IsInf(x, 0), math.IsInf(root[0], 0)); !math.IsInf(x, 0) {
			require.InDelta(t, x, root[0], 1e-14*(1+x))
		}
	}
}

// Rows are the numbers one by one.
func TestRowsOfFunctions(t *testing.T) {
	g := []float64{1, -2, 3, 0.1}
	for f := range Function(len(functions)) {
		e := &functions[f]
		if e.unary == nil || e.slope == nil && f != Exp && f != Square {
			continue
		}
		xs, sums := pointsOf(f), []float64{5, 4, 3, 2}
		ys := make([]float64, len(xs))
		f.Values(ys, xs)
		f.AddSlopes(sums[:len(xs)], g[:len(xs)], xs, ys)
		for i, x := range xs {
			require.Equal(t, f.Value(x), ys[i], f)
			require.Equal(t, float64(5-i)+float64(g[i]*f.Slope(x, ys[i])), sums[i], f)
		}
	}
}

// So are long rows, in place too, at all sizes of numbers, and those of functions of two; and log Φ is what package truncnorm makes of it.
func TestLongRows(t *testing.T) {
	xs := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e200, 1e200, 0, math.Copysign(0, -1)}
	for x := -50.0; x < 50; x += 0.37 {
		xs = append(xs, x)
	}
	for _, f := range []Function{Ramp, LogRampSlope, LogNormalCDF} {
		row := slices.Clone(xs)
		f.Values(row, row)
		for i, x := range xs {
			require.True(t, row[i] == f.Value(x) || math.IsNaN(x) && math.IsNaN(row[i]), "%v at %v", f, x)
		}
	}
	for _, f := range []Function{Div, StudentTail} { // of two numbers, with their slopes
		n := len(xs)
		a, b, g, rows := Matrix{xs, 1, n}, NewMatrix(1, n), NewMatrix(1, n), []Matrix{NewMatrix(1, n), NewMatrix(1, n), NewMatrix(1, n)}
		for i := range xs {
			b.Data[i], g.Data[i] = xs[(7*i+3)%n], float64(i%3)
		}
		eval := func(out, a, b, g Matrix, which int) {
			y := NewMatrix(1, len(a.Data))
			Elementwise{f}.Eval(y, []Matrix{a, b})
			if which == 2 {
				copy(out.Data, y.Data)
				return
			}
			Slope{f, which}.Eval(out, []Matrix{g, a, b, y})
		}
		for which, row := range rows {
			eval(row, a, b, g, which)
			for i, x := range row.Data {
				one := NewMatrix(1, 1)
				eval(one, Column(a.Data[i:i+1]), Column(b.Data[i:i+1]), Column(g.Data[i:i+1]), which)
				require.True(t, x == one.Data[0] || math.IsNaN(x) && math.IsNaN(one.Data[0]), "%v %d at %v, %v", f, which, a.Data[i], b.Data[i])
			}
		}
	}
	for _, x := range xs[7:] {
		want := truncnorm.LogMass(math.Inf(-1), x)
		require.InDelta(t, want, LogNormalCDF.Value(x), 1e-12*math.Abs(want), x)
	}
}

// And those of two numbers, at all pairs of them.
func TestLongRowsOfTwo(t *testing.T) {
	xs := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e200, 1e200, 0, math.Copysign(0, -1), -40, -1.5, 1e-20, 0.7, 0.70000001, 3, 800}
	var as, bs []float64
	for _, a := range xs {
		for _, b := range xs {
			as, bs = append(as, a), append(bs, b)
		}
	}
	for f := range Function(len(functions)) {
		e := &functions[f]
		if e.binary == nil || e.loop == nil {
			continue
		}
		out := make([]float64, len(as))
		e.loop(out, as, bs)
		for i, y := range out {
			want := e.binary(as[i], bs[i])
			require.True(t, y == want || math.IsNaN(y) && math.IsNaN(want), "%v(%v, %v) = %v, not %v", e.name, as[i], bs[i], y, want)
		}
	}
}
