package vi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mixture"
)

// walled has a latent that is hard kept above 0, by a jump of so many nats, and another
// that depends on it and is measured.
func walled(t testing.TB, nats float64) *graph.Density {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(x, 1))
	m.Observe("o", graph.Normal(y, 0.5), 0.7)
	m.Factor(graph.If(graph.Greater(x, 0), 0, -nats))
	return mustCompile(t, m)
}

// walledEvidence is the exact log evidence for a wall without end, and walledELBO the ELBO of the best
// independent normals: of x and k·s below its mean the wall, with y's best mean and scale.
func walledEvidence() float64 {
	return -0.5*(0.49/2.25+math.Log(2*math.Pi*2.25)) + math.Log(normalCDF(0.7/2.25/math.Sqrt(1-1/2.25)))
}

func walledELBO(nats float64) float64 {
	best := math.Inf(-1)
	for k := 1.0; k < 38; k += 0.01 {
		beyond := nats * normalCDF(-k)
		for mu := 0.01; mu < 2; mu += 0.01 {
			s, y := mu/k, (mu+4*0.7)/5
			second := -0.5*(mu*mu+s*s) - 0.5*((y-mu)*(y-mu)+0.2+s*s) - 2*((0.7-y)*(0.7-y)+0.2)
			best = max(best, second-0.5*math.Log(2*math.Pi)-math.Log(0.5)+math.Log(s)+0.5*math.Log(0.2)+0.5-beyond)
		}
	}
	return best + 0.5 // the entropy of two normals less their log densities' constants
}

func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// elboAtWall is an ELBO with what is beyond the wall, which no draw sees.
func elboAtWall(t *testing.T, p *Posterior, nats float64) float64 {
	e, err := p.ELBO(4000, 1)
	require.NoError(t, err)
	return e.Value - nats*normalCDF(-p.Q.Mean(0)/p.Q.SD(0))
}

// A hard constraint fits in every family, for a number of steps and by itself, also where the square of
// a gradient overflows for some draws and not for others. By default the
// fit is confined to what the constraint allows, and finds the evidence.
func TestHardConstraintInEveryFamily(t *testing.T) {
	t.Parallel()
	for _, nats := range []float64{1e155, 1e200}[:long.Or(1, 2)] {
		d := walled(t, nats)
		best := walledELBO(nats)
		for _, f := range allFamilies {
			for _, s := range []Settings{{Method: Climb{Steps: 2000}}, {Method: Climb{Stop: Automatic}}} {
				s.climb().Family, s.Seed, s.climb().StartDraws = f, *seed, 200
				p, err := Fit(context.Background(), d, s)
				require.NoError(t, err)
				elbo := elboAtWall(t, p, nats)
				t.Logf("%g, %s: %d steps, ELBO %.3f, best of independent normals %.3f", nats, f.Name(), p.Steps, elbo, best)
				require.Greater(t, elbo, best-0.5)
				require.InDelta(t, elbo, p.Restarts[0].ELBO.Value, 0.2, "what is beyond the wall counts")
			}
		}
		p, err := Fit(context.Background(), d, Settings{Seed: *seed})
		require.NoError(t, err)
		e, err := p.LogEvidence()
		require.NoError(t, err)
		require.InDelta(t, walledEvidence(), e.Value, 5*e.SE+1e-3)
	}
}

// A fit that starts badly beside a wall meets gradients that fall by a hundred orders of magnitude as it
// leaves. It gets away from there, or says that it does not; and stopping by itself does not call
// that settled. Without this it stays where the ELBO is 1e5 to 1e138 nats below.
func TestSteepIsNoEnd(t *testing.T) {
	t.Parallel()
	for _, nats := range []float64{1e155, 1e20, 1e300}[:long.Or(1, 3)] {
		d := walled(t, nats)
		best := walledELBO(nats)
		for _, f := range allFamilies {
			if f == (family.Softplus{}) {
				continue // whose steps stay the paper's
			}
			for _, x := range [][2]float64{{0, 1}, {0.24, 0.06}, {-1, 0.06}} {
				start, err := family.Of(f, d, family.Independent([]float64{x[0], 0.7}, []float64{x[1], 0.45}))
				require.NoError(t, err)
				for _, s := range []Settings{{Method: Climb{Steps: 1500}}, {Method: Climb{Stop: Automatic, Steps: 1500}}} {
					s.climb().Start, s.Seed = start, *seed
					p, err := Fit(context.Background(), d, s)
					require.NoError(t, err)
					elbo := elboAtWall(t, p, nats)
					t.Logf("%g, %s from %v: %d steps, ELBO %.3g, best %.3f, %v", nats, f.Name(), x, p.Steps, elbo, best, p.Warnings)
					if nats == 1e155 && x[0] == 0 && s.climb().Stop == "" {
						require.Empty(t, p.Warnings, "it gets away: %s", f.Name())
					}
					if len(p.Warnings) == 0 { // along the wall it crawls, and may be some nats below
						require.Greater(t, elbo, best-10, "%g, %s from %v, %v", nats, f.Name(), x, s.climb().Stop)
					}
				}
			}
		}
	}
}

// A jump that is as large as a number can be is no reason to panic.
func TestLargestConstraint(t *testing.T) {
	d := walled(t, math.MaxFloat64)
	for _, f := range append([]family.Family{mixture.Cells{}}, allFamilies...) {
		s := Settings{Seed: *seed, Method: methodOf(f)}
		if f != family.Family(mixture.Cells{}) {
			s.climb().StartDraws = 100
		}
		p, err := Fit(context.Background(), d, s)
		if err != nil {
			require.ErrorIs(t, err, ErrNotFinite)
			require.ErrorContains(t, err, "the guard x > 0 (walls_test.go:")
			continue
		}
		require.Positive(t, p.Q.Mean(0), f.Name())
	}
}
