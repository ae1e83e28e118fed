package vi

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/scout"
	"github.com/facetvi/facet/vi/verdict"
)

// centred is a hierarchy that the sampler is first for.
func centred(t *testing.T) *graph.Density {
	m := graph.NewModel()
	mu, tau := m.Sample("mu", graph.Normal(0, 5)), m.Sample("tau", graph.HalfNormal(5))
	for k, y := range []float64{28, 8, -3, 7, -1, 1, 18, 12} {
		m.Observe("y", graph.Normal(m.Sample(fmt.Sprintf("theta[%d]", k), graph.Normal(mu, tau)), 10), y)
	}
	return mustCompile(t, m)
}

// A sampler that its budget ends on the way gives the draws that are there, says that these are not to be trusted, and why; Resume goes on.
func TestBudgetOfSampler(t *testing.T) {
	d := centred(t)
	for _, method := range []Method{Cells{}, Sampler{}, Sampler{Draws: 10_000}} {
		p, err := Fit(context.Background(), d, Settings{Seed: *seed, Budget: 1, Method: method})
		require.NoError(t, err)
		require.Contains(t, p.Warnings[0], "Settings.Budget = 1ns of CPU time was over: the sampler ended with the data at 0 of their weight")
		requireOnTheWay(t, p)
		p.Settings.Budget = 0
		p, err = p.Resume(context.Background())
		require.NoError(t, err)
		require.Empty(t, p.Warnings)
	}
}

// So does one that its context ends; before there are draws the fit is the prior's centre, and its verdict is one at once.
func TestStoppedSampler(t *testing.T) {
	d := centred(t)
	ctx, cancel := context.WithCancel(context.Background())
	s := newJob(d, Settings{Seed: *seed, Method: Sampler{}})
	s.reach = func([][]float64) error { cancel(); return nil } // at the first temperature
	m := newMonitor(s)
	defer m.End()
	p, err := bySampler(ctx, d, s, m, s.before())
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, p.findings.run.Beta, 1.0)
	requireOnTheWay(t, p)

	for _, method := range []Method{Cells{}, Sampler{}} {
		p, err = Fit(ctx, d, Settings{Seed: *seed, Method: method})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, PriorStart(d).Theta(), p.Q.Theta())
		require.Contains(t, p.findings.Verdict.Reasons[0], "stopped before it had found anything")
		require.Equal(t, p.findings.Verdict.String(), p.Warnings[0])
	}
}

// A fit of draws on the way is not to be trusted, has numbers, and can be kept.
func requireOnTheWay(t *testing.T, p *Posterior) {
	v, err := p.Verdict()
	require.NoError(t, err)
	require.Equal(t, TrustNothing, v.Trust)
	require.Regexp(t, "the sampler was stopped with the data at .* of their weight, before it had come to the posterior", v.Reasons[0])
	require.Equal(t, []string{"more time"}, v.Try)
	sample, err := p.Sample()
	require.NoError(t, err)
	require.GreaterOrEqual(t, sample.Len(), 512)
	mean, err := p.Mean("mu")
	require.NoError(t, err)
	require.Less(t, mean.SE, 5.0)
	require.Contains(t, p.Summary().String(), v.Reasons[0][:30])
	requireSameFit(t, p, reloaded(t, p, p.Density))
}

// Where the prior hardly ever meets what is required, cells alone have nothing to begin with.
func TestRareRequirementOfCellsAlone(t *testing.T) {
	m := graph.NewModel()
	m.Require(graph.Greater(m.Sample("x", graph.Normal(0, 1)), 6))
	_, err := Fit(context.Background(), mustCompile(t, m), Settings{Seed: *seed, Method: Cells{Alone: true}})
	require.ErrorIs(t, err, scout.ErrNowhere)
	require.ErrorContains(t, err, "vi: Cells.Alone = true: the prior hardly ever meets what is required, and only a Sampler comes to it")
}

// A sampler that cannot make as many draws as were asked for says so, and where its log evidence is little known, that.
func TestDrawsNotReached(t *testing.T) {
	p, err := Fit(context.Background(), centred(t), Settings{Seed: *seed, Method: Sampler{Draws: math.MaxInt}})
	require.NoError(t, err)
	require.Regexp(t, "; they are worth [0-9]+ for means, of 9223372036854775807 that were asked for$", p.findings.Verdict.Reasons[0])
	require.NotContains(t, p.findings.Verdict.Reasons[0], "to compare models")
	r := *p.findings.run
	r.LogEvidence.SE = 0.2
	v := verdict.OfRun(p.findings.numbers, r, noScout, 0, false)
	require.Equal(t, TrustFit, v.Trust)
	require.Regexp(t, "± 0.2, too little to compare models by$", v.Reasons[0])
}

// Effects beside a threshold have more cells than can be looked at: of many the sampler is first, of few it is not.
func TestSamplerFirstOfManyEffects(t *testing.T) {
	for n, want := range map[int]bool{10: false, 60: true} {
		m := graph.NewModel()
		threshold := m.Sample("threshold", graph.Normal(0, 1))
		for k, x := range m.SampleN("x", n, graph.StudentsT(0, 1, 3)) {
			m.Observe("y", graph.Normal(graph.If(graph.Greater(x, threshold), x, 0), 1), float64(k%5)-2)
		}
		first, err := samplerFirst(context.Background(), mustCompile(t, m))
		require.NoError(t, err)
		require.Equal(t, want, first, "%d effects", n)
	}
}
