package vi

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mixture"
)

// A fit of 10000 steps ends at the best ELBO that is known, −292.4179, but for
// the noise of the last steps.
func TestFitTextmsg(t *testing.T) {
	spec, d := paperSpec(t, "textmsg")
	start := family.Softplus{}.At(spec.ThetaInit)
	p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Samples: 16, Steps: 10000, StepSize: 0.01, Start: start}})
	require.NoError(t, err)
	elbo := exactELBO(t, spec, d, p.Q)
	t.Logf("ELBO %v", elbo)
	require.Greater(t, elbo, -292.6)
	require.Less(t, elbo, -292.4178)
	e, err := p.ELBO(100000, *seed)
	require.NoError(t, err)
	require.Less(t, math.Abs(e.Value-elbo), 5*e.SE)
}

// The proposition's fit ends at the optimum of its closed form, and the biased
// one does not: it stays at the prior.
func TestFitProposition(t *testing.T) {
	spec, d := paperSpec(t, "proposition")
	theta, best, err := models.Optimum(spec.Oracle, spec.ThetaInit)
	require.NoError(t, err)
	end := func(e Estimator) *Posterior {
		start := family.Softplus{}.At(spec.ThetaInit)
		p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Estimator: e, Samples: 64, Steps: 4000, Start: start}})
		require.NoError(t, err)
		p, err = Fit(context.Background(), d, Settings{Seed: *seed + 1, Method: Climb{Estimator: e, Samples: 64, Steps: 4000, Start: p.Q, StepSize: 0.001}})
		require.NoError(t, err)
		return p
	}
	for _, e := range []Estimator{Boundary{}, gradient.SingleGuard()}[:long.Or(1, 2)] {
		p := end(e)
		require.InDeltaSlice(t, theta, p.Q.Theta(), 0.03, e.Name())
		require.InDelta(t, best, exactELBO(t, spec, d, p.Q), 1e-3, e.Name())
	}
	biased := end(Reparam{}).Q
	require.InDelta(t, 0, biased.Mean(0), 0.03)
	require.Less(t, exactELBO(t, spec, d, biased), best-1)
}

// Two halves of a fit, joined by Start and Optimizer, take the steps that the
// optimiser alone would take, in the family's units; in the first those of means
// are those of the start at least, over 1 + t/300.
func TestFitContinues(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	for _, f := range allFamilies {
		t.Run(f.Name(), func(t *testing.T) {
			var gradients [][]float64
			start := inFamily(t, f, d)
			s := Settings{Seed: 3, Method: Climb{Steps: 30, StepSize: 0.02, Start: start, Average: 1e-6, OnStep: func(s Step) error {
				gradients = append(gradients, slices.Clone(s.Gradient))
				return nil
			}}}
			first, err := Fit(context.Background(), d, s)
			require.NoError(t, err)
			require.Equal(t, 30, first.Steps)
			require.Equal(t, 30, first.Optimizer.T)
			s.Seed, s.climb().Start, s.climb().Optimizer = 4, first.Q, first.Optimizer
			s.climb().StepSize = 99
			_, err = Fit(context.Background(), d, s)
			require.ErrorContains(t, err, "Climb.StepSize = 99 and Climb.Optimizer, whose step size is 0.02")
			s.climb().StepSize = 0
			saved, q := first.Optimizer.Clone(), first.Q.Clone()
			second, err := Fit(context.Background(), d, s)
			require.NoError(t, err)
			require.Equal(t, 60, second.Optimizer.T)
			require.Equal(t, 0.02, second.Optimizer.StepSize)
			require.Equal(t, saved, first.Optimizer, "the caller's optimiser is not touched")
			require.Equal(t, q, first.Q)

			adam, theta := &Adam{StepSize: 0.02}, start.Clone()
			if f != (family.Softplus{}) {
				adam.Clip = 30
			}
			first0 := make([]float64, len(theta.Theta()))
			theta.Units(first0)
			for t, g := range gradients {
				least := make([]float64, len(g))
				for k, u := range first0 {
					if theta.Param(k).Symbol == "μ" && t < 30 {
						least[k] = u * (1 / (1 + float64(t)/300))
					}
				}
				ascend(adam, theta, g, least)
			}
			require.Equal(t, theta, second.Q)
			require.Equal(t, adam, second.Optimizer)
		})
	}
}

// ascend moves q along the gradient g, by steps in the units of its family, or in
// the least ones.
func ascend(adam *Adam, q family.Q, g, least []float64) {
	if q.Family() == (family.Softplus{}) { // the paper's steps, without units
		theta := slices.Clone(q.Theta())
		adam.Step(theta, g)
		q.Set(theta)
		return
	}
	units, step := make([]float64, len(g)), make([]float64, len(g))
	q.Units(units)
	for k, u := range units {
		g[k] *= max(u, least[k])
	}
	adam.Direction(step, g)
	for k, u := range units {
		step[k] *= max(u, least[k]) / u
	}
	q.Move(step)
}

// The settings of a climb are by default what their comments say, the start that Fit finds can be
// given to it, and shorter fits take the same steps.
func TestFitDefaults(t *testing.T) {
	_, d := paperSpec(t, "proposition")
	got, err := Fit(context.Background(), d, Settings{Method: Climb{Family: family.MeanField{}}})
	require.NoError(t, err)
	s := Settings{Method: Climb{Estimator: Boundary{}, Samples: 16, Steps: 10000, StepSize: 0.03, StartDraws: 1000, Restarts: 1, Average: 0.1, Tolerance: 0.02, TraceEvery: 100, CheckpointEvery: 1000, Family: family.MeanField{}, Stop: Automatic}}
	require.Equal(t, s, got.Settings)
	want, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	requireSameFit(t, want, got)
	s.climb().Start = got.Restarts[0].Start
	want, err = Fit(context.Background(), d, s)
	require.NoError(t, err)
	requireSameFit(t, want, got)
	short, err := Fit(context.Background(), d, Settings{Method: Climb{Family: family.MeanField{}, Steps: 5}})
	require.NoError(t, err)
	require.Equal(t, got.Restarts[0].Start, short.Restarts[0].Start)
}

// A climb without a family is of a mean field, or of the family of its start, and one of a program with parameters of a full-rank
// normal.
func TestFamilyByDefault(t *testing.T) {
	d := small(t, "x", 1, 0, 1, 1)
	for _, c := range []struct {
		want family.Family
		m    Climb
	}{
		{family.MeanField{}, Climb{}},
		{family.MeanField{}, Climb{Estimator: Reparam{}}},
		{family.FullRank{}, Climb{Start: inFamily(t, family.FullRank{}, d)}},
		{family.Structured{}, Climb{Family: family.Structured{}, Start: inFamily(t, family.FullRank{}, d)}},
	} {
		s := newJob(d, Settings{Method: c.m})
		require.Equal(t, c.want, s.climb.Family, "%+v", c.m)
		require.Equal(t, s.settings(), newJob(d, s.settings()).settings())
		require.Equal(t, newJob(d, Settings{Method: &c.m}).settings(), s.settings(), "a pointer is as good")
	}
	require.Equal(t, Cells{Tolerance: 0.0001}, newJob(d, Settings{}).settings().Method)
	withParams := mustCompile(t, learnedGroups(1))
	require.Equal(t, family.Family(family.FullRank{}), newJob(withParams, Settings{}).climb.Family)
	require.Equal(t, After, newJob(withParams, Settings{}).climb.Stop)
}

// The default fit of the paper's proposition and of its change point is the exact
// posterior, and known to be; one seed gives one fit.
func TestDefaultFit(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"proposition", "textmsg"} {
		spec, d := paperSpec(t, name)
		p, err := Fit(context.Background(), d, Settings{Seed: *seed})
		require.NoError(t, err)
		require.Equal(t, mixture.Cells{}, p.Q.Family())
		exact := spec.Exact()
		for i, latent := range d.Latents() {
			mean, err := p.Mean(latent)
			require.NoError(t, err)
			sd, err := p.SD(latent)
			require.NoError(t, err)
			t.Logf("%s: %s is %v, %v, exactly %.4f ± %.4f", name, latent, mean, sd, exact.Latents[i].Mean, exact.Latents[i].SD)
			vitest.Estimate(t, latent, exact.Latents[i].Mean, mean, 0.03*exact.Latents[i].SD)
			vitest.Estimate(t, latent, exact.Latents[i].SD, sd, 0.03*exact.Latents[i].SD)
		}
		e, err := p.LogEvidence()
		require.NoError(t, err)
		require.Less(t, e.SE, 0.01)
		require.InDelta(t, exact.LogEvidence, e.Value, 5*e.SE+1e-12) // all weights of the proposition are equal
		v, err := p.Verdict()
		require.NoError(t, err)
		t.Log(v)
		require.Equal(t, TrustFit, v.Trust)
		if name == "textmsg" && !long.On() {
			continue
		}
		same, err := Fit(context.Background(), d, p.Settings)
		require.NoError(t, err)
		require.Equal(t, p.Q.Theta(), same.Q.Theta())
		require.Equal(t, p.Cells(), same.Cells())
	}
}

// requireSameFit compares all of two fits, to the last bit, but times and the
// settings.
func requireSameFit(t testing.TB, want, got *Posterior) {
	t.Helper()
	strip := func(p *Posterior) Posterior {
		c := *p
		c.Density, c.Settings, c.findings = nil, Settings{}, nil
		c.Trace = timeless(c.Trace)
		c.states = slices.Clone(c.states)
		for r := range c.states {
			c.states[r].Trace, c.states[r].Elapsed = timeless(c.states[r].Trace), 0
		}
		return c
	}
	if w, g := strip(want), strip(got); !reflect.DeepEqual(w, g) {
		require.Equal(t, w.Q, g.Q)
		require.Equal(t, w.Trace, g.Trace)
		require.Equal(t, w.Restarts, g.Restarts)
		require.Equal(t, w.states, g.states)
		require.Equal(t, w, g)
	}
}

func timeless(trace []TracePoint) []TracePoint {
	var out []TracePoint
	for _, p := range trace {
		p.Elapsed = 0
		out = append(out, p)
	}
	return out
}

// What OnStep sees is the state after each step.
func TestFitOnStep(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	stop := errors.New("far enough")
	var last family.Q
	steps := 0
	p, err := Fit(context.Background(), d, Settings{Method: Climb{Family: family.MeanField{}, Steps: 100, OnStep: func(s Step) error {
		steps++
		require.Equal(t, steps, s.T)
		require.Len(t, s.Gradient, 2*d.Dim())
		last = s.Q.Clone()
		if s.T == 7 {
			return stop
		}
		return nil
	}}})
	require.ErrorIs(t, err, stop)
	require.ErrorContains(t, err, "step 7")
	require.Equal(t, 7, p.Steps)
	require.Equal(t, last, p.Q)
	want, err := Fit(context.Background(), d, Settings{Method: Climb{Family: family.MeanField{}, Steps: 7}})
	require.NoError(t, err)
	require.Equal(t, want.Q, p.Q)
	require.Equal(t, want.Optimizer, p.Optimizer)
}

func TestFitCancelled(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	cause := errors.New("enough of it")
	ctx, cancel := context.WithCancelCause(context.Background())
	p, err := Fit(ctx, d, Settings{Method: Climb{Family: family.MeanField{}, Steps: 100, OnStep: func(s Step) error {
		if s.T == 5 {
			cancel(cause)
		}
		return nil
	}}})
	require.ErrorIs(t, err, cause)
	require.Equal(t, 5, p.Steps)
	want, err := Fit(context.Background(), d, Settings{Method: Climb{Family: family.MeanField{}, Steps: 5}})
	require.NoError(t, err)
	require.Equal(t, want.Q, p.Q)

	p, err = Fit(ctx, d, Settings{Method: Climb{Family: family.MeanField{}, Steps: 100}})
	require.ErrorIs(t, err, cause)
	require.Zero(t, p.Steps)
	require.Equal(t, PriorStart(d), p.Q)

	ctx, stop := context.WithCancel(context.Background())
	stop()
	_, err = Fit(ctx, d, Settings{})
	require.ErrorIs(t, err, context.Canceled)
}

// A gradient that is not finite names the step, the latents, and the line of
// the program, and leaves the last good state.
func TestFitNotFinite(t *testing.T) {
	for name, f := range map[string]func(x graph.Expr) graph.Expr{
		"log":   func(x graph.Expr) graph.Expr { return graph.Log(x) },
		"log1p": func(x graph.Expr) graph.Expr { return graph.Log1p(graph.Sub(x, 1)) },
		"sqrt":  func(x graph.Expr) graph.Expr { return graph.Sqrt(x) },
		"pow":   func(x graph.Expr) graph.Expr { return graph.Pow(x, 1.5) },
		"behind a guard": func(x graph.Expr) graph.Expr {
			return graph.If(graph.Greater(x, 2), 0, graph.Log(x))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := graph.NewModel()
			x := m.Sample("x", graph.Normal(4, 1))
			m.Sample("bystander", graph.Normal(0, 1))
			m.Factor(graph.Mul(-0.5, f(x)))
			m.Factor(graph.Mul(-10, x)) // pulls x below 0
			d := mustCompile(t, m)
			start := family.Independent([]float64{4, 0}, []float64{0.1, 1})
			var last family.Q
			p, err := Fit(context.Background(), d, Settings{Method: Climb{Start: start, StepSize: 0.1, OnStep: func(s Step) error {
				last = s.Q.Clone()
				for _, g := range s.Gradient {
					require.True(t, finite(g))
				}
				return nil
			}}})
			require.ErrorIs(t, err, ErrNotFinite)
			require.NotContains(t, err.Error(), "bystander")
			require.Regexp(t, `^vi: step \d+: the gradient is not finite for x: the factor \(fit_test\.go:\d+\) is NaN`, err.Error())
			require.Equal(t, last, p.Q)
			require.Greater(t, p.Steps, 5)
			require.Equal(t, p.Steps, p.Optimizer.T)
			for _, x := range append(p.Q.Theta(), p.Optimizer.M...) {
				require.True(t, finite(x))
			}
		})
	}
}

// A fit that diverges says so in every family, and leaves what there is: scales
// that have become 0 or infinite have no ELBO.
func TestFitDiverges(t *testing.T) {
	long.Skip(t)
	_, d := paperSpec(t, "textmsg")
	for _, f := range allFamilies {
		for _, step := range []float64{1e3, 1e5, 1e300} {
			p, err := Fit(context.Background(), d, Settings{Method: Climb{Start: inFamily(t, f, d), StepSize: step, Steps: 1000, TraceEvery: 1, Average: 1e-9}})
			require.ErrorIs(t, err, ErrNotFinite, "%s, steps of %v", f.Name(), step)
			require.Less(t, p.Steps, 1000)
			require.Len(t, p.Trace, p.Steps)
			if p.Q.Fault() >= 0 {
				require.True(t, math.IsNaN(p.Restarts[0].ELBO.Value))
			}
			_, err = Fit(context.Background(), d, Settings{Method: Climb{Family: f, StepSize: step, Steps: 1000, StartDraws: 10}})
			require.ErrorIs(t, err, ErrNotFinite, "%s, steps of %v from the default start", f.Name(), step)
		}
	}
}

func TestSettingsErrors(t *testing.T) {
	_, d := paperSpec(t, "proposition")
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		want string // in the error
		s    Settings
	}{
		{"Climb.Samples = -1", Settings{Method: Climb{Samples: -1}}},
		{"Climb.Steps = -1", Settings{Method: Climb{Steps: -1}}},
		{"Climb.StartDraws = -1", Settings{Method: Climb{StartDraws: -1}}},
		{"Climb.Restarts = -1", Settings{Method: Climb{Restarts: -1}}},
		{"Climb.TraceEvery = -1", Settings{Method: Climb{TraceEvery: -1}}},
		{"Climb.CheckpointEvery = -1", Settings{Method: Climb{CheckpointEvery: -1}}},
		{"Climb.StepSize = -0.1", Settings{Method: Climb{StepSize: -0.1}}},
		{"Climb.StepSize = NaN", Settings{Method: Climb{StepSize: nan}}},
		{"Climb.StepSize = +Inf", Settings{Method: Climb{StepSize: inf}}},
		{"Climb.Average = NaN", Settings{Method: Climb{Average: nan}}},
		{"Climb.Average = -0.1", Settings{Method: Climb{Average: -0.1}}},
		{"Climb.Average = 1.1", Settings{Method: Climb{Average: 1.1}}},
		{"Cells.Tolerance = NaN", Settings{Method: Cells{Tolerance: nan}}},
		{"Cells.Tolerance = -1", Settings{Method: Cells{Tolerance: -1}}},
		{"Settings.Budget = -1s", Settings{Budget: -time.Second}},
		{`Climb.Stop = "never"`, Settings{Method: Climb{Stop: "never"}}},
		{"Climb.Schedule.Shape", Settings{Method: Climb{Stop: Automatic, Schedule: Schedule{Shape: Cosine}}}},
		{`Climb.Schedule.Shape = "square"`, Settings{Method: Climb{Schedule: Schedule{Shape: "square"}}}},
		{"Climb.Schedule.Power = -1", Settings{Method: Climb{Schedule: Schedule{Shape: Polynomial, Power: -1}}}},
		{"Climb.Schedule.Power = NaN", Settings{Method: Climb{Schedule: Schedule{Shape: Polynomial, Power: nan}}}},
		{"Climb.Schedule.End = 2", Settings{Method: Climb{Schedule: Schedule{Shape: Cosine, End: 2}}}},
		{"Climb.Schedule.End = NaN", Settings{Method: Climb{Schedule: Schedule{Shape: Cosine, End: nan}}}},
		{"Climb.Schedule.Power is of Climb.Schedule.Shape", Settings{Method: Climb{Schedule: Schedule{Shape: Cosine, Power: 2}}}},
		{"Climb.Schedule.End is of a Climb.Schedule with a Shape", Settings{Method: Climb{Schedule: Schedule{End: 0.1}}}},
		{`Climb.Tolerance is of Climb.Stop = "automatic"`, Settings{Method: Climb{Steps: 100, Tolerance: 0.1}}},
		{"Climb.StartDraws is of a fit without Climb.Start", Settings{Method: Climb{Start: PriorStart(d), StartDraws: 10}}},
		{"Climb.CheckpointEvery is of a fit with Settings.Checkpoint", Settings{Method: Climb{CheckpointEvery: 10}}},
		{"Boundary.By is of Boundary.Guards", Settings{Method: Climb{Estimator: Boundary{By: boundary.ByWeight}}}},
		{"vi: Climb.Start: a family of 2 latents for 1", Settings{Method: Climb{Start: family.Independent(make([]float64, 2), []float64{1, 1})}}},
		{"latent z: parameter μ is NaN", Settings{Method: Climb{Start: family.Independent([]float64{nan}, []float64{1})}}},
		{"latent z: parameter s is 0", Settings{Method: Climb{Start: family.Independent([]float64{0}, []float64{0})}}},
		{"latent z: parameter s is -1", Settings{Method: Climb{Start: family.Independent([]float64{0}, []float64{-1})}}},
		{"latent z: parameter s is +Inf", Settings{Method: Climb{Start: family.Independent([]float64{0}, []float64{inf})}}},
		{"latent z: parameter ρ is -Inf", Settings{Method: Climb{Start: family.Softplus{}.At([]float64{0, -inf})}}},
		{"vi: Climb.Family: low rank: LowRank.Rank = 0", Settings{Method: Climb{Family: family.LowRank{}}}},
		{"vi: Climb.Family: low rank: LowRank.Rank = 2 for 1 latents", Settings{Method: Climb{Family: family.LowRank{Rank: 2}}}},
		{"-1 guards", Settings{Method: Climb{Estimator: Boundary{Guards: -1}}}},
		{"unknown subsampling 7", Settings{Method: Climb{Estimator: Boundary{By: 7}}}},
		{"Climb.Optimizer is of another fit", Settings{Method: Climb{Optimizer: &Adam{T: 3, M: make([]float64, 9), V: make([]float64, 9)}}}},
		{"Climb.Optimizer is of another fit", Settings{Method: Climb{Optimizer: &Adam{T: 3, V: make([]float64, 2)}}}},
		{"Climb.Optimizer.T = -1", Settings{Method: Climb{Optimizer: &Adam{T: -1}}}},
		{"Climb.Optimizer.StepSize = NaN", Settings{Method: Climb{Optimizer: &Adam{StepSize: nan}}}},
		{"Climb.Optimizer.StepSize = -1", Settings{Method: Climb{Optimizer: &Adam{StepSize: -1}}}},
		{"Climb.Optimizer.Beta1 = 1", Settings{Method: Climb{Optimizer: &Adam{Beta1: 1}}}},
		{"Climb.Optimizer.Beta2 = NaN", Settings{Method: Climb{Optimizer: &Adam{Beta2: nan}}}},
		{"Climb.Optimizer.Epsilon = -1", Settings{Method: Climb{Optimizer: &Adam{Epsilon: -1}}}},
		{"running means NaN and 1 of parameter 1", Settings{Method: Climb{Optimizer: &Adam{M: []float64{0, nan}, V: []float64{1, 1}}}}},
		{"running means 0 and -1 of parameter 0", Settings{Method: Climb{Optimizer: &Adam{M: []float64{0, 0}, V: []float64{-1, 1}}}}},
	} {
		p, err := Fit(context.Background(), d, c.s)
		require.ErrorContains(t, err, c.want)
		require.Regexp(t, "^(vi|boundary): ", err.Error())
		require.Nil(t, p, c.want)
	}
}

// A start of another program is taken for what it is: a Structured member with other parents is converted,
// and one with masses of other values is an error.
func TestStartOfAnotherProgram(t *testing.T) {
	pair := func(slope float64) *graph.Density {
		m := graph.NewModel()
		x := m.Sample("x", graph.Normal(0, 1))
		m.Sample("y", graph.Normal(graph.Mul(slope, x), 1))
		return mustCompile(t, m)
	}
	apart, linked := pair(0), pair(0.9)
	start, err := family.Structured{}.New(apart)
	require.NoError(t, err)
	require.Len(t, start.Theta(), 4)
	p, err := Fit(context.Background(), linked, Settings{Method: Climb{Start: start, Steps: 500}})
	require.NoError(t, err)
	require.Len(t, p.Q.Theta(), 5)
	require.InDelta(t, 0.9, p.Q.Theta()[4], 0.05)

	count := func(n float64) *graph.Density {
		m := graph.NewModel()
		k := m.Sample("k", graph.Binomial(n, 0.4))
		x := m.Sample("x", graph.Normal(0, 1))
		m.Observe("y", graph.Normal(graph.Add(k, x), 1), 1.3)
		return mustCompile(t, m)
	}
	m := graph.NewModel()
	m.Sample("k", graph.Normal(0, 1))
	m.Sample("x", graph.Normal(0, 1))
	for _, f := range massesFamilies {
		start, err := f.New(count(1))
		require.NoError(t, err)
		for _, d := range []*graph.Density{count(3), mustCompile(t, m)} {
			_, err = Fit(context.Background(), d, Settings{Method: Climb{Start: start, Steps: 10}})
			require.ErrorContains(t, err, "vi: Climb.Start: latent k: a member for other values, of another program", f.Name())
		}
	}
}

// oddContext is done without a cause, as contexts of other packages may be.
type oddContext struct{ context.Context }

func (oddContext) Err() error { return context.Canceled }

// Errors name what there is to name, and nothing else.
func TestErrorsAreWhole(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(-100, 1))
	m.Factor(graph.Log(x))
	d := mustCompile(t, m)
	_, err := Fit(context.Background(), d, Settings{Method: Climb{Start: PriorStart(d)}})
	require.ErrorIs(t, err, ErrNotFinite)
	require.Regexp(t, `the factor \(fit_test\.go:\d+\) is NaN at x = -?[0-9.e+]+$`, err.Error())

	background, stop := context.WithCancel(context.Background())
	defer stop()
	_, d = paperSpec(t, "proposition")
	_, err = Fit(oddContext{background}, d, Settings{})
	require.ErrorIs(t, err, context.Canceled)
	require.NotContains(t, err.Error(), "%!")
}
