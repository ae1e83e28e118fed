package boundary_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// thermostat switches off above a temperature, on below another, and else stays as it is.
func thermostat(t *testing.T, steps int) *graph.Density {
	m := graph.NewModel()
	on := graph.If(graph.Greater(m.Sample("on", graph.Normal(0, 1)), 0), 1, 0)
	at := m.Sample("T0", graph.Normal(20, 1))
	for s := range steps {
		was := graph.Greater(on, 0.5)
		on = graph.If(graph.Greater(at, 21), 0, graph.If(graph.Less(at, 19), 1, graph.If(was, 1, 0)))
		at = m.Sample(fmt.Sprint("T", s+1), graph.Normal(graph.Add(graph.Mul(0.99, at), graph.Mul(0.5, on)), 0.1))
		m.Observe(fmt.Sprint("y", s), graph.Normal(at, 1), 20+float64(s%3))
	}
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// The jumps of a state with a memory are those of the whole density, also after hundreds of steps, and
// their graph does not grow with the number of steps: a plane's neighbours on the same latent change the
// next state alone.
func TestHysteresis(t *testing.T) {
	few := checkThermostat(t, 12, 200)
	require.Equal(t, few, checkThermostat(t, long.Or(300, 1000), 1))
}

// checkThermostat compares the jumps at some points, and returns the size of their graph.
func checkThermostat(t *testing.T, steps, points int) int {
	t.Helper()
	d := thermostat(t, steps)
	require.Equal(t, 2*steps+1, d.Arrangement().Len())
	jumps, err := boundary.NewJumps(d, axes)
	require.NoError(t, err)
	b, err := jumps.Bind(d, 1, axisLines(jumps, d.Dim()), boundary.Settings{})
	require.NoError(t, err)
	b.Locate()
	rng, z := rand.New(rand.NewPCG(1, 2)), b.Samples().Z
	far := 0
	for range points {
		for i := range z {
			z[i] = 20 + 1.5*rng.NormFloat64()
		}
		z[0] -= 20
		d.Arrangement().SignBatch(b.Samples().Signs, z, 1)
		require.NoError(t, b.Run(nil))
		for k, p := range jumps.Pieces() {
			v := make([]float64, d.Dim())
			v[p.Index[0]] = 1
			want, size := jump(t, d, p.Plane, onto(p.Hyperplane, z, v))
			require.InDelta(t, want, b.Jumps(k)[0], 1e-10*size, "%v", p.Hyperplane)
			if want != 0 {
				far++
			}
		}
	}
	require.Greater(t, far, 2*steps*points/5)
	return jumps.Program().Nodes()
}
