package vi

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mixture"
)

// Probabilities of discrete latents and moments are right where cells differ in what their noises are like: in a threshold
// autoregression with an unknown delay, whose posterior is a sum over the intervals of the threshold.
func TestDelay(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	const n, late = 12, 0.02
	rng, x := rand.New(rand.NewPCG(6, 2)), []float64{0.3, -0.5}
	for k := 2; k < n; k++ {
		level, sd := 0.8, 0.7
		if x[k-2] > 0.1 {
			level, sd = -0.6, 0.8
		}
		x = append(x, level+sd*rng.NormFloat64())
	}
	m := graph.NewModel()
	threshold, delay := m.Sample("threshold", graph.Normal(0, 0.7)), m.Sample("delay", graph.Bernoulli(late))
	low, high := m.Sample("noise low", graph.HalfNormal(0.8)), m.Sample("noise high", graph.HalfNormal(0.8))
	for k := 2; k < n; k++ {
		g := graph.Greater(graph.Switch(delay, x[k-1], x[k-2]), threshold)
		m.Observe("x", graph.Normal(graph.If(g, -0.6, 0.8), graph.If(g, high, low)), x[k])
	}

	likelihood := func(off []float64) float64 { // of one side, the noise integrated out
		return quad.Fixed(func(u float64) float64 {
			s, log := math.Exp(u), 0.0
			for _, e := range off {
				log += distuv.Normal{Sigma: s}.LogProb(e)
			}
			return 2 * distuv.Normal{Sigma: 0.8}.Prob(s) * s * math.Exp(log)
		}, -12, 3, 400, nil, 0)
	}
	var mass [2]float64
	prior := distuv.Normal{Sigma: 0.7}
	for d := range mass { // delay 0 compares x[k−1]
		cuts := append(append([]float64{math.Inf(-1)}, slices.Sorted(slices.Values(x[1-d:n-1-d]))...), math.Inf(1))
		for j := range len(cuts) - 1 {
			var below, above []float64
			for k := 2; k < n; k++ {
				if x[k-1-d] > cuts[j] {
					above = append(above, x[k]+0.6)
				} else {
					below = append(below, x[k]-0.8)
				}
			}
			mass[d] += (prior.CDF(cuts[j+1]) - prior.CDF(cuts[j])) * likelihood(below) * likelihood(above)
		}
	}
	exact := late * mass[1] / ((1-late)*mass[0] + late*mass[1])
	require.Greater(t, exact, 0.02, "inconclusive")
	require.Less(t, exact, 0.98, "inconclusive")
	for s := range uint64(3) {
		p, err := Fit(context.Background(), mustCompile(t, m), Settings{Seed: *seed + s})
		require.NoError(t, err)
		v, err := p.Verdict()
		require.NoError(t, err)
		_, masses, err := p.Masses("delay")
		require.NoError(t, err)
		t.Logf("seed %d: P(delay is 1) = %v, exactly %.4f; %v", *seed+s, masses[1], exact, v)
		assert.InDelta(t, exact, masses[1].Value, 0.005)
		e, err := p.LogEvidence()
		require.NoError(t, err)
		assert.InDelta(t, math.Log((1-late)*mass[0]+late*mass[1]), e.Value, 5*e.SE+0.005)
	}
}

// must is a program with two hard constraints, one of them on a curve.
func must(t testing.TB) *graph.Density {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
	straight, curved := m.Name("straight", graph.Greater(graph.Add(x, y), 0.2)), m.Name("curved", graph.Less(graph.Mul(x, y), 0.7))
	m.Observe("must", graph.Bernoulli(graph.If(graph.And(straight, curved), 1, 0)), 1)
	m.Observe("sum", graph.Normal(graph.Add(x, y), 1), 0.1)
	return mustCompile(t, m)
}

// A guard that must hold has probability 1, and no draw breaks it, whatever the fit.
func TestWhatMustHold(t *testing.T) {
	t.Parallel()
	d := must(t)
	for _, f := range []family.Family{mixture.Cells{}, family.FullRank{}, family.MeanField{}}[:long.Or(1, 3)] {
		p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: methodOf(f)})
		if f != (mixture.Cells{}) && err != nil { // −Inf has no gradient: by a normal around the constraint
			p, err = &Posterior{Density: d, Q: family.Independent([]float64{0.5, 0.3}, []float64{0.8, 0.8})}, nil
		}
		require.NoError(t, err)
		for _, name := range []string{"straight", "curved"} {
			prob, err := p.ProbNamed(name, 0)
			require.NoError(t, err)
			assert.Equal(t, Estimate{Value: 1}, prob, "%s: %s", f.Name(), name)
		}
		for _, g := range p.Summary().Guards {
			assert.Equal(t, 1., g.Prob.Value, "%s: %s", f.Name(), g.Name)
		}
		predicted, err := p.Predict(4000, 1)
		require.NoError(t, err)
		for _, draws := range []Draws{drawsOf(t, p, 4000, 1), predicted.Latents} {
			for _, z := range draws.Values {
				require.Greater(t, z[0]+z[1], 0.2, f.Name())
				require.Less(t, z[0]*z[1], 0.7, f.Name())
			}
		}
	}
}

// A cell that hardly counts, with a wide normal in the logarithm of a noise, has no say in the noise's mean.
func TestMeanOfANoise(t *testing.T) {
	m := graph.NewModel()
	noise := m.Sample("noise", graph.LogNormal(-1, 0.3))
	m.Factor(graph.If(graph.Greater(noise, 2), -3, 0))
	p := &Posterior{Density: mustCompile(t, m), Q: mixture.New([]float64{0, math.Log(0.01)}, []family.Q{
		family.Independent([]float64{-1}, []float64{0.3}), family.Independent([]float64{0}, []float64{15}),
	})}
	mean, err := p.Mean("noise")
	require.NoError(t, err)
	vitest.Estimate(t, "mean", math.Exp(-0.955), mean, 0.05)
	sd, err := p.SD("noise")
	require.NoError(t, err)
	vitest.Estimate(t, "sd", math.Exp(-0.955)*math.Sqrt(math.Expm1(0.09)), sd, 0.05)
	require.InDelta(t, math.Exp(-0.955), p.Summary().Latents[0].Mean.Value, 0.01)
}

// trusted is what must hold of a number of a fit: if the fit says trust, it is right to what that promises. It returns what to say
// otherwise.
func trusted(t testing.TB, d *graph.Density, seed uint64, what string, want, within float64, of func(p *Posterior) (Estimate, error)) {
	t.Helper()
	p, err := Fit(context.Background(), d, Settings{Seed: seed})
	require.NoError(t, err)
	v, err := p.Verdict()
	require.NoError(t, err)
	got, err := of(p)
	require.NoError(t, err)
	t.Logf("%s, seed %d: %v, exactly %.4f; %v", what, seed, got, want, v)
	if v.Trust == TrustFit {
		assert.InDelta(t, want, got.Value, within, what)
	}
}

// Trust never stands beside a wrong probability of a guard, in programs whose answers are known.
func TestTrustedProbabilities(t *testing.T) {
	t.Parallel()
	prob := func(name string) func(p *Posterior) (Estimate, error) {
		return func(p *Posterior) (Estimate, error) { return p.ProbNamed(name, 0) }
	}
	programs := map[string]struct {
		want, within float64
		make         func(m *graph.Model)
	}{
		"parabola": {0, 0.01, func(m *graph.Model) {
			a, b := m.Sample("a", graph.Normal(0, 0.5)), m.Sample("b", graph.Normal(0, 1))
			m.Factor(graph.If(m.Name("g", graph.Greater(graph.Add(graph.Square(a), b), 1.5)), -30, 0))
		}},
		"product": {0, 0.01, func(m *graph.Model) {
			a, b := m.Sample("a", graph.Normal(0.7, 0.5)), m.Sample("b", graph.Normal(0.5, 0.7))
			m.Factor(graph.If(m.Name("g", graph.Greater(graph.Mul(a, b), 1.2)), -30, 0))
		}},
		"clipped Gumbel": {gumbelAbove(1.3125), 0.002, func(m *graph.Model) {
			x := m.Sample("x", graph.Gumbel(0, 1))
			m.Name("g", graph.Greater(x, 1.3125))
			m.Factor(graph.If(graph.Greater(x, 1.9375), -25, 0))
			m.Observe("y", graph.Normal(graph.Clip(x, -1, 2.5), 2), 1.3)
		}},
		"two ifs": {0.1925, 0.01, func(m *graph.Model) {
			x, y := m.Sample("x", graph.Uniform(-10, 10)), m.Sample("y", graph.Uniform(-5, 5))
			y2 := graph.If(graph.Less(graph.Add(x, y), 4), graph.Add(y, 5), y)
			x2 := graph.If(graph.Less(graph.Add(x, y2), 3), x, graph.Add(y2, 1))
			m.Name("g", graph.Greater(graph.Add(x2, y2), 10))
		}},
	}
	for _, name := range []string{"parabola", "product", "clipped Gumbel", "two ifs"} {
		t.Run(name, func(t *testing.T) {
			m := graph.NewModel()
			programs[name].make(m)
			d := mustCompile(t, m)
			for s := range long.Or[uint64](1, 5) {
				trusted(t, d, *seed+s, name, programs[name].want, programs[name].within, prob("g"))
			}
		})
	}
}

// gumbelAbove is P(x > c) of the clipped Gumbel above, by quadrature.
func gumbelAbove(c float64) float64 {
	density := func(x float64) float64 {
		p := math.Exp(-x-math.Exp(-x)) * distuv.Normal{Mu: min(max(x, -1), 2.5), Sigma: 2}.Prob(1.3)
		if x > 1.9375 {
			p *= math.Exp(-25)
		}
		return p
	}
	sum := func(cuts ...float64) (sum float64) {
		for k := range len(cuts) - 1 {
			sum += quad.Fixed(density, cuts[k], cuts[k+1], 200, nil, 0)
		}
		return sum
	}
	return sum(c, 1.9375, 2.5, 40) / sum(-5, -1, c, 1.9375, 2.5, 40)
}

// A rare value has its probability.
func TestTrustedRareValue(t *testing.T) {
	m := graph.NewModel()
	k, x := m.Sample("k", graph.Bernoulli(0.001)), m.Sample("x", graph.Normal(0, 1))
	m.Observe("y", graph.Normal(graph.Add(x, k), 1), 0.5)
	d := mustCompile(t, m)
	for s := range uint64(3) {
		trusted(t, d, *seed+s, "P(k = 1)", 0.001, 1e-4, func(p *Posterior) (Estimate, error) {
			_, masses, err := p.Masses("k")
			return masses[1], err
		})
	}
}

// The log evidence is not above the truth by more than its error says: where the posterior lies along a·b + c = 1, and of a funnel
// without data.
func TestEvidenceIsNotAbove(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	along := func(sigma float64) (*graph.Model, float64) {
		m := graph.NewModel()
		a, b, c := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 1)), m.Sample("c", graph.Normal(0, 1))
		m.Observe("y", graph.Normal(graph.Add(graph.Mul(a, b), c), sigma), 1)
		exact := quad.Fixed(func(a float64) float64 { // given a, y is normal
			return distuv.UnitNormal.Prob(a) * distuv.Normal{Sigma: math.Sqrt(a*a + 1 + sigma*sigma)}.Prob(1)
		}, -9, 9, 2000, nil, 0)
		return m, math.Log(exact)
	}
	funnel := func(n int) (*graph.Model, float64) {
		m := graph.NewModel()
		v := m.Sample("v", graph.Normal(0, 3))
		m.SampleN("x", n, graph.Normal(0, graph.Exp(graph.Mul(0.5, v))))
		return m, 0
	}
	for name, program := range map[string]func() (*graph.Model, float64){
		"a curve":        func() (*graph.Model, float64) { return along(0.1) },
		"a narrow curve": func() (*graph.Model, float64) { return along(0.01) },
		"a small funnel": func() (*graph.Model, float64) { return funnel(1) },
		"a funnel":       func() (*graph.Model, float64) { return funnel(5) },
		"a large funnel": func() (*graph.Model, float64) { return funnel(9) },
	} {
		m, want := program()
		d := mustCompile(t, m)
		for s := range uint64(long.Few(1, 2)) {
			p, err := Fit(context.Background(), d, Settings{Seed: *seed + s})
			require.NoError(t, err)
			got, err := p.LogEvidence()
			require.NoError(t, err)
			v, err := p.Verdict()
			require.NoError(t, err)
			t.Logf("%s, seed %d: %v, exactly %.4f; %s", name, s, got, want, v.Trust)
			require.LessOrEqual(t, got.Value, want+4*got.SE, name)
			require.Greater(t, got.Value, want-0.2, name) // doubted, too
			if v.Trust == TrustFit {
				require.InDelta(t, want, got.Value, 0.02, name)
			}
		}
	}
}
