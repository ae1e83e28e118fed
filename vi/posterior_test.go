package vi

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// posteriorOf is a posterior of five latents, of which three are transformed: that of a program without data, which is the prior,
// by draws of a normal near it.
func posteriorOf(t *testing.T) *Posterior {
	m := graph.NewModel()
	m.Sample("x", graph.Normal(0, 1))
	m.Sample("y", graph.Normal(0, 1))
	m.Sample("r", graph.Gamma(2, 1))
	m.Sample("p", graph.Beta(2, 2))
	m.Sample("u", graph.Uniform(-1, 3))
	q := family.Independent([]float64{0.1, -0.2, 0.4, 0.1, -0.1}, []float64{1.1, 1.2, 0.9, 1.2, 1.9})
	return &Posterior{Density: mustCompile(t, m), Q: q}
}

// exactOf are the posteriors of posteriorOf's latents: their priors.
var exactOf = map[string]interface {
	Mean() float64
	StdDev() float64
	Quantile(p float64) float64
}{
	"x": distuv.UnitNormal, "y": distuv.UnitNormal, "r": distuv.Gamma{Alpha: 2, Beta: 1}, "p": distuv.Beta{Alpha: 2, Beta: 2}, "u": distuv.Uniform{Min: -1, Max: 3},
}

// Means, standard deviations, quantiles and draws are those of the posterior, and not those of Q.
func TestPosteriorMoments(t *testing.T) {
	t.Parallel()
	p := posteriorOf(t).known() // it keeps its draws
	draws := drawsOf(t, p, 20000, *seed)
	require.Equal(t, []string{"x", "y", "r", "p", "u"}, draws.Names)
	for i, name := range draws.Names {
		want := exactOf[name]
		mean, err := p.Mean(name)
		require.NoError(t, err)
		vitest.Estimate(t, name, want.Mean(), mean, 0.1*want.StdDev())
		sd, err := p.SD(name)
		require.NoError(t, err)
		vitest.Estimate(t, name, want.StdDev(), sd, 0.1*want.StdDev())
		if i < 2 {
			require.Greater(t, math.Abs(p.Q.SD(i)-want.StdDev()), 5*sd.SE, "Q itself would pass")
		}

		x, err := draws.Of(name)
		require.NoError(t, err)
		drawn, drawnSD := stat.MeanStdDev(x, nil)
		n := float64(len(x))
		require.Less(t, math.Abs(drawn-want.Mean()), 5*want.StdDev()/math.Sqrt(n), name)
		require.Less(t, math.Abs(drawnSD-want.StdDev()), 5*want.StdDev()*math.Sqrt((stat.ExKurtosis(x, nil)+2)/(4*n)), name)

		slices.Sort(x)
		for _, prob := range long.Or([]float64{0.01, 0.5, 0.9}, []float64{0.01, 0.25, 0.5, 0.9, 0.99}) {
			got, err := p.Quantile(name, prob)
			require.NoError(t, err)
			exact := want.Quantile(prob)
			vitest.Estimate(t, fmt.Sprintf("%s at %v", name, prob), exact, got, 0.5*want.StdDev())
			below, _ := slices.BinarySearch(x, exact)
			require.Less(t, math.Abs(float64(below)/n-prob), 5*math.Sqrt(prob*(1-prob)/n), name)
		}
		square, err := p.Expect(func(x []float64) float64 { return x[i] * x[i] })
		require.NoError(t, err)
		vitest.Estimate(t, name, want.Mean()*want.Mean()+want.StdDev()*want.StdDev(), square, 0.3*want.StdDev()*(want.StdDev()+want.Mean()))
	}
}

// A log-normal so wide that its mean is where few draws are: as all weights are equal, it is that of the closed form.
func TestPosteriorWide(t *testing.T) {
	for _, s := range []float64{0.01, 1, 2} {
		m := graph.NewModel()
		m.Sample("r", graph.LogNormal(-1, s))
		p := &Posterior{Density: mustCompile(t, m), Q: family.Independent([]float64{-1}, []float64{s})}
		mean, err := p.Mean("r")
		require.NoError(t, err)
		sd, err := p.SD("r")
		require.NoError(t, err)
		require.InEpsilon(t, math.Exp(-1+s*s/2), mean.Value, 1e-9, "s = %v", s)
		require.InEpsilon(t, math.Exp(-1+s*s/2)*math.Sqrt(math.Expm1(s*s)), sd.Value, 1e-6, "s = %v", s)
	}
}

func TestPosteriorErrors(t *testing.T) {
	t.Parallel()
	p := posteriorOf(t).known()
	for _, f := range []func() (Estimate, error){
		func() (Estimate, error) { return p.Mean("nobody") },
		func() (Estimate, error) { return p.SD("nobody") },
		func() (Estimate, error) { return p.Quantile("nobody", 0.5) },
	} {
		_, err := f()
		require.ErrorContains(t, err, `"nobody"`)
	}
	for _, prob := range []float64{0, 1, -1, 2, math.NaN()} {
		_, err := p.Quantile("x", prob)
		require.Error(t, err)
	}
	_, err := drawsOf(t, p, 1, 1).Of("nobody")
	require.ErrorContains(t, err, `"nobody"`)
	require.Equal(t, drawsOf(t, p, 5, 1), drawsOf(t, p, 5, 1))
	require.NotEqual(t, drawsOf(t, p, 5, 1).Values, drawsOf(t, p, 5, 2).Values)
	none, err := drawsOf(t, p, 0, 1).Of("x")
	require.NoError(t, err)
	require.Empty(t, none)
}

// The ELBO of the paper's models away from where their fits start.
func TestELBO(t *testing.T) {
	for _, c := range []struct {
		name string
		sd   float64 // of all latents
	}{{"proposition", 0.7}, {"textmsg", 0.1}, {"influenza", 0.4}} {
		spec, err := models.ByName(c.name)
		require.NoError(t, err)
		d := mustCompile(t, spec.Model())
		mean := make([]float64, d.Dim())
		for i := range mean {
			mean[i] = spec.ThetaInit[2*i] + 0.1*float64(i%3)
		}
		q := family.Independent(mean, slices.Repeat([]float64{c.sd}, d.Dim()))
		p := &Posterior{Density: d, Q: q}
		e, err := p.ELBO(200000, *seed)
		require.NoError(t, err)
		want := exactELBO(t, spec, d, q)
		require.Less(t, math.Abs(e.Value-want), 5*e.SE, c.name)
		require.Less(t, 5*e.SE, 0.02*math.Abs(want), "%s is inconclusive", c.name)
	}
	require.Equal(t, "-1.5 ± 0.25", Estimate{Value: -1.5, SE: 0.25}.String())
}

// At the posterior itself every draw has the same log r − log q: the ELBO is the
// log evidence, without error.
func TestELBOIsExactAtThePosterior(t *testing.T) {
	m := graph.NewModel()
	m.Sample("x", graph.Normal(3, 2))
	m.Sample("y", graph.Normal(-1, 0.5))
	d := mustCompile(t, m)
	for _, f := range []family.Family{family.MeanField{}, family.Softplus{}, family.Structured{}, family.FullRank{}} {
		p := &Posterior{Density: d, Q: inFamily(t, f, d)}
		e, err := p.ELBO(1024, *seed)
		require.NoError(t, err)
		require.InDelta(t, 0, e.Value, 1e-14, f.Name())
		require.InDelta(t, 0, e.SE, 1e-14, f.Name())
	}
}

// The start follows the priors down the program.
func TestPriorStart(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(2, 0.5))
	m.Sample("y", graph.Normal(graph.Mul(3, x), 2))
	m.Sample("r", graph.LogNormal(-1, 0.3))
	q := PriorStart(mustCompile(t, m))
	for i, want := range []float64{2, 6, -1} {
		require.InDelta(t, want, q.Mean(i), 1e-12)
	}
	require.InDelta(t, 0.5, q.SD(0), 1e-12)
	require.InDelta(t, 0.3, q.SD(2), 1e-12)
}

// A guard that is made after a fit is asked for, and everything else of the fit is
// as it was.
func TestGuardAfterFit(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Observe("y", graph.Normal(graph.If(graph.Greater(x, 0.5), x, 0), 1), 1)
	d := mustCompile(t, m)
	p, err := Fit(context.Background(), d, Settings{Method: Climb{Steps: 50}})
	require.NoError(t, err)
	ask := func() []any {
		predicted, err := p.Predict(100, 1)
		require.NoError(t, err)
		sides, err := p.Sides()
		require.NoError(t, err)
		summary := p.Summary().String()
		var file bytes.Buffer
		require.NoError(t, p.Save(&file))
		y, err := predicted.Of("y")
		require.NoError(t, err)
		return []any{file.String(), y, summary, drawsOf(t, p, 10, 1).Values, sides[0].Condition, sides[0].Prob}
	}
	before := ask()
	prob, err := p.Prob(graph.Greater(x, 1.25))
	require.NoError(t, err)
	quantile, err := p.Quantile("x", 1-prob.Value)
	require.NoError(t, err)
	require.InDelta(t, 1.25, quantile.Value, quantile.SE)
	for k, x := range ask() {
		require.Equal(t, before[k], x)
	}
}
