//go:build long

package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models/tobit"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
)

// The probability is .98926 (TestExact).
func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(&out, 1, filepath.Join(t.TempDir(), "fit.html")))
	for _, text := range []string{"verdict: trust", "limit < 0.7           0.989", "smallest purchase, with probability 0.989", "buys with probability 0.3"} {
		assert.Contains(t, out.String(), text)
	}
}

// The default fit is the exact posterior: means within 0.03 sd, sds within 3 %, the limit's probability within 0.005, the log
// evidence within 0.02.
func TestExact(t *testing.T) {
	for i, h := range tobit.Households {
		require.Equal(t, household{h.Spent, h.Age, h.Liquidity}, households[i])
	}
	want := tobit.Exact()
	density, err := program().Compile()
	require.NoError(t, err)
	for seed := range long.Few[uint64](1, 3) {
		fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: seed + 1})
		require.NoError(t, err)
		s := fit.Summary()
		assert.Equal(t, vi.TrustFit, s.Verdict.Trust, s.Verdict)
		for i, l := range s.Latents {
			want := want.Latents[i]
			t.Logf("%s: mean off by %.4f, sd by %.4f", l.Name, (l.Mean.Value-want.Mean)/want.SD, l.SD.Value/want.SD-1)
			assert.InDelta(t, want.Mean, l.Mean.Value, 0.03*want.SD, l.Name)
			assert.InEpsilon(t, want.SD, l.SD.Value, 0.03, l.Name)
		}
		for i, want := range want.Guards {
			got, err := fit.ProbNamed("enough", i)
			require.NoError(t, err)
			assert.InDelta(t, want, got.Value, 0.005, "household %d", i)
		}
		assert.InDelta(t, want.LogEvidence, s.LogEvidence.Value, 0.02)
	}
}

// Reparameterization alone does not see that who bought nothing wants less than
// the limit, nor that the limit is below the purchases.
func TestReparamFails(t *testing.T) {
	density, err := program().Compile()
	require.NoError(t, err)
	start, err := vi.StartAt(density, map[string]float64{"limit": 0})
	require.NoError(t, err)
	var elbo []float64
	for _, e := range []vi.Estimator{vi.Boundary{}, vi.Reparam{}} {
		fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1, Method: vi.Climb{Estimator: e, Steps: 3000, Start: start}})
		require.NoError(t, err)
		estimate, err := fit.ELBO(10000, 0)
		require.NoError(t, err)
		elbo = append(elbo, estimate.Value)
	}
	assert.Less(t, elbo[1], elbo[0]-10)
}
