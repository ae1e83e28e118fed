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
	p := newPlot("", "sensitivity")
	l := addLegend(p)
	matters, err := plotter.NewLine(plotter.XYs{{X: -0.5, Y: powerscale.Threshold}, {X: float64(len(r.Quantities)) - 0.5, Y: powerscale.Threshold}})
	if err != nil {
		return nil, err
	}
	matters.LineStyle = lineStyle(len(palette)) // blue, dashed
	matters.Color = ink
	p.Add(matters)
	for j, part := range r.Parts {
		var at plotter.XYs
		for i := range r.Quantities {
			at = append(at, plotter.XY{X: float64(i), Y: r.Distance[i][j]})
		}
		dots, err := plotter.NewScatter(at)
		if err != nil {
			return nil, err
		}
		shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}}
		dots.GlyphStyle = draw.GlyphStyle{Color: palette[j%len(palette)], Radius: 3, Shape: shapes[j/len(palette)%len(shapes)]}
		p.Add(dots)
		name := "prior of " + part
		if part == powerscale.Likelihood {
			name = part
		}
		l.add(name, dots)
	}
	l.add("matters above", matters)
	p.NominalX(r.Quantities...)
	if len(strings.Join(r.Quantities, "  ")) > mostBeside { // one below the other
		label := &p.X.Tick.Label
		label.Rotation, label.XAlign, label.YAlign = math.Pi/2, text.XRight, text.YCenter
	}
	p.Y.Min = 0
	roomy(p)
	return p, nil
}
