package expect_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/mc"
)

// digital is a digital option, which pays 1 if log S > 0 at the end of a year, knocked out if log S < −0.15 on one
// of n dates before.
func digital(n int) (*graph.Model, graph.Expr) {
	const sigma = 0.2
	m := graph.NewSimulation()
	at := m.Param("log S_0", 0)
	dt := 1 / float64(n)
	alive := graph.Greater(1, 0)
	for t := range n {
		e := m.Sample(fmt.Sprint("e", t), graph.Normal(0, 1))
		at = graph.Add(at, graph.Add(-0.5*sigma*sigma*dt, graph.Mul(sigma*math.Sqrt(dt), e)))
		if t < n-1 {
			alive = graph.And(alive, graph.Greater(at, -0.15))
		}
	}
	return m, graph.If(graph.And(alive, graph.Greater(at, 0)), 1, 0)
}

func TestDigitalOption(t *testing.T) {
	for _, c := range []struct {
		dates        int
		value, delta float64
	}{{1, 0.4601721627, 1.9847627374}, {12, 0.4283308723, 2.3214955347}, {50, 0.4143313594, 2.4353676291}} {
		m, f := digital(c.dates)
		e, err := expect.Of(m, f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Estimate(context.Background(), 50_000, 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(got)
		if math.Abs(got.Value.Value-c.value) > 4*got.Value.SE+1e-10 || math.Abs(got.Gradient[0].Value-c.delta) > 4*got.Gradient[0].SE+1e-10 {
			t.Errorf("%d dates: %v, want %v and %v", c.dates, got, c.value, c.delta)
		}
	}
}

// The variance of a draw of the barrier option's delta beside that of the likelihood ratio, f·e_0/(σ√dt).
func TestDigitalVariance(t *testing.T) {
	for _, c := range []struct {
		dates int
		least float64 // ratio
	}{{12, 40}, {50, 100}} {
		m, f := digital(c.dates)
		e, err := expect.Of(m, f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Estimate(context.Background(), 20_000, 2)
		if err != nil {
			t.Fatal(err)
		}
		ours := got.Gradient[0].SE * got.Gradient[0].SE * float64(got.Samples)
		rng, dt := rand.New(rand.NewPCG(1, 2)), 1/float64(c.dates)
		var ratio mc.Moments
		for range 100_000 {
			at, alive, first := 0.0, 1.0, 0.0
			for k := range c.dates {
				z := rng.NormFloat64()
				if k == 0 {
					first = z / (0.2 * math.Sqrt(dt))
				}
				at += -0.02*dt + 0.2*math.Sqrt(dt)*z
				if k < c.dates-1 && !(at > -0.15) || k == c.dates-1 && !(at > 0) {
					alive = 0
				}
			}
			ratio.Add(alive * first)
		}
		t.Logf("%d dates: a draw's variance is %.3g, of the likelihood ratio %.4g", c.dates, ours, ratio.Variance())
		if math.Abs(ratio.Mean-got.Gradient[0].Value) > 5*math.Hypot(ratio.SE(), got.Gradient[0].SE) {
			t.Errorf("%d dates: %v, by the likelihood ratio %v ± %v", c.dates, got.Gradient[0], ratio.Mean, ratio.SE())
		}
		if ratio.Variance() < c.least*ours {
			t.Errorf("%d dates: variances %v and %v", c.dates, ours, ratio.Variance())
		}
	}
}
