package graph_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
)

// compiledModel is a model with a guard, and its density.
func compiledModel(t *testing.T) (m *graph.Model, x graph.Expr, d *graph.Density) {
	m = graph.NewModel()
	x = m.Sample("x", graph.Normal(0, 1))
	m.Observe("y", graph.Normal(graph.If(m.Name("above", graph.Greater(x, 1)), x, 0), 1), 0.5)
	return m, x, mustCompile(t, m)
}

// What is added to a model after Compile is not in the density, which works as
// if nothing had been added, and is in the next one.
func TestModelGoesOnAfterCompile(t *testing.T) {
	m, x, d := compiledModel(t)
	_, _, alone := compiledModel(t)
	y := m.Sample("more", graph.Gamma(2, 1))
	m.Observe("y", graph.Normal(graph.Mul(x, y), 1), 2)
	m.Observe("z", graph.Normal(graph.If(graph.Less(y, 2), 1, 2), 1), 2)
	m.If(graph.Greater(x, -3), func() { m.Factor(graph.Square(y)) }, nil)
	m.Deterministic("sum", graph.Add(x, y))
	m.Name("below", graph.Less(x, -1))
	next := mustCompile(t, m)

	for name, d := range map[string]*graph.Density{"before": d, "alone": alone} {
		require.Equal(t, []string{"x"}, d.Latents(), name)
		require.Equal(t, []float64{0.5}, d.Data(), name)
		require.Equal(t, 1, d.Arrangement().Len(), name)
		require.Len(t, d.Guards(), 1, name)
		require.Empty(t, d.Deterministics(), name)
		require.Equal(t, []string{"above"}, d.GuardNames(), name)
		require.Equal(t, alone.Fingerprint(), d.Fingerprint(), name)
		require.Equal(t, [][]int{nil}, d.Parents(), name)
		for _, z := range []float64{-4, 0.3, 2} {
			require.Equal(t, logProb(t, alone, z), logProb(t, d, z), name)
			require.Equal(t, gradient(t, alone, z), gradient(t, d, z), name)
			require.Equal(t, alone.Replicate(nil, []float64{z}, rand.New(rand.NewPCG(1, 1))), d.Replicate(nil, []float64{z}, rand.New(rand.NewPCG(1, 1))), name)
		}
		jumps, err := boundary.NewJumps(d, boundary.OnPlane)
		require.NoError(t, err, name)
		require.Equal(t, 1, len(jumps.Pieces()), name)
	}
	require.Equal(t, []string{"x", "more"}, next.Latents())
	require.Equal(t, []float64{0.5, 2, 2}, next.Data())
	require.Equal(t, 4, next.Arrangement().Len())
	require.Equal(t, []string{"above", "below"}, next.GuardNames())
	require.Equal(t, []string{"sum"}, next.Deterministics())
}

// A mistake after Compile is an error of the model, and none of the density.
func TestMistakeAfterCompile(t *testing.T) {
	m, x, d := compiledModel(t)
	m.Sample("x", graph.Normal(x, 1))
	require.ErrorContains(t, m.Err(), lineAbove())
	_, err := m.Compile()
	require.ErrorIs(t, err, m.Err())
	_, err = boundary.NewJumps(d, boundary.OnPlane)
	require.NoError(t, err)
	close12(t, logNormalPDF(2, 0, 1)+logNormalPDF(0.5, 2, 1), logProb(t, d, 2))
}

// A guard that is made after Compile says where it holds in the arrangement that
// has its hyperplanes.
func TestGuardAfterCompile(t *testing.T) {
	m, x, d := compiledModel(t)
	above, band := graph.Greater(x, 1.25), graph.And(graph.Greater(x, -1), graph.Less(x, 2))
	same := graph.Greater(graph.Mul(2, x), 2)
	require.Equal(t, []int{0}, same.Planes())
	arr, err := d.ArrangementWith(same)
	require.NoError(t, err)
	require.Same(t, d.Arrangement(), arr)

	arr, err = d.ArrangementWith(band, above, same)
	require.NoError(t, err)
	require.Equal(t, 4, arr.Len())
	require.Equal(t, 1, d.Arrangement().Len())
	require.Equal(t, d.Arrangement().Plane(0), arr.Plane(0))
	side, ok := above.Side()
	require.True(t, ok)
	require.Equal(t, 1.25, -arr.Plane(side.Plane).Const)
	for _, z := range []float64{-2, 0, 1.1, 1.5, 3} {
		s := arr.Signs([]float64{z})
		require.Equal(t, z > 1.25, above.Holds(s))
		require.Equal(t, z > -1 && z < 2, band.Holds(s))
		require.Equal(t, z > 1, same.Holds(s))
	}

	w := m.Sample("w", graph.Normal(0, 1))
	_, err = d.ArrangementWith(graph.Greater(w, x))
	require.ErrorContains(t, err, `latent "w" was sampled after`)
	_, other, _ := compiledModel(t)
	_, err = d.ArrangementWith(graph.Greater(other, 0))
	require.ErrorContains(t, err, "another model")
}
