//go:build long

package stagnant

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/models/exact"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
)

// Finer grids change nothing; and the kink's numbers are those of BUGS, and of Carlin, Gelfand and Smith.
func TestExact(t *testing.T) {
	for name, p := range map[string][2]exact.Posterior{
		"kink": {ExactKink(), kink(Flow, Height, 30, step/2)}, "jump": {ExactJump(), jump(Flow, Height, step/2)},
	} {
		t.Logf("%s: log evidence %.6f, latents %.4f, before %.3f", name, p[0].LogEvidence, p[0].Latents, p[0].Guards)
		assert.InDelta(t, p[1].LogEvidence, p[0].LogEvidence, 1e-6, name)
		assert.InDeltaSlice(t, p[1].Guards, p[0].Guards, 1e-6, name)
		for i, m := range p[1].Latents {
			assert.InDelta(t, m.Mean, p[0].Latents[i].Mean, 1e-6*m.SD, name)
			assert.InEpsilon(t, m.SD, p[0].Latents[i].SD, 1e-6, name)
		}
	}
	k := ExactKink().Latents
	for i, want := range map[int]exact.Moments{0: {Mean: 0.028, SD: 0.033}, 3: {Mean: -0.4196, SD: 0.0151}, 4: {Mean: -1.0139, SD: 0.0176}} {
		assert.InDelta(t, want.Mean, k[i].Mean, 0.02*want.SD)
		assert.InEpsilon(t, want.SD, k[i].SD, 0.01)
	}
}

// The regression describes the programs: a posterior's density times its evidence is the program's density.
func TestRegressionAgainstDensity(t *testing.T) {
	for _, c := range []struct {
		m       *graph.Model
		mean    func(x float64) float64
		z       []float64
		latents int
	}{
		{Kink(Flow, Height), func(x float64) float64 { return 0.5 - 0.4*min(x-0.03, 0) - 1*max(x-0.03, 0) }, []float64{0.5, -0.4, -1}, 5},
		{Jump(Flow, Height), func(x float64) float64 {
			if x < 0.03 {
				return 0.5 - 0.4*x
			}
			return 0.6 - x
		}, []float64{0.5, -0.4, 0.6, -1}, 6},
	} {
		d, err := c.m.Compile()
		require.NoError(t, err)
		change, err := d.Coordinate(0).Inverse(0.03)
		require.NoError(t, err)
		const u = 7.0
		got, err := d.LogProb(append([]float64{change, u}, c.z...))
		require.NoError(t, err)
		want := math.Log((0.03-first)*(last-0.03)/((last-first)*(last-first))) + logPrior(u)
		for _, x := range c.z {
			want += distuv.Normal{Sigma: wide}.LogProb(x)
		}
		for i, x := range Flow {
			want += distuv.Normal{Mu: c.mean(x), Sigma: math.Exp(-u / 2)}.LogProb(Height[i])
		}
		assert.InDelta(t, want, got, 1e-8)
	}
}

// The default fit has the posterior by quadrature.
func TestFit(t *testing.T) {
	for name, c := range map[string]struct {
		m    *graph.Model
		want exact.Posterior
	}{"kink": {Kink(Flow, Height), ExactKink()}, "jump": {Jump(Flow, Height), ExactJump()}} {
		t.Run(name, func(t *testing.T) {
			d, err := c.m.Compile()
			require.NoError(t, err)
			for seed := range long.Few[uint64](1, 3) {
				p, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1 + seed})
				require.NoError(t, err)
				e, err := p.LogEvidence()
				require.NoError(t, err)
				assert.InDelta(t, c.want.LogEvidence, e.Value, 0.02)
				s := p.Summary()
				assert.Equal(t, vi.TrustFit, s.Verdict.Trust, s.Verdict)
				for i, l := range s.Latents {
					want := c.want.Latents[i]
					t.Logf("%s: mean off by %.4f, sd by %.4f", l.Name, (l.Mean.Value-want.Mean)/want.SD, l.SD.Value/want.SD-1)
					assert.InDelta(t, want.Mean, l.Mean.Value, 0.02*want.SD, l.Name)
					assert.InEpsilon(t, want.SD, l.SD.Value, 0.02, l.Name)
				}
				for i, want := range c.want.Guards {
					got, err := p.ProbNamed("before", i)
					require.NoError(t, err)
					assert.InDelta(t, want, got.Value, 0.005, "flow %d", i)
				}
			}
		})
	}
}
