package vi

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
)

// posteriorOf is a posterior of five latents, of which three are transformed.
func posteriorOf(t *testing.T) *Posterior {
	m := graph.NewModel()
	m.Sample("x", graph.Normal(0, 1))
	m.Sample("y", graph.Normal(0, 1))
	m.Sample("r", graph.Gamma(2, 1))
	m.Sample("p", graph.Beta(2, 2))
	m.Sample("u", graph.Uniform(-1, 3))
	q := family.Independent([]float64{0.3, -0.2, 0.4, -0.5, 0.6}, []float64{0.8, 1.3, 0.5, 0.9, 1.1})
	return &Posterior{Density: mustCompile(t, m), Q: q}
}

// expect is E[f(μ + s·ε)] by the trapezoidal rule, exact to rounding for smooth f.
func expect(mu, s float64, f func(u float64) float64) float64 {
	const h = 1.0 / 64
	sum := 0.0
	for e := -10.0; e <= 10; e += h {
		sum += h * distuv.UnitNormal.Prob(e) * f(mu+s*e)
	}
	return sum
}

func logistic(u float64) float64 { return 1 / (1 + math.Exp(-u)) }

func TestPosteriorMoments(t *testing.T) {
	p := posteriorOf(t)
	draws := p.Draws(200000, *seed)
	require.Equal(t, []string{"x", "y", "r", "p", "u"}, draws.Names)
	of := map[string]func(u float64) float64{
		"x": func(u float64) float64 { return u },
		"y": func(u float64) float64 { return u },
		"r": math.Exp,
		"p": logistic,
		"u": func(u float64) float64 { return -1 + 4*logistic(u) },
	}
	for i, name := range draws.Names {
		f, mu, s := of[name], p.Q.Mean(i), p.Q.SD(i)
		mean, err := p.Mean(name)
		require.NoError(t, err)
		sd, err := p.SD(name)
		require.NoError(t, err)
		want := expect(mu, s, f)
		wantSD := math.Sqrt(expect(mu, s, func(u float64) float64 { return (f(u) - want) * (f(u) - want) }))
		require.InEpsilon(t, want, mean, 1e-9, name)
		require.InEpsilon(t, wantSD, sd, 1e-9, name)
		if name == "r" { // is log-normal
			require.InEpsilon(t, math.Exp(mu+s*s/2), mean, 1e-12)
			require.InEpsilon(t, math.Sqrt(math.Expm1(s*s))*math.Exp(mu+s*s/2), sd, 1e-9)
		}

		x, err := draws.Of(name)
		require.NoError(t, err)
		drawn, drawnSD := stat.MeanStdDev(x, nil)
		kurtosis := stat.ExKurtosis(x, nil)
		n := float64(len(x))
		require.Less(t, math.Abs(drawn-mean), 5*sd/math.Sqrt(n), name)
		require.Less(t, math.Abs(drawnSD-sd), 5*sd*math.Sqrt((kurtosis+2)/(4*n)), name)

		slices.Sort(x)
		for _, prob := range []float64{0.01, 0.25, 0.5, 0.9, 0.999} {
			got, err := p.Quantile(name, prob)
			require.NoError(t, err)
			require.InDelta(t, f(mu+s*distuv.UnitNormal.Quantile(prob)), got, 1e-12, name)
			below, _ := slices.BinarySearch(x, got)
			require.Less(t, math.Abs(float64(below)/n-prob), 5*math.Sqrt(prob*(1-prob)/n), name)
		}
	}
}

// A log-normal so wide that few nodes of a quadrature reach where its mean is.
func TestPosteriorWide(t *testing.T) {
	m := graph.NewModel()
	m.Sample("r", graph.LogNormal(0, 1))
	m.Sample("p", graph.Beta(1, 1))
	for _, s := range []float64{0.01, 1, 2, 3} {
		p := &Posterior{Density: mustCompile(t, m), Q: family.Independent([]float64{-1, 0.5}, []float64{s, s})}
		mean, err := p.Mean("r")
		require.NoError(t, err)
		sd, err := p.SD("r")
		require.NoError(t, err)
		require.InEpsilon(t, math.Exp(-1+s*s/2), mean, 1e-9, "s = %v", s)
		require.InEpsilon(t, math.Exp(-1+s*s/2)*math.Sqrt(math.Expm1(s*s)), sd, 1e-6, "s = %v", s)
		mean, err = p.Mean("p")
		require.NoError(t, err)
		require.InEpsilon(t, expect(0.5, s, logistic), mean, 1e-4, "s = %v", s)
	}
}

func TestPosteriorErrors(t *testing.T) {
	p := posteriorOf(t)
	for _, f := range []func() (float64, error){
		func() (float64, error) { return p.Mean("nobody") },
		func() (float64, error) { return p.SD("nobody") },
		func() (float64, error) { return p.Quantile("nobody", 0.5) },
	} {
		v, err := f()
		require.ErrorContains(t, err, `"nobody"`)
		require.True(t, math.IsNaN(v))
	}
	for _, prob := range []float64{0, 1, -1, 2, math.NaN()} {
		_, err := p.Quantile("x", prob)
		require.Error(t, err)
	}
	_, err := p.Draws(1, 1).Of("nobody")
	require.ErrorContains(t, err, `"nobody"`)
	require.Equal(t, p.Draws(5, 1), p.Draws(5, 1))
	require.NotEqual(t, p.Draws(5, 1).Values, p.Draws(5, 2).Values)
	none, err := p.Draws(0, 1).Of("x")
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
	p, err := Fit(context.Background(), d, Settings{Steps: 50})
	require.NoError(t, err)
	ask := func() []any {
		var file bytes.Buffer
		require.NoError(t, p.Save(&file))
		predicted, err := p.Predict(100, 1)
		require.NoError(t, err)
		return []any{file.String(), predicted, p.Summary().String(), p.Draws(10, 1), p.Sides()}
	}
	before := ask()
	prob, err := p.Prob(graph.Greater(x, 1.25))
	require.NoError(t, err)
	quantile, err := p.Quantile("x", 1-prob)
	require.NoError(t, err)
	require.InDelta(t, 1.25, quantile, 1e-9)
	require.Equal(t, before, ask())
}
