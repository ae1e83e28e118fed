package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// Comparisons of a vector's components with numbers are written with the components' names, on the program's scale, whatever latents these are
// computed from, and in a plate, too.
func TestGuardsOfComponents(t *testing.T) {
	m := graph.NewModel()
	when := m.SampleVector("when", graph.Ordered(3, graph.Uniform(1, 11)))
	size := m.SampleVector("size", graph.Ordered(2, graph.LogNormal(0, 1)))
	cut := m.SampleVector("cut", graph.Ordered(2, graph.Normal(0, 1)))
	share := m.SampleVector("share", graph.Dirichlet(1, 2, 3))
	other := m.Sample("other", graph.Normal(0, 1))
	jump := func(g graph.Guard) { m.Factor(graph.If(g, 1, 0)) }
	for _, g := range []graph.Guard{
		graph.Greater(when[0], 3), graph.Greater(when[1], 6), graph.Less(when[2], 9), graph.Less(size[0], 0.5), graph.Greater(size[1], 2),
		graph.Greater(graph.Neg(cut[1]), 0.25), graph.Greater(share[0], 0.5), graph.Greater(share[1], 0.25), graph.Less(share[2], 0.125),
		graph.Greater(cut[0], other),
	} {
		jump(g)
	}
	m.Plate(12, func(p *graph.Plate) {
		of := p.SampleVector("of", graph.Ordered(2, graph.Uniform(0, 1)))
		p.Factor(graph.If(graph.Greater(of[1], 0.75), 1, 0))
	})
	d := mustCompile(t, m)
	var got []string
	for _, g := range d.Guards() {
		got = append(got, g.String())
	}
	require.Equal(t, []string{
		"when[0] > 3", "when[1] > 6", "when[2] < 9", "size[0] < 0.5", "size[1] > 2",
		"cut[1] < -0.25", "share[0] > 0.5", "share[1] > 0.25", "share[2] < 0.125", "cut_least - other > 0",
	}, got[:10])
	require.Equal(t, "of[1] > 0.75", got[10])
	require.Equal(t, "of[23] > 0.75", got[21])
	k, number, ok := d.Guards()[1].Component()
	require.True(t, ok)
	require.Equal(t, "when[1]", d.Components()[k])
	require.InDelta(t, 6, number, 1e-12)
	_, _, ok = d.Guards()[9].Component()
	require.False(t, ok)
	i, _ := d.Latent("when_gap[0]")
	require.True(t, d.Coordinate(i).InVector())
	i, _ = d.Latent("other")
	require.False(t, d.Coordinate(i).InVector())
}
