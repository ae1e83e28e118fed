package scout_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/scout"
)

func compiled(t *testing.T, m *graph.Model) *graph.Density {
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// normalMean has one normal latent and one normal observation.
func normalMean(y float64) (m *graph.Model, x graph.Expr, evidence float64) {
	m = graph.NewModel()
	x = m.Sample("x", graph.Normal(1, 2))
	m.Observe("y", graph.Normal(x, 0.1), y)
	return m, x, distuv.Normal{Mu: 1, Sigma: math.Sqrt(4.01)}.LogProb(y)
}

// rates has a gamma rate and a count.
func rates() (*graph.Model, float64) {
	m := graph.NewModel()
	m.Observe("n", graph.Poisson(m.Sample("rate", graph.Gamma(2.5, 0.5))), 40)
	gamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	return m, gamma(42.5) - gamma(2.5) - gamma(41) + 2.5*math.Log(1.0/3) + 40*math.Log(2.0/3)
}

// flipped has a latent that follows the side of another, far apart: residuals
// cross the guard, and steps in z do not.
func flipped() (*graph.Model, float64) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	mean := graph.If(graph.Greater(x, 1), 10, -10)
	y := m.Sample("y", graph.Normal(mean, 0.01))
	m.Observe("data", graph.Normal(y, 4), 8)
	p := distuv.UnitNormal.Survival(1)
	n := distuv.Normal{Mu: 8, Sigma: math.Hypot(4, 0.01)}
	return m, math.Log(p*n.Prob(10) + (1-p)*n.Prob(-10))
}

// hard has a factor that excludes most of the prior.
func hard() (*graph.Model, float64) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(x, 2), 0.5, graph.Log(graph.Mul(0, graph.Square(x)))))
	return m, 0.5 + math.Log(distuv.UnitNormal.Survival(2))
}

// The mean of the estimates over seeds is within 4 standard errors of the exact
// evidence. The standard error is small enough, and honest: over the seeds the
// sum of squares of (estimate − exact)/SE is what Student's t with an island less
// than there are would make it, up to a factor of 2.
func TestEvidence(t *testing.T) {
	long.Skip(t)
	normal, _, evidence := normalMean(3)
	gamma, gammaEvidence := rates()
	flip, flipEvidence := flipped()
	cut, cutEvidence := hard()
	textmsg := models.TextMsg()
	const seeds = 24
	for _, c := range []struct {
		name           string
		m              *graph.Model
		evidence, most float64
	}{
		{"normal", normal, evidence, 0.05},
		{"gamma", gamma, gammaEvidence, 0.05},
		{"flipped", flip, flipEvidence, 0.05},
		{"hard", cut, cutEvidence, 0.1},
		{"textmsg", textmsg, -291.96234, 0.25},
	} {
		d := compiled(t, c.m)
		var mean, variance, z mc.Moments
		for seed := range uint64(seeds) {
			r, err := scout.Run(context.Background(), d, scout.Settings{Seed: seed})
			require.NoError(t, err)
			mean.Add(r.LogEvidence.Value)
			variance.Add(r.LogEvidence.SE * r.LogEvidence.SE)
			z.Add(math.Pow((r.LogEvidence.Value-c.evidence)/r.LogEvidence.SE, 2))
		}
		claimed := math.Sqrt(variance.Mean)
		t.Logf("%s: %.4f, exact %.4f; spread %.4f, claimed %.4f, mean of z² %.2f", c.name, mean.Mean, c.evidence, math.Sqrt(mean.Variance()), claimed, z.Mean)
		require.InDelta(t, c.evidence, mean.Mean, 4*claimed/math.Sqrt(seeds), c.name)
		require.Less(t, claimed, c.most, c.name)
		require.InDelta(t, math.Log(7.0/5), math.Log(z.Mean), math.Log(2)+0.2, c.name)
	}
}

// Many draws from a prior far wider than the posterior are tempered as few are.
func TestManyDraws(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Observe("y", graph.Normal(x, 1e-6), 0.5)
	r, err := scout.Run(context.Background(), compiled(t, m), scout.Settings{Particles: 1024, Moves: 6})
	require.NoError(t, err)
	require.InDelta(t, distuv.UnitNormal.LogProb(0.5), r.LogEvidence.Value, 4*r.LogEvidence.SE)
	require.Less(t, r.LogEvidence.SE, 0.2)
}

// Without data or with only a constant the evidence is known.
func TestEvidenceOfNothing(t *testing.T) {
	m := graph.NewModel()
	m.Sample("x", graph.Normal(0, m.Sample("s", graph.HalfNormal(1))))
	for _, factor := range []float64{0, -3.5} {
		m.Factor(factor)
		r, err := scout.Run(context.Background(), compiled(t, m), scout.Settings{Particles: 16})
		require.NoError(t, err)
		require.InDelta(t, factor, r.LogEvidence.Value, 1e-12)
		require.InDelta(t, 0, r.LogEvidence.SE, 1e-12)
	}
}

// levelShift has a level that shifts by 0.5 after 150 of 200 numbers, and a decoy
// after 40 that is half as large.
func levelShift() *graph.Model {
	rng := rand.New(rand.NewPCG(5, 5))
	m := graph.NewModel()
	change := m.Sample("change", graph.Uniform(0, 200))
	before, after := m.Sample("before", graph.Normal(0, 1)), m.Sample("after", graph.Normal(0, 1))
	noise := m.Sample("noise", graph.HalfNormal(1))
	for i := range 200 {
		y := 0.2 * rng.NormFloat64()
		if i > 150 {
			y += 0.5
		} else if i < 40 {
			y -= 0.25
		}
		m.Observe("y", graph.Normal(graph.If(graph.Less(i, change), before, after), noise), y)
	}
	return m
}

// The shift is found by every seed, not the decoy.
func TestShift(t *testing.T) {
	d := compiled(t, levelShift())
	for seed := range long.Or[uint64](1, 5) {
		r, err := scout.Run(context.Background(), d, scout.Settings{Seed: seed})
		require.NoError(t, err)
		near := 0.0
		for _, z := range r.Z {
			if change := d.Coordinate(0).Value(z[0]); math.Abs(change-150.5) < 8 {
				near++
			}
		}
		require.Greater(t, near/float64(len(r.Z)), 0.9, "seed %d", seed)
	}
}

// A run depends on its seed alone, and its draws have the density that it says.
func TestSameOnAnyProcessors(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Gamma(2, 2))
	y := m.Sample("y", graph.Normal(graph.If(graph.Greater(x, 1), x, -1), x))
	m.Observe("data", graph.Normal(y, 0.5), 0.3)
	d := compiled(t, m)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first scout.Result
	for p := 1; p <= 2; p++ {
		runtime.GOMAXPROCS(p)
		r, err := scout.Run(context.Background(), d, scout.Settings{Seed: 3, Particles: 64, Islands: 3})
		require.NoError(t, err)
		if p == 1 {
			first = r
		}
		require.Equal(t, first, r)
	}
	other, err := scout.Run(context.Background(), d, scout.Settings{Seed: 4, Particles: 64, Islands: 3})
	require.NoError(t, err)
	require.NotEqual(t, first.LogEvidence, other.LogEvidence)
	require.Len(t, first.LogProb, len(first.Z))
	require.Len(t, first.Island, len(first.Z))
	for k, z := range first.Z {
		want, err := d.LogProb(z)
		require.NoError(t, err)
		require.InEpsilon(t, want, first.LogProb[k], 1e-9)
	}
}

// Progress rises to 1, and a context stops a run.
func TestProgress(t *testing.T) {
	m, _, _ := normalMean(3)
	d := compiled(t, m)
	told := []float64{0}
	s := scout.Settings{Particles: 32, Progress: func(beta float64) {
		require.Greater(t, beta, told[len(told)-1])
		told = append(told, beta)
	}}
	_, err := scout.Run(context.Background(), d, s)
	require.NoError(t, err)
	require.Equal(t, 1.0, told[len(told)-1])

	ctx, cancel := context.WithCancel(context.Background())
	s.Progress = func(float64) { cancel() }
	_, err = scout.Run(ctx, d, s)
	require.ErrorIs(t, err, context.Canceled)
}

// What cannot be worked with is an error.
func TestErrors(t *testing.T) {
	m, x, _ := normalMean(3)
	d := compiled(t, m)
	for _, s := range []scout.Settings{{Islands: 1}, {Particles: -1}, {Moves: 2}, {Particles: 1 << 40}} {
		_, err := scout.Run(context.Background(), d, s)
		require.Error(t, err)
	}
	_, err := scout.Run(context.Background(), nil, scout.Settings{})
	require.Error(t, err)
	m.Factor(graph.Log(graph.Mul(-1, graph.Square(x))))
	_, err = scout.Run(context.Background(), compiled(t, m), scout.Settings{})
	require.ErrorIs(t, err, scout.ErrNowhere)
}

// A run whose time is over has draws of the prior, each with its log r, and says so; one
// with time enough is the same as one without a limit.
func TestOver(t *testing.T) {
	m, _, evidence := normalMean(0.9)
	d := compiled(t, m)
	cut, err := scout.Run(context.Background(), d, scout.Settings{Seed: 1, Over: func() bool { return true }})
	require.NoError(t, err)
	require.Zero(t, cut.Beta)
	require.NotEmpty(t, cut.Z)
	x, err := d.Executor(1, graph.Compute{Out: true})
	require.NoError(t, err)
	mean := mc.Moments{}
	for k, z := range cut.Z {
		mean.Add(z[0])
		copy(x.Z, z)
		require.NoError(t, x.Run())
		require.InDelta(t, x.Out[0], cut.LogProb[k], 1e-9)
	}
	e := mean.Estimate()
	require.InDelta(t, 1, e.Value, 5*e.SE)
	require.Zero(t, cut.LogEvidence.Value) // of the data to the power of 0

	want, err := scout.Run(context.Background(), d, scout.Settings{Seed: 1})
	require.NoError(t, err)
	got, err := scout.Run(context.Background(), d, scout.Settings{Seed: 1, Over: func() bool { return false }})
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, 1.0, got.Beta)
	require.InDelta(t, evidence, got.LogEvidence.Value, 5*got.LogEvidence.SE)
}

// A wall of −1e200 is passed at temperatures whose squares are no numbers.
func TestWall(t *testing.T) {
	m := graph.NewModel()
	m.Factor(graph.If(graph.Greater(m.Sample("x", graph.Normal(0, 1)), 0), 0, -1e200))
	r, err := scout.Run(context.Background(), compiled(t, m), scout.Settings{Seed: 1})
	require.NoError(t, err)
	require.InDelta(t, -math.Ln2, r.LogEvidence.Value, 5*r.LogEvidence.SE)
	require.Less(t, r.LogEvidence.SE, 0.02)
}

// Chains that stay at one value of a discrete latent tell how much of the evidence that has.
func TestWithin(t *testing.T) {
	m := graph.NewModel()
	b, x := m.Sample("b", graph.Bernoulli(0.3)), m.Sample("x", graph.Normal(0, 1))
	m.Observe("y", graph.Normal(graph.Add(x, graph.Mul(2, b)), 1), 1.5)
	d, err := m.Compile()
	require.NoError(t, err)
	i, ok := d.Latent("b")
	require.True(t, ok)
	_, cuts := d.Values(i)
	r, err := scout.Run(context.Background(), d, scout.Settings{Seed: 1, Within: &scout.Within{Latent: i, Above: cuts[0], To: math.Inf(1)}})
	require.NoError(t, err)
	for _, z := range r.Z {
		require.Greater(t, z[i], cuts[0])
	}
	exact := math.Log(0.3) + distuv.Normal{Mu: 2, Sigma: math.Sqrt2}.LogProb(1.5)
	require.InDelta(t, exact, r.LogEvidence.Value, 4*r.LogEvidence.SE)
	require.Less(t, r.LogEvidence.SE, 0.1)
}
