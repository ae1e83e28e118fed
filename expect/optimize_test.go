package expect_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/graph"
)

// stock costs 1 a unit, and 20 if demand, normal, is larger.
func stock(t *testing.T, options ...graph.ParamOption) *expect.Expectation {
	t.Helper()
	m := graph.NewSimulation()
	level := m.Param("level", 9, options...)
	demand := m.Sample("demand", graph.Normal(8, 3))
	e, err := expect.Of(m, graph.Add(level, graph.If(graph.Greater(demand, level), 20, 0)))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestMinimize(t *testing.T) {
	// 1 = 20·φ((level − 8)/3)/3 where the cost rises
	best := 8 + 3*math.Sqrt(-2*math.Log(3./20*math.Sqrt(2*math.Pi)))
	for _, c := range []struct {
		name  string
		e     *expect.Expectation
		want  float64
		bound bool
	}{
		{"real", stock(t), best, false},
		{"positive", stock(t, graph.Positive()), best, false},
		{"between", stock(t, graph.Between(0, 30)), best, false},
		{"at bound", stock(t, graph.Between(8.5, 11)), 11, true},
	} {
		o, err := c.e.Minimize(context.Background(), expect.Settings{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(c.name, o)
		value := c.want + 20*0.5*math.Erfc((c.want-8)/3/math.Sqrt2)
		if math.Abs(o.At[0]-c.want) > 0.05 || math.Abs(o.Value.Value-value) > 5*o.Value.SE+0.01 {
			t.Errorf("%s: %v, want level %.4f with E[f] = %.4f", c.name, o, c.want, value)
		}
		if !o.Settled || (len(o.AtBound) > 0) != c.bound {
			t.Errorf("%s: settled is %v, at bounds are %v", c.name, o.Settled, o.AtBound)
		}
		if !c.bound && math.Abs(o.Gradient[0].Value) > 0.02+5*o.Gradient[0].SE {
			t.Errorf("%s: the gradient at the optimum is %v", c.name, o.Gradient[0])
		}
	}
}

func TestMaximize(t *testing.T) {
	m := graph.NewSimulation()
	x := m.Param("x", 0.5)
	e := m.Sample("e", graph.Normal(0, 1))
	f := graph.Sub(graph.If(graph.Greater(graph.Add(x, e), 0), 1, 0), graph.Mul(0.1, graph.Square(x))) // Φ(x) − x²/10
	ex, err := expect.Of(m, f)
	if err != nil {
		t.Fatal(err)
	}
	o, err := ex.Maximize(context.Background(), expect.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if slope := math.Exp(-o.At[0]*o.At[0]/2)/math.Sqrt(2*math.Pi) - 0.2*o.At[0]; math.Abs(slope) > 0.01 {
		t.Errorf("the slope at the optimum %v is %v", o.At[0], slope)
	}
}

// TestCheckpoint stops a run in the middle and goes on: to the same bits.
func TestCheckpoint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stock.json")
	e, s := stock(t), expect.Settings{Seed: 3, Steps: 400}
	whole, err := e.Minimize(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.Checkpoint, s.Steps = file, 170
	if _, err := e.Minimize(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	s.Steps = 400
	again, err := e.Minimize(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	if again.At[0] != whole.At[0] || again.Value != whole.Value || again.Steps != whole.Steps {
		t.Errorf("resumed: %v, in one go: %v", again, whole)
	}
	s.Seed = 4
	if _, err := e.Minimize(context.Background(), s); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("another seed goes on from the checkpoint: %v", err)
	}
}

// TestContext ends a run: what it has is there.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	w := writer(func() { cancel() })
	o, err := stock(t).Minimize(ctx, expect.Settings{Seed: 1, Progress: w})
	if err == nil || o == nil || o.Settled || o.Steps != 50 {
		t.Errorf("%v, %v", o, err)
	}
	if o, err := stock(t).Minimize(ctx, expect.Settings{}); !errors.Is(err, context.Canceled) || o == nil || o.Steps != 0 || o.At[0] != 9 {
		t.Errorf("ended before it begins: %v, %v", o, err)
	}
	if _, err := stock(t).Estimate(ctx, 1000, 1); err == nil {
		t.Error("an estimate after the end")
	}
}

type writer func()

func (w writer) Write(p []byte) (int, error) { w(); return len(p), nil }

// TestErrors: what is wrong is said with the user's own line, parameter and bounds.
func TestErrors(t *testing.T) {
	m := graph.NewSimulation()
	x := m.Param("x", 1, graph.Between(0, 2))
	e, err := expect.Of(m, graph.Log(graph.Sub(x, m.Sample("e", graph.Normal(0, 1)))))
	if err != nil {
		t.Fatal(err)
	}
	still := graph.NewSimulation()
	none, err := expect.Of(still, still.Sample("e", graph.Normal(0, 1)))
	if err != nil {
		t.Fatal(err)
	}
	other := graph.NewSimulation()
	other.Sample("e", graph.Normal(0, 1))
	for says, does := range map[string]func() error{
		"a value of another model":                 func() error { _, err := expect.Of(other, x); return err },
		"is NaN: the objective (optimize_test.go:": func() error { _, err := e.Minimize(context.Background(), expect.Settings{}); return err },
		"x cannot be 2: it is strictly between":    func() error { _, err := e.At(2); return err },
		"2 values for the 1 parameters x":          func() error { _, err := e.At(1, 1); return err },
		"1 draws":                                  func() error { _, err := e.Estimate(context.Background(), 1, 1); return err },
		"a step size of -1":                        func() error { _, err := e.Maximize(context.Background(), expect.Settings{StepSize: -1}); return err },
		"no parameters; add some by Model.Param":   func() error { _, err := none.Minimize(context.Background(), expect.Settings{}); return err },
	} {
		if err := does(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
