package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// heater is a thermostat without noise of its own: the temperature rises where it is on and falls where it is off, and it turns on below
// one threshold and off above another. The path of its states is what the readings tell of.
type heater struct {
	latentRates bool // else they are numbers
	ofSums      bool // the temperature is If(on, T + up, T − down), else T + If(on, up, −down)
	steps       int
}

const (
	heaterStart            = 20.0
	heaterUp, heaterDown   = 0.7, 0.3
	heaterLow, heaterHigh  = 19.0, 21.0
	heaterBlur, rateSpread = 0.5, 0.5
)

func (h heater) reading(t int) float64 { return heaterStart + float64(t%5)/2 }

func (h heater) model() *graph.Model {
	m := graph.NewModel()
	low, high := m.Sample("low", graph.Normal(heaterLow, 1)), m.Sample("high", graph.Normal(heaterHigh, 1))
	up, down := graph.Add(heaterUp, 0), graph.Add(heaterDown, 0)
	if h.latentRates {
		up, down = m.Sample("up", graph.LogNormal(math.Log(heaterUp), rateSpread)), m.Sample("down", graph.LogNormal(math.Log(heaterDown), rateSpread))
	}
	temperature, on := graph.Add(heaterStart, 0), graph.And()
	for t := range h.steps {
		if h.ofSums {
			temperature = graph.If(on, graph.Add(temperature, up), graph.Sub(temperature, down))
		} else {
			temperature = graph.Add(temperature, graph.If(on, up, graph.Neg(down)))
		}
		m.Observe("y", graph.Normal(temperature, heaterBlur), h.reading(t))
		on = m.Name("on", graph.Or(graph.And(on, graph.Not(graph.Greater(temperature, high))), graph.And(graph.Not(on), graph.Less(temperature, low))))
	}
	return m
}

// run is log r at u and the states after each step, computed as the program says.
func (h heater) run(u []float64) (logProb float64, states []bool) {
	logProb = logNormalPDF(u[0], heaterLow, 1) + logNormalPDF(u[1], heaterHigh, 1)
	up, down := heaterUp, heaterDown
	if h.latentRates {
		logProb += logNormalPDF(u[2], math.Log(up), rateSpread) + logNormalPDF(u[3], math.Log(down), rateSpread)
		up, down = math.Exp(u[2]), math.Exp(u[3])
	}
	temperature, on := heaterStart, true
	for t := range h.steps {
		if on {
			temperature += up
		} else {
			temperature -= down
		}
		logProb += logNormalPDF(h.reading(t), temperature, heaterBlur)
		on = on && !(temperature > u[1]) || !on && temperature < u[0]
		states = append(states, on)
	}
	return logProb, states
}

// The density of a state that loops, and the states, are those of the program run step by step.
func TestLoopingState(t *testing.T) {
	for _, h := range long.Or([]heater{{false, true, 30}, {true, false, 30}}, []heater{{false, false, 30}, {false, true, 30}, {true, false, 30}, {true, true, 30}}) {
		d := mustCompile(t, h.model())
		rng := rand.New(rand.NewPCG(1, 2))
		seen, changes := map[string]bool{}, 0
		for range 300 {
			u := []float64{heaterLow + rng.NormFloat64(), heaterHigh + rng.NormFloat64()}
			if h.latentRates {
				u = append(u, math.Log(heaterUp)+rateSpread*rng.NormFloat64(), math.Log(heaterDown)+rateSpread*rng.NormFloat64())
			}
			want, states := h.run(u)
			close12(t, want, logProb(t, d, u...), h, u)
			require.Equal(t, states, graph.Holding(nil, d.Named("on"), d.Arrangement().Signs(u)), "%v %v", h, u)
			slopes := gradient(t, d, u...)
			for i := range u {
				if slope, ok := partial(func(v []float64) float64 { p, _ := h.run(v); return p }, u, i); ok {
					closeTo(t, slope, slopes[i], 1e-6, h, u, i)
				}
			}
			seen[fmt.Sprint(states)] = true
			for k := 1; k < len(states); k++ {
				if states[k] != states[k-1] {
					changes++
				}
			}
		}
		require.Greater(t, len(seen), 50, "the points are in few regions")
		require.Greater(t, changes, 300, "the state hardly ever changes")
	}
}

// A temperature has t+1 values after t steps, which 2ᵗ paths lead to. Each is compared with both thresholds once, and known from the values
// one step before: guards and expressions grow with the square of the number of steps.
func TestLoopingStateGrows(t *testing.T) {
	long.Skip(t)
	count := map[int]int{}
	for _, steps := range []int{16, 32, 64} {
		for _, ofSums := range []bool{false, true} {
			m := heater{latentRates: true, ofSums: ofSums, steps: steps}.model()
			d := mustCompile(t, m)
			require.Equal(t, steps*(steps+1), d.Arrangement().Len()) // in the first step the heater is on: t values
			require.Len(t, d.Guards(), d.Arrangement().Len())
			count[steps] = max(count[steps], graph.Expressions(m))
		}
		m := heater{steps: steps}.model()
		require.Less(t, mustCompile(t, m).Arrangement().Len(), 22*steps) // 0.7·a − 0.3·b is a multiple of 0.1
		t.Logf("%d steps: at most %d expressions, %d by numbers", steps, count[steps], graph.Expressions(m))
	}
	require.Len(t, count, 3)
	for steps := 32; count[steps] > 0; steps *= 2 {
		require.Less(t, count[steps], 5*count[steps/2])
	}
}

// What is known of branches on the way to a value says which others there are: no comparison is made of what cannot be.
func TestValuesOfBranches(t *testing.T) {
	for name, x := range map[string]struct {
		planes int // besides those of the branches
		value  func(m *graph.Model, z []graph.Expr) graph.Expr
	}{
		"a state that stays off": {8, func(_ *graph.Model, z []graph.Expr) (sum graph.Expr) {
			on := graph.And()
			for k := range 8 {
				on = graph.And(on, graph.Greater(z[k], 0))
				sum = graph.Add(sum, graph.If(on, z[8+k], 0.5))
			}
			return sum
		}},
		"one branch in two terms": {2, func(_ *graph.Model, z []graph.Expr) graph.Expr {
			g := graph.Greater(z[0], 0)
			return graph.Add(graph.If(g, z[1], z[2]), graph.Square(graph.If(g, z[3], z[4])))
		}},
		"a branch on a part of another's": {3, func(_ *graph.Model, z []graph.Expr) graph.Expr {
			g, h := graph.Greater(z[0], 0), graph.Greater(z[1], 0)
			return graph.Add(graph.If(graph.And(g, h), z[2], z[3]), graph.If(g, z[4], z[5]))
		}},
		"two switches by one latent": {3, func(m *graph.Model, z []graph.Expr) graph.Expr {
			k := m.Sample("k", graph.Categorical(graph.Numbers(0.2, 0.3, 0.5)...))
			return graph.Add(graph.Switch(k, z[0], z[1], z[0]), graph.Switch(k, z[2], z[3], z[4]))
		}},
		"a factor and a sum of one branch": {4, func(_ *graph.Model, z []graph.Expr) graph.Expr {
			y := graph.If(graph.Greater(z[0], 0), z[1], z[2])
			return graph.Mul(y, graph.Add(y, 3))
		}},
	} {
		m := graph.NewModel()
		z := m.SampleN("z", 16, graph.Normal(0, 1))
		value := x.value(m, z)
		before := mustCompile(t, m).Arrangement().Len()
		m.Name("positive", graph.Greater(value, 0.25))
		require.Equal(t, x.planes, mustCompile(t, m).Arrangement().Len()-before, name)
	}
	m := graph.NewModel()
	z := m.SampleN("z", 4, graph.Normal(0, 1))
	sign := graph.If(graph.Greater(z[0], 0), z[1], graph.Neg(z[1]))
	g := graph.Greater(graph.Square(graph.If(graph.Greater(z[2], 0), sign, z[3])), 1)
	first, ok := graph.Greater(z[0], 0).Side()
	require.True(t, ok)
	require.NotContains(t, g.Planes(), first.Plane, "the square does not depend on a sign")
}

// BenchmarkLoopingState builds and compiles a state that loops.
func BenchmarkLoopingState(b *testing.B) {
	for _, steps := range []int{8, 25, 50, 100} {
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			for b.Loop() {
				_, err := heater{latentRates: true, steps: steps}.model().Compile()
				require.NoError(b, err)
			}
		})
	}
}

// A state that is a product of what branches make is another curve on each path. Of many steps that is an error at the comparison, and not a
// program that never ends.
func TestTooManyCurves(t *testing.T) {
	long.Skip(t)
	m := graph.NewModel()
	contacts, locked := m.Sample("contacts", graph.LogNormal(-0.7, 0.3)), m.Sample("locked", graph.Beta(3, 3))
	threshold := m.Sample("threshold", graph.Beta(2, 10))
	well, sick := graph.Sub(0.99, 0), graph.Sub(0.01, 0)
	days := 0
	for ; days < 28 && m.Err() == nil; days++ {
		rate := graph.If(graph.Greater(sick, threshold), graph.Mul(contacts, locked), contacts)
		ill := graph.Mul(rate, graph.Mul(well, sick))
		well, sick = graph.Sub(well, ill), graph.Add(graph.Mul(0.8, sick), ill)
		m.Observe("sick", graph.Normal(sick, 0.01), 0.1)
	}
	require.Equal(t, 10, days)
	require.ErrorContains(t, m.Err(), "ways_test.go:")
	require.ErrorContains(t, m.Err(), "depends on so many branches that it becomes more than 256 curves; compare a latent of its own")
}
