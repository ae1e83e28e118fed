//go:build long

package graph_test

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// table reads rows of numbers of a file in testdata/r; the first field of each may be a
// name, and the first row the names of columns.
func table(t *testing.T, file string, header bool) (names []string, rows [][]float64) {
	t.Helper()
	f, err := os.Open("testdata/r/" + file)
	require.NoError(t, err)
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	text, err := r.ReadAll()
	require.NoError(t, err)
	if header {
		text = text[1:]
	}
	for _, fields := range text {
		var row []float64
		for i, s := range fields {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil && i == 0 && !header {
				names = append(names, s)
				continue
			}
			require.NoError(t, err)
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	return names, rows
}

// flat is a latent whose prior is taken away.
func flat(m *graph.Model, name string) graph.Expr {
	x := m.Sample(name, graph.Normal(0, 1))
	m.Factor(graph.Add(graph.Mul(0.5, graph.Square(x)), 0.5*math.Log(2*math.Pi)))
	return x
}

// Censored survival times and counts with more zeros, on public data sets: at the
// coefficients that R's survreg, zeroinfl and hurdle find, log r is their log likelihood,
// and its gradient is 0 as nearly as they have found the greatest one. Another model of the same
// data, or coefficients that are off by a hundredth of a standard error, would not pass.
func TestFitsOfR(t *testing.T) {
	skipShort(t)
	_, ovarian := table(t, "ovarian.csv", true)
	_, lung := table(t, "lung.csv", true)
	_, papers := table(t, "biochemists.csv", true)
	const allDie = math.MaxFloat64 // no time is censored
	survival := func(rows [][]float64, dead float64, lognormal bool) func(m *graph.Model) {
		return func(m *graph.Model) {
			a, b, logScale := flat(m, "intercept"), flat(m, "slope"), flat(m, "log scale")
			for _, r := range rows {
				mu := graph.Add(a, graph.Mul(b, r[2]))
				d := graph.Weibull(graph.Exp(graph.Neg(logScale)), graph.Exp(mu))
				if lognormal {
					d = graph.LogNormal(mu, graph.Exp(logScale))
				}
				end := math.Inf(1)
				if r[1] != dead && dead != allDie {
					end = r[0]
				}
				m.Observe("time", graph.Censored(d, math.Inf(-1), end), r[0])
			}
		}
	}
	counts := func(hurdle, negative bool) func(m *graph.Model) {
		return func(m *graph.Model) {
			b := []graph.Expr{flat(m, "count"), flat(m, "count fem"), flat(m, "count ment")}
			g := []graph.Expr{flat(m, "zero"), flat(m, "zero fem"), flat(m, "zero ment")}
			var theta graph.Expr
			if negative {
				theta = graph.Exp(flat(m, "log theta"))
			}
			for _, r := range papers {
				linear := func(b []graph.Expr) graph.Expr {
					return graph.Add(b[0], graph.Add(graph.Mul(b[1], r[1]), graph.Mul(b[2], r[2])))
				}
				mean := graph.Exp(linear(b))
				d := graph.Poisson(mean)
				if negative {
					d = graph.NegativeBinomial(theta, graph.Div(theta, graph.Add(theta, mean)))
				}
				if hurdle { // R's zero model is of 1 − zero
					d = graph.Hurdle(graph.Sigmoid(graph.Neg(linear(g))), d)
				} else {
					d = graph.ZeroInflated(graph.Sigmoid(linear(g)), d)
				}
				m.Observe("art", d, r[0])
			}
		}
	}
	models := map[string]func(m *graph.Model){
		"ovarian weibull": survival(ovarian, 1, false), "ovarian lognormal": survival(ovarian, 1, true),
		"lung weibull": survival(lung, 2, false), "lung lognormal": survival(lung, 2, true),
		"zeroinfl poisson": counts(false, false), "hurdle poisson": counts(true, false),
		"zeroinfl negbin": counts(false, true), "hurdle negbin": counts(true, true),
	}
	others := map[string][]func(m *graph.Model){ // with as many coefficients
		"ovarian weibull":   {models["ovarian lognormal"], survival(ovarian, allDie, false), survival(ovarian, 0, false)},
		"ovarian lognormal": {models["ovarian weibull"], survival(ovarian, allDie, true)},
		"lung weibull":      {models["lung lognormal"], survival(lung, allDie, false), survival(lung, 1, false)},
		"lung lognormal":    {models["lung weibull"], survival(lung, allDie, true)},
		"zeroinfl poisson":  {models["hurdle poisson"]}, "hurdle poisson": {models["zeroinfl poisson"]},
		"zeroinfl negbin": {models["hurdle negbin"]}, "hurdle negbin": {models["zeroinfl negbin"]},
	}
	// off is the relative error of log r, and left what a step to the top would still gain, by Newton's method
	// along the coordinate where that is most.
	judge := func(d *graph.Density, loglik float64, at []float64) (off, left float64, curvature []float64) {
		for i, g := range gradient(t, d, at...) {
			const h = 1e-5
			up, down := slices.Clone(at), slices.Clone(at)
			up[i] += h
			down[i] -= h
			curvature = append(curvature, (gradient(t, d, up...)[i]-gradient(t, d, down...)[i])/(2*h))
			left = max(left, g*g/math.Abs(curvature[i]))
		}
		return math.Abs(logProb(t, d, at...)/loglik - 1), left, curvature
	}
	compiled := func(model func(m *graph.Model)) *graph.Density {
		m := graph.NewModel()
		model(m)
		return mustCompile(t, m)
	}
	const mostOff, mostLeft = 1e-12, 1e-6
	names, fits := table(t, "fits.csv", false)
	require.Len(t, names, len(models))
	for k, name := range names {
		loglik, at := fits[k][0], fits[k][1:]
		d := compiled(models[name])
		off, left, curvature := judge(d, loglik, at)
		require.Less(t, off, mostOff, name)
		require.Less(t, left, mostLeft, name)
		for i, c := range curvature {
			require.Negative(t, c, "%s, coordinate %d", name, i)
			moved := slices.Clone(at)
			moved[i] += 0.01 / math.Sqrt(-c)
			off, left, _ := judge(d, loglik, moved)
			require.Greater(t, off, mostOff, "%s, coordinate %d", name, i)
			require.Greater(t, left, mostLeft, "%s, coordinate %d", name, i)
		}
		for l, other := range others[name] {
			off, left, _ := judge(compiled(other), loglik, at)
			require.Greater(t, off, mostOff, "%s as another model, %d", name, l)
			require.Greater(t, left, mostLeft, "%s as another model, %d", name, l)
		}
	}
}
