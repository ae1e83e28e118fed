package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/residuals"
)

// everyPrior has each law as a prior, with numbers, and with parameters and
// branches that depend on earlier latents.
func everyPrior() *graph.Model {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0.3, 2))
	on := graph.Greater(x, 0.5)
	s := graph.Exp(graph.Mul(0.2, x))
	k := graph.If(on, graph.Add(2, s), 1.5)
	other := graph.And(on, graph.Not(graph.Greater(x, 1)))
	for i, prior := range []graph.Dist{
		graph.Normal(graph.If(other, x, -1), s), graph.LogNormal(x, graph.If(on, s, 0.1)),
		graph.Logistic(x, s), graph.Logistic(1, 2), graph.Laplace(x, s), graph.Laplace(1, 2),
		graph.StudentsT(x, s, 3), graph.StudentsT(1, 2, k), graph.HalfNormal(s), graph.HalfNormal(2),
		graph.Exponential(s), graph.Exponential(2), graph.Gamma(3, s), graph.Gamma(k, 2), graph.Gamma(40, 2),
		graph.ChiSquared(3), graph.ChiSquared(k), graph.Beta(2, 0.7), graph.Beta(k, s), graph.Uniform(-1, 3),
		graph.Truncated(graph.Normal(x, s), 0.5, inf), graph.Truncated(graph.Gamma(k, s), 0.1, 2), graph.Truncated(graph.Laplace(1, 2), -inf, 3),
		graph.Mixture([]graph.Expr{s, k}, graph.Normal(x, 1), graph.Normal(1, s)),
	} {
		y := m.Sample(fmt.Sprint("y", i), prior)
		m.Observe("data", graph.Normal(graph.If(graph.Greater(y, 0.6), y, graph.Log1p(graph.Square(y))), 1), 0.4)
	}
	m.Factor(graph.Sin(x))
	return m
}

// residualModels are the models of the tests.
func residualModels(t *testing.T) map[string]*graph.Density {
	list := map[string]*graph.Density{"every prior": mustCompile(t, everyPrior())}
	for _, spec := range models.All() {
		list[spec.Name] = mustCompile(t, spec.Model())
	}
	return list
}

// log r is the log likelihood and the log prior of residuals, less the log scales;
// the way there and back ends where it began; and signs are those of the points.
func TestResiduals(t *testing.T) {
	for name, d := range residualModels(t) {
		const n = 21
		r, err := d.Residuals(n)
		require.NoError(t, err)
		r.Draw(rand.New(rand.NewPCG(1, 2)))
		p, err := d.Engine().Likelihood()
		require.NoError(t, err)
		x, err := d.Engine().Executor(p, n, graph.Compute{Out: true})
		require.NoError(t, err)
		copy(x.Z, r.Z)
		copy(x.Signs, r.Signs)
		require.NoError(t, x.Run())
		scale := make([]float64, n)
		r.LogScale(scale)
		z := make([]float64, d.Dim())
		for k := range n {
			for i := range z {
				z[i] = r.Z[i*n+k]
			}
			want, err := d.LogProb(z)
			require.NoError(t, err)
			got := x.Out[k] + r.LogPrior[k] - scale[k]
			require.InDelta(t, want, got, 1e-10*(1+math.Abs(want)), "%s", name)
			for l, s := range d.Arrangement().Signs(z).Floats(nil) {
				require.Equal(t, s, r.Signs[l*n+k], "%s, sign %d", name, l)
			}
		}
		points := append([]float64(nil), r.Z...)
		residuals, logPrior := append([]float64(nil), r.E...), append([]float64(nil), r.LogPrior...)
		clear(r.E)
		r.Invert()
		require.InDeltaSlice(t, residuals, r.E, 1e-9, "%s", name)
		require.InDeltaSlice(t, logPrior, r.LogPrior, 1e-8, "%s", name)
		copy(r.E, residuals)
		clear(r.Z)
		r.Follow()
		require.Equal(t, points, r.Z, "%s", name)
		require.Equal(t, logPrior, r.LogPrior, "%s", name)
	}
}

// followed are the priors of eight latents, which may depend on a normal one.
var followed = map[string]func(x graph.Expr) graph.Dist{
	"Normal":         func(x graph.Expr) graph.Dist { return graph.Normal(x, 2) },
	"Gamma":          func(x graph.Expr) graph.Dist { return graph.Gamma(graph.Exp(x), 2) },
	"half-line":      func(graph.Expr) graph.Dist { return graph.Truncated(graph.Normal(1, 2), 0, inf) },
	"interval":       func(graph.Expr) graph.Dist { return graph.Truncated(graph.StudentsT(1, 2, 3), -1, 7) },
	"half-line by x": func(x graph.Expr) graph.Dist { return graph.Truncated(graph.Normal(x, 2), 0, inf) },
	"interval by x":  func(x graph.Expr) graph.Dist { return graph.Truncated(graph.Gamma(graph.Exp(x), 2), 0, 1) },
	"mixture by x": func(x graph.Expr) graph.Dist {
		return graph.Mixture([]float64{1, 2}, graph.Normal(x, 1), graph.Normal(3, 1))
	},
}

func followedResiduals(t testing.TB, prior func(x graph.Expr) graph.Dist) *residuals.Batch {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 0.5))
	for i := range 8 {
		m.Sample(fmt.Sprint("y", i), prior(x))
	}
	d, err := m.Compile()
	require.NoError(t, err)
	r, err := d.Residuals(64)
	require.NoError(t, err)
	r.Draw(rand.New(rand.NewPCG(1, 2)))
	return r
}

// Places and scales are those of a batch that follows, whatever later priors take of earlier latents.
func TestPlace(t *testing.T) {
	list := residualModels(t)
	for name, prior := range followed {
		m := graph.NewModel()
		x := m.Sample("mean", graph.Normal(0, 0.5))
		for i := range 3 {
			x = m.Sample(fmt.Sprint("y", i), prior(graph.Sin(x)))
		}
		list[name] = mustCompile(t, m)
	}
	for name, d := range list {
		const n = 16
		r, err := d.Residuals(n)
		require.NoError(t, err)
		place, err := d.Residuals(n)
		require.NoError(t, err)
		r.Draw(rand.New(rand.NewPCG(1, 5)))
		copy(place.E, r.E)
		r.Follow()
		want, got := make([]float64, n), make([]float64, n)
		r.LogScale(want)
		place.Place(got)
		require.Equal(t, r.Z, place.Z, name)
		require.Equal(t, want, got, name)
		require.Zero(t, testing.AllocsPerRun(3, func() { place.Place(got) }), name)
	}
}

// Following residuals takes a formula in each row, and no quantile by search, which would make
// expressions of numbers.
func TestFollowAllocatesNothing(t *testing.T) {
	for name, prior := range followed {
		r := followedResiduals(t, prior)
		require.Zero(t, testing.AllocsPerRun(3, r.Follow), name)
	}
}

func BenchmarkFollow(b *testing.B) {
	for name, prior := range followed {
		r := followedResiduals(b, prior)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r.Follow()
			}
		})
	}
}
