package climb

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// parameter is what Gorgonia's solvers optimise.
type parameter struct{ value, grad *tensor.Dense }

func (p parameter) Value() gorgonia.Value         { return p.value }
func (p parameter) Grad() (gorgonia.Value, error) { return p.grad, nil }
func vectorOf(x []float64) *tensor.Dense          { return tensor.New(tensor.WithBacking(x)) }
func randomGradient(rng *rand.Rand, g []float64, scale float64) {
	for i := range g {
		g[i] = scale * math.Pow(10, float64(i-3)) * (1 + rng.NormFloat64())
	}
}

// Step by step the same as Gorgonia's solver, which goes downhill.
func TestAdamIsGorgonias(t *testing.T) {
	for name, c := range map[string]struct {
		adam Adam
		opts []gorgonia.SolverOpt
	}{
		"defaults": {},
		"all set": {
			Adam{StepSize: 0.05, Beta1: 0.8, Beta2: 0.99, Epsilon: 1e-3},
			[]gorgonia.SolverOpt{gorgonia.WithLearnRate(0.05), gorgonia.WithBeta1(0.8), gorgonia.WithBeta2(0.99), gorgonia.WithEps(1e-3)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			const n = 6
			rng := rand.New(rand.NewPCG(*seed, 0))
			theta, g := make([]float64, n), make([]float64, n)
			p := parameter{vectorOf(make([]float64, n)), vectorOf(make([]float64, n))}
			solver, adam := gorgonia.NewAdamSolver(c.opts...), c.adam
			for step := range 500 {
				randomGradient(rng, g, math.Exp(-0.01*float64(step)))
				for i, x := range g {
					p.grad.Data().([]float64)[i] = -x
				}
				require.NoError(t, solver.Step([]gorgonia.ValueGrad{p}))
				adam.Step(theta, g)
				for i, want := range p.value.Data().([]float64) {
					require.InDelta(t, want, theta[i], 1e-12*(1+math.Abs(want)), "step %d", step)
				}
			}
			require.Equal(t, 500, adam.T)
		})
	}
}

// The first step is as long as the step size, uphill, whatever the gradient.
func TestAdamFirstStep(t *testing.T) {
	var adam Adam
	theta := []float64{1, 1, 1}
	adam.Step(theta, []float64{1e3, -1e-3, 0})
	require.InDeltaSlice(t, []float64{1.001, 0.999, 1}, theta, 1e-8)
}

// A clone, and a state that was written and read, go on bit for bit and do not
// touch the original.
func TestAdamState(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	adam := &Adam{StepSize: 0.02}
	theta, g := make([]float64, 6), make([]float64, 6)
	for range 20 {
		randomGradient(rng, g, 1)
		adam.Step(theta, g)
	}
	text, err := json.Marshal(adam)
	require.NoError(t, err)
	read := new(Adam)
	require.NoError(t, json.Unmarshal(text, read))
	clone, at := adam.Clone(), append([]float64(nil), theta...)
	require.Equal(t, adam, clone)
	require.Equal(t, adam, read)

	var gradients [][]float64
	for range 20 {
		randomGradient(rng, g, 1)
		gradients = append(gradients, append([]float64(nil), g...))
		adam.Step(theta, g)
	}
	require.NotEqual(t, adam, clone)
	for _, other := range []*Adam{clone, read} {
		x := append([]float64(nil), at...)
		for _, g := range gradients {
			other.Step(x, g)
		}
		require.Equal(t, theta, x)
		require.Equal(t, adam, other)
	}
	require.Panics(t, func() { adam.Step(theta, g[1:]) })
}

// 1 − power is 1 − math.Pow to rounding for as long as a fit may take.
func TestPower(t *testing.T) {
	for _, x := range []float64{0, 0.5, 0.9, 0.99, 0.999, 0.999999, math.Nextafter(1, 0)} {
		for n := 1; n <= 1e6; n += 1 + n/1000 {
			want := 1 - math.Pow(x, float64(n))
			require.InDelta(t, want, 1-power(x, n), 2e-16*want, "%v to the power of %d", x, n)
		}
	}
}

// A gradient whose square overflows stops a parameter for no longer than its
// running mean takes to forget it: afterwards every step is as long as the step
// size, as it would be without it. The parameters beside it do not notice.
func TestAdamForgetsOverflow(t *testing.T) {
	for _, huge := range []float64{1e150, 1e155, 1e200, math.MaxFloat64} {
		for _, times := range []int{1, 100, 5000} {
			adam, alone := &Adam{StepSize: 0.01}, &Adam{StepSize: 0.01}
			theta, one := []float64{0, 0}, []float64{0}
			for range times {
				adam.Step(theta, []float64{huge, 3})
				alone.Step(one, []float64{3})
			}
			require.InEpsilon(t, 0.01*float64(times), theta[0], 1e-6, "uphill all the time")
			for n := range 1000 {
				was := theta[0]
				adam.Step(theta, []float64{-1, 3})
				alone.Step(one, []float64{3})
				require.True(t, finite(theta[0]))
				if n >= 300 {
					require.InDelta(t, -0.01, theta[0]-was, 1e-6, "%v %d times, %d steps later", huge, times, n)
				}
			}
			require.Equal(t, one[0], theta[1])
		}
	}
}
