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
)

// twoOptima is a location among observations of which 55 of 100 are around 0 and the others around 4, with noise of
// which outliers are a part: log r of n of them is highest near 0, by about n/2 nats, and has a second maximum near 4. Those
// beyond a threshold are moved.
func twoOptima(t *testing.T, n int) *graph.Density {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x, y := make([]float64, n), make([]float64, n)
	for i := range y {
		x[i] = rng.NormFloat64()
		y[i] = 0.3 * rng.NormFloat64()
		if rng.Float64() > 0.55 {
			y[i] += 4
		}
		if x[i] > 0.5 {
			y[i] += 0.5
		}
	}
	m := graph.NewModel()
	at, tau, by := m.Sample("at", graph.Normal(2, 3)), m.Sample("tau", graph.Normal(0, 1)), m.Sample("by", graph.Normal(0, 1))
	m.Plate(n, func(p *graph.Plate) {
		step := graph.If(graph.Greater(p.Data(x), tau), by, 0)
		p.Observe("y", graph.StudentsT(graph.Add(at, step), 0.3, 3), y)
	})
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// A search that begins with a part of the data ends at the optimum of all of them, where climbs from the prior's draws with
// all of the data end, the best of them. With too small a part it does not.
func TestSearchByAPartOfTheData(t *testing.T) {
	d := twoOptima(t, 6200)
	require.GreaterOrEqual(t, d.Terms(), muchdata.Terms)
	at, _ := d.Latent("at")
	s := newJob(d, Settings{Seed: *seed, Method: Climb{StartDraws: 40}})
	m := newMonitor(s)
	list, err := candidates(context.Background(), d, s, m)
	require.NoError(t, err)
	want := list[0].q.Mean(at)
	require.InDelta(t, 0, want, 1)
	wrong := 0
	for k := range 5 {
		s.Seed = *seed + uint64(k)
		for _, part := range []int{0, 1} {
			modes, err := muchdata.Search{Seed: s.Seed, Part: part}.Modes(context.Background(), d)
			require.NoError(t, err)
			require.NotEmpty(t, modes)
			off := math.Abs(modes[0].Z[at] - want)
			if part == 0 {
				assert.Less(t, off, 0.3)
			} else if off > 2 {
				wrong++
			}
		}
	}
	assert.Positive(t, wrong)
}

// A fit by the sums near a mode is the same whatever GOMAXPROCS is, to the last bit, of cells and of one family.
func TestFitNearAModeRepeats(t *testing.T) {
	d, err := linkedModels[1].model(2000, 1, true).Compile()
	require.NoError(t, err)
	require.GreaterOrEqual(t, d.Terms(), muchdata.Terms)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, f := range []family.Family{family.Cells{}, family.MeanField{}} {
		s := Settings{Seed: *seed, Method: methodOf(f)}
		if f != (family.Cells{}) {
			s.climb().Steps = 20
		}
		var first *Posterior
		for _, n := range []int{1, 2, 4} {
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
		if p.Q.(family.Mixed).Part(k).Mean(0) > 0 {
			above += c.Weight
		}
	}
	assert.InDelta(t, 0.5, above, 0.02)
	assert.InDelta(t, e.Value, total, 5*e.SE+muchLost)
	assert.InDelta(t, 0, p.Q.Mean(0), 0.1)
	assert.InDelta(t, 2, p.Q.SD(0), 0.1)
}
