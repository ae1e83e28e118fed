package sumout

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mixture"
)

// threshold is a model of a threshold around an unknown mean, centred or not.
func threshold(t *testing.T, centred bool) *graph.Density {
	m := graph.NewModel()
	mean := m.Sample("mean", graph.Normal(0, 2))
	var at graph.Expr
	if centred {
		at = m.Sample("threshold", graph.Normal(mean, 1.5))
	} else {
		at = graph.Sub(mean, graph.Mul(1.5, m.Sample("eta", graph.Normal(0, 1))))
	}
	for i, y := range []float64{0.1, 1.2, 0.9} {
		m.Observe("y", graph.Normal(graph.If(graph.Less(at, float64(i)-1), 1, 0), 0.5), y)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// Given the rest, a Q has the switch where the posterior has it: log q differs
// from log r by what depends on the rest alone, whatever interval the switch is
// in, centred or not. Its density integrates to one.
func TestPosteriorOfTheSwitch(t *testing.T) {
	for name, d := range map[string]*graph.Density{"change": vitest.Change(t), "centred": threshold(t, true), "not centred": threshold(t, false)} {
		switches := d.Engine().Switches()
		require.Len(t, switches, 1, name)
		n := d.Dim()
		mean, sd := make([]float64, n), make([]float64, n)
		for i := range mean {
			mean[i], sd[i] = 0.4, 0.9
		}
		parents := make([][]int, n)
		rest := family.Sequential(parents)
		rest.Place(mean, sd)
		q := NewGiven(d, switches).Over(rest)
		rng := parallel.NewRand(3)
		i := switches[0].Latent
		for range 50 {
			z := make([]float64, n)
			q.Rand(z, rng)
			other := append([]float64(nil), z...)
			other[i] += 3 * (rng.Float64() - 0.5)
			r1, err := d.LogProb(z)
			require.NoError(t, err)
			r2, err := d.LogProb(other)
			require.NoError(t, err)
			require.InDelta(t, r1-r2, q.LogProb(z)-q.LogProb(other), 1e-9, name)
		}
		z := make([]float64, n)
		copy(z, mean)
		conditional := quad.Fixed(func(x float64) float64 { z[i] = x; return math.Exp(q.LogProb(z)) }, -15, 15, 20000, nil, 0)
		want := math.Pow(distuv.Normal{Mu: 0.4, Sigma: 0.9}.Prob(0.4), float64(n-1))
		require.InDelta(t, want, conditional, 2e-3*want, name)
		// the law of the switch is that of its draws
		law, above, draws := family.Marginal(q, i), 0.0, 20000
		for range draws {
			q.Rand(z, rng)
			if z[i] > 0.3 {
				above++
			}
		}
		require.InDelta(t, above/float64(draws), law.Above(0.3), 0.03, name)
	}
}

// A mixture of parts Q, which finds the switch once for each draw and many draws at a
// time, has the density of its parts one by one, of members that share nothing too.
func TestMixture(t *testing.T) {
	for name, d := range map[string]*graph.Density{"change": vitest.Change(t), "not centred": threshold(t, false)} {
		n := d.Dim()
		rest := family.Sequential(make([][]int, n))
		rest.Place(slices.Repeat([]float64{0.4}, n), slices.Repeat([]float64{0.9}, n))
		q := NewGiven(d, d.Engine().Switches()).Over(rest)
		wide := mixture.Widened(NewGiven(d, d.Engine().Switches()).Over(rest), 1.7)
		m := mixture.New([]float64{math.Log(0.3), math.Log(0.7)}, []family.Q{q, wide})
		const draws = 70 // more than a batch
		z, logs := make([]float64, n*draws), make([]float64, draws)
		drawer := m.Drawer(draws)
		drawer.Draw(z, parallel.NewRand(5))
		drawer.SubLogQ(logs)
		points := make([][]float64, draws)
		for k := range points {
			for i := range n {
				points[k] = append(points[k], z[i*draws+k])
			}
		}
		for k, got := range mixture.LogProbs(m, points) {
			a, b := q.LogProb(points[k]), wide.LogProb(points[k])
			want := floats.LogSumExp([]float64{math.Log(0.3) + a, math.Log(0.7) + b})
			require.InDelta(t, want, got, 1e-12*math.Abs(want), name)
			require.InDelta(t, want, m.LogProb(points[k]), 1e-12*math.Abs(want), name)
			require.InDelta(t, want, -logs[k], 1e-12*math.Abs(want), name)
			require.InDelta(t, b, mixture.LogProbsBeside(wide, points[k:k+1], q, []float64{a})[0], 1e-12*math.Abs(b), name)
		}
		for _, x := range []family.Drawer{drawer, q.Drawer(draws)} {
			x.Draw(z, parallel.NewRand(6))
			known := x.(family.Knower).LogR(d)
			require.Len(t, known, draws)
			require.Nil(t, x.(family.Knower).LogR(vitest.Change(t)), "another density")
			for k, got := range known {
				for i := range n {
					points[k][i] = z[i*draws+k]
				}
				want, err := d.LogProb(points[k])
				require.NoError(t, err)
				require.InDelta(t, want, got, 1e-10*max(1, math.Abs(want)), name)
			}
		}
		for i := range n { // a part has as much of the sample for laws as it has weight
			require.InDelta(t, 0.3*q.Mean(i)+0.7*wide.Mean(i), m.Mean(i), 0.3*m.SD(i), name)
		}
		part := m.Part(0).(*Q)
		require.Len(t, part.drawn()[0], 76*(len(part.Switches[0].Planes)+1), name)
	}
}

// A discrete latent is put strictly between its thresholds, the farther up the larger the uniform number is, and about where its prior has it there.
func TestWithin(t *testing.T) {
	m := graph.NewModel()
	mean := m.Sample("mean", graph.Normal(0, 2))
	k := m.Sample("k", graph.Categorical(0.2, 0.5, 0.3))
	m.Observe("y", graph.Normal(graph.Add(mean, graph.Switch(k, 1, 2, 4)), 0.5), 2)
	d, err := m.Compile()
	require.NoError(t, err)
	switches := d.Engine().Switches()
	require.Len(t, switches, 1)
	s, err := New(d, switches, 3)
	require.NoError(t, err)
	require.NotNil(t, s.inside[0])
	for j := range len(switches[0].Planes) + 1 {
		lo, hi := s.between(0, j, 2)
		last := math.Inf(-1)
		for _, u := range []float64{0, 1e-9, 0.03, 0.2, 0.5, 0.7, 0.99, 1 - 0x1p-53, 1} {
			x := s.within(0, j, 2, u)
			require.Greater(t, x, lo)
			require.Less(t, x, hi)
			require.GreaterOrEqual(t, x, last)
			last = x
			if u > 0.1 && u < 0.9 {
				exact := s.prior.Within(switches[0].Latent, 2, u, lo, hi)
				require.InDelta(t, exact, x, 0.01)
			}
		}
	}
}
