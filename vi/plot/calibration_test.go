package plot

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/sbc"
)

// Pictures of calibrations and models are drawn, and refuse what they cannot draw.
func TestCalibrationModels(t *testing.T) {
	var q sbc.Quantity
	for k := range 100 {
		q.Ranks = append(q.Ranks, (float64(k)+0.5)/100)
	}
	q.Name = "x"
	c := sbc.Of([]sbc.Quantity{q})
	p, err := Calibration(c)
	require.NoError(t, err)
	require.NoError(t, Save(p, filepath.Join(t.TempDir(), "x.svg")))
	require.InDelta(t, -0.12, p.Y.Min, 0.04) // of the band: 1.36/√100, and some more
	require.InDelta(t, 0.12, p.Y.Max, 0.04)
	_, err = Calibration(c, "y")
	require.ErrorContains(t, err, `is called ["y"]`)

	m := vi.Comparison{Models: []vi.ModelEvidence{
		{Name: "one", Prior: 0.5, Prob: vi.Estimate{Value: 0.2, SE: 0.05}, Stacking: 0.1}, {Name: "two", Prior: 0.5, Prob: vi.Estimate{Value: 0.8, SE: 0.05}, Stacking: 0.9},
	}}
	p, err = Models(m)
	require.NoError(t, err)
	require.NoError(t, Save(p, filepath.Join(t.TempDir(), "x.svg")))
	require.InDelta(t, 0.94, p.Y.Max, 0.03)
	require.Zero(t, p.X.Tick.Label.Rotation)
	m.Models[0].Name, m.Models[1].Name = "one that has a long name", "another one"
	p, err = Models(m)
	require.NoError(t, err)
	require.Positive(t, p.X.Tick.Label.Rotation)
}
