//go:build long

package vi

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi/family"
)

// From the default start correlated normals end where they should: in textmsg, whose
// posterior has hardly a correlation, at the mean field's ELBO, in influenza, where most
// latents depend on one another, far above it, and in temperature, a chain, full rank knows
// no more than the chain's own dependencies.
func TestDefaultStartOfCorrelated(t *testing.T) {
	elbo := func(model string, f family.Family) float64 {
		_, d := paperSpec(t, model)
		p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Family: f}})
		require.NoError(t, err)
		rare, err := p.RareSides(10_000, *seed)
		require.NoError(t, err)
		t.Logf("%s, %s: %v", model, f.Name(), rare.Corrected)
		require.Less(t, rare.Corrected.SE, 0.03, "inconclusive")
		return rare.Corrected.Value
	}
	assert.InDelta(t, -292.42, elbo("textmsg", family.FullRank{}), 0.05)
	assert.Greater(t, elbo("influenza", family.FullRank{}), -23.0)
	structured := elbo("temperature", family.Structured{})
	assert.Greater(t, structured, -41.0)
	assert.InDelta(t, elbo("temperature", family.FullRank{}), structured, 0.2)
}
