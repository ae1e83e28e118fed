package vi

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
)

// shortest is the smallest number of steps of a fit of textmsg that ends within 0.1 of
// the best ELBO it can reach, which is returned too: the length that a hand would choose
// who knew it. A fit of n steps takes the first n of a longer one and averages the last
// tenth, so one run and running sums give the ends of all.
func shortest(t *testing.T, d *graph.Density, s Settings, elbo func(family.Q) float64) (steps int, best float64) {
	t.Helper()
	sums := [][]float64{make([]float64, 2*d.Dim())}
	s.climb().Stop, s.climb().Steps = After, 6000
	s.climb().OnStep = func(step Step) error {
		next := slices.Clone(step.Q.Theta())
		for i, x := range sums[len(sums)-1] {
			next[i] += x
		}
		sums = append(sums, next)
		return nil
	}
	p, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	best = min(elbo(p.Q), textMsgBest)
	for n := 1; n < len(sums); n++ {
		tail := max(1, n/10)
		mean := make([]float64, 2*d.Dim())
		for i := range mean {
			mean[i] = (sums[n][i] - sums[n-tail][i]) / float64(tail)
		}
		q := p.Q.Clone()
		q.Set(mean)
		if elbo(q) < best-0.1 {
			continue
		}
		s.climb().OnStep, s.climb().Steps = nil, n
		p, err := Fit(context.Background(), d, s)
		require.NoError(t, err)
		require.Greater(t, elbo(p.Q), best-0.1-1e-6)
		return n, best
	}
	t.Fatal("no fit is long enough")
	return 0, 0
}

const textMsgBest = -292.4179

// Automatic stopping ends within 0.1 of the best ELBO of textmsg, after at most
// twice the steps that the shortest fit needs that does. From the default start
// the steps are counted that led there: those of the short fits that won. A climb from
// the prior's centre may end at another change of level, 4 nats below, however long it is.
func TestAutomaticTextmsg(t *testing.T) {
	long.Skip(t) // it is of many climbs
	spec, d := paperSpec(t, "textmsg")
	elbo := func(q family.Q) float64 { return exactELBO(t, spec, d, q) }
	prior := PriorStart(d)
	for _, c := range []struct {
		name   string
		start  family.Q
		before int
	}{{"the prior's centre", prior, 0}, {"the default start", nil, 400}} {
		elsewhere := 0
		for k := range uint64(4) {
			s := Settings{Seed: *seed + k, Method: Climb{Family: family.MeanField{}, Start: c.start, Stop: Automatic}}
			p, err := Fit(context.Background(), d, s)
			require.NoError(t, err)
			hand, best := shortest(t, d, s, elbo)
			t.Logf("from %s, seed %d: %d steps to %.4f; by hand %d", c.name, s.Seed, p.Steps, elbo(p.Q), hand)
			require.Empty(t, p.Warnings)
			require.Greater(t, elbo(p.Q), best-0.1)
			require.LessOrEqual(t, p.Steps+c.before, 2*(hand+c.before))
			if best < textMsgBest-0.1 {
				elsewhere++
			}
		}
		require.LessOrEqual(t, elsewhere, map[bool]int{true: 0, false: 1}[c.start == nil], c.name)
	}
}

// Stopping does not come before the end: temperature climbs slowly for 16 000
// steps from the prior's centre, nearly all of it by events of probability 1e-6
// and less that become rarer. An automatic fit stays with it.
func TestAutomaticSeesRareRegions(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	spec, d := paperSpec(t, "temperature")
	start := PriorStart(d)
	p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Start: start, Stop: Automatic, Steps: 40000}})
	require.NoError(t, err)
	elbo := exactELBO(t, spec, d, p.Q)
	t.Logf("%d steps to %.3f", p.Steps, elbo)
	requireOnlyVerdict(t, p, TrustNothing) // there are other histories
	require.InDelta(t, -43.58, elbo, 0.05) // the optimum there, by BFGS on the closed form
}

// A fit that crawls along a hard constraint has not settled: it comes to the best
// normal, or warns.
func TestAutomaticHardConstraint(t *testing.T) {
	d, _ := halfNormal(t)
	mean, sd := bestHalfNormal()
	for k := range uint64(6) {
		p, err := Fit(context.Background(), d, Settings{Seed: *seed + k, Method: Climb{Family: family.MeanField{}, Stop: Automatic, Steps: 300000}})
		require.NoError(t, err)
		t.Logf("seed %d, %d steps: mean %.4f, sd %.5f; best %.4f, %.5f", *seed+k, p.Steps, p.Q.Mean(0), p.Q.SD(0), mean, sd)
		if len(p.Warnings) == 0 {
			assert.InEpsilon(t, mean, p.Q.Mean(0), 0.15)
			assert.InEpsilon(t, sd, p.Q.SD(0), 0.15)
		}
	}
}

// Steps that run out are a warning, not a failure; it goes to the log too.
func TestStepsRunOut(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	_, d := paperSpec(t, "textmsg")
	start := PriorStart(d)
	var log bytes.Buffer
	s := Settings{Logger: slog.New(slog.NewTextHandler(&log, nil)), Method: Climb{Start: start, Stop: Automatic, Steps: 260}}
	p, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	require.Equal(t, 260, p.Steps)
	require.Len(t, p.Warnings, 1)
	require.Regexp(t, `not settled in 260 steps: the ELBO changed by .* ± .* tolerance is 0.02`, p.Warnings[0])
	require.Contains(t, log.String(), "level=WARN")
	require.Contains(t, log.String(), "not settled")

	s.climb().Stop = After
	p, err = Fit(context.Background(), d, s)
	require.NoError(t, err)
	require.Len(t, p.Warnings, 1)
	require.Regexp(t, `^the fit has not finished in 260 steps: the ELBO still rose by 2\.\d+ ± [\d.]+ towards the end; resume it with more Steps$`, p.Warnings[0])
	p.Settings.climb().Steps = 10000
	p, err = p.Resume(context.Background())
	require.NoError(t, err)
	requireOnlyVerdict(t, p, TrustNothing) // there are other days
}

// A fit of a given number of steps that is far from its end says so, and so does its
// summary; one that has come there does not.
func TestUnfinished(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	for range 50 {
		m.Observe("y", graph.Normal(x, 1), 20)
	}
	d := mustCompile(t, m)
	for _, f := range long.Or([]family.Family{family.MeanField{}}, allFamilies[:4]) { // a low rank is of two latents and more
		for steps, want := range map[int]int{300: 1, 10000: 0} {
			p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Start: PriorStart(d), Family: f, Steps: steps}})
			require.NoError(t, err)
			require.Len(t, p.Warnings, want, "%s, %d steps: %v", f.Name(), steps, p.Warnings)
			require.Equal(t, want, strings.Count(p.Summary().String(), "has not finished in 300 steps"))
			requireSameFit(t, p, reloaded(t, p, d))
			require.Equal(t, p.Warnings, reloaded(t, p, d).Warnings)
		}
	}
}

// A density without a finite integral has no normal that is nearest to it: its
// scale grows for ever, and the warning says whose.
func TestImproper(t *testing.T) {
	m := graph.NewModel()
	m.Sample("proper", graph.Normal(0, 1))
	x := m.Sample("x", graph.Normal(0, 1))
	m.Factor(graph.Mul(0.5, graph.Square(x)))
	m.Factor(graph.If(graph.Greater(x, 0), 1, 0))
	d := mustCompile(t, m)
	for _, f := range allFamilies {
		if f == (family.Softplus{}) {
			continue // its steps are absolute, and go nowhere in this time
		}
		for _, steps := range []int{300, 3000} {
			p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Start: PriorStart(d), Family: f, Steps: steps}})
			require.NoError(t, err)
			require.Len(t, p.Warnings, 1, "%s, %d steps: sd %v", f.Name(), steps, p.Q.SD(1))
			require.Regexp(t, `has not finished .* The scale of x grew from \S+ to \S+: if that has no end, the posterior is not a distribution$`, p.Warnings[0])
		}
	}
}
