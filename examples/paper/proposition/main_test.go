//go:build long

package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/vi"
)

// elbo is the ELBO of q = N(mean, sd²) in closed form.
func elbo(mean, sd float64) float64 {
	above := distuv.UnitNormal.CDF(mean / sd)
	prior := -0.5*math.Log(2*math.Pi) - (mean*mean+sd*sd)/2
	likelihood := -0.5*math.Log(2*math.Pi) - above*12.5 - (1-above)*2
	return prior + likelihood + 0.5*math.Log(2*math.Pi*math.E) + math.Log(sd)
}

// optimum is the best ELBO, to rounding, by coordinate bisection on a grid that
// is refined around its best point.
func optimum() (mean, sd, best float64) {
	mean, sd, best = 0, 1, math.Inf(-1)
	for width := 2.0; width > 1e-9; width *= 0.7 {
		m0, s0 := mean, sd
		for i := -10; i <= 10; i++ {
			for j := -10; j <= 10; j++ {
				m, s := m0+width*float64(i)/10, s0*math.Exp(width*float64(j)/10)
				if v := elbo(m, s); v > best {
					mean, sd, best = m, s, v
				}
			}
		}
	}
	return mean, sd, best
}

func TestRun(t *testing.T) {
	var out bytes.Buffer
	page := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, run(&out, 0.5, 20000, 10000, 1, page))
	require.Contains(t, out.String(), "exactly -4.1967")
	require.Regexp(t, `reparam .*← biased\n`, out.String())
	require.NotRegexp(t, `(score|boundary) .*← biased\n`, out.String())
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(html), "Through the if")
}

// Through the if the fit ends at the best ELBO, and by reparameterization alone below it.
func TestFit(t *testing.T) {
	density, err := proposition().Compile()
	require.NoError(t, err)
	bestMean, bestSD, best := optimum()
	require.InDelta(t, -0.9099, bestMean, 5e-5)
	for _, e := range []vi.Estimator{vi.Boundary{}, vi.Reparam{}} {
		q := vi.PriorStart(density)
		q.Place([]float64{0.5}, []float64{1})
		fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1, Method: vi.Climb{Start: q, Estimator: e, Steps: 10000}})
		require.NoError(t, err)
		mean, sd := fit.Q.Mean(0), fit.Q.SD(0)
		t.Logf("%s: N(%.4f, %.4f²), ELBO %.5f; best N(%.4f, %.4f²), %.5f", e.Name(), mean, sd, elbo(mean, sd), bestMean, bestSD, best)
		if (e == vi.Reparam{}) {
			require.Less(t, elbo(mean, sd), best-1)
			continue
		}
		require.InDelta(t, best, elbo(mean, sd), 1e-3)
	}
}
