package vi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
)

// Counts of categories with a Dirichlet prior on their shares: the posterior is the Dirichlet of prior and counts, and the evidence the ratio
// of their constants. Its shares are in the summary.
func TestDirichletPosterior(t *testing.T) {
	t.Parallel()
	alpha, counts := []float64{1, 2, 0.5}, []float64{3, 11, 6}
	m := graph.NewModel()
	for k, theta := range m.SampleVector("theta", graph.Dirichlet(alpha...)) {
		m.Factor(graph.Mul(counts[k], graph.Log(theta)))
	}
	p, err := Fit(context.Background(), mustCompile(t, m), Settings{Seed: *seed})
	require.NoError(t, err)

	log, total := 0.0, 0.0
	var priorSum, sum float64
	for k, a := range alpha {
		gain, _ := math.Lgamma(a + counts[k])
		loss, _ := math.Lgamma(a)
		log += gain - loss
		priorSum += a
		sum += a + counts[k]
	}
	gain, _ := math.Lgamma(priorSum)
	loss, _ := math.Lgamma(sum)
	log += gain - loss
	e, err := p.LogEvidence()
	require.NoError(t, err)
	require.InDelta(t, log, e.Value, 0.02)

	s := p.Summary()
	require.Empty(t, s.Latents) // the parts of the stick are none of the program's
	require.Len(t, s.Vectors, 3)
	for k, x := range s.Vectors {
		a := alpha[k] + counts[k]
		mean := a / sum
		sd := math.Sqrt(mean * (1 - mean) / (sum + 1))
		require.InDelta(t, mean, x.Mean.Value, 5*x.Mean.SE, x.Name)
		require.Less(t, x.Mean.SE, 0.01*sd, "inconclusive")
		require.InDelta(t, sd, x.SD.Value, 5*x.SD.SE, x.Name)
		require.InDelta(t, mathext.InvRegIncBeta(a, sum-a, 0.05), x.Q5.Value, 5*x.Q5.SE, x.Name)
		require.InDelta(t, mathext.InvRegIncBeta(a, sum-a, 0.95), x.Q95.Value, 5*x.Q95.SE, x.Name)
		total += x.Mean.Value

		// They can be asked for by their names.
		m, err := p.Mean(x.Name)
		require.NoError(t, err)
		require.Equal(t, x.Mean, m)
		m, err = p.SD(x.Name)
		require.NoError(t, err)
		require.Equal(t, x.SD, m)
		m, err = p.Quantile(x.Name, 0.95)
		require.NoError(t, err)
		require.Equal(t, x.Q95, m)
		of, err := drawsOf(t, p, 4000, 1).Of(x.Name)
		require.NoError(t, err)
		require.InDelta(t, mean, stat.Mean(of, nil), 5*sd/math.Sqrt(4000))
	}
	_, err = p.Mean("theta[3]")
	require.ErrorContains(t, err, `no latent "theta[3]" in the model`)
	require.InDelta(t, 1, total, 1e-12)
	require.NotEmpty(t, s.Correlations)
	for _, c := range s.Correlations { // −√(a·b/((n − a)·(n − b)))
		require.Contains(t, c.A+c.B, "theta[1]") // the others' is −0.23
		other := map[bool]int{true: 0, false: 2}[c.A == "theta[0]" || c.B == "theta[0]"]
		a, b := alpha[1]+counts[1], alpha[other]+counts[other]
		require.InDelta(t, -math.Sqrt(a*b/((sum-a)*(sum-b))), c.Value, 0.03, "%v", c)
	}
	require.Regexp(t, `vector +mean +± se +sd +5% +50% +95%\ntheta\[0\] +0\.1`, s.String())
	some, err := s.Of("theta")
	require.NoError(t, err)
	require.Equal(t, s.Vectors, some.Vectors)
	require.Empty(t, some.Latents)
	_, err = s.Of("theta_stick")
	require.ErrorContains(t, err, `no parameter, latent or guard "theta_stick" in the summary`)
}
