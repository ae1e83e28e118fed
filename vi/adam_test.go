package vi

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
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

// halfNormal is a standard normal with a hard constraint: x > 0.
func halfNormal(t testing.TB) (*graph.Density, graph.Guard) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	above := graph.Greater(x, 0)
	m.Factor(graph.If(above, 0, -1e200))
	return mustCompile(t, m), above
}

// bestHalfNormal is the mean and standard deviation of the best normal N(μ, s²) for
// halfNormal. With k = μ/s the best s is 1/√(1 + k²), and
//
//	ELBO(k) = −½·log(1 + k²) − 1e200·Φ(−k) + const.
func bestHalfNormal() (mean, sd float64) {
	elbo := func(k float64) float64 { return -0.5*math.Log1p(k*k) - 1e200*0.5*math.Erfc(k/math.Sqrt2) }
	best := 30.0
	for k := best; k < 31; k += 1e-4 {
		if elbo(k) > elbo(best) {
			best = k
		}
	}
	sd = 1 / math.Sqrt(1+best*best)
	return best * sd, sd
}

// A hard constraint may be a jump whose square overflows. Nothing of the fit is
// beyond it, and the fit comes to the best normal along it. After gradients of 1e200 where it ends is chance: errors are
// root mean squares over seeds.
func TestHardConstraint(t *testing.T) {
	d, above := halfNormal(t)
	mean, sd := bestHalfNormal()
	seeds := uint64(5)
	if testing.Short() {
		seeds = 1
	}
	for _, steps := range []int{10000, 100000}[:long.Or(1, 2)] {
		var means, sds, within float64 // mean squares of relative errors
		for k := range seeds {
			var s Settings
			s, within = Settings{Seed: *seed + k, Method: Climb{Family: family.MeanField{}, Steps: steps}}, 0.1
			if steps > 10000 { // shorter steps keep less clear of the wall
				s.climb().StepSize, within = 0.01, 0.05
			}
			p, err := Fit(context.Background(), d, s)
			require.NoError(t, err)
			t.Logf("seed %d, %d steps: mean %.4f, sd %.5f; best %.4f, %.5f", *seed+k, steps, p.Q.Mean(0), p.Q.SD(0), mean, sd)
			below, err := p.Prob(graph.Not(above))
			require.NoError(t, err)
			require.Less(t, below.Value, 1e-20) // by the wider part of the draws, ten of its standard deviations above 0
			for _, z := range drawsOf(t, p, 1000, *seed).Values {
				require.Positive(t, z[0])
			}
			means += math.Pow(p.Q.Mean(0)/mean-1, 2) / float64(seeds)
			sds += math.Pow(p.Q.SD(0)/sd-1, 2) / float64(seeds)
		}
		require.Less(t, math.Sqrt(means), within)
		require.Less(t, math.Sqrt(sds), within)
	}
}
