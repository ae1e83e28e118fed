package vi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// What would need more memory or time than there is, is refused before it takes
// any, with what it would need.
func TestTooMuch(t *testing.T) {
	d := small(t, "x", 1, 0, 2, 3)
	q := PriorStart(d)
	p := &Posterior{Density: d, Q: q}
	fit := func(s Settings) error {
		p, err := Fit(context.Background(), d, s)
		require.Nil(t, p)
		return err
	}
	discard := func(_ any, err error) error { return err }
	for _, c := range []struct {
		want string
		err  error
	}{
		{"vi: Climb.Samples: 1000000000000 samples would need 4 TB of memory, and the limit is 69 GB", fit(Settings{Method: Climb{Family: family.MeanField{}, Samples: 1e12}})},
		{"vi: Climb.Samples: 9223372036854775807 samples would need", fit(Settings{Method: Climb{Family: family.MeanField{}, Samples: math.MaxInt}})},
		{"vi: Climb.StartDraws = 10000000000000 would need", fit(Settings{Method: Climb{StartDraws: 1e13}})},
		{"vi: Climb.StartDraws = 9223372036854775807 would need", fit(Settings{Method: Climb{StartDraws: math.MaxInt}})},
		{"vi: Climb.Restarts = 1000000000000 would need", fit(Settings{Method: Climb{Restarts: 1e12}})},
		{"vi: Climb.Steps = 9223372036854775807: at most", fit(Settings{Method: Climb{Family: family.MeanField{}, Steps: math.MaxInt}})},
		{"boundary: 1000000000000000 guards a sample would take", fit(Settings{Method: Climb{Estimator: Boundary{Guards: 1e15}}})},
		{"check: 1000000000000000 samples would need", discard(check.NewMeter(d, q, 1e15, 1))},
		{"check: 1000000000000000 samples would need", discard(p.ELBO(1e15, 1))},
		{"check: 1000000000000000 samples would need", discard(p.RareSides(1e15, 1))},
		{"draws: 1000000000000000 draws would need", discard(p.Draws(1e15, 1))},
		{"check: 1000000000000000 draws would take months", discard(check.NewGradientMeter(d, q, nil, 1e15, 1))},
		{"check: 1000000000000000 draws would take months", discard(check.Gradient(d, q, nil, check.GradientSettings{Draws: 1e15}))},
		{"gradient: 9223372036854775807 samples would need", discard(check.Gradient(d, q, nil, check.GradientSettings{Samples: math.MaxInt}))},
		{"check: 9223372036854775807 draws would take months", discard(p.CheckBias(BiasSettings{Samples: math.MaxInt}))},
		{"check: 9223372036854775807 draws would take months", discard(p.SharesByGuard(math.MaxInt, 1))},
		{"draws: 1000000000000000 draws would need", discard(p.Predict(1e15, 1))},
		{"graph: a batch of 1000000000000000 samples would need", discard(d.Executor(1e15, graph.Compute{Out: true}))},
	} {
		require.ErrorContains(t, c.err, c.want)
	}
}

// A missing argument is an error where there is one to return, and else a panic
// that names the package.
func TestMissing(t *testing.T) {
	d := small(t, "x", 1, 0, 2, 3)
	q := PriorStart(d)
	discard := func(_ any, err error) error { return err }
	var none *graph.Density
	var zero Posterior
	var noContext context.Context
	ctx := context.Background()
	resumable := &Posterior{Density: d, Q: q}
	for _, c := range []struct {
		want string
		err  error
	}{
		{"vi: a nil context", discard(Fit(noContext, d, Settings{}))},
		{"vi: a nil context", discard(resumable.Resume(noContext))},
		{"vi: a nil density", discard(Fit(ctx, nil, Settings{}))},
		{"vi: Method is a nil *vi.Climb", discard(Fit(ctx, d, Settings{Method: (*Climb)(nil)}))},
		{"vi: Method is a nil *vi.Cells", discard(Fit(ctx, d, Settings{Method: (*Cells)(nil)}))},
		{"vi: Family is a nil *family.MeanField", discard(Fit(ctx, d, Settings{Method: Climb{Family: (*family.MeanField)(nil)}}))},
		{"vi: Start is a nil *family.Normal", discard(Fit(ctx, d, Settings{Method: Climb{Start: (*family.Normal)(nil)}}))},
		{"vi: Estimator is a nil *gradient.Boundary", discard(Fit(ctx, d, Settings{Method: Climb{Estimator: (*Boundary)(nil)}}))},
		{"vi: the expectation of a nil function", discard(resumable.Expect(nil))},
		{"vi: start: a nil density", discard(StartAt(nil, nil))},
		{"check: a nil density", discard(check.ELBO(none, q, 10, 1))},
		{"check: a nil density", discard(check.NewMeter(nil, q, 10, 1))},
		{"check: no member of a family", discard(check.ELBO(d, nil, 10, 1))},
		{"check: no member of a family", discard(check.NewGradientMeter(d, (*family.Normal)(nil), nil, 10, 1))},
		{"gradient: a nil density", discard(gradient.NewRunner(nil, q, Reparam{}, 1, 1))},
		{"gradient: no estimator", discard(gradient.NewRunner(d, q, nil, 1, 1))},
		{"vi: a Posterior without a density", discard(zero.Mean("x"))},
		{"vi: a Posterior without a density", discard(zero.SD("x"))},
		{"vi: a Posterior without a density", discard(zero.Quantile("x", 0.5))},
		{"vi: a Posterior without a density", discard(zero.Resume(ctx))},
		{"vi: a Posterior without a density", zero.Save(nil)},
		{"vi: a Posterior without a density", discard(zero.Draws(1, 1))},
		{"vi: a Posterior without a density", discard(zero.Sides())},
		{"draws: -1 draws", discard(resumable.Draws(-1, 1))},
		{"vi: Posterior.Q: no member", discard((&Posterior{Density: d}).Mean("x"))},
		{"vi: a nil Posterior", discard((*Posterior)(nil).Mean("x"))},
		{"check: a nil density", discard(zero.ELBO(10, 1))},
		{"check: a nil density", discard(zero.RareSides(10, 1))},
		{"vi: a Posterior without a density", discard(zero.Sample())},
		{"check: a nil density", discard(zero.CheckBias(BiasSettings{}))},
		{"check: a nil density", discard(zero.SharesByGuard(10, 1))},
		{"vi: a Posterior without a density", discard(zero.Predict(10, 1))},
		{"vi: a Posterior without a density", discard(zero.Prob(graph.Guard{}))},
		{"vi: a Posterior without a density", discard(zero.ProbNamed("on", 0))},
		{"vi: a Posterior without a density", discard(zero.ProbGiven(graph.Guard{}, graph.Guard{}))},
		{"vi: a Posterior without a density", discard(zero.TopRegions(1))},
		{"vi: a Posterior without a density", discard(zero.MostProbablePath(nil))},
		{"graph: 3 coordinates for 1 latents", discard(d.LogProb(make([]float64, 3)))},
		{"latent x: parameter s is -1", discard((&Posterior{Density: d, Q: family.Independent([]float64{0}, []float64{-1})}).ELBO(10, 1))},
	} {
		require.ErrorContains(t, c.err, c.want)
	}
	for want, f := range map[string]func(){
		"vi: a nil density":                                                 func() { PriorStart(nil) },
		"vi: a Posterior without a density":                                 func() { zero.Summary() },
		"family: a point of another number of latents":                      func() { q.LogProb(make([]float64, 2)) },
		"family: a nil source of random numbers":                            func() { q.Rand(make([]float64, 1), nil) },
		"family: means or standard deviations of another number of latents": func() { family.Independent(make([]float64, 2), make([]float64, 1)) },
		"family: parameters of another length":                              func() { family.Softplus{}.At(make([]float64, 3)) },
		"graph: a nil source of random numbers":                             func() { d.PriorDraw(nil, nil) },
	} {
		require.PanicsWithValue(t, want, f)
	}
}
