package vi

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// results are all that vi computes with n samples.
type results struct {
	gradients []check.GradientStats
	elbo      Estimate
	q         [][]float64
	moments   [][]float64
}

func compute(t *testing.T, d *graph.Density, q family.Q, n int, seed uint64) results {
	t.Helper()
	var r results
	for _, e := range []Estimator{Boundary{}, Boundary{Guards: 2, By: boundary.ByWeight}, Reparam{}, Score{}} {
		s, err := check.Gradient(d, q, e, check.GradientSettings{Draws: 20, Samples: n, Seed: seed})
		require.NoError(t, err)
		s.PerDraw = 0 // which may differ from run to run
		r.gradients = append(r.gradients, s)
		p, err := Fit(context.Background(), d, Settings{Seed: seed, Method: Climb{Estimator: e, Samples: n, Steps: 5, Start: q}})
		require.NoError(t, err)
		r.q, r.moments = append(r.q, p.Q.Theta()), append(r.moments, p.Optimizer.M, p.Optimizer.V)
	}
	var err error
	r.elbo, err = check.ELBO(d, q, max(n, 2), seed)
	require.NoError(t, err)
	return r
}

// One seed gives one result, to the last bit, on any number of processors.
func TestProcessorsChangeNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	model, mean, sd := vitest.NewDense(vitest.DenseCases[1])
	dense := mustCompile(t, model.Model())
	spec, textmsg := paperSpec(t, "textmsg")
	of := func(f family.Family) family.Q {
		q, err := family.Of(f, dense, family.Independent(mean, sd))
		require.NoError(t, err)
		return q
	}
	for _, c := range []struct {
		name string
		d    *graph.Density
		q    family.Q
	}{
		{"dense", dense, of(family.Softplus{})}, {"textmsg", textmsg, family.Softplus{}.At(spec.ThetaInit)},
		{"full rank", dense, of(family.FullRank{})}, {"low rank", dense, of(family.LowRank{Rank: 2})},
	}[:long.Or(2, 4)] {
		for _, n := range []int{1, 33, 100, 1000} {
			if !long.On() && n == 1000 {
				continue // the same goroutines as 100, more often
			}
			t.Run(fmt.Sprintf("%s %d", c.name, n), func(t *testing.T) {
				runtime.GOMAXPROCS(1)
				want := compute(t, c.d, c.q, n, 7)
				for _, procs := range long.Or([]int{3}, []int{2, 4}) {
					runtime.GOMAXPROCS(procs)
					require.Equal(t, want, compute(t, c.d, c.q, n, 7), "%d processors", procs)
				}
				other := compute(t, c.d, c.q, n, 8)
				require.NotEqual(t, want.elbo, other.elbo)
				for i := range want.q {
					require.NotEqual(t, want.gradients[i], other.gradients[i])
					require.NotEqual(t, want.q[i], other.q[i])
				}
			})
		}
	}
}

// After the first steps a fit allocates nothing.
func TestStepDoesNotAllocate(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, name := range []string{"proposition", "textmsg", "temperature", "influenza"} {
		spec, d := paperSpec(t, name)
		start := family.Softplus{}.At(spec.ThetaInit)
		for _, n := range []int{1, 16, 33} {
			for _, e := range []Estimator{Boundary{}, gradient.SingleGuard(), Reparam{}, Score{}} {
				const window, windows = 20, 5
				var before, after runtime.MemStats
				least := ^uint64(0) // of the windows: the runtime itself may allocate in one
				s := Settings{Seed: 1, Method: Climb{Estimator: e, Samples: n, Steps: window * (windows + 1), Start: start}}
				s.climb().OnStep = func(step Step) error {
					if step.T%window != 0 {
						return nil
					}
					runtime.ReadMemStats(&after)
					if step.T > window {
						least = min(least, after.Mallocs-before.Mallocs)
					}
					before = after
					return nil
				}
				_, err := Fit(context.Background(), d, s)
				require.NoError(t, err)
				require.Zero(t, least, "%s, %s, %d samples", name, e.Name(), n)
			}
		}
	}
}

// A fit goes on unchanged if the number of processors changes under way.
func TestProcessorsChangeMidway(t *testing.T) {
	long.Skip(t)
	_, d := paperSpec(t, "textmsg")
	fit := func(procs int) *Posterior {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
		p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, Steps: 6, Samples: 1000, OnStep: func(s Step) error {
			if s.T == 3 {
				runtime.GOMAXPROCS(procs)
			}
			return nil
		}}})
		require.NoError(t, err)
		return p
	}
	require.Equal(t, fit(1).Q.Theta(), fit(4).Q.Theta())
}

// Fits of one density side by side give, to the last bit, what each gives alone.
func TestProcessorsShareNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	spec, d := paperSpec(t, "textmsg")
	start := family.Softplus{}.At(spec.ThetaInit)
	fit := func(i int) ([]float64, error) {
		p, err := Fit(context.Background(), d, Settings{Seed: uint64(i), Method: Climb{Samples: []int{1, 16, 300}[i%3], Steps: 30, Start: start}})
		if err != nil {
			return nil, err
		}
		return p.Q.Theta(), nil
	}
	const fits = 9
	var got [fits][]float64
	var errs [fits]error
	var wg sync.WaitGroup
	for i := range fits {
		wg.Go(func() { got[i], errs[i] = fit(i) })
	}
	wg.Wait()
	for i := range fits {
		require.NoError(t, errs[i])
		want, err := fit(i)
		require.NoError(t, err)
		require.Equal(t, want, got[i], "fit %d", i)
	}
}
