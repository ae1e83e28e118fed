//go:build long

package vi

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// A strong prior far from the data matters, and a weak one does not; nor does any to what the data tell.
func TestSensitivity(t *testing.T) {
	t.Parallel()
	fit := func(mean, sd float64) *Posterior {
		m := graph.NewModel()
		level := m.SampleN("level", 2, graph.Normal(mean, sd))
		scale := m.Sample("scale", graph.Exponential(0.01))
		for i, y := range []float64{4.1, 5.2, 4.8, 5.6, 4.4, 5.1, 4.9, 5.3} {
			m.Observe("y", graph.Normal(level[i%2], scale), y)
		}
		m.Deterministic("gap", graph.Sub(level[1], level[0]))
		p, err := Fit(context.Background(), mustCompile(t, m), Settings{Seed: *seed})
		require.NoError(t, err)
		return p
	}
	strong, err := fit(0, 1).Sensitivity("level[0]")
	require.NoError(t, err)
	require.Equal(t, []string{"level", "scale", "likelihood"}, strong.Parts)
	require.Contains(t, strong.String(), "the prior of level matters to level[0]")
	require.Contains(t, strong.String(), "pull the other way")
	require.Negative(t, strong.Shift[0][0])
	wide := fit(0, 100)
	weak, err := wide.Sensitivity()
	require.NoError(t, err)
	require.Equal(t, "no prior matters to level[0], level[1], scale, gap\n", weak.String())
	_, err = wide.Sensitivity("none")
	require.ErrorContains(t, err, `vi: no latent or expression "none"`)
}
