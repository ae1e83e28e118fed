package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/facetvi/facet/graph"

	"github.com/facetvi/facet/internal/derive"
)

// sumModels are programs whose log r is made of sums: as a plate, with n rows.
func sumModels(n int) map[string]func(m *Model) {
	rng := rand.New(rand.NewPCG(3, 4))
	x, far, count, yes := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
		far[i] = 1e6 + 3*x[i] + rng.NormFloat64()
		count[i] = float64(rng.IntN(8))
		yes[i] = float64(rng.IntN(2))
	}
	tau := func(m *Model) Expr { return m.Sample("tau", Normal(0, 1)) }
	return map[string]func(m *Model){
		"threshold": func(m *Model) {
			t := tau(m)
			a, b, c := m.Sample("a", Normal(1e6, 10)), m.Sample("b", Normal(0, 10)), m.Sample("c", Normal(0, 1))
			m.Plate(n, func(p *Plate) {
				xi := p.Data(x)
				p.Observe("y", Normal(Add(Add(a, Mul(b, xi)), If(Greater(xi, t), c, 0)), 2), far)
			})
		},
		"scale": func(m *Model) {
			t := tau(m)
			a, b, sd := m.Sample("a", Normal(1e6, 10)), m.Sample("b", Normal(0, 10)), m.Sample("sd", HalfNormal(3))
			m.Plate(n, func(p *Plate) {
				xi := p.Data(x)
				p.Observe("y", Normal(Add(a, If(Less(t, xi), Mul(b, xi), b)), sd), far)
			})
		},
		"falling": func(m *Model) {
			t := tau(m)
			a, b := m.Sample("a", Gamma(2, 1)), m.Sample("b", Gamma(2, 1))
			m.Plate(n, func(p *Plate) { p.Observe("y", Poisson(If(Greater(t, p.Data(x)), a, b)), count) })
		},
		"both": func(m *Model) {
			t := tau(m)
			a, b := m.Sample("a", Normal(1e6, 10)), m.Sample("b", Normal(1e6, 10))
			u, v := m.Sample("u", Gamma(2, 1)), m.Sample("v", Gamma(2, 1))
			m.Plate(n, func(p *Plate) {
				past := Greater(p.Data(x), t)
				p.Observe("y", Normal(If(past, a, b), If(past, u, v)), far)
			})
		},
		"chance": func(m *Model) {
			t := tau(m)
			a, b := m.Sample("a", Beta(2, 1)), m.Sample("b", Beta(2, 1))
			m.Plate(n, func(p *Plate) { p.Observe("y", Bernoulli(If(Greater(p.Data(x), t), a, b)), yes) })
		},
		"branch": func(m *Model) { // of few guards
			a, b := m.Sample("a", Normal(1e6, 10)), m.Sample("b", Normal(0, 10))
			k := m.Sample("k", Poisson(2))
			b = If(Greater(b, 0.5), b, Mul(k, If(Greater(Add(a, b), 1e6), a, 1)))
			m.Plate(n, func(p *Plate) { p.Observe("y", Normal(Add(a, Mul(p.Data(x), a)), 2), far) })
			m.Observe("z", Normal(b, 1), 0)
		},
	}
}

// Sums are the density that they are of: log r and its gradient, in each region, also
// where the data are far from 0.
func TestSumsAreTheDensity(t *testing.T) {
	for name, program := range sumModels(300) {
		t.Run(name, func(t *testing.T) {
			m := NewModel()
			program(m)
			d, err := m.Compile()
			require.NoError(t, err)
			s := d.Engine().Sums(nil)
			require.True(t, s != nil)
			e, err := d.Grouped(s)
			require.NoError(t, err)
			assert.Equal(t, d.Latents(), e.Latents())
			rng := rand.New(rand.NewPCG(1, 2))
			for range 50 {
				z := d.PriorDraw(nil, rng)
				want, err := d.LogProb(z)
				require.NoError(t, err)
				got, err := e.LogProb(z)
				require.NoError(t, err)
				assert.InEpsilon(t, want, got, 1e-11)
				g, err := d.GradAt(z, d.Arrangement().Signs(z))
				require.NoError(t, err)
				h, err := e.GradAt(z, e.Arrangement().Signs(z))
				require.NoError(t, err)
				for i := range g {
					assert.InDelta(t, g[i], h[i], 1e-9*(1+math.Abs(want)))
				}
			}
		})
	}
}

// The jumps along a switch are the differences of log r between its intervals; and a density of
// groups of these has log r of the one that the group is like.
func TestSumsAlongASwitch(t *testing.T) {
	for name, program := range sumModels(200) {
		m := NewModel()
		program(m)
		d, err := m.Compile()
		require.NoError(t, err)
		if name == "branch" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := d.Engine().Sums(nil)
			w := d.Engine().Switches()[0]
			n := len(w.Planes)
			groups := derive.Groups{Switch: w, First: []int{0, 10, 11, 12, 90}, At: []int{4, 10, 11, 70, 80}, Add: []float64{0, 1, 0, -2, 0.5}}
			e, err := d.Grouped(s, groups)
			require.NoError(t, err)
			assert.Equal(t, len(groups.First)-1, e.Arrangement().Len())
			cut := make([]float64, n)
			w.Thresholds(1).Fill(cut, make([]float64, d.Dim()))
			within := func(z []float64, j int) []float64 {
				z = append([]float64(nil), z...)
				switch j {
				case 0:
					z[w.Latent] = cut[0] - 1
				case n:
					z[w.Latent] = cut[n-1] + 1
				default:
					z[w.Latent] = (cut[j-1] + cut[j]) / 2
				}
				return z
			}
			rng := rand.New(rand.NewPCG(1, 2))
			along := make([]float64, n+1)
			for range 10 {
				z := d.PriorDraw(nil, rng)
				s.Along(along, w, z, 0)
				first, err := d.LogProbAt(z, d.Arrangement().Signs(within(z, 0)))
				require.NoError(t, err)
				for j := range along {
					other, err := d.LogProbAt(z, d.Arrangement().Signs(within(z, j)))
					require.NoError(t, err)
					assert.InDelta(t, other-first, along[j], 1e-11*(math.Abs(first)+math.Abs(other)))
				}
				part := make([]float64, 20)
				s.Along(part, w, z, 30)
				for j, x := range part {
					assert.InDelta(t, along[30+j]-along[30], x, 1e-11*math.Abs(first))
				}
				for k, at := range groups.At {
					want, err := d.LogProbAt(z, d.Arrangement().Signs(within(z, at)))
					require.NoError(t, err)
					got, err := e.LogProbAt(z, e.Arrangement().Signs(within(z, groups.First[k])))
					require.NoError(t, err)
					assert.InEpsilon(t, want+groups.Add[k], got, 1e-11)
				}
			}
		})
	}
}

// A density that is not made of sums has none.
func TestNoSums(t *testing.T) {
	const n = 100
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)/n - 0.3
	}
	for name, program := range map[string]func(m *Model){
		"curved in the data": func(m *Model) {
			a := m.Sample("a", Normal(0, 1))
			m.Plate(n, func(p *Plate) { p.Observe("y", Normal(Exp(Mul(a, p.Data(x))), 1), x) })
		},
		"two signs": func(m *Model) {
			s, u, a := m.Sample("s", Normal(0, 1)), m.Sample("u", Normal(0, 1)), m.Sample("a", Normal(0, 1))
			m.Plate(n, func(p *Plate) {
				xi := p.Data(x)
				p.Observe("y", Normal(Add(If(Greater(xi, s), a, 0), If(Greater(xi, u), a, 1)), 1), x)
			})
		},
		"an effect in each row": func(m *Model) {
			m.Plate(n, func(p *Plate) { p.Observe("y", Normal(p.Sample("e", Normal(0, 1)), 1), x) })
		},
	} {
		m := NewModel()
		program(m)
		d, err := m.Compile()
		require.NoError(t, err, name)
		assert.True(t, d.Engine().Sums(nil) == nil, name)
	}
}
