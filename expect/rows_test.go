package expect_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// counts is a series of n counts with a change of their rate.
func counts(tb testing.TB, n int) *graph.Density {
	tb.Helper()
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(0, float64(n)))
	before, after := m.Sample("before", graph.Exponential(0.1)), m.Sample("after", graph.Exponential(0.1))
	for t := range n {
		m.Observe("count", graph.Poisson(graph.If(graph.Greater(when, float64(t)+0.5), before, after)), 1)
	}
	d, err := m.Compile()
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// rowsOf are random θ and data for rows of counts.
func rowsOf(r *expect.Rows, rows int) (theta, data []float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range rows * len(r.Labels()) {
		theta = append(theta, rng.NormFloat64()*0.3)
	}
	for range rows * r.Data() {
		data = append(data, float64(rng.IntN(12)))
	}
	return theta, data
}

// TestRows compares rows with the estimator made anew for the data and θ of each.
func TestRows(t *testing.T) {
	d := counts(t, 20)
	for _, f := range []family.Family{family.MeanField{}, family.FullRank{}} {
		q, err := f.New(d)
		if err != nil {
			t.Fatal(err)
		}
		const n, samples, step = 7, 4, 3
		r, err := expect.NewRows(d, q, samples, 9)
		if err != nil {
			t.Fatal(err)
		}
		theta, data := rowsOf(r, n)
		dim := len(r.Labels())
		value, grad := make([]float64, n), make([]float64, n*dim)
		for _, s := range []uint64{1, step} { // the same again after another
			if err := r.Run(s, theta, data, value, grad); err != nil {
				t.Fatal(err)
			}
		}
		for k := range n {
			own, err := d.WithObservations(data[k*20:][:20])
			if err != nil {
				t.Fatal(err)
			}
			member, err := r.Member(theta[k*dim:][:dim])
			if err != nil {
				t.Fatal(err)
			}
			p, err := gradient.BindValued(own, member, samples, gradient.Boundary{}, false)
			if err != nil {
				t.Fatal(err)
			}
			sums, g := make([]float64, p.Sampler().Sums()), make([]float64, len(member.Theta()))
			if err := p.Run(parallel.NewRestarted().At(parallel.Mix(9, step), k)); err != nil {
				t.Fatal(err)
			}
			want := p.Value() / samples
			p.AddAll(sums)
			p.Sampler().Finish(g, sums, samples)
			close := func(what string, got, want float64) {
				if !(math.Abs(got-want) <= 1e-11*(1+math.Abs(want))) {
					t.Errorf("%s, row %d: %s is %v, want %v", f.Name(), k, what, got, want)
				}
			}
			close("value", value[k], want)
			for i, label := range r.Labels() {
				if strings.HasPrefix(label, "log ") {
					g[i] *= member.Theta()[i]
				}
				close(label, grad[k*dim+i], g[i])
			}
		}
	}
}

// TestRowsOfSimulation compares E[f] of rows with closed forms: P(x + e > 0) and its derivative, for each x.
func TestRowsOfSimulation(t *testing.T) {
	m := graph.NewSimulation()
	x := m.Param("x", 0)
	noise := m.Sample("e", graph.Normal(0, 1))
	e, err := expect.Of(m, graph.If(graph.Greater(graph.Add(x, noise), 0), 1, 0))
	if err != nil {
		t.Fatal(err)
	}
	const samples = 4000
	r, err := expect.NewRows(e.Density(), nil, samples, 1)
	if err != nil {
		t.Fatal(err)
	}
	at := []float64{-1.5, 0, 0.7}
	value, grad := make([]float64, 3), make([]float64, 3)
	if err := r.Run(0, at, nil, value, grad); err != nil {
		t.Fatal(err)
	}
	for k, x := range at {
		p, density := 0.5*math.Erfc(-x/math.Sqrt2), math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)
		if math.Abs(value[k]-p) > 5*math.Sqrt(p*(1-p)/samples) || math.Abs(grad[k]-density) > 1e-12 {
			t.Errorf("row %d: %v and %v, want %v and %v", k, value[k], grad[k], p, density)
		}
	}
}

// TestRowsExpectation: at coordinates, with standard errors, and of a simulation alone.
func TestRowsExpectation(t *testing.T) {
	m := graph.NewSimulation()
	x, scale := m.Param("x", 0), m.Param("scale", 1, graph.Positive())
	e, err := expect.Of(m, graph.If(graph.Greater(graph.Add(x, graph.Mul(scale, m.Sample("e", graph.Normal(0, 1)))), 0), 1, 0))
	require.NoError(t, err)
	r, err := expect.NewRows(e.Density(), nil, 4, 1)
	require.NoError(t, err)
	at := []float64{0.7, math.Log(2)}
	own, err := r.Expectation(at)
	require.NoError(t, err)
	at[0] = 9 // the caller's
	want, err := e.At(0.7, 2)
	require.NoError(t, err)
	require.InDeltaSlice(t, want.Values(), own.Values(), 1e-14)
	got, err := own.Estimate(t.Context(), 20_000, 1)
	require.NoError(t, err)
	require.InDelta(t, 0.5*math.Erfc(-0.35/math.Sqrt2), got.Value.Value, 4.5*got.Value.SE)
	require.InDelta(t, math.Exp(-0.35*0.35/2)/math.Sqrt(2*math.Pi)/2, got.Gradient[0].Value, 1e-12)
	_, err = r.Expectation(at[:1])
	require.ErrorContains(t, err, "1 numbers; a row has 2: x μ, scale μ")
	_, err = r.Expectation([]float64{0, math.NaN()})
	require.ErrorContains(t, err, "is NaN")
	model, err := expect.NewRows(counts(t, 4), nil, 4, 1)
	require.NoError(t, err)
	_, err = model.Expectation(make([]float64, 6))
	require.ErrorContains(t, err, "a model with observations")
}

// TestRowsAlone: rows do not depend on GOMAXPROCS, nor on a row beside them that has no estimate.
func TestRowsAlone(t *testing.T) {
	d := counts(t, 20)
	q, err := family.MeanField{}.New(d)
	if err != nil {
		t.Fatal(err)
	}
	run := func(procs int, spoil func(theta, data []float64)) (all []float64, err error) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		r, err := expect.NewRows(d, q, 4, 5)
		if err != nil {
			t.Fatal(err)
		}
		theta, data := rowsOf(r, 9)
		spoil(theta, data)
		value, grad := make([]float64, 9), make([]float64, len(theta))
		err = r.Run(1, theta, data, value, grad)
		return append(value, grad...), err
	}
	want, err := run(1, func(_, _ []float64) {})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		procs int
		spoil func(theta, data []float64)
		says  string
	}{
		"four processors": {4, func(_, _ []float64) {}, ""},
		"NaN in θ":        {2, func(theta, _ []float64) { theta[4*6+1] = math.NaN() }, "row 4"},
		"half a count":    {1, func(_, data []float64) { data[4*20] = 0.5 }, "row 4"},
		"NaN in the data": {2, func(_, data []float64) { data[4*20+7] = math.NaN() }, `row 4: observation "count", number 7 of all, is NaN`},
	} {
		got, err := run(c.procs, c.spoil)
		if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v", name, err)
		}
		for i := range want {
			row := i
			if i >= 9 {
				row = (i - 9) / 6
			}
			if spoilt := c.says != "" && row == 4; spoilt != math.IsNaN(got[i]) || !spoilt && got[i] != want[i] {
				t.Errorf("%s: number %d is %v, want %v", name, i, got[i], want[i])
			}
		}
	}
}

// TestRowsWithMissing: what is missing in the density is missing in rows, and no other.
func TestRowsWithMissing(t *testing.T) {
	d := counts(t, 3)
	q, err := family.MeanField{}.New(d)
	if err != nil {
		t.Fatal(err)
	}
	gap, err := d.WithObservations([]float64{1, math.NaN(), 3})
	if err != nil {
		t.Fatal(err)
	}
	r, err := expect.NewRows(gap, q, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	theta, want, value, grad := make([]float64, 12), make([]float64, 2), make([]float64, 2), make([]float64, 12)
	if err := r.Run(0, theta, nil, want, grad); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(0, theta, []float64{1, math.NaN(), 3, 9, math.NaN(), 9}, value, grad); err != nil {
		t.Fatal(err)
	}
	if value[0] != want[0] || !(value[1] < want[1]) {
		t.Errorf("%v with its own data, %v in a batch; with larger counts %v and %v", want[0], value[0], want[1], value[1])
	}
	if err := r.Run(0, theta, []float64{1, 2, 3, 9, math.NaN(), 9}, value, grad); err == nil || !strings.Contains(err.Error(), "row 0: observation") {
		t.Errorf("a number in place of what is missing: %v", err)
	}
	if _, err := r.Member(theta[:5]); err == nil || !strings.Contains(err.Error(), "5 numbers; a row has 6: when μ") {
		t.Errorf("a row's θ of 5 numbers: %v", err)
	}
}

func BenchmarkRows(b *testing.B) {
	d := counts(b, 20)
	q, err := family.MeanField{}.New(d)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{32, 128} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r, err := expect.NewRows(d, q, 4, 1)
			if err != nil {
				b.Fatal(err)
			}
			theta, data := rowsOf(r, n)
			value, grad := make([]float64, n), make([]float64, len(theta))
			start := cputime.Seconds()
			for step := range b.N {
				if err := r.Run(uint64(step), theta, data, value, grad); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((cputime.Seconds()-start)*1e6/float64(b.N*n), "CPU-µs/row")
		})
	}
}
