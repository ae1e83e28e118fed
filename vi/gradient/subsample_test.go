package gradient_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

const subsampledParts = 5

// subsampledModel has a threshold that all rows share, a latent and a guard on it in each row, and a factor.
func subsampledModel(t testing.TB) *graph.Density {
	const n = 12
	rng := rand.New(rand.NewPCG(2, 3))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = rng.NormFloat64(), 2*rng.NormFloat64()
	}
	m := graph.NewModel()
	tau, a, c := m.Sample("tau", graph.Normal(0, 1)), m.Sample("a", graph.Normal(0, 2)), m.Sample("c", graph.Normal(1, 2))
	m.Plate(n, func(p *graph.Plate) {
		e := p.Sample("e", graph.Normal(a, 1))
		high := graph.If(graph.Greater(graph.Add(e, a), 0.5), 2, e)
		p.Observe("y", graph.Normal(graph.Add(high, graph.If(graph.Greater(p.Data(x), tau), c, 0)), 1), y)
	})
	m.Factor(graph.If(graph.Greater(tau, 0.2), graph.Square(a), graph.Neg(c)))
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// somewhere is a member of f at a place that is neither the start nor the optimum.
func somewhere(t testing.TB, f family.Family, d *graph.Density) family.Q {
	q, err := f.New(d)
	require.NoError(t, err)
	theta := q.Theta()
	rng := rand.New(rand.NewPCG(8, 9))
	step := make([]float64, len(theta))
	for k := range step {
		step[k] = 0.2 * rng.NormFloat64()
	}
	q.Move(step)
	require.Negative(t, q.Fault())
	return q
}

// The estimates from the parts of the data, all of the same draws, have the mean that the estimate from all of the data
// is, guards included, for every family.
func TestPartsHaveTheMeanGradient(t *testing.T) {
	d := subsampledModel(t)
	parts, err := d.Parts(subsampledParts, 7)
	require.NoError(t, err)
	planes := 0
	for _, p := range parts {
		planes += p.Arrangement().Len()
	}
	assert.Less(t, planes, 2*d.Arrangement().Len())
	for name, f := range everyFamily(d.Dim()) {
		q := somewhere(t, f, d)
		estimate := func(d *graph.Density) []float64 {
			w, err := gradient.Boundary{}.Bind(d, q, 64)
			require.NoError(t, err, name)
			sums, g := make([]float64, w.Sampler().Sums()), make([]float64, len(q.Theta()))
			require.NoError(t, w.Add(sums, parallel.NewRand(3)))
			w.Sampler().Finish(g, sums, 64)
			return g
		}
		want, mean := estimate(d), make([]float64, len(q.Theta()))
		for _, p := range parts {
			for k, x := range estimate(p) {
				mean[k] += x / subsampledParts
			}
		}
		for k := range want {
			assert.InDelta(t, want[k], mean[k], 1e-10*(1+math.Abs(want[k])), "%s: %v", name, q.Param(k))
		}
	}
}

// Subsampled gradients are unbiased: their mean over many epochs is that of gradients of all of the data, within five
// standard errors in every component; without the boundary term it is not. An epoch has each part
// once.
func TestSubsampleIsUnbiased(t *testing.T) {
	d := subsampledModel(t)
	q := somewhere(t, family.MeanField{}, d)
	const samples, estimates = 16, 10_000
	stats := func(e gradient.Estimator) (mean, se []float64) {
		r, err := gradient.NewRunner(d, q, e, samples, *gradient.Seed)
		require.NoError(t, err)
		m := make([]mc.Moments, len(q.Theta()))
		epoch := make([]float64, len(m)) // the estimates of one epoch depend on each other
		for i := range estimates {
			g, err := r.Estimate(q)
			require.NoError(t, err)
			for k, x := range g {
				if epoch[k] += x / subsampledParts; i%subsampledParts == subsampledParts-1 {
					m[k].Add(epoch[k])
					epoch[k] = 0
				}
			}
		}
		for k := range m {
			e := m[k].Estimate()
			mean, se = append(mean, e.Value), append(se, e.SE)
		}
		return mean, se
	}
	subsample := func(of gradient.Estimator) gradient.Estimator {
		e, err := gradient.NewSubsample(d, of, subsampledParts, 1)
		require.NoError(t, err)
		return e
	}
	want, wantSE := stats(gradient.Boundary{})
	got, gotSE := stats(subsample(gradient.Boundary{}))
	wrong, wrongSE := stats(subsample(gradient.Reparam{}))
	largest := 0.0
	for k := range want {
		assert.LessOrEqual(t, math.Abs(got[k]-want[k]), 5*math.Hypot(gotSE[k], wantSE[k]), "%v", q.Param(k))
		largest = max(largest, math.Abs(wrong[k]-want[k])/math.Hypot(wrongSE[k], wantSE[k]))
	}
	assert.Greater(t, largest, 10.0)
}

// The parts of an epoch are all parts, in an order that differs between epochs, and a run that goes on
// after some estimates takes the same ones.
func TestSubsampleEpochs(t *testing.T) {
	d := subsampledModel(t)
	q := somewhere(t, family.MeanField{}, d)
	run := func(from, n int) (all [][]float64) {
		e, err := gradient.NewSubsample(d, gradient.Boundary{}, subsampledParts, 1)
		require.NoError(t, err)
		r, err := gradient.NewRunner(d, q, e, 1, 1)
		require.NoError(t, err)
		for i := from; i < n; i++ {
			r.Restart(1) // the same draws
			r.From(i)
			g, err := r.Estimate(q)
			require.NoError(t, err)
			all = append(all, append([]float64(nil), g...))
		}
		return all
	}
	all := run(0, 6*subsampledParts)
	distinct := func(list [][]float64) int {
		seen := map[float64]bool{}
		for _, g := range list {
			sum := 0.0
			for _, x := range g {
				sum += x
			}
			seen[sum] = true
		}
		return len(seen)
	}
	assert.Equal(t, subsampledParts, distinct(all))
	orders := map[string]bool{}
	for e := range 6 {
		epoch := all[e*subsampledParts:][:subsampledParts]
		assert.Equal(t, subsampledParts, distinct(epoch))
		order := ""
		for _, g := range epoch {
			for k := range subsampledParts {
				if g[0] == all[k][0] && g[1] == all[k][1] && g[4] == all[k][4] {
					order += string(rune('a' + k))
				}
			}
		}
		orders[order] = true
	}
	assert.Greater(t, len(orders), 1)
	assert.Equal(t, all[7:], run(7, len(all)))
}

func TestSubsampleErrors(t *testing.T) {
	d := subsampledModel(t)
	for _, n := range []int{0, 1000} {
		_, err := gradient.NewSubsample(d, gradient.Boundary{}, n, 1)
		assert.ErrorContains(t, err, "parts of 13 terms")
	}
	e, err := gradient.NewSubsample(d, gradient.Boundary{}, 2, 1)
	require.NoError(t, err)
	other := subsampledModel(t)
	_, err = e.Bind(other, somewhere(t, family.MeanField{}, other), 4)
	assert.ErrorContains(t, err, "another density")
}
