package draws

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// predicted is a program and draws of its latents, which need not be of its posterior. It observes on one side of a
// guard, and names expressions on both and on one.
func predicted(t *testing.T, n int, seed uint64) (*graph.Density, Draws) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	r := m.Sample("r", graph.LogNormal(0, 1))
	for i, v := range []float64{1, 2, 3} {
		m.Observe("y", graph.Normal(graph.Mul(float64(i+1), x), 0.5), v)
	}
	m.Deterministic("twice", graph.Mul(2, x))
	on := m.Name("on", graph.Greater(x, 0.5))
	m.If(on, func() {
		m.Observe("count", graph.Poisson(r), 4)
		m.Deterministic("side", graph.Add(r, 1))
	}, func() {
		m.Observe("count", graph.Poisson(graph.Mul(10, r)), 7)
		m.Deterministic("side", graph.Sub(r, 1))
	})
	d, q := vitest.Compile(t, m), family.Independent([]float64{0.6, 0.2}, []float64{0.7, 0.3})
	z, rng := make([][]float64, n), rand.New(parallel.Stream(seed, 1<<20))
	for k := range z {
		z[k] = make([]float64, q.Dim())
		q.Rand(z[k], rng)
	}
	return d, At(d, q, z)
}

// Every number by hand, from the draws' own latents and streams.
func TestPredictExact(t *testing.T) {
	const n = 150 // two blocks and a part of one
	d, latents := predicted(t, n, *seed)
	got, err := Predict(latents, *seed)
	require.NoError(t, err)
	require.Equal(t, []string{"y", "count"}, got.Observations)
	require.Equal(t, []string{"twice", "side"}, got.Deterministics)
	matrix := func(name string) *mat.Dense {
		m, err := got.Of(name)
		require.NoError(t, err)
		return m
	}
	y, count, twice, side := matrix("y"), matrix("count"), matrix("twice"), matrix("side")
	for name, want := range map[string]int{"y": 3, "count": 2, "twice": 1, "side": 2} {
		draws, elements := matrix(name).Dims()
		require.Equal(t, [2]int{n, want}, [2]int{draws, elements}, name)
	}
	off := 0
	for k := range n {
		if k%predictBlock != 0 {
			continue
		}
		rng := rand.New(parallel.Stream(*seed, k/predictBlock))
		for j := k; j < min(n, k+predictBlock); j++ {
			z := latents.z[j]
			data := d.Replicate(nil, z, rng)
			require.Equal(t, data[:3], y.RawRowView(j))
			requireSame(t, data[3:], count.RawRowView(j))
			require.Equal(t, d.Constrain(z), got.Latents.Values[j])
		}
	}
	for k, row := range got.Latents.Values {
		require.Equal(t, 2*row[0], twice.At(k, 0))
		taken, other, want := 0, 1, row[1]+1
		if row[0] <= 0.5 {
			taken, other, want = 1, 0, row[1]-1
			off++
		}
		require.Equal(t, want, side.At(k, taken))
		require.False(t, math.IsNaN(count.At(k, taken)))
		require.True(t, math.IsNaN(side.At(k, other)))
		require.True(t, math.IsNaN(count.At(k, other)))
	}
	require.Greater(t, off, 20, "inconclusive: one side is hardly taken")
	require.Less(t, off, 130, "inconclusive: one side is hardly taken")
	for _, name := range []string{"side", "count"} {
		unreached, err := got.Unreached(name)
		require.NoError(t, err)
		require.Equal(t, []int{off, n - off}, unreached)
	}
	unreached, err := got.Unreached("y")
	require.NoError(t, err)
	require.Equal(t, []int{0, 0, 0}, unreached)
	data, err := got.Data("count")
	require.NoError(t, err)
	require.Equal(t, []float64{4, 7}, data)
}

// requireSame is equality that holds for NaN too.
func requireSame(t *testing.T, want, got []float64) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, math.Float64bits(want[i]), math.Float64bits(got[i]), i)
	}
}

func TestPredictProcessors(t *testing.T) {
	_, latents := predicted(t, 1000, *seed)
	var want Predictive
	for i, procs := range []int{1, 2, 5} {
		old := runtime.GOMAXPROCS(procs)
		got, err := Predict(latents, *seed)
		runtime.GOMAXPROCS(old)
		require.NoError(t, err)
		if i == 0 {
			want = got
		}
		for name, m := range want.values {
			requireSame(t, m.RawMatrix().Data, got.values[name].RawMatrix().Data)
		}
		require.Equal(t, latents.Values, got.Latents.Values)
	}
	other, err := Predict(latents, *seed+1)
	require.NoError(t, err)
	require.NotEqual(t, want.values["y"], other.values["y"])
}

// New data has the spread of the posterior and of the observation together.
func TestPredictMoments(t *testing.T) {
	const n = 40000
	_, latents := predicted(t, n, *seed)
	got, err := Predict(latents, *seed)
	require.NoError(t, err)
	y, err := got.Of("y")
	require.NoError(t, err)
	mean, err := got.Mean("y")
	require.NoError(t, err)
	for i := range 3 {
		slope := float64(i + 1)
		latent := distuv.Normal{Mu: slope * 0.6, Sigma: slope * 0.7}
		predictive := distuv.Normal{Mu: latent.Mu, Sigma: math.Hypot(latent.Sigma, 0.5)}
		column := mat.Col(nil, i, y)
		sd := stat.StdDev(column, nil)
		seMean, seSD := predictive.Sigma/math.Sqrt(n), predictive.Sigma/math.Sqrt(2*n)
		require.Less(t, math.Abs(mean[i]-predictive.Mu), 5*seMean, "y[%d]", i)
		require.Less(t, math.Abs(sd-predictive.Sigma), 5*seSD, "y[%d]", i)
		require.Greater(t, predictive.Sigma-latent.Sigma, 5*seSD, "inconclusive: no draw of the data would pass")
		require.Greater(t, predictive.Sigma-0.5, 5*seSD, "inconclusive: no draw of the latents would pass")
		for _, prob := range []float64{0.05, 0.25, 0.75, 0.95} {
			q, err := got.Quantile("y", prob)
			require.NoError(t, err)
			se := math.Sqrt(prob*(1-prob)/n) / predictive.Prob(predictive.Quantile(prob))
			require.Less(t, math.Abs(q[i]-predictive.Quantile(prob)), 5*se, "y[%d] at %v", i, prob)
		}
	}
	// On one side only: given x > 0.5, the count is Poisson(r), of mean E[r].
	counts, err := got.Mean("count")
	require.NoError(t, err)
	rate := math.Exp(0.2 + 0.3*0.3/2)
	spread := rate*math.Expm1(0.3*0.3)*rate + rate // of a Poisson with log-normal rate
	unreached, err := got.Unreached("count")
	require.NoError(t, err)
	se := math.Sqrt(spread / float64(n-unreached[0]))
	require.Less(t, math.Abs(counts[0]-rate), 5*se)
	require.Less(t, 5*se, 0.1*rate, "inconclusive")
}

// Means and quantiles over what is there.
func TestPredictiveUnreached(t *testing.T) {
	nan := math.NaN()
	r := Predictive{values: map[string]*mat.Dense{"y": mat.NewDense(4, 3, []float64{
		3, nan, nan,
		1, 5, nan,
		2, nan, nan,
		6, 9, nan,
	})}}
	mean, err := r.Mean("y")
	require.NoError(t, err)
	require.Equal(t, []float64{3, 7}, mean[:2])
	require.True(t, math.IsNaN(mean[2]))
	median, err := r.Quantile("y", 0.5)
	require.NoError(t, err)
	require.Equal(t, []float64{2, 5}, median[:2])
	require.True(t, math.IsNaN(median[2]))
	unreached, err := r.Unreached("y")
	require.NoError(t, err)
	require.Equal(t, []int{0, 2, 4}, unreached)
	require.True(t, slices.Equal([]float64{3, 1, 2, 6}, mat.Col(nil, 0, r.values["y"])), "draws stay in order")
}

func TestPredictErrors(t *testing.T) {
	_, latents := predicted(t, 0, 1)
	_, err := Predict(latents, 1)
	require.ErrorContains(t, err, "predictive draws")
	_, latents = predicted(t, 1, 1)
	r, err := Predict(latents, 1)
	require.NoError(t, err)
	_, err = r.Of("x") // a latent
	require.ErrorContains(t, err, `"x"`)
	_, err = r.Data("twice")
	require.ErrorContains(t, err, `"twice"`)
	_, err = r.Mean("nobody")
	require.ErrorContains(t, err, `"nobody"`)
	_, err = r.Unreached("nobody")
	require.ErrorContains(t, err, `"nobody"`)
	for _, prob := range []float64{0, 1, math.NaN()} {
		_, err = r.Quantile("y", prob)
		require.Error(t, err)
	}

	m := graph.NewModel()
	m.Factor(m.Sample("x", graph.Normal(0, 1)))
	d := vitest.Compile(t, m)
	r, err = Predict(At(d, family.Independent(d.PriorStart()), [][]float64{{0}, {1}, {2}}), 1)
	require.NoError(t, err)
	require.Empty(t, r.Observations)
	require.Empty(t, r.Deterministics)
	require.Len(t, r.Latents.Values, 3)
	for _, err := range []error{second(r.Of("y")), second(r.Data("y")), second(r.Quantile("y", 0.5))} {
		require.ErrorContains(t, err, "the model has no Observe; a Factor adds to the log density")
	}
}

func second[T any](_ T, err error) error { return err }
