package vi

import (
	"context"
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mixture"
	"github.com/facetvi/facet/vi/weighted"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

func mustCompile(t testing.TB, m *graph.Model) *graph.Density {
	t.Helper()
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

func paperSpec(t testing.TB, name string) (models.Spec, *graph.Density) {
	t.Helper()
	spec, err := models.ByName(name)
	require.NoError(t, err)
	return spec, mustCompile(t, spec.Model())
}

// exactELBO is the closed form of the ELBO at independent normals q.
func exactELBO(t testing.TB, spec models.Spec, d *graph.Density, q family.Q) float64 {
	t.Helper()
	paper, err := family.Of(family.Softplus{}, d, q)
	require.NoError(t, err)
	return spec.Oracle.ELBO(paper.Theta())
}

// inFamily is a start of family f as wide as the prior.
func inFamily(t testing.TB, f family.Family, d *graph.Density) family.Q {
	t.Helper()
	q, err := family.Of(f, d, PriorStart(d))
	require.NoError(t, err)
	return q
}

// drawsOf are n draws of the posterior with equal weights.
func drawsOf(t testing.TB, p *Posterior, n int, seed uint64) Draws {
	t.Helper()
	draws, err := p.Draws(n, seed)
	require.NoError(t, err)
	return draws
}

// weighted draws that owe nothing to those of the fit but its proposal.
func otherSample(t testing.TB, p *Posterior, n int, seed uint64) *Sample {
	t.Helper()
	q, _ := p.proposal(context.Background())
	s, err := weighted.Draw(context.Background(), p.Density, q, n, seed)
	require.NoError(t, err)
	return s
}

// values are estimates without their standard errors.
func values(list []Estimate) []float64 {
	out := make([]float64, len(list))
	for k, e := range list {
		out[k] = e.Value
	}
	return out
}

// allFamilies are those that a saved fit can have.
var allFamilies = []family.Family{
	family.MeanField{}, family.Softplus{}, family.Structured{}, family.FullRank{}, family.LowRank{Rank: 2},
}

// climb is the Climb of s, to be changed.
func (s *Settings) climb() *Climb {
	c, ok := s.Method.(*Climb)
	if !ok {
		c = new(Climb)
		*c, _ = s.Method.(Climb)
		s.Method = c
	}
	return c
}

// methodOf is the way to a posterior in f.
func methodOf(f family.Family) Method {
	if f == family.Family(mixture.Cells{}) {
		return Cells{}
	}
	return Climb{Family: f}
}
