package gradient_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// stepNetwork is y = step(w·step(Vx + c) + d) with so many hidden units on the data of
// exclusive or, which are noisy.
func stepNetwork(hidden int) *graph.Model {
	m := graph.NewModel()
	weight := func(name string, of ...any) graph.Expr { return m.Sample(name+fmt.Sprint(of...), graph.Normal(0, 1)) }
	step := func(x graph.Expr, high, low float64) graph.Expr { return graph.If(graph.Greater(x, 0), high, low) }
	var v [][2]graph.Expr
	var c, w []graph.Expr
	for h := range hidden {
		v = append(v, [2]graph.Expr{weight("v", h, 0), weight("v", h, 1)})
		c, w = append(c, weight("c", h)), append(w, weight("w", h))
	}
	d := weight("d")
	for k, x := range [][3]float64{{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}} {
		sum := d
		for h := range hidden {
			on := step(graph.Sum(graph.Mul(v[h][0], x[0]), graph.Mul(v[h][1], x[1]), c[h]), 1, 0)
			sum = graph.Add(sum, graph.Mul(w[h], on))
		}
		m.Observe(fmt.Sprint("y", k), graph.Bernoulli(step(sum, 0.9, 0.1)), x[2])
	}
	return m
}

// changePoints are two of a series, in order, from two Uniform.
func changePoints() *graph.Model {
	m := graph.NewModel()
	one, other := m.Sample("one", graph.Uniform(0, 10)), m.Sample("other", graph.Uniform(0, 10))
	ordered := graph.Less(one, other)
	first, second := graph.If(ordered, one, other), graph.If(ordered, other, one)
	for k := range 10 {
		at := float64(k) + 0.5
		mean := graph.If(graph.Greater(at, second), 3, graph.If(graph.Greater(at, first), 1, 0))
		m.Observe(fmt.Sprint("y", k), graph.Normal(mean, 1), []float64{0.1, 1.2, 2.8}[k/4])
	}
	return m
}

// groups have thresholds μ + τ·η_g.
func groups(n int) *graph.Model {
	m := graph.NewModel()
	mu, tau := m.Sample("mu", graph.Normal(0, 1)), m.Sample("tau", graph.HalfNormal(1))
	for g := range n {
		threshold := graph.Add(mu, graph.Mul(tau, m.Sample(fmt.Sprint("eta", g), graph.Normal(0, 1))))
		for k := range 3 {
			x := float64((g*7+k*5)%11)/5 - 1
			m.Observe(fmt.Sprint("y", g, "_", k), graph.Normal(graph.If(graph.Greater(threshold, x), 1, 0), 0.5), float64((g+k)%2))
		}
	}
	return m
}

// walk says when the sum of Uniform steps passes a distance.
func walk(steps int) *graph.Model {
	m := graph.NewModel()
	var passed graph.Expr
	for s := range steps {
		step := m.Sample(fmt.Sprint("step", s), graph.Uniform(0, 2))
		if passed = graph.Add(passed, step); s == 0 {
			passed = step
		}
		beyond := graph.Greater(passed, 0.65*float64(steps))
		m.Observe(fmt.Sprint("y", s), graph.Normal(graph.If(beyond, 1, 0), 1), float64(s*3/(2*steps)))
	}
	return m
}

// Programs with guards as a user writes them: the boundary estimator agrees with the score
// estimator, and reparameterization does not.
func TestCurvedModels(t *testing.T) {
	for _, c := range []struct {
		name   string
		model  *graph.Model
		curves bool
		draws  int
	}{
		{"2-2-1 step network", stepNetwork(2), false, 1 << 14},
		{"2-5-1 step network", stepNetwork(5), false, 1 << 13},
		{"2-8-1 step network", stepNetwork(8), false, 0}, // compiled: 288 hyperplanes, whose formulas take 2 ms a draw
		{"two change points", changePoints(), false, 1 << 14},
		{"20 groups", groups(20), true, 1 << 14},
		{"walk", walk(8), true, 1 << 14},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := vitest.Compile(t, c.model)
			curved := false
			for l := range d.Arrangement().Len() {
				curved = curved || d.Arrangement().Curve(l) != nil
			}
			require.Equal(t, c.curves, curved)
			if c.draws == 0 {
				_, err := boundary.NewJumps(d, boundary.OnPlane)
				require.NoError(t, err)
				return
			}
			for _, f := range []family.Family{family.MeanField{}, family.FullRank{}} {
				q, err := f.New(d)
				require.NoError(t, err)
				mean, sd := make([]float64, d.Dim()), make([]float64, d.Dim())
				for i := range mean {
					mean[i], sd[i] = 0.3*float64(i%4)-0.4, 0.7+0.1*float64(i%3)
				}
				q.Place(mean, sd)
				n := vitest.Draws(c.draws)
				unit := make([]float64, len(q.Theta()))
				for k := range unit {
					unit[k] = 1
				}
				exact := sampled(t, d, q, gradient.Boundary{}, n)
				far := func(e gradient.Estimator, n int) (worst float64) {
					s := sampled(t, d, q, e, n)
					for k := range unit { // the difference, with the standard error of both
						both := s.SE[k]*s.SE[k] + exact.SE[k]*exact.SE[k]
						worst = max(worst, (s.Mean[k]-exact.Mean[k])*(s.Mean[k]-exact.Mean[k])/both)
					}
					return worst
				}
				score, reparam := far(gradient.Score{}, 8*n), far(gradient.Reparam{}, n)
				t.Logf("%s: score at %.1f squared standard errors, reparameterization at %.0f", f.Name(), score, reparam)
				require.Less(t, score, 25.0, f.Name())
				require.Greater(t, reparam, 25.0, "reparameterization alone must be rejected")
			}
		})
	}
}
