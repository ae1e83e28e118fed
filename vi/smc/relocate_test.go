package smc_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/smc"
)

// Relocations leave draws from the prior draws from it, though what belongs to values has a prior of its own for each; those that forget the volume do not. Nor do
// jumps in the coordinates of labels change them.
func TestRelocate(t *testing.T) {
	for name, build := range map[string]func(m *graph.Model){
		"components": func(m *graph.Model) {
			m.SampleVector("mu", graph.Ordered(3, graph.Normal(1, 2)))
			for k, name := range []string{"sd[0]", "sd[1]", "sd[2]"} {
				m.Sample(name, graph.HalfNormal(float64(k+1)))
			}
			m.SampleVector("share", graph.Dirichlet(2, 0.5, 1))
		},
		"intervals": func(m *graph.Model) {
			m.SampleVector("at", graph.Ordered(2, graph.Uniform(0, 10)))
			for k, name := range []string{"level[0]", "level[1]", "level[2]"} {
				m.Sample(name, graph.Normal(float64(k), float64(k+1)))
			}
		},
		"in logarithms": func(m *graph.Model) { m.SampleVector("rate", graph.Ordered(4, graph.Exponential(2))) },
	} {
		t.Run(name, func(t *testing.T) {
			d := density(t, build)
			rng := parallel.NewRand(1)
			draws := make([][]float64, 20000)
			for k := range draws {
				draws[k] = d.PriorDraw(nil, rng)
			}
			stay(t, draws, func(forgetful bool) ([][]float64, error) { return smc.Relocated(d, draws, 40, forgetful) })
			if name == "components" {
				stay(t, draws, func(forgetful bool) ([][]float64, error) { return smc.Relabelled(d, draws, 20, forgetful) })
			}
		})
	}
}

// Scales that are multiplied, and what moves with them, leave draws what they are; if volumes are forgotten, they do not. The one program is of noise
// that is not centred. In the other scales divide: a standard deviation, a variance and a precision, of what is a latent less others, or a multiple of it
// less others; but none moves what two of its terms have, or what a guard in such a term compares. In a mixture a latent moves by the nearest component.
func TestRescale(t *testing.T) {
	for name, c := range map[string]struct {
		build func(m *graph.Model)
		want  []derive.Scale
	}{
		"multiplied": {
			func(m *graph.Model) {
				tau, lambda := m.Sample("tau", graph.HalfNormal(1)), m.Sample("lambda", graph.Gamma(3, 2))
				for k, name := range []string{"a", "b", "c"} {
					e := m.Sample("e "+name, graph.Normal(float64(k), 1))
					mean := graph.Mul(tau, e)
					if k > 0 {
						mean = graph.Add(1, graph.Mul(2, graph.Mul(lambda, mean)))
					}
					m.Sample(name, graph.Normal(mean, 1))
				}
			},
			[]derive.Scale{
				{By: 0, Moved: []derive.Moved{{Latent: 2, Power: -1}, {Latent: 4, Power: -1}, {Latent: 6, Power: -1}}},
				{By: 1, Moved: []derive.Moved{{Latent: 4, Power: -1}, {Latent: 6, Power: -1}}},
			},
		},
		"divided": {
			func(m *graph.Model) {
				sd, variance, precision := m.Sample("sd", graph.HalfNormal(1)), m.Sample("variance", graph.Gamma(3, 2)), m.Sample("precision", graph.Gamma(4, 2))
				r, c := m.Sample("r", graph.Normal(2, 0.2)), m.Sample("c", graph.Normal(0, 1))
				jump := graph.If(graph.Greater(c, 0.5), 2, 0)
				for k, scale := range []graph.Expr{sd, sd, graph.Sqrt(variance), graph.Pow(precision, -0.5)} {
					u := m.Sample(fmt.Sprint("u ", k), graph.Normal(0, 1))
					y := m.Sample(fmt.Sprint("y ", k), graph.Normal(graph.Add(graph.Mul(r, u), graph.Add(c, jump)), scale))
					m.Sample(fmt.Sprint("of y ", k), graph.Normal(y, scale))
				}
				for k := range 2 {
					m.Sample(fmt.Sprint("x ", k), graph.Normal(graph.If(graph.Greater(m.Sample(fmt.Sprint("v ", k), graph.Normal(0, 1)), 0), 1, -1), variance))
				}
			},
			[]derive.Scale{
				{By: 0, Moved: []derive.Moved{{Latent: 5, Power: 1}, {Latent: 7, Power: 1}, {Latent: 8, Power: 1}, {Latent: 10, Power: 1}}},
				{By: 1, Moved: []derive.Moved{{Latent: 11, Power: 0.5}, {Latent: 13, Power: 0.5}, {Latent: 18, Power: 1}, {Latent: 20, Power: 1}}},
				{By: 2, Moved: []derive.Moved{{Latent: 14, Power: -0.5}, {Latent: 16, Power: -0.5}}},
			},
		},
		"divided in a mixture": {
			func(m *graph.Model) {
				sd := m.Sample("sd", graph.HalfNormal(1))
				for k := range 2 {
					u := m.Sample(fmt.Sprint("u ", k), graph.Normal(0, 1))
					y := m.Sample(fmt.Sprint("y ", k), graph.Mixture(graph.Numbers(0.5, 0.5), graph.Normal(u, sd), graph.Normal(graph.Add(u, 1), sd)))
					m.Sample(fmt.Sprint("of y ", k), graph.Normal(y, sd))
				}
			},
			[]derive.Scale{{By: 0, Moved: []derive.Moved{{Latent: 1, Power: 1}, {Latent: 3, Power: 1}, {Latent: 4, Power: 1}, {Latent: 6, Power: 1}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := density(t, c.build)
			s, err := d.Engine().Scales()
			require.NoError(t, err)
			assert.Equal(t, c.want, s.List)
			rng := parallel.NewRand(1)
			draws := make([][]float64, 20000)
			for k := range draws {
				draws[k] = d.PriorDraw(nil, rng)
			}
			stay(t, draws, func(forgetful bool) ([][]float64, error) { return smc.Rescaled(d, draws, 20, forgetful) })
		})
	}
}

// stay tests that draws are of the same distribution after moves, and are not after forgetful ones.
func stay(t *testing.T, draws [][]float64, moved func(forgetful bool) ([][]float64, error)) {
	worst := func(forgetful bool) (worst float64) {
		after, err := moved(forgetful)
		require.NoError(t, err)
		changes := map[[2]int]*mc.Moments{}
		moved := 0
		for k, z := range after {
			if z[0] != draws[k][0] {
				moved++
			}
			for i := range z {
				for j := range i + 2 { // a latent, and the products of two
					change := z[i] - draws[k][i]
					if j <= i {
						change = math.Tanh(z[i])*math.Tanh(z[j]) - math.Tanh(draws[k][i])*math.Tanh(draws[k][j])
					}
					if changes[[2]int{i, j}] == nil {
						changes[[2]int{i, j}] = &mc.Moments{}
					}
					changes[[2]int{i, j}].Add(change)
				}
			}
		}
		require.Greater(t, moved, len(draws)/2)
		for _, c := range changes {
			if c.SE() > 0 { // otherwise none has moved there
				worst = max(worst, math.Abs(c.Mean)/c.SE())
			}
		}
		return worst
	}
	z := worst(false)
	t.Logf("at most %.1f standard errors", z)
	require.Less(t, z, 4.5)
	require.Greater(t, worst(true), 10.)
}

// A component of a mixture that explains nothing goes from one end to the other, so that the least mean is often far below all data.
func TestRelocateEnds(t *testing.T) {
	d := density(t, func(m *graph.Model) {
		mu := m.SampleVector("mu", graph.Ordered(2, graph.Normal(0, 10)))
		share := m.SampleVector("share", graph.Dirichlet(0.3, 0.3))
		for _, y := range few {
			m.Observe("y", graph.Mixture(share, graph.Normal(mu[0], 1), graph.Normal(mu[1], 1)), y)
		}
	})
	r, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1})
	require.NoError(t, err)
	below := values(d, r, "mu_least")
	for k, x := range below {
		below[k] = 0
		if x < -3 {
			below[k] = 1
		}
	}
	e := r.Mean(below)
	t.Logf("%.4f ± %.4f", e.Value, e.SE)
	require.Less(t, e.SE, 0.02)
	exact := below3()
	require.InDelta(t, exact, e.Value, 4*e.SE)
}

var few = []float64{-0.8, -0.3, 0, 0.1, 0.4, 0.9, 1.1}

// below3 is the probability that the lesser mean of TestRelocateEnds is below −3, by sums over a grid.
func below3() float64 {
	const step, most, parts = 0.2, 40, 200
	var at, prior []float64
	var at3 int
	law := distuv.Normal{Sigma: 10}
	share := distuv.Beta{Alpha: 0.3, Beta: 0.3}
	of := make([][]float64, 0)
	for x := -most + 0.; x <= most; x += step {
		if math.Abs(x+3) < step/2 {
			at3 = len(at)
		}
		at, prior = append(at, x), append(prior, law.Prob(x))
		f := make([]float64, len(few))
		for k, y := range few {
			f[k] = distuv.UnitNormal.Prob(y - x)
		}
		of = append(of, f)
	}
	below, all := 0.0, 0.0
	for p := range parts {
		theta := share.Quantile((float64(p) + 0.5) / parts)
		for i := range at {
			for j := i; j < len(at); j++ {
				mass := prior[i] * prior[j]
				if i == j {
					mass /= 2
				}
				for k := range few {
					mass *= theta*of[i][k] + (1-theta)*of[j][k]
				}
				all += mass
				switch {
				case i < at3:
					below += mass
				case i == at3:
					below += mass / 2
				}
			}
		}
	}
	return below / all
}
