package plot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// A fit of one family is one bar, as long as the axis, with its name.
func TestCells(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Observe("o", graph.Normal(x, 1), 1)
	d, err := m.Compile()
	require.NoError(t, err)
	p, err := Cells(&vi.Posterior{Density: d, Q: family.Independent([]float64{0.5}, []float64{0.7})})
	require.NoError(t, err)
	require.Equal(t, 1.0, p.X.Max)
	ticks := p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max)
	require.Len(t, ticks, 1)
	require.Equal(t, "everywhere", ticks[0].Label)
}

// The bars are the weights, the first on top; what is beyond 15 is a line of text, and long
// names are cut.
func TestCellBars(t *testing.T) {
	var cells []vi.Cell
	for range 20 {
		cells = append(cells, vi.Cell{Where: "温度 in a place whose description is longer than what there is room for in a line", Weight: 0.05})
	}
	p, err := cellBars(cells)
	require.NoError(t, err)
	ticks := p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max)
	require.Len(t, ticks, mostBars+1)
	require.Equal(t, "温度 in a place whose description is longer than what there is ro…", ticks[0].Label)
	require.Equal(t, "5 others: 0.25", ticks[mostBars].Label)
	require.InDelta(t, 0.05, p.X.Max, 1e-12)
	require.Greater(t, ticks[0].Value, ticks[1].Value)
}
