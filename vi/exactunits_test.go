package vi_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mixture"
)

// A model in some units, and the exact mean and standard deviation of its latent.
type inUnits struct {
	name     string
	m        *graph.Model
	mean, sd float64
}

// housePrices is a mean of 13 prices: its posterior is a normal.
func housePrices() inUnits {
	const priorMean, priorSD, sd = 250_000.0, 500_000.0, 100_000.0
	m := graph.NewModel()
	mean := m.Sample("x", graph.Normal(priorMean, priorSD))
	precision, sum := 1/(priorSD*priorSD), priorMean/(priorSD*priorSD)
	for i := range 13 {
		price := 180_000 + 21_000*float64(i)
		m.Observe("price", graph.Normal(mean, sd), price)
		precision += 1 / (sd * sd)
		sum += price / (sd * sd)
	}
	return inUnits{"house prices", m, sum / precision, 1 / math.Sqrt(precision)}
}

// changePoint is a level that rises from 0 to 1 at a time around 1.78e9 seconds of
// Unix time, or 20 602 days: measured every hour, with a ramp in the data that
// makes the posterior of the time nearly a normal.
func changePoint(name string, day float64) inUnits {
	const (
		centre = 20_602.25 // days
		noise  = 0.9
		reach  = 5 * 24 // hours
	)
	slope := noise * noise / 24 / (0.475 * 0.475) // in a day, for a standard deviation of 0.475 days
	m := graph.NewModel()
	change := m.Sample("x", graph.Normal((centre+2)*day, 30*day))
	type cut struct{ at, log float64 }
	cuts, log := []cut{{math.Inf(-1), 0}}, 0.0
	for h := -reach; h <= reach; h++ {
		at := float64(h)/24 + 1.0/48
		y := 0.5 + slope*at
		m.Observe("level", graph.Normal(graph.If(graph.Less(change, (centre+at)*day), 1, 0), noise), y)
		log += 0.5 * ((y-1)*(y-1) - y*y) / (noise * noise) // no longer 1 here if change is above
		cuts = append(cuts, cut{at, log})
	}
	var w, s1, s2 float64 // moments of prior × likelihood, by fine midpoints
	const step = 1e-4
	k := 0
	for x := -20.0; x < 20; x += step {
		for k+1 < len(cuts) && cuts[k+1].at < x {
			k++
		}
		p := math.Exp(cuts[k].log - 0.5*(x-2)*(x-2)/900)
		w, s1, s2 = w+p, s1+p*x, s2+p*x*x
	}
	mean := s1 / w
	return inUnits{name, m, (centre + mean) * day, math.Sqrt(s2/w-mean*mean) * day}
}

// Results do not depend on the units of the data: nor with stopping by itself.
func TestUnits(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	all := []inUnits{housePrices(), changePoint("in milliseconds", 86_400_000), changePoint("change point in days", 1), changePoint("in seconds", 86_400)}
	for _, c := range all {
		d, err := c.m.Compile()
		require.NoError(t, err)
		for _, f := range []family.Family{mixture.Cells{}, family.FullRank{}, family.MeanField{}, family.Structured{}, family.LowRank{Rank: 1}} {
			for _, stop := range []vi.Stop{vi.After, vi.Automatic} {
				if stop == vi.After && (c.name == "in seconds" || f == (family.Structured{}) || f == (mixture.Cells{})) {
					continue // as in days, as the mean field, and without steps
				}
				settings := vi.Settings{Seed: 1, Method: vi.Climb{Stop: stop, Family: f}}
				if f == (mixture.Cells{}) {
					settings.Method = vi.Cells{}
				}
				fit, err := vi.Fit(context.Background(), d, settings)
				require.NoError(t, err)
				require.Empty(t, fit.Warnings, c.name)
				mean, err := fit.Mean("x")
				require.NoError(t, err)
				sd, err := fit.SD("x")
				require.NoError(t, err)
				t.Logf("%s, %s: %v: mean off by %.4f sd, sd %v, exactly %.6g, %d steps", c.name, f.Name(), stop, (mean.Value-c.mean)/c.sd, sd, c.sd, fit.Steps)
				vitest.Estimate(t, c.name+": mean", c.mean, mean, 0.05*c.sd)
				vitest.Estimate(t, c.name+": sd", c.sd, sd, 0.02*c.sd)
			}
		}
	}
}

// With absolute steps a mean of prices does not get far. That is no end: stopping
// by itself sees that the parameters still travel.
func TestTravelIsNoEnd(t *testing.T) {
	c := housePrices()
	d, err := c.m.Compile()
	require.NoError(t, err)
	start := family.Softplus{}.At([]float64{150_000, 10_000})
	fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1, Method: vi.Climb{Stop: vi.Automatic, Start: start, Steps: 2000}})
	require.NoError(t, err)
	require.Equal(t, 2000, fit.Steps)
	require.Len(t, fit.Warnings, 1)
	require.Contains(t, fit.Warnings[0], "has not settled")
}
