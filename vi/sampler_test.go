package vi

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// effects is a hierarchy with a scale that is hardly known: groups of normals around 0, of which each has one observation.
func effects(t testing.TB, n int, more ...func(m *graph.Model, effects []graph.Expr)) *graph.Density {
	m := graph.NewModel()
	tau := m.Sample("tau", graph.HalfNormal(3))
	var all []graph.Expr
	for k := range n {
		effect := m.Sample(fmt.Sprintf("effect[%d]", k), graph.Normal(0, tau))
		m.Observe("y", graph.Normal(effect, 1), 2*math.Sin(float64(3*k)))
		all = append(all, effect)
	}
	for _, f := range more {
		f(m, all)
	}
	m.Name("wide", graph.Greater(tau, 1))
	return mustCompile(t, m)
}

// effectsExact are the mean and the standard deviation of tau, the probability that it is above 1, and the log evidence, by
// quadrature: with the effects integrated out y ~ N(0, 1 + tau²).
func effectsExact(n int) (mean, sd, wide, evidence float64) {
	total, square := 0.0, 0.0
	const h = 1e-4
	for tau := h / 2; tau < 20; tau += h {
		log := math.Log(2) - tau*tau/18 - 0.5*math.Log(2*math.Pi*9)
		for k := range n {
			y, v := 2*math.Sin(float64(3*k)), 1+tau*tau
			log -= 0.5*y*y/v + 0.5*math.Log(2*math.Pi*v)
		}
		p := h * math.Exp(log)
		total, mean, square = total+p, mean+p*tau, square+p*tau*tau
		if tau > 1 {
			wide += p
		}
	}
	mean, square = mean/total, square/total
	return mean, math.Sqrt(square - mean*mean), wide / total, math.Log(total)
}

// A fit that cannot be relied on goes on with the sampler, and is right then; the sampler alone is, too, and without -tags long it is
// by itself. What is saved gives the same numbers.
func TestSampler(t *testing.T) {
	t.Parallel()
	n := long.Or(8, 60)
	d := effects(t, n)
	wide := d.Named("wide")[0]
	mean, sd, prob, evidence := effectsExact(n)
	if long.On() {
		cells, err := Fit(context.Background(), d, Settings{Seed: 1, Method: Cells{Alone: true}})
		require.NoError(t, err)
		v, err := cells.Verdict()
		require.NoError(t, err)
		require.Equal(t, TrustNothing, v.Trust, "%v", v)
		_, err = cells.Diagnostics()
		require.EqualError(t, err, "vi: the draws are not a sampler's")
	}
	for _, s := range []Settings{{Seed: 2, Method: Sampler{}}, {Seed: 1}}[:long.Or(1, 2)] {
		p, err := Fit(context.Background(), d, s)
		require.NoError(t, err)
		require.True(t, p.findings.run != nil)
		v, err := p.Verdict()
		require.NoError(t, err)
		require.Equal(t, TrustFit, v.Trust, "%v", v)
		require.Empty(t, p.Warnings)
		near := func(want float64, got Estimate, err error) {
			t.Helper()
			require.NoError(t, err)
			require.InDelta(t, want, got.Value, 4*got.SE)
		}
		m, err := p.Mean("tau")
		near(mean, m, err)
		require.Less(t, m.SE, 0.02*sd)
		m, err = p.SD("tau")
		near(sd, m, err)
		m, err = p.Prob(wide)
		near(prob, m, err)
		m, err = p.LogEvidence()
		near(evidence, m, err)

		var file bytes.Buffer
		require.NoError(t, p.Save(&file))
		loaded, err := Load(&file, d)
		require.NoError(t, err)
		require.Equal(t, p.Summary().String(), loaded.Summary().String())
		require.NotContains(t, p.Summary().String(), "ELBO")
		for _, p := range []*Posterior{p, loaded} {
			quality, err := p.Diagnostics()
			require.NoError(t, err)
			require.Less(t, slices.Max(quality.RHat), 1.01)
			require.Greater(t, slices.Min(quality.Bulk), 1000.0)
			list, err := p.Draws(1000, 3)
			require.NoError(t, err)
			seen := map[float64]bool{}
			for _, row := range list.Values {
				seen[row[0]] = true
			}
			require.Greater(t, len(seen), 900) // a proposal that is not taken leaves one where it was
		}
		again, err := loaded.Resume(context.Background())
		require.NoError(t, err)
		require.Same(t, loaded, again)
	}
}

// A context or a budget that ends before the sampler has arrived leaves what was there before.
func TestSamplerStopped(t *testing.T) {
	n := long.Or(20, 60)
	d := effects(t, n)
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer stop()
	p, err := Fit(ctx, d, Settings{Seed: 1, Method: Sampler{}})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotNil(t, p)

	if !long.On() {
		return // TestSampler has a sampler's fit
	}
	d = effects(t, n, func(m *graph.Model, effects []graph.Expr) { // where there may be cells
		m.Factor(graph.If(graph.Greater(effects[0], effects[1]), 0.5, 0))
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p, err = Fit(ctx, d, Settings{Seed: 1, Progress: onWrite(func(line string) {
		if strings.HasPrefix(line, "sampling") {
			cancel()
		}
	})})
	require.ErrorContains(t, err, "vi: stopped while sampling: context canceled")
	require.NotEmpty(t, p.findings.Cut)
	require.Len(t, p.Summary().Latents, n+1) // of the cells, or of the draws so far
	p, err = p.Resume(context.Background())
	require.NoError(t, err)
	require.Empty(t, p.findings.Cut)
	require.True(t, p.findings.run != nil)
}

// onWrite is called with each line of progress.
type onWrite func(line string)

func (f onWrite) Write(b []byte) (int, error) {
	f(string(b))
	return len(b), nil
}

// As many draws are effective as were asked for, and not many more.
func TestSamplerDraws(t *testing.T) {
	d := effects(t, 20)
	few, err := Fit(context.Background(), d, Settings{Seed: 1, Method: Sampler{Draws: 300}})
	require.NoError(t, err)
	many, err := Fit(context.Background(), d, Settings{Seed: 1, Method: Sampler{Draws: 6000}})
	require.NoError(t, err)
	require.GreaterOrEqual(t, few.findings.sample.ESS, 300.0)
	require.GreaterOrEqual(t, many.findings.sample.ESS, 6000.0)
	require.Less(t, 3*few.findings.sample.Len(), many.findings.sample.Len())
}

// Settings that make no sense are errors that say so.
func TestSamplerSettings(t *testing.T) {
	d := effects(t, 3)
	_, err := Fit(context.Background(), d, Settings{Method: Sampler{Draws: -1}})
	require.ErrorContains(t, err, "Sampler.Draws = -1 must be positive")
	m := graph.NewModel()
	m.Observe("y", graph.Normal(m.Sample("x", graph.Normal(m.Param("mu", 0), 1)), 1), 1)
	_, err = Fit(context.Background(), mustCompile(t, m), Settings{Method: Sampler{}})
	require.ErrorContains(t, err, "Settings.Method is Sampler, which does not learn parameters")
	_, err = Fit(context.Background(), effects(t, 400), Settings{Method: Cells{Alone: true}})
	require.ErrorContains(t, err, "Cells.Alone = true: of 401 latents no cells are looked for, which needs at most 300")
}
