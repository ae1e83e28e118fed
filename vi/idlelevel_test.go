//go:build long

package vi

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
)

// A change of rate that may be outside of the data leaves a rate without any, as wide as its prior: rare as that is, standard
// deviations have it, also of many data.
func TestChangeOutsideOfManyData(t *testing.T) {
	const n, beyond = 320, 20
	rng := rand.New(rand.NewPCG(4, 4))
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(-beyond, n+beyond))
	before, after := m.Sample("before", graph.Exponential(0.1)), m.Sample("after", graph.Exponential(0.1))
	sums := make([]float64, n+1) // of the counts before
	for i := range n {
		rate := 2.0
		if i >= 250 {
			rate = 2.6
		}
		y, u := 0.0, rng.Float64()
		for part, below := math.Exp(-rate), math.Exp(-rate); u > below; below += part {
			y++
			part *= rate / y
		}
		sums[i+1] = sums[i] + y
		m.Observe("count", graph.Poisson(graph.If(graph.Greater(float64(i), when), after, before)), y)
	}
	evidence := func(k int, sum float64) float64 { // of k counts, but for a constant
		l, _ := math.Lgamma(sum + 1)
		return l - (sum+1)*math.Log(float64(k)+0.1)
	}
	p, means, squares := make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	for k := range p { // counts are before the change
		p[k] = evidence(k, sums[k]) + evidence(n-k, sums[n]-sums[k])
		means[k] = (sums[k] + 1) / (float64(k) + 0.1)
		squares[k] = means[k] * (sums[k] + 2) / (float64(k) + 0.1)
	}
	p[0] += math.Log(beyond)
	p[n] += math.Log(beyond + 1)
	total := floats.LogSumExp(p)
	for k := range p {
		p[k] = math.Exp(p[k] - total)
	}
	mean := floats.Dot(p, means)
	exact := math.Sqrt(floats.Dot(p, squares) - mean*mean)
	d, err := m.Compile()
	require.NoError(t, err)
	fit, err := Fit(context.Background(), d, Settings{Seed: *seed})
	require.NoError(t, err)
	sd, err := fit.SD("before")
	require.NoError(t, err)
	require.Less(t, sd.SE, 0.03*exact)
	require.InDelta(t, exact, sd.Value, 5*sd.SE+0.01*exact)
	never, err := fit.Prob(graph.Less(when, 0))
	require.NoError(t, err)
	require.InDelta(t, p[0], never.Value, 5*never.SE+0.05*p[0])
}
