package calibration

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// everyCase are the collection, the level shifts, and the large cases.
func everyCase() []Case { return Cases() }

// logJacobian is Σ log|dx/dz| at the latents x, whose coordinates are z, from the
// ends of their supports.
func logJacobian(d *graph.Density, x []float64) (sum float64) {
	for i, v := range x {
		lo, hi := d.ConstrainOne(i, -800), d.ConstrainOne(i, 800)
		switch {
		case !d.Transformed(i):
		case math.IsInf(hi, 1):
			sum += math.Log(v)
		default:
			sum += math.Log((v - lo) / (hi - lo) * (hi - v))
		}
	}
	return sum
}

// The program's density is the oracle's joint density, at draws from the prior.
func TestJointAgainstDensity(t *testing.T) {
	rng := source(1)
	for _, c := range everyCase() {
		finite := 0
		for range 40 {
			z := c.Density.PriorDraw(nil, rng)
			x := c.Density.Constrain(z)
			want := c.LogJoint(x) + logJacobian(c.Density, x)
			got, err := c.Density.LogProb(z)
			require.NoError(t, err, c.Name)
			if math.IsInf(want, -1) || math.IsNaN(want) {
				continue
			}
			finite++
			assert.InDelta(t, want, got, 1e-9*(1+math.Abs(want)), c.Name)
		}
		assert.Greater(t, finite, 30, c.Name)
	}
}

// Half the steps of quadrature, in wider ranges, give the same posterior.
func TestConverged(t *testing.T) {
	for _, c := range everyCase() {
		fine := c.solve(2)
		assert.InDelta(t, fine.LogEvidence, c.Exact.LogEvidence, 1e-8, c.Name)
		require.NotEmpty(t, c.Exact.Mean, c.Name)
		for name, mean := range c.Exact.Mean {
			sd := c.Exact.SD[name]
			require.Greater(t, sd, 0.0, c.Name)
			assert.InDelta(t, fine.Mean[name], mean, 1e-6*sd, "%s: mean of %s", c.Name, name)
			assert.InEpsilon(t, fine.SD[name], sd, 1e-6, "%s: sd of %s", c.Name, name)
		}
		for name, p := range c.Exact.Guards {
			assert.InDeltaSlice(t, fine.Guards[name], p, 1e-8, "%s: %s", c.Name, name)
		}
	}
}

// Names, guards and latents of the answers are those of the programs.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range everyCase() {
		assert.False(t, seen[c.Name], c.Name)
		seen[c.Name] = true
		for name := range c.Exact.Mean {
			_, ok := c.Density.Latent(name)
			assert.True(t, ok, "%s: %s", c.Name, name)
		}
		assert.Len(t, c.Exact.Guards, len(c.Density.GuardNames()), c.Name)
		for name, p := range c.Exact.Guards {
			assert.Len(t, p, len(c.Density.Named(name)), c.Name)
			for _, v := range p {
				assert.True(t, v >= 0 && v <= 1, "%s: %s: %v", c.Name, name, v)
			}
		}
		t.Logf("%-32s %3d %4d %14.6f", c.Name, c.Density.Dim(), c.Density.Arrangement().Len(), c.Exact.LogEvidence)
	}
}
