package kernel

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The functions of counts and shapes and their derivatives, against mpmath 1.3.0
// with 1300 digits.
func TestExactFunctions(t *testing.T) {
	const value, da, db = 0, 1, 2
	for _, c := range []struct {
		f    Function
		of   int
		a, b float64
		want float64
	}{
		{Lgamma, da, 1e-300, 0, -9.9999999999999997e299},
		{Lgamma, da, 0.03125, 0, -32.526953288606118},
		{Lgamma, da, 1.4375, 0, -0.023613544005297899},
		{Lgamma, da, 5, 0, 1.5061176684318005},
		{Lgamma, da, 9.99, 0, 2.2507003728312011},
		{Lgamma, da, 10, 0, 2.2517525890667211},
		{Lgamma, da, 700.5, 0, 6.5510804200773879},
		{Lgamma, da, 1e17, 0, 39.143946580898777},
		{Stirling, value, 0, 0, 0},
		{Stirling, value, 0x1p-30, 0, -1.9760057099780821e-8},
		{Stirling, value, 0.5, 0, -0.72579135264472743},
		{Stirling, value, 9.99, 0, -2.0780697263326382},
		{Stirling, value, 10, 0, -2.0785616431350585},
		{Stirling, value, 100000, 0, -6.6754020990231203},
		{Stirling, value, 1e300, 0, -346.30670248231153},
		{Stirling, da, 1e-300, 0, -690.19831223331217},
		{Stirling, da, 0.5, 0, -0.72963715453852183},
		{Stirling, da, 9.99, 0, -0.049215880270839048},
		{Stirling, da, 10, 0, -0.049167496072675424},
		{Stirling, da, 100000, 0, -4.9999916666666667e-6},
		{Stirling, da, 1e300, 0, -4.9999999999999997e-301},
		{GammaRatio, value, 1e-262, 0, -301.06628223929528},
		{GammaRatio, value, 0.5, 0, -0.22579135264472743},
		{GammaRatio, value, 9.99, 0, -0.01250730410848049},
		{GammaRatio, value, 10, 0, -0.01249480717472882},
		{GammaRatio, value, 100000, 0, -1.2499999999947917e-6},
		{GammaRatio, value, 1e300, 0, -1.2499999999999999e-301},
		{GammaRatio, da, 1e-262, 0, 4.9999999999999999e261},
		{GammaRatio, da, 0.5, 0, 0.38629436111989062},
		{GammaRatio, da, 9.99, 0, 0.0012509427667023936},
		{GammaRatio, da, 10, 0, 0.0012484452309652676},
		{GammaRatio, da, 100000, 0, 1.249999999984375e-11},
		{GammaRatio, da, 1e100, 0, 1.25e-201},
		{StudentTail, value, 0.5, 1e-262, 300.94550000166004},
		{StudentTail, value, 1e170, 3, 1563.5606386586148},
		{StudentTail, value, 1e-05, 2, 7.4999999998125012e-11},
		{StudentTail, value, 2, 1e16, 1.9999999999999998},
		{StudentTail, da, 0.5, 1e-262, 2.0},
		{StudentTail, da, 1e170, 3, 3.9999999999999999e-170},
		{StudentTail, da, 1, 2.5, 1.0},
		{StudentTail, da, 2, 1e16, 1.9999999999999994},
		{StudentTail, db, 0.5, 1e-262, -4.9999999999999999e261},
		{StudentTail, db, 1e170, 3, 390.22349299798704},
		{StudentTail, db, 1, 2.5, -0.031763881689393535},
		{StudentTail, db, 2, 1e16, 1.9999999999999987e-32},
		{StudentTail, db, 3, 1000, 1.5549575726041419e-5},
		{Deviance, value, 1e16, 100000000, -0.49999999666666669},
		{Deviance, value, 1e16, -4000000000000000, -1108256237659906.8},
		{Deviance, value, 3, 2.9, -0.87097981326930773},
		{Deviance, value, 3, 3.1, -0.97097055246653243},
		{Deviance, value, 1e-200, 1e200, -9.9999999999999997e199},
		{Deviance, value, 2, -1.01, -0.39629436111989063},
		{Deviance, da, 1e16, 100000000, 4.9999999333333341e-17},
		{Deviance, da, 1e16, -4000000000000000, 0.15584104290067598},
		{Deviance, da, 3, 2.9, 0.18481463851475051},
		{Deviance, da, 3, 3.1, 0.20147976119968047},
		{Deviance, da, 1e-200, 1e200, 920.03403719761827},
		{Deviance, da, 2, -1.01, 0.30685281944005469},
		{Deviance, db, 1e16, 100000000, -9.999999900000001e-9},
		{Deviance, db, 1e16, -4000000000000000, 0.66666666666666667},
		{Deviance, db, 3, 2.9, -0.49152542372881355},
		{Deviance, db, 3, 3.1, -0.50819672131147542},
		{Deviance, db, 1e-200, 1e200, -1.0},
		{Deviance, db, 2, -1.01, 1.0},
		{LogTail, value, -0.8, 0, -0.0055107476744978779},
		{LogTail, value, -50, 0, -48.306852819440055},
		{LogTail, value, -100000, 0, -99998.30685281944},
		{LogTail, da, -0.8, 0, 0.10134207176555686},
		{LogTail, da, -50, 0, 1.0},
		{LogShare, value, 1e-200, 1e200, -921.03403719761827},
		{LogShare, value, 1000000000, 1e-09, -1.0000000000000001e-18},
		{LogShare, value, 1, 2, -1.0986122886681097},
		{LogShare, da, 1e-200, 1e200, 1.0e200},
		{LogShare, da, 1000000000, 1e-09, 1.0000000000000001e-27},
		{LogShare, da, 1, 2, 0.66666666666666667},
		{Choose, value, 0, 1e-10, 0},
		{Choose, value, 7, 3.5, 4.2144902559912751},
		{Choose, value, 250, 250, 342.54684769789022},
		{Choose, da, 7, 3.5, 0.28735955634207638},
		{Choose, db, 7, 3.5, 1.1998443936524432},
	} {
		got := c.f.at(c.of, c.a, c.b, 0)
		require.LessOrEqual(t, math.Abs(got-c.want), 1e-14*math.Abs(c.want)+1e-300, "%v(%v, %v), %d: %v, not %v", c.f, c.a, c.b, c.of, got, c.want)
	}
}

// Functions and distribution functions, with all derivatives and in both tails, against
// testdata/functions.csv.
func TestExactDistributionFunctions(t *testing.T) {
	file, err := os.Open("testdata/functions.csv")
	require.NoError(t, err)
	defer file.Close()
	r := csv.NewReader(file)
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	require.NoError(t, err)
	byName := map[string]Function{}
	for f := None + 1; int(f) < len(functions); f++ {
		byName[f.String()] = f
	}
	type side struct {
		odds Function
		sign float64
	}
	tails := map[string]side{
		"loggammap": {LogOddsGamma, 1}, "loggammaq": {LogOddsGamma, -1}, "logbetabelow": {LogOddsBeta, 1}, "logbetaabove": {LogOddsBeta, -1},
	}
	worst := map[string]float64{}
	for _, row := range rows {
		f, numbers := byName[row[0]], make([]float64, len(row)-1)
		tail, isTail := tails[row[0]]
		if isTail {
			f = tail.odds
		}
		require.NotEqual(t, None, f, row[0])
		for i, text := range row[1:] {
			numbers[i], err = strconv.ParseFloat(text, 64)
			require.True(t, err == nil || math.IsInf(numbers[i], 0) || numbers[i] == 0, row)
		}
		n := len(numbers) / 2
		var x [3]float64
		copy(x[:], numbers[:n])
		for of, want := range numbers[n:] {
			got := f.at(of, x[0], x[1], x[2])
			switch odds := tail.sign * f.at(0, x[0], x[1], x[2]); {
			case isTail && of == 0:
				got = -softplus(-odds)
			case isTail:
				got *= tail.sign * sigmoid(-odds)
			}
			off := 0.0
			if got != want { // which both may be infinite
				off = math.Abs(got-want) / (math.Abs(want) + 1e-300)
			}
			if !(off <= 1e-12) {
				t.Errorf("%v, derivative %d: %v, off by %.2g", row, of, got, off)
			}
			worst[row[0]] = max(worst[row[0]], off)
		}
	}
	t.Log(len(rows), worst)
}

// at is f(a), f(a, b) or f(a, b, c), or its derivative of number of.
func (f Function) at(of int, a, b, c float64) float64 {
	e := &functions[f]
	switch {
	case e.ternary != nil && of == 0:
		return e.ternary(a, b, c)
	case e.ternary != nil:
		return e.slopes3[of-1](a, b, c, e.ternary(a, b, c))
	case e.unary != nil && of == 0:
		return e.unary(a)
	case e.unary != nil:
		return f.Slope(a, e.unary(a))
	case of == 0:
		return e.binary(a, b)
	}
	return e.slopes[of-1](a, b, e.binary(a, b))
}

// Beyond where the functions are, they are NaN, and no loop is endless.
func TestNotAFunctionValue(t *testing.T) {
	for _, x := range []float64{-0.5, -1e300, math.NaN()} {
		for _, f := range []Function{Stirling, GammaRatio} {
			require.True(t, math.IsNaN(f.at(0, x, 0, 0)), f)
			require.True(t, math.IsNaN((Slope{f, 0}).of(x)), f)
		}
		require.True(t, math.IsNaN(digamma(x)))
	}
	for _, f := range []Function{Deviance, StudentTail} {
		require.True(t, math.IsNaN(f.at(0, 2, math.NaN(), 0)), f)
		require.True(t, math.IsNaN(f.at(2, 2, math.NaN(), 0)), f)
	}
}

// of is the slope at x.
func (k Slope) of(x float64) float64 {
	out := []float64{0}
	k.Eval(Column(out), []Matrix{Column([]float64{1}), Column([]float64{x}), Column([]float64{k.F.Value(x)})})
	return out[0]
}
