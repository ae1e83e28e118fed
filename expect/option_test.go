package expect_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/graph"
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
		got, err := e.Estimate(context.Background(), 200_000, 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(got)
		if math.Abs(got.Value.Value-c.value) > 4*got.Value.SE+1e-10 || math.Abs(got.Gradient[0].Value-c.delta) > 4*got.Gradient[0].SE+1e-10 {
			t.Errorf("%d dates: %v, want %v and %v", c.dates, got, c.value, c.delta)
		}
	}
}
