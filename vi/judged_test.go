package vi

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi/family"
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
	s := Settings{Family: family.MeanField{}, Seed: *seed, Start: PriorStart(d), Steps: judgedFrom / 16, Checkpoint: path, Progress: &progress}
	p, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	require.Equal(t, TrustNothing, p.found.Verdict.Trust)
	requireOnlyVerdict(t, p, TrustNothing)
	require.Contains(t, progress.String(), "step 5000 of 5000")
	requireSameVerdict(t, p, &Posterior{Density: d, Q: p.Q, Settings: p.Settings})

	loaded := reloaded(t, p, d)
	require.Equal(t, p.found.Verdict, loaded.found.Verdict)
	require.Equal(t, p.found.LogEvidence, loaded.found.LogEvidence)
	requireOnlyVerdict(t, loaded, TrustNothing)
	kept := loadFile(t, path, d)
	require.Equal(t, p.found.Verdict, kept.found.Verdict)
	require.Equal(t, p.Cells(), kept.Cells())
	again, err := loaded.Resume(context.Background())
	require.NoError(t, err)
	requireOnlyVerdict(t, again, TrustNothing)
	require.Equal(t, p.found.Verdict, again.found.Verdict)

	s.Checkpoint, s.Progress = "", nil
	for name, change := range map[string]func(*Settings){
		"short":     func(s *Settings) { s.Steps-- },
		"watched":   func(s *Settings) { s.OnStep = func(Step) error { return nil } },
		"continued": func(s *Settings) { s.Optimizer = &Adam{} },
		"late":      func(s *Settings) { s.Budget = time.Millisecond },
	} {
		s := s
		change(&s)
		p, err := Fit(context.Background(), d, s)
		require.NoError(t, err)
		require.Empty(t, p.found.Verdict, name)
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
	s := Settings{Family: family.MeanField{}, Seed: *seed, Start: PriorStart(d), Steps: judgedFrom / 16}
	want, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	s.Progress = logWriter(func(line string) {
		if line == "judging the fit\n" {
			cancel()
		}
	})
	m := newMonitor(s)
	m.progress.every = 0
	cut := *want
	cut.found = &found{q: want.Q}
	require.ErrorContains(t, cut.conclude(ctx, m), "vi: stopped while judging the fit: context canceled")
	require.Empty(t, cut.found.Verdict)
	got, err := cut.Resume(context.Background())
	require.NoError(t, err)
	requireSameVerdict(t, want, got)
}
