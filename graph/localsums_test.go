package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gonum.org/v1/gonum/stat"

	. "github.com/facetvi/facet/graph"

	"github.com/facetvi/facet/internal/long"
)

// curvedModels are programs whose log r has no sums but near a point: as a plate, with n rows.
func curvedModels(n int) map[string]func(m *Model) {
	rng := rand.New(rand.NewPCG(5, 6))
	x, y, z, real, yes, count := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i], z[i] = rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		real[i] = 3*x[i] + rng.NormFloat64()
		yes[i] = float64(rng.IntN(2))
		count[i] = float64(rng.IntN(8))
	}
	regression := func(observe func(m *Model, p *Plate, eta Expr)) func(m *Model) {
		return func(m *Model) {
			tau := m.Sample("tau", Normal(0, 1))
			a, b, c := m.Sample("a", Normal(0, 1)), m.Sample("b", Normal(0, 1)), m.Sample("c", Normal(0, 1))
			m.Plate(n, func(p *Plate) {
				eta := Add(Add(a, Mul(b, p.Data(x))), If(Greater(p.Data(z), tau), c, 0))
				observe(m, p, eta)
			})
		}
	}
	return map[string]func(m *Model){
		"logistic": regression(func(_ *Model, p *Plate, eta Expr) { p.Observe("y", Bernoulli(Sigmoid(eta)), yes) }),
		"Poisson":  regression(func(_ *Model, p *Plate, eta Expr) { p.Observe("y", Poisson(Exp(eta)), count) }),
		"Student":  regression(func(_ *Model, p *Plate, eta Expr) { p.Observe("y", StudentsT(eta, 1.5, 4), real) }),
		"probit":   regression(func(_ *Model, p *Plate, eta Expr) { p.Observe("y", Bernoulli(NormalCDF(eta)), yes) }),
		"scale": func(m *Model) {
			tau := m.Sample("tau", Normal(0, 1))
			a, sd, nu := m.Sample("a", Normal(0, 1)), m.Sample("sd", HalfNormal(3)), m.Sample("nu", Gamma(4, 1))
			m.Plate(n, func(p *Plate) {
				s := If(Less(tau, p.Data(z)), Mul(sd, Exp(Mul(a, p.Data(x)))), sd)
				p.Observe("y", StudentsT(a, s, nu), real)
			})
		},
		"loop": func(m *Model) {
			tau, a, b := m.Sample("tau", Normal(0, 1)), m.Sample("a", Normal(0, 1)), m.Sample("b", Normal(0, 1))
			for i := range n {
				m.Observe("y", Bernoulli(Sigmoid(Add(Mul(a, x[i]), If(Greater(z[i], tau), b, 0)))), yes[i])
			}
			m.Observe("other", Normal(Exp(a), 1), 2)
		},
	}
}

// The sums near a point are log r to second order: what they leave of it falls as the third power of the distance,
// in each region; and along a switch their partial sums are log r at the point itself.
func TestSumsNearAPoint(t *testing.T) {
	for name, program := range curvedModels(150) {
		t.Run(name, func(t *testing.T) {
			m := NewModel()
			program(m)
			d, err := m.Compile()
			require.NoError(t, err)
			require.True(t, d.Engine().Sums(nil) == nil)
			rng := rand.New(rand.NewPCG(1, 2))
			tau, _ := d.Latent("tau")
			for range 10 {
				z := d.PriorDraw(nil, rng)
				s := d.Engine().Sums(z)
				require.True(t, s != nil)
				e, err := d.Grouped(s)
				require.NoError(t, err)
				dir := make([]float64, len(z))
				for i := range dir {
					dir[i] = rng.NormFloat64()
				}
				left := func(by float64) float64 {
					at := append([]float64(nil), z...)
					for i := range at {
						if i != tau {
							at[i] += by * dir[i]
						}
					}
					want, err := d.LogProb(at)
					require.NoError(t, err)
					got, err := e.LogProb(at)
					require.NoError(t, err)
					return (got - want) / (1 + math.Abs(want))
				}
				assert.InDelta(t, 0, left(0), 1e-12)
				far := left(0.04)
				assert.InDelta(t, 0, left(0.005), 1e-3*math.Abs(far)*4+1e-9)
				assert.Less(t, math.Abs(far), 0.05)
				w := d.Engine().Switches()[0]
				along := make([]float64, len(w.Planes)+1)
				s.Along(along, w, z, 0)
				cut := make([]float64, len(w.Planes))
				w.Thresholds(1).Fill(cut, make([]float64, d.Dim()))
				likelihood := func(j int) float64 { // in interval j
					at := append([]float64(nil), z...)
					switch {
					case j == 0:
						at[tau] = cut[0] - 1
					case j == len(cut):
						at[tau] = cut[j-1] + 1
					default:
						at[tau] = (cut[j-1] + cut[j]) / 2
					}
					v, err := d.LogProb(at)
					require.NoError(t, err)
					return v + at[tau]*at[tau]/2
				}
				for _, j := range []int{1, 30, len(cut)} {
					assert.InDelta(t, likelihood(j)-likelihood(0), along[j], 1e-9*(1+math.Abs(likelihood(0))))
				}
			}
		})
	}
}

// Some is the density of a part of the observations: at a point its log likelihood, over many seeds, has the mean that the
// whole one's has in proportion, and what few observations are made of is in all of them.
func TestSome(t *testing.T) {
	long.Skip(t)
	if testing.Short() {
		t.Skip("takes seconds under the race detector, for which short mode is, and has no goroutines but those of any Compile")
	}
	const n, used = 400, 100
	m := NewModel()
	curvedModels(n)["Poisson"](m)
	a, _ := m.Sample("level", Normal(0, 1)), 0
	m.Observe("few", Normal(a, 1e-3), 0.5)
	d, err := m.Compile()
	require.NoError(t, err)
	z := d.PriorDraw(nil, rand.New(rand.NewPCG(1, 2)))
	level, _ := d.Latent("level")
	likelihood := func(d *Density) float64 { // of all but the level
		p, err := d.Engine().Likelihood()
		require.NoError(t, err)
		x, err := d.Engine().Executor(p, 1, Compute{Out: true})
		require.NoError(t, err)
		copy(x.Z, z)
		d.Arrangement().SignBatch(x.Signs, x.Z, 1)
		require.NoError(t, x.Run())
		r := (z[level] - 0.5) / 1e-3
		return x.Out[0] + r*r/2 + math.Log(1e-3*math.Sqrt(2*math.Pi))
	}
	var parts []float64
	for seed := range uint64(200) {
		s, err := d.Some(used, seed)
		require.NoError(t, err)
		require.Equal(t, d.Latents(), s.Latents())
		parts = append(parts, likelihood(s))
	}
	mean, sd := stat.MeanStdDev(parts, nil)
	want := likelihood(d) * 99 / n // of 401 terms 100 are asked for
	assert.InDelta(t, want, mean, 5*sd/math.Sqrt(float64(len(parts))))
	assert.Less(t, 5*sd/math.Sqrt(float64(len(parts))), 0.03*math.Abs(want), "not enough seeds to see the error of one row")
	again, err := d.Some(used, 3)
	require.NoError(t, err)
	assert.Equal(t, parts[3], likelihood(again))
}
