package gradient_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/check"
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

// stepNetworkELBO is the ELBO of stepNetwork under independent normals: given which units
// are on, which are independent, the sum is normal, and so with the probability p_h of unit
// h at a datum
//
//	P(Σ > 0) = Σ_on Π_h p_h^on_h·(1 − p_h)^(1−on_h)·Φ(mean(on)/sd(on)).
func stepNetworkELBO(hidden int, mean, sd []float64) (elbo float64) {
	phi := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	for i, s := range sd {
		elbo += -0.5*(mean[i]*mean[i]+s*s) + math.Log(s) + 0.5
	}
	d := 4 * hidden
	for _, x := range [][3]float64{{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}} {
		above := 0.0
		for on := range 1 << hidden {
			p, m, v := 1.0, mean[d], sd[d]*sd[d]
			for h := range hidden {
				v0, v1, c, w := 4*h, 4*h+1, 4*h+2, 4*h+3
				unit := phi((mean[v0]*x[0] + mean[v1]*x[1] + mean[c]) /
					math.Sqrt(sd[v0]*sd[v0]*x[0]+sd[v1]*sd[v1]*x[1]+sd[c]*sd[c]))
				if on>>h&1 == 0 {
					p *= 1 - unit
					continue
				}
				p *= unit
				m, v = m+mean[w], v+sd[w]*sd[w]
			}
			above += p * phi(m/math.Sqrt(v))
		}
		high, low := math.Log(0.9), math.Log(0.1)
		if x[2] == 0 {
			high, low = low, high
		}
		elbo += low + (high-low)*above
	}
	return elbo
}

// The gradient of a step network with any number of hidden units is that of its closed
// form, for independent normals and, at these, for all normals.
func TestStepNetworks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ hidden, batch int }{{2, 128}, {5, 64}, {8, 16}}[:long.Or(1, 3)] { // 2 ms a sample with 8
		t.Run(fmt.Sprintf("2-%d-1", c.hidden), func(t *testing.T) {
			d := vitest.Compile(t, stepNetwork(c.hidden))
			dim := d.Dim()
			mean, sd := make([]float64, dim), make([]float64, dim)
			for i := range mean {
				mean[i], sd[i] = 0.3*float64(i%4)-0.4, 0.7+0.1*float64(i%3)
			}
			var want []float64
			for i := range dim {
				for _, x := range [2]*float64{&mean[i], &sd[i]} {
					const h = 1e-5
					at := *x
					*x = at + h
					up := stepNetworkELBO(c.hidden, mean, sd)
					*x = at - h
					want = append(want, (up-stepNetworkELBO(c.hidden, mean, sd))/(2*h))
					*x = at
				}
			}
			for _, f := range []family.Family{family.MeanField{}, family.Structured{}, family.FullRank{}} {
				if f == (family.Structured{}) && c.hidden > 2 {
					continue // independent weights have no parents: it is mean field
				}
				q, err := f.New(d)
				require.NoError(t, err)
				q.Place(mean, sd)
				j := judge{want: want, unit: slices.Repeat([]float64{1}, len(want)), detect: 0.2 * floats.Norm(want, 2), accuracy: 1e-8}
				s, err := check.Gradient(d, q, gradient.Boundary{}, check.GradientSettings{Draws: 64, Samples: c.batch, Seed: *gradient.Seed})
				require.NoError(t, err)
				z := j.largest(t, f.Name(), s.Mean[:len(want)], s.SE[:len(want)])
				require.Less(t, z, 5.0)
				s = sampled(t, d, q, gradient.Reparam{}, 1<<15)
				rejected := j.largest(t, "reparam", s.Mean[:len(want)], s.SE[:len(want)])
				require.Greater(t, rejected, 5.0, "reparameterization alone must be rejected")
				t.Logf("%s: |z| ≤ %.2f; reparameterization rejected at %.0f", f.Name(), z, rejected)
			}
		})
	}
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
	t.Parallel()
	for _, c := range []struct {
		name   string
		model  *graph.Model
		curves bool
		draws  int
	}{
		{"two change points", changePoints(), false, 1 << 14},
		{"20 groups", groups(20), true, 1 << 14},
		{"walk", walk(8), true, 1 << 14},
	}[:long.Or(1, 3)] {
		t.Run(c.name, func(t *testing.T) {
			d := vitest.Compile(t, c.model)
			curved := false
			for l := range d.Arrangement().Len() {
				curved = curved || d.Arrangement().Curve(l) != nil
			}
			require.Equal(t, c.curves, curved)
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
