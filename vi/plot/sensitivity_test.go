package plot

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi"
)

func TestSensitivity(t *testing.T) {
	p, err := Sensitivity(vi.Sensitivity{
		Quantities: []string{"slope", "noise"}, Parts: []string{"slope", "noise", "likelihood"},
		Distance: [][]float64{{0.11, 0.01, 0.2}, {0.02, 0.03, 0.15}},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"prior of slope", "prior of noise", "likelihood", "matters above"}, legendOf(p))
	require.Zero(t, p.Y.Min)
	require.Greater(t, p.Y.Max, 0.2)
	file := filepath.Join(t.TempDir(), "sensitivity.png")
	require.NoError(t, Save(p, file))
	require.Zero(t, p.X.Tick.Label.Rotation)
	many := vi.Sensitivity{Parts: []string{"likelihood"}}
	for i := range 16 {
		many.Quantities, many.Distance = append(many.Quantities, fmt.Sprintf("level[%d]", i)), append(many.Distance, []float64{0.1})
	}
	p, err = Sensitivity(many)
	require.NoError(t, err)
	require.NotZero(t, p.X.Tick.Label.Rotation) // names would be on top of each other
	_, err = Sensitivity(vi.Sensitivity{})
	require.EqualError(t, err, "plot: no quantities")
}
