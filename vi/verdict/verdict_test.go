package verdict

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/weighted"
)

// Without a log evidence that is a number nothing is trusted.
func TestNoEvidence(t *testing.T) {
	for _, log := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1.6} {
		s := &weighted.Sample{LogEvidence: mc.Estimate{Value: log}}
		j := judgement{Verdict: Verdict{Trust: TrustFit}, s: s, other: anotherSeed}
		j.sample.Beta, j.sample.LogEvidence = 1, mc.Estimate{Value: -50, SE: 0.1}
		j.evidence()
		const what = "log r is infinite, or no number"
		if log == -1.6 {
			require.NotContains(t, j.Verdict.String(), what)
			continue
		}
		require.Equal(t, TrustNothing, j.Trust, "%v", log)
		require.Contains(t, j.Verdict.String(), what)
	}
}

// Components of vectors are judged, and not the latents that they are computed from.
func TestNumbersOfVectors(t *testing.T) {
	m := graph.NewModel()
	m.SampleVector("theta", graph.Dirichlet(1, 2, 0.5))
	d := vitest.Compile(t, m)
	center, scale := d.PriorStart()
	q := family.Independent(center, scale)
	s, err := weighted.Draw(context.Background(), d, q, 1000, 1)
	require.NoError(t, err)
	moments := make([]Moments, d.Dim())
	for i := range moments {
		moments[i].Mean, moments[i].SD = s.Moments(i)
	}
	var judged []string
	for _, x := range NumbersOf(s, moments, []Guard{{What: "a > b", SE: 0.1}}).list() {
		judged = append(judged, x.what)
	}
	require.Equal(t, []string{
		"the standard deviation of theta[0]", "the mean of theta[0]", "the standard deviation of theta[1]", "the mean of theta[1]",
		"the standard deviation of theta[2]", "the mean of theta[2]", "the probability of a > b",
	}, judged)
}
