package vi

import (
	"bytes"
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
)

// A higher tolerance is fewer cells, and what these lack of the exact evidence is no more.
func TestTolerance(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	spec, d := paperSpec(t, "textmsg")
	exact, last := spec.Exact().LogEvidence, math.MaxInt
	for _, tolerance := range []float64{0, 0.01, 0.03} {
		p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Cells{Tolerance: tolerance}})
		require.NoError(t, err)
		if tolerance == 0 {
			require.Equal(t, 0.0001, p.Settings.Method.(Cells).Tolerance)
		}
		cells := p.Cells()
		require.Less(t, len(cells), last, "tolerance %v", tolerance)
		last = len(cells)
		sum, variance := 0.0, 0.0
		for _, c := range cells {
			z := math.Exp(c.LogEvidence.Value - exact)
			sum += z
			variance += z * z * c.LogEvidence.SE * c.LogEvidence.SE
		}
		loss, se := -math.Log(sum), math.Sqrt(variance)/sum
		require.Less(t, se, 0.005)
		require.LessOrEqual(t, -math.Log1p(-p.Summary().Left), p.Settings.Method.(Cells).Tolerance)
		evidence, err := p.LogEvidence() // which knows of what was left out
		require.NoError(t, err)
		require.InDelta(t, exact, evidence.Value, 5*evidence.SE, "tolerance %v", tolerance)
		require.GreaterOrEqual(t, evidence.SE, p.Summary().Left)
		require.LessOrEqual(t, loss, p.Settings.Method.(Cells).Tolerance+4*se, "tolerance %v", tolerance)
		if len(cells) > 1 { // of one normal for all, importance weights have a tail that a standard error does not tell
			require.InDelta(t, -math.Log1p(-p.Summary().Left), loss, 4*se+0.001, "tolerance %v", tolerance)
		}
	}
}

// A fit whose budget is over at once is a posterior that says what was cut, and begins again
// when it is resumed with a longer one.
func TestBudget(t *testing.T) {
	want := fittedCells(t, Settings{Seed: *seed})
	d := want.Density
	var progress bytes.Buffer
	p, err := Fit(context.Background(), d, Settings{Seed: *seed, Budget: 1, Progress: &progress})
	require.NoError(t, err)
	require.Regexp(t, ": .*; 0s of 1ns left", progress.String())
	require.Len(t, p.Warnings, 2)
	require.Contains(t, p.Warnings[0], "Settings.Budget = 1ns of CPU time was over: the independent search ended with the data at 0 of their weight")
	require.Contains(t, p.Warnings[0], "not all cells were judged")
	verdict, err := p.Verdict()
	require.NoError(t, err)
	require.Equal(t, TrustNothing, verdict.Trust)
	require.Contains(t, verdict.Try, "a longer Settings.Budget")
	require.NotEmpty(t, p.Cells())
	elbo, err := p.ELBO(10000, 1)
	require.NoError(t, err)
	evidence, err := want.LogEvidence()
	require.NoError(t, err)
	require.LessOrEqual(t, elbo.Value, evidence.Value+4*math.Hypot(elbo.SE, evidence.SE))
	require.Contains(t, p.Summary().String(), "Settings.Budget")

	loaded := reloaded(t, p, d)
	require.Equal(t, time.Duration(1), loaded.Settings.Budget)
	requireSameCells(t, p, loaded)
	loaded.Settings.Budget = time.Hour
	again, err := loaded.Resume(context.Background())
	require.NoError(t, err)
	require.Empty(t, again.Warnings)
	again.Settings.Budget = 0
	requireSameCells(t, want, again)
}

// A climb whose budget is over is where it is by then, and is resumed as if nothing had
// happened.
func TestBudgetOfClimb(t *testing.T) {
	d := twoCells(t)
	s := Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, Start: PriorStart(d), Steps: 300}}
	want, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	s.Budget = 1
	p, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	require.Equal(t, 0, p.Steps)
	require.Contains(t, p.Warnings[0], "Settings.Budget = 1ns of CPU time was over after step 0 of 300")
	p = reloaded(t, p, d)
	p.Settings.Budget = time.Hour
	p, err = p.Resume(context.Background())
	require.NoError(t, err)
	require.Equal(t, want.Q.Theta(), p.Q.Theta())
	require.Equal(t, want.Warnings, p.Warnings)

	s.climb().Start = nil // no time to look for one
	p, err = Fit(context.Background(), d, s)
	require.NoError(t, err)
	require.Equal(t, PriorStart(d).Theta(), p.Q.Theta())
}
