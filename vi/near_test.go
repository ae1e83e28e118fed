//go:build long

package vi

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/muchdata"
	"github.com/facetvi/facet/vi/mixture"
)

// A fit by the sums near a mode is the same whatever GOMAXPROCS is, to the last bit, of cells and of one family.
func TestFitNearAModeRepeats(t *testing.T) {
	d, err := linkedModels[1].model(2000, 1, true).Compile()
	require.NoError(t, err)
	require.GreaterOrEqual(t, d.Terms(), muchdata.Terms)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, f := range []family.Family{mixture.Cells{}, family.MeanField{}} {
		s := Settings{Seed: *seed, Method: methodOf(f)}
		if f != (mixture.Cells{}) {
			s.climb().Steps = 20
		}
		var first *Posterior
		for _, n := range []int{1, 3} {
			runtime.GOMAXPROCS(n)
			p, err := Fit(context.Background(), d, s)
			require.NoError(t, err)
			if first == nil {
				first = p
			}
			assert.Equal(t, first.Q.Theta(), p.Q.Theta())
			assert.Equal(t, first.findings.Verdict, p.findings.Verdict)
		}
	}
}

// A fit near a mode is that of the whole density: importance sampling by that one, with draws of a fit of one family, finds the
// same evidence, and the same mean and standard deviation of each latent.
func TestFitNearAMode(t *testing.T) {
	t.Parallel()
	d, err := linkedModels[1].model(2100, 2, true).Compile()
	require.NoError(t, err)
	p, err := Fit(context.Background(), d, Settings{Seed: *seed})
	require.NoError(t, err)
	v, err := p.Verdict()
	require.NoError(t, err)
	assert.Equal(t, TrustFit, v.Trust, v)
	w := otherSample(t, p, 6000, 9)
	require.Greater(t, w.ESS, 3000.0)
	e, err := p.LogEvidence()
	require.NoError(t, err)
	assert.InDelta(t, w.LogEvidence.Value, e.Value, 5*math.Hypot(w.LogEvidence.SE, e.SE))
	moments, err := p.Moments()
	require.NoError(t, err)
	for i, name := range d.Latents() {
		mean, sd := w.Moments(i)
		m := moments[i]
		assert.InDelta(t, mean.Value, m.Mean.Value, 5*math.Hypot(mean.SE, m.Mean.SE), name)
		assert.InDelta(t, sd.Value, m.SD.Value, 5*math.Hypot(sd.SE, m.SD.SE), name)
	}
}

// A posterior with two modes of the same mass, from a location that is the square of a latent, has both of them, though
// log r near one knows nothing of the other.
func TestFitNearTwoModes(t *testing.T) {
	const n = 6200
	rng := rand.New(rand.NewPCG(4, n))
	x, y := make([]float64, n), make([]float64, n)
	for i := range y {
		x[i], y[i] = rng.NormFloat64(), 4+0.5*rng.NormFloat64()
		if x[i] > 0.5 {
			y[i] += 0.5
		}
	}
	m := graph.NewModel()
	root, tau, by := m.Sample("root", graph.Normal(0, 3)), m.Sample("tau", graph.Normal(0, 1)), m.Sample("by", graph.Normal(0, 1))
	m.Plate(n, func(p *graph.Plate) {
		step := graph.If(graph.Greater(p.Data(x), tau), by, 0)
		p.Observe("y", graph.StudentsT(graph.Add(graph.Square(root), step), 0.5, 4), y)
	})
	d, err := m.Compile()
	require.NoError(t, err)
	p, err := Fit(context.Background(), d, Settings{Seed: *seed})
	require.NoError(t, err)
	assert.Equal(t, TrustFit, p.findings.Verdict.Trust, p.findings.Verdict)
	e, err := p.LogEvidence()
	require.NoError(t, err)
	total, above, seen := math.Inf(-1), 0.0, map[string]bool{}
	for k, c := range p.Cells() {
		assert.False(t, seen[c.Where], c.Where)
		seen[c.Where] = true
		total = math.Log(math.Exp(total-e.Value)+math.Exp(c.LogEvidence.Value-e.Value)) + e.Value
		if p.Q.(*mixture.Mixture).Part(k).Mean(0) > 0 {
			above += c.Weight
		}
	}
	assert.InDelta(t, 0.5, above, 0.02)
	assert.InDelta(t, e.Value, total, 5*e.SE+muchLost)
	assert.InDelta(t, 0, p.Q.Mean(0), 0.1)
	assert.InDelta(t, 2, p.Q.SD(0), 0.1)
}
