package gradient_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// denseCase is a model whose guards cross one another on all latents, a member of
// the paper's family and the ELBO's gradient there.
func denseCase(t testing.TB, c vitest.DenseCase) (d *graph.Density, q family.Q, want []float64) {
	model, mean, sd := vitest.NewDense(c)
	want = model.Gradient(mean, sd)
	for i, s := range sd {
		want[2*i+1] *= slope(s)
	}
	return vitest.Compile(t, model.Model()), softplus(mean, sd), want
}

// Every form of the estimator has the closed form's gradient as its mean, in
// every component, to a fiftieth of the largest; reparameterization does not.
func TestDenseGradient(t *testing.T) {
	t.Parallel()
	cases := vitest.DenseCases
	cases = cases[:long.Or(1, len(cases))]
	for _, c := range cases {
		t.Run(fmt.Sprintf("%d latents %d guards", c.Latents, c.Guards), func(t *testing.T) {
			d, q, want := denseCase(t, c)
			require.Equal(t, c.Guards, d.Arrangement().Len())
			for name, e := range gradient.Boundaries() {
				s := gradientOf(t, d, q, e, 20000)
				require.Less(t, maxZ(t, s, want, vitest.Precision(0.02)), 5.0, name)
				t.Logf("%-26s Avg(V) %.3g, V(norm) %.3g", name, s.AvgVar, s.NormVar)
			}
			require.Greater(t, maxZ(t, gradientOf(t, d, q, gradient.Reparam{}, 4000), want, vitest.Precision(0.02)), 5.0,
				"reparameterization alone must be rejected")
		})
	}
}
