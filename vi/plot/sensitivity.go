package plot

import (
	"errors"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg/draw"

	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/powerscale"
)

// mostBeside is how many letters of names have room side by side.
const mostBeside = 50

// Sensitivity draws how sensitive each quantity is to each prior and to the likelihood, as points, and from where on a part
// matters, as a dashed line. It returns an error if there are no quantities.
func Sensitivity(r vi.Sensitivity) (*plot.Plot, error) {
	if len(r.Quantities) == 0 {
		return nil, errors.New("plot: no quantities")
	}
	f := newFigure("", "sensitivity")
	f.addLegend()
	dashed := lineStyle(len(palette))
	dashed.Color = ink
	matters := f.line(plotter.XYs{{X: -0.5, Y: powerscale.Threshold}, {X: float64(len(r.Quantities)) - 0.5, Y: powerscale.Threshold}}, dashed)
	for j, part := range r.Parts {
		var at plotter.XYs
		for i := range r.Quantities {
			at = append(at, plotter.XY{X: float64(i), Y: r.Distance[i][j]})
		}
		shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}}
		dots := f.dots(at, draw.GlyphStyle{Color: palette[j%len(palette)], Radius: 3, Shape: shapes[j/len(palette)%len(shapes)]})
		name := "prior of " + part
		if part == powerscale.Likelihood {
			name = part
		}
		f.name(name, dots)
	}
	f.name("matters above", matters)
	f.NominalX(r.Quantities...)
	if len(strings.Join(r.Quantities, "  ")) > mostBeside { // one below the other
		label := &f.X.Tick.Label
		label.Rotation, label.XAlign, label.YAlign = math.Pi/2, text.XRight, text.YCenter
	}
	f.Y.Min = 0
	f.roomy()
	return f.done()
}
