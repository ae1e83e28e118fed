package vi

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mixture"
)

// requireOnlyVerdict wants a fit whose one warning is its verdict.
func requireOnlyVerdict(t testing.TB, p *Posterior, want Trust) {
	t.Helper()
	v, err := p.Verdict()
	require.NoError(t, err)
	require.Equal(t, want, v.Trust, "%v", v)
	require.Equal(t, []string{v.String()}, p.Warnings)
	require.Contains(t, p.Summary().Warnings, v.String())
}

// A long fit of one family has its verdict from its end, keeps it in its file and its
// checkpoint, and finds it again when it is resumed. It is the one that a short fit gets when it is asked.
func TestFitIsJudged(t *testing.T) {
	d := twoCells(t)
	path := t.TempDir() + "/fit.json"
	var progress bytes.Buffer
	s := Settings{Seed: *seed, Checkpoint: path, Progress: &progress, Method: Climb{Family: family.MeanField{}, Start: PriorStart(d), Steps: judgedFrom / 16}}
	p, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	require.Equal(t, TrustNothing, p.findings.Verdict.Trust)
	requireOnlyVerdict(t, p, TrustNothing)
	require.Contains(t, progress.String(), "step 5000 of 5000")
	requireSameVerdict(t, p, &Posterior{Density: d, Q: p.Q, Settings: p.Settings})

	loaded := reloaded(t, p, d)
	require.Equal(t, p.findings.Verdict, loaded.findings.Verdict)
	require.Equal(t, p.findings.LogEvidence, loaded.findings.LogEvidence)
	requireOnlyVerdict(t, loaded, TrustNothing)
	kept := loadFile(t, path, d)
	require.Equal(t, p.findings.Verdict, kept.findings.Verdict)
	require.Equal(t, p.Cells(), kept.Cells())
	again, err := loaded.Resume(context.Background())
	require.NoError(t, err)
	requireOnlyVerdict(t, again, TrustNothing)
	require.Equal(t, p.findings.Verdict, again.findings.Verdict)

	s.Checkpoint, s.Progress = "", nil
	for name, change := range map[string]func(*Settings){
		"short":     func(s *Settings) { s.climb().Steps-- },
		"watched":   func(s *Settings) { s.climb().OnStep = func(Step) error { return nil } },
		"continued": func(s *Settings) { s.climb().Optimizer = &Adam{} },
		"late":      func(s *Settings) { s.Budget = time.Millisecond },
	} {
		s := s
		change(&s)
		p, err := Fit(context.Background(), d, s)
		require.NoError(t, err)
		require.Empty(t, p.findings.Verdict, name)
		require.NotContains(t, p.Warnings, "trust", name)
	}
}

func requireSameVerdict(t testing.TB, want, got *Posterior) {
	t.Helper()
	v, err := want.Verdict()
	require.NoError(t, err)
	w, err := got.Verdict()
	require.NoError(t, err)
	require.Equal(t, v, w)
}

// A context that is done while a fit is judged leaves the whole fit beside its error.
func TestJudgingIsStopped(t *testing.T) {
	d := twoCells(t)
	s := Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, Start: PriorStart(d), Steps: judgedFrom / 16}}
	want, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	s.Progress = logWriter(func(line string) {
		if line == "judging the fit\n" {
			cancel()
		}
	})
	m := newMonitor(newJob(d, s))
	m.Every = 0
	cut := *want
	cut.findings = &findings{q: want.Q}
	require.ErrorContains(t, cut.conclude(ctx, m), "stopped while judging the fit: context canceled")
	require.Empty(t, cut.findings.Verdict)
	got, err := cut.Resume(context.Background())
	require.NoError(t, err)
	requireSameVerdict(t, want, got)
}

// Where vague priors keep the scout from arriving, a fit of cells, which has climbed from its
// draws, says so; one of a single family cannot be trusted.
func TestScoutThatDoesNotArrive(t *testing.T) {
	long.Skip(t)
	m := graph.NewModel()
	tau := m.Sample("tau", graph.Gamma(0.001, 0.001))
	a, b := m.Sample("a", graph.Normal(0, 1000)), m.Sample("b", graph.Normal(0, 1000))
	sd := graph.Exp(graph.Mul(-0.5, graph.Log(tau)))
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 30 {
		x := float64(i) / 30
		m.Observe("y", graph.Normal(graph.Add(a, graph.Mul(b, x)), sd), 1+2*x+0.02*rng.NormFloat64())
	}
	d, err := m.Compile()
	require.NoError(t, err)
	p, err := Fit(context.Background(), d, Settings{Seed: *seed})
	require.NoError(t, err)
	v, err := p.Verdict()
	require.NoError(t, err)
	require.NotEqual(t, TrustNothing, v.Trust, v.String())
	require.Regexp(t, "the independent search did not arrive, and ended [0-9]+ nats below the fit: only climbs", v.String())

	p, err = Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Family: family.FullRank{}, Steps: 4000}})
	require.NoError(t, err)
	v, err = p.Verdict()
	require.NoError(t, err)
	require.Equal(t, TrustNothing, v.Trust, v.String())
	require.Regexp(t, "did not arrive.*nobody has looked", v.String())
	require.Contains(t, v.Try, "Settings.Method = Cells{}")
}

// A fit with many cells begins with more draws than another one, so that most cells have some.
func TestDrawsOfManyCells(t *testing.T) {
	m := graph.NewModel()
	first, second := m.Sample("first", graph.Uniform(0, 40)), m.Sample("second", graph.Uniform(0, 40))
	level := m.SampleN("level", 3, graph.Normal(0, 1))
	for i := range 40 {
		ahead := graph.Greater(second, i)
		mean := graph.If(graph.Greater(first, i), graph.If(ahead, level[0], level[1]), graph.If(ahead, level[1], level[2]))
		m.Observe("y", graph.Normal(mean, 1), 0.1*float64(i%3))
	}
	d := mustCompile(t, m)
	p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Cells{Alone: true}})
	require.NoError(t, err)
	n := p.Q.(*mixture.Mixture).Len()
	require.Greater(t, perCell*n, p.evidenceDraws())
	s, err := p.Sample()
	require.NoError(t, err)
	require.GreaterOrEqual(t, s.Len(), min(perCell*n, mostAtOnce*p.evidenceDraws()))
}
