package expect_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/graph"
)

// A discreteLaw has a parameter x, and probabilities from elsewhere.
type discreteLaw struct {
	name   string
	lo, hi float64 // of the parameter
	law    func(x graph.Expr) graph.Dist
	prob   func(k, x float64) float64
	first  int
	values int
}

var discreteLaws = []discreteLaw{
	{"Bernoulli", 0, 1, func(x graph.Expr) graph.Dist { return graph.Bernoulli(x) }, func(k, x float64) float64 {
		return distuv.Bernoulli{P: x}.Prob(k)
	}, 0, 2},
	{"Categorical", 0, 4, func(x graph.Expr) graph.Dist {
		return graph.Categorical(graph.Numbers(graph.Add(x, 0), graph.Add(1, 0), graph.Square(x))...)
	},
		func(k, x float64) float64 { return []float64{x, 1, x * x}[int(k)] / (x + 1 + x*x) }, 0, 3},
	{"Poisson", 0, 5, func(x graph.Expr) graph.Dist { return graph.Poisson(x) }, func(k, x float64) float64 {
		return distuv.Poisson{Lambda: x}.Prob(k)
	}, 0, 60},
	{"Binomial", 0, 1, func(x graph.Expr) graph.Dist { return graph.Binomial(6, x) }, func(k, x float64) float64 {
		return distuv.Binomial{N: 6, P: x}.Prob(k)
	}, 0, 7},
	{"truncated Geometric", 0, 1, func(x graph.Expr) graph.Dist { return graph.Truncated(graph.Geometric(x), 1, 9) }, func(k, x float64) float64 {
		return x * math.Pow(1-x, k-1) / (1 - math.Pow(1-x, 9))
	}, 1, 9},
}

// expected is Σ P(k)·f(k), and its derivative.
func (l discreteLaw) expected(x float64, f func(k float64) float64) (mean, slope float64) {
	const h = 1e-3
	for k := l.first; k < l.first+l.values; k++ {
		p := func(x float64) float64 { return l.prob(float64(k), x) }
		mean += p(x) * f(float64(k))
		slope += (8*(p(x+h)-p(x-h)) - (p(x+2*h) - p(x-2*h))) / (12 * h) * f(float64(k))
	}
	return mean, slope
}

// The gradient by a parameter of a discrete law is exact where nothing else is random: as enumeration has it.
func TestDiscreteEnumerated(t *testing.T) {
	f := func(k float64) float64 { return math.Sin(1+2*k) + 0.1*k }
	for _, l := range discreteLaws {
		for _, part := range []float64{0.2, 0.55} {
			at := l.lo + part*(l.hi-l.lo)
			m := graph.NewSimulation()
			x := m.Param("x", at, graph.Between(l.lo, l.hi))
			k := m.Sample("k", l.law(x))
			e, err := expect.Of(m, graph.Add(graph.Sin(graph.Add(1, graph.Mul(2, k))), graph.Mul(0.1, k)))
			if err != nil {
				t.Fatal(l.name, err)
			}
			got, err := e.Estimate(context.Background(), 1000, 1)
			if err != nil {
				t.Fatal(l.name, err)
			}
			mean, slope := l.expected(at, f)
			if math.Abs(got.Value.Value-mean) > 5*got.Value.SE || !(math.Abs(got.Gradient[0].Value-slope) < 1e-8*(1+math.Abs(slope))) {
				t.Errorf("%s at %v: %v, want %v and %v", l.name, at, got, mean, slope)
			}
		}
	}
}

// Beside other noise the variance of a draw is at most that of the score estimator with the best baseline.
func TestDiscreteVariance(t *testing.T) {
	// f = k where e < k − x, else −1, for a normal e
	for _, l := range discreteLaws {
		at := l.lo + 0.4*(l.hi-l.lo)
		m := graph.NewSimulation()
		x := m.Param("x", at, graph.Between(l.lo, l.hi))
		k := m.Sample("k", l.law(x))
		noise := m.Sample("e", graph.Normal(0, 1))
		e, err := expect.Of(m, graph.If(graph.Less(noise, graph.Sub(k, 1.5)), k, -1))
		if err != nil {
			t.Fatal(l.name, err)
		}
		got, err := e.Estimate(context.Background(), 8000, 1)
		if err != nil {
			t.Fatal(l.name, err)
		}
		cdf := distuv.UnitNormal.CDF
		mean := func(k float64) float64 { return cdf(k-1.5)*(k+1) - 1 }
		square := func(k float64) float64 { return cdf(k-1.5)*(k*k-1) + 1 }
		score := func(k float64) float64 {
			const h = 1e-5
			return (math.Log(l.prob(k, at+h)) - math.Log(l.prob(k, at-h))) / (2 * h)
		}
		value, slope := l.expected(at, mean)
		fs, _ := l.expected(at, func(k float64) float64 { s := score(k); return square(k) * s * s })
		bs, _ := l.expected(at, func(k float64) float64 { s := score(k); return mean(k) * s * s })
		ss, _ := l.expected(at, func(k float64) float64 { s := score(k); return s * s })
		best := fs - bs*bs/ss - slope*slope // Var (f − b)·s at b = E[f·s²]/E[s²]
		ours := got.Gradient[0].SE * got.Gradient[0].SE * float64(got.Samples)
		t.Logf("%-20s variance of a draw %9.4g, of the score estimator with the best baseline %9.4g", l.name, ours, best)
		if math.Abs(got.Value.Value-value) > 5*got.Value.SE || math.Abs(got.Gradient[0].Value-slope) > 5*got.Gradient[0].SE+1e-8 {
			t.Errorf("%s: %v, want %v and %v", l.name, got, value, slope)
		}
		if ours > best {
			t.Errorf("%s: the variance of a draw is %v, of the score estimator %v", l.name, ours, best)
		}
	}
}

// What conditions in a simulation is an error, and so is a posterior of it.
func TestSimulationConditionsOnNothing(t *testing.T) {
	for name, c := range map[string]struct {
		does func(m *graph.Model)
		says string
	}{
		"Observe": {func(m *graph.Model) { m.Observe("y", graph.Normal(0, 1), 1) }, "conditioning on data"},
		"Factor":  {func(m *graph.Model) { m.Factor(1) }, "conditioning on data"},
		"Compile": {func(m *graph.Model) { _, _ = m.Compile() }, "expect.Of"},
	} {
		m := graph.NewSimulation()
		z := m.Sample("z", graph.Normal(0, 1))
		c.does(m)
		if _, err := expect.Of(m, z); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "discrete_test.go") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
