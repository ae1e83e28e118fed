package vi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// Mass of a thousandth, that rules the standard deviation: another mode of a latent, a rare value, and one in a cell that is rarer
// than what a search may leave out.
func TestRareMass(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	m := graph.NewModel()
	m.Sample("x", graph.Mixture([]float64{0.999, 0.001}, graph.Normal(0, 1), graph.Normal(100, 1)))
	far := mustCompile(t, m)
	const p = 0.001
	m = graph.NewModel()
	k := m.Sample("k", graph.Bernoulli(p))
	m.Sample("x", graph.Normal(graph.If(graph.Equal(k, 1), 100, 0), 1))
	rare := mustCompile(t, m)
	m = graph.NewModel()
	k, z := m.Sample("k", graph.Bernoulli(p)), m.Sample("z", graph.Normal(0, 1))
	m.Factor(graph.If(graph.And(graph.Equal(k, 1), graph.Greater(z, 0.9)), -1.5, 0)) // P(k = 1, z > 0.9) is about 4e-5
	parted := mustCompile(t, m)
	above := 0.5 * math.Erfc(0.9/math.Sqrt2)
	one := p * (1 - above + above*math.Exp(-1.5))
	one /= one + 1 - p

	deviation := func(p, at, off float64) float64 { return math.Sqrt(off + p*(1-p)*at*at) }
	for seed := uint64(1); seed <= 5; seed++ {
		for _, c := range []struct {
			d      *graph.Density
			latent string
			want   float64
		}{
			{far, "x", deviation(p, 100, 1)},
			{rare, "x", deviation(p, 100, 1)},
			{rare, "k", deviation(p, 1, 0)},
			{parted, "k", deviation(one, 1, 0)},
		} {
			f, err := Fit(context.Background(), c.d, Settings{Seed: seed})
			require.NoError(t, err)
			sd, err := f.SD(c.latent)
			require.NoError(t, err)
			require.InEpsilon(t, c.want, sd.Value, 0.02, "seed %d: %s is %v", seed, c.latent, sd)
			require.InDelta(t, c.want, sd.Value, 5*sd.SE+1e-9, "seed %d: %s is %v", seed, c.latent, sd)
			v, err := f.Verdict()
			require.NoError(t, err)
			require.Equal(t, TrustFit, v.Trust, v)
		}
	}
}

// A standard deviation that far tails rule, which no draw has seen, is not given, or right.
func TestUnseenTails(t *testing.T) {
	m := graph.NewModel()
	m.Sample("x", graph.StudentsT(0, 1, 3))
	d := mustCompile(t, m)
	given := 0
	for seed := uint64(1); seed <= 8; seed++ {
		f, err := Fit(context.Background(), d, Settings{Seed: seed})
		require.NoError(t, err)
		sd, err := f.SD("x")
		require.NoError(t, err)
		if !math.IsInf(sd.SE, 1) {
			given++
			require.InEpsilon(t, math.Sqrt(3), sd.Value, 0.05, "seed %d", seed)
		}
	}
	require.Positive(t, given)
}

// Of tails without moments a fit gives none, and no doubt for it: quantiles are right.
// A distribution without a variance has a mean, with its error.
func TestNoVariance(t *testing.T) {
	m := graph.NewModel()
	m.Sample("x", graph.StudentsT(2, 5, 2))
	f, err := Fit(context.Background(), mustCompile(t, m), Settings{Seed: 1})
	require.NoError(t, err)
	v, err := f.Verdict()
	require.NoError(t, err)
	require.Equal(t, TrustFit, v.Trust, v)
	sd, err := f.SD("x")
	require.NoError(t, err)
	require.True(t, math.IsInf(sd.SE, 1), sd)
	mean, err := f.Mean("x")
	require.NoError(t, err)
	t.Log(mean)
	require.Less(t, mean.SE, 0.2)
	require.InDelta(t, 2, mean.Value, 4*mean.SE)
	require.Regexp(t, `(?m)^x +[12]\.\d+ +0\.\d+ +– +-`, f.Summary().String())
}

func TestNoMoments(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	m := graph.NewModel()
	m.Sample("x", graph.Cauchy(2, 5))
	m.Sample("y", graph.Normal(1, 3))
	d := mustCompile(t, m)
	for _, seed := range []uint64{1, 3} {
		f, err := Fit(context.Background(), d, Settings{Seed: seed})
		require.NoError(t, err)
		v, err := f.Verdict()
		require.NoError(t, err)
		require.Equal(t, TrustFit, v.Trust, v)
		for _, of := range []func(string) (Estimate, error){f.Mean, f.SD} {
			none, err := of("x")
			require.NoError(t, err)
			require.True(t, math.IsInf(none.SE, 1), none)
			some, err := of("y")
			require.NoError(t, err)
			require.Less(t, some.SE, 0.05)
		}
		for _, at := range []float64{0.25, 0.5, 0.75} {
			q, err := f.Quantile("x", at)
			require.NoError(t, err)
			require.InDelta(t, 2+5*math.Tan(math.Pi*(at-0.5)), q.Value, 5*q.SE)
			require.Less(t, q.SE, 0.1)
		}
		require.Regexp(t, `(?m)^x +– +– +-`, f.Summary().String())
	}
}
