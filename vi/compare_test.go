package vi

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
)

// conjugate is a normal model of data, whose mean has the given prior sd.
func conjugate(t testing.TB, sd float64, data []float64) *graph.Density {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, sd))
	for _, y := range data {
		m.Observe("y", graph.Normal(x, 1), y)
	}
	return mustCompile(t, m)
}

// The evidence of conjugate models is a closed form, and so are Bayes factors and
// probabilities. The order of the observations does not matter.
func TestCompareClosedForm(t *testing.T) {
	data := []float64{0.4, 1.2, -0.3, 0.9}
	back := slices.Clone(data)
	slices.Reverse(back)
	var fits []*Posterior
	var exact []float64
	for k, sd := range []float64{0.2, 1, 30} {
		d := conjugate(t, sd, [][]float64{data, back}[k%2])
		precision := 4 + 1/(sd*sd)
		sum, squares := floats.Sum(data), floats.Dot(data, data)
		exact = append(exact, -2*math.Log(2*math.Pi)-math.Log(sd*math.Sqrt(precision))-0.5*(squares-sum*sum/precision))
		fits = append(fits, &Posterior{Density: d, Q: family.Independent([]float64{sum / precision}, []float64{1.05 / math.Sqrt(precision)})})
	}
	c, err := Compare(fits...)
	require.NoError(t, err)
	best := floats.MaxIdx(exact)
	require.Equal(t, best, c.Best)
	require.Empty(t, c.Warnings)
	total := floats.LogSumExp(exact)
	sum := 0.0
	for k, m := range c.Models {
		require.Positive(t, m.LogEvidence.SE)
		require.Less(t, m.LogEvidence.SE, 0.01)
		require.InDelta(t, exact[k], m.LogEvidence.Value, 5*m.LogEvidence.SE)
		require.InDelta(t, exact[k]-exact[best], m.LogBayes.Value, 5*m.LogBayes.SE+1e-15)
		require.InDelta(t, math.Exp(exact[k]-total), m.Prob.Value, 5*m.Prob.SE)
		sum += m.Prob.Value
	}
	require.InDelta(t, 1, sum, 1e-12)
}

// Standard errors are those of independent evidences, by differences.
func TestCompareErrors(t *testing.T) {
	c := Comparison{Models: []ModelEvidence{{LogEvidence: Estimate{Value: -3, SE: 0.3}}, {LogEvidence: Estimate{Value: -2, SE: 0.1}}, {LogEvidence: Estimate{Value: -2.5}}}, Best: 1}
	c.weigh()
	variance := 0.0
	for j := range c.Models {
		const h = 1e-5
		var prob [2]float64
		for side, step := range []float64{-h, h} {
			moved := Comparison{Models: slices.Clone(c.Models), Best: 1}
			moved.Models[j].LogEvidence.Value += step
			moved.weigh()
			prob[side] = moved.Models[0].Prob.Value
		}
		variance += math.Pow((prob[1]-prob[0])/(2*h)*c.Models[j].LogEvidence.SE, 2)
	}
	require.InEpsilon(t, math.Sqrt(variance), c.Models[0].Prob.SE, 1e-8)
	require.InEpsilon(t, math.Hypot(0.3, 0.1), c.Models[0].LogBayes.SE, 1e-12)
	require.Zero(t, c.Models[1].LogBayes)
}

// Fits of other data are refused, and a fit that is not to be trusted is named.
func TestCompareRefuses(t *testing.T) {
	data := []float64{0.4, 1.2, -0.3, 0.9}
	fit := func(sd float64, data []float64) *Posterior {
		p, err := Fit(context.Background(), conjugate(t, sd, data), Settings{Seed: *seed})
		require.NoError(t, err)
		return p
	}
	one := fit(1, data)
	for want, fits := range map[string][]*Posterior{
		"fewer than two fits":                       {one},
		"model 2: vi: a nil Posterior":              {one, nil},
		"model 2 has other data than model 1: 3 ob": {one, fit(1, data[:3])},
		"observation 1 is 0.5, not 0.4":             {one, fit(1, []float64{0.5, 1.2, -0.3, 0.9})},
	} {
		_, err := Compare(fits...)
		require.ErrorContains(t, err, "vi: comparing models: ")
		require.ErrorContains(t, err, want)
	}
	far := &Posterior{Density: one.Density, Q: family.Independent([]float64{30}, []float64{0.1})}
	c, err := Compare(one, far)
	require.NoError(t, err)
	require.Len(t, c.Warnings, 1)
	require.Contains(t, c.Warnings[0], "model 2: do not trust: ")
	require.Contains(t, c.String(), "warning: model 2: do not trust: ")
}

// Data in both branches of an If are observed once, whichever is taken; other data in one of
// them cannot be compared.
func TestCompareBranches(t *testing.T) {
	fit := func(other float64) *Posterior {
		m := graph.NewModel()
		x, at := m.Sample("x", graph.Normal(0, 1)), m.Sample("at", graph.Uniform(0, 4))
		for k, y := range []float64{0.4, 1.2, -0.3, 0.9} {
			m.If(graph.Greater(at, float64(k)+0.5), func() {
				m.Observe("y", graph.Normal(x, 1), y)
			}, func() {
				if k == 2 {
					y = other
				}
				m.Observe("late", graph.Normal(0, 1), y)
			})
		}
		p, err := Fit(context.Background(), mustCompile(t, m), Settings{Seed: *seed})
		require.NoError(t, err)
		return p
	}
	one, err := Fit(context.Background(), conjugate(t, 1, []float64{0.4, 1.2, -0.3, 0.9}), Settings{Seed: *seed})
	require.NoError(t, err)
	two := fit(-0.3)
	c, err := Compare(one, two)
	require.NoError(t, err)
	evidence, err := two.LogEvidence()
	require.NoError(t, err)
	require.Equal(t, evidence, c.Models[1].LogEvidence)
	_, err = Compare(one, fit(-0.2))
	require.ErrorContains(t, err, "vi: comparing models: model 2 observes other data in one branch than in another: in the order of their values, observation 0 is -0.")
}
