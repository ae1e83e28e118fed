package plot_test

import (
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi/plot"
)

// The palette is a copy, of colours that differ.
func TestPalette(t *testing.T) {
	p := plot.Palette()
	require.Equal(t, color.RGBA{0x00, 0x72, 0xb2, 0xff}, p[0])
	seen := map[color.RGBA]bool{}
	for _, c := range p {
		seen[c] = true
	}
	require.Len(t, seen, 7)
	p[0] = color.RGBA{}
	require.NotEqual(t, p, plot.Palette())
}
