package vi

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// fitted is the result of a short fit.
func fitted(t testing.TB, d *graph.Density, s Settings) *Posterior {
	t.Helper()
	if s.climb().Steps == 0 {
		s.climb().Steps = 50
	}
	s.Seed = *seed
	p, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	return p
}

// Without guards all forms of the Boundary estimator fit as reparameterization does,
// to the last bit.
func TestWithoutGuardsBoundaryIsReparam(t *testing.T) {
	d := vitest.Smooth(t)
	for _, f := range allFamilies[:long.Or(2, len(allFamilies))] {
		want := fitted(t, d, Settings{Method: Climb{Estimator: Reparam{}, Family: f}})
		for _, e := range []Boundary{{}, {Guards: 3, By: boundary.ByWeight}} {
			requireSameFit(t, want, fitted(t, d, Settings{Method: Climb{Estimator: e, Family: f}}))
		}
	}
}

// Measuring a fit does not change it.
func TestMetersLeaveTheFitAlone(t *testing.T) {
	spec, d := paperSpec(t, "influenza")
	start := family.Softplus{}.At(spec.ThetaInit)
	s := Settings{Seed: 3, Method: Climb{Samples: 1, Steps: 20, Start: start}}
	want, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	variance, err := check.NewGradientMeter(d, start, Boundary{}, 16, s.Seed)
	require.NoError(t, err)
	elbo, err := check.NewMeter(d, start, 100, s.Seed)
	require.NoError(t, err)
	s.climb().OnStep = func(step Step) error {
		before := step.Q.Clone()
		_, _, err := variance.Measure(step.Q)
		require.NoError(t, err)
		_, err = elbo.Measure(step.Q)
		require.NoError(t, err)
		require.Equal(t, before, step.Q)
		return nil
	}
	got, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	require.Equal(t, want.Q, got.Q)
}

// What a fit of temperature ends in has crossings of probability 1e-7 that cost 5e5
// nats each; the closed form is of package models.
func TestRareSidesOfAFit(t *testing.T) {
	t.Parallel()
	spec, d := paperSpec(t, "temperature")
	p := fitted(t, d, Settings{Method: Climb{Steps: 10000, Family: family.Softplus{}}})
	r, err := p.RareSides(50000, *seed)
	require.NoError(t, err)
	want := spec.Oracle.ELBO(p.Q.Theta())
	vitest.Estimate(t, "corrected ELBO", want, r.Corrected, 0.15)
	require.Greater(t, math.Abs(r.Plain.Value-want), 5*r.Plain.SE, "the plain estimate must be rejected")
	require.True(t, r.Misleading())
	require.Less(t, r.Missed.Value, -0.2)
	require.Less(t, 5*r.Missed.SE, 0.5*math.Abs(r.Missed.Value), "inconclusive")
	for _, s := range r.Sides[:5] {
		require.Less(t, s.Prob, 1e-6, s.Condition)
		require.Zero(t, s.Seen, s.Condition)
		require.InEpsilon(t, -5e5, s.Gap.Value, 0.02, s.Condition)
	}
}

// A summary tells of an ELBO that plain draws get wrong, and only of that: at a
// fifth more than temperature's best widths, draws miss guards that are crossed now
// and then; a fit of textmsg has nothing to hide.
func TestSummaryTellsOfRareSides(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	spec, d := paperSpec(t, "temperature")
	theta, _, err := models.Optimum(spec.Oracle, spec.ThetaInit)
	require.NoError(t, err)
	q := family.Softplus{}.At(theta)
	mean, sd := make([]float64, q.Dim()), make([]float64, q.Dim())
	for i := range sd {
		mean[i], sd[i] = q.Mean(i), 1.2*q.SD(i)
	}
	p := &Posterior{Density: d, Q: family.Independent(mean, sd), Warnings: []string{"not settled"}}
	s := p.Summary()
	vitest.Estimate(t, "ELBO of the summary", exactELBO(t, spec, d, p.Q), s.ELBO, 5)
	require.Len(t, s.Warnings, 3)
	require.Equal(t, "not settled", s.Warnings[0])
	require.Equal(t, s.Verdict.String(), s.Warnings[1])
	require.Contains(t, s.Warnings[2], "estimates of the ELBO may mislead: 1000 draws say")
	require.Len(t, p.Warnings, 1, "a summary changes nothing")

	_, d = paperSpec(t, "textmsg")
	p = fitted(t, d, Settings{Method: Climb{Family: family.MeanField{}, Steps: 1000}})
	r, err := check.LikeliestRareSides(d, p.Q, summaryDraws, summarySides, 0)
	require.NoError(t, err)
	clean := p.Summary()
	require.Equal(t, r.Misleading(), strings.Contains(clean.String(), "mislead"))
	require.Less(t, clean.ELBO.SE, 0.5)
	chance := 0 // draws that are two standard errors off
	seeds := uint64(100)
	for seed := range seeds {
		r, err := check.LikeliestRareSides(d, p.Q, summaryDraws, summarySides, seed)
		require.NoError(t, err)
		if r.Misleading() {
			chance++
		}
	}
	require.Less(t, chance, int(seeds)*15/100)
}
