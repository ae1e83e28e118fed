package plot

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A figure is a plot in the package's style, to which data are added. It keeps the first error.
type figure struct {
	*plot.Plot
	legend *legend // nil if there is none
	err    error
}

// newFigure is an empty one.
func newFigure(x, y string) *figure {
	sans := func(size vg.Length) font.Font {
		return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
	}
	p := plot.New()
	p.Title.Padding = 6
	p.Title.TextStyle.Font = sans(11)
	p.Title.TextStyle.Color = ink
	p.Legend.TextStyle.Font = sans(9)
	p.Legend.TextStyle.Color = ink
	for axis, label := range map[*plot.Axis]string{&p.X: x, &p.Y: y} {
		axis.Label.Text = label
		axis.Label.Padding = 3
		axis.Label.TextStyle.Font = sans(10)
		axis.Label.TextStyle.Color = ink
		axis.Tick.Label.Font = sans(9)
		axis.Tick.Label.Color = ink
		axis.Color, axis.Tick.Color = ink, ink
		axis.Width, axis.Tick.Width = thinWidth, thinWidth
		axis.Tick.Length = 4
		axis.Tick.Marker = ticks{}
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = rule, rule
	grid.Vertical.Width, grid.Horizontal.Width = thinWidth, thinWidth
	p.Add(grid)
	return &figure{Plot: p}
}

// addLegend gives the figure an empty legend in its own style.
func (f *figure) addLegend() {
	f.legend = &legend{style: f.Legend.TextStyle}
	f.Add(f.legend)
}

// name adds a sample to the legend, if there is one.
func (f *figure) name(name string, sample plot.Thumbnailer) {
	if f.legend != nil {
		f.legend.entries = append(f.legend.entries, entry{name, sample})
	}
}

// fails keeps an error, and reports whether it is one.
func (f *figure) fails(err error) bool {
	if f.err == nil {
		f.err = err
	}
	return err != nil
}

// line adds a line.
func (f *figure) line(xys plotter.XYs, style draw.LineStyle) *plotter.Line {
	l, err := plotter.NewLine(xys)
	if f.fails(err) {
		return &plotter.Line{}
	}
	l.LineStyle = style
	f.Add(l)
	return l
}

// dots adds points.
func (f *figure) dots(xys plotter.XYs, style draw.GlyphStyle) *plotter.Scatter {
	s, err := plotter.NewScatter(xys)
	if f.fails(err) {
		return &plotter.Scatter{}
	}
	s.GlyphStyle = style
	f.Add(s)
	return s
}

// band adds the area between the lines low and high over x.
func (f *figure) band(x, low, high []float64, fill color.Color) *plotter.Polygon {
	ring := points(x, low)
	for i := len(x) - 1; i >= 0; i-- {
		ring = append(ring, plotter.XY{X: x[i], Y: high[i]})
	}
	b, err := plotter.NewPolygon(ring)
	if f.fails(err) {
		return &plotter.Polygon{}
	}
	b.Color, b.LineStyle.Width = fill, 0
	f.Add(b)
	return b
}

// stairs adds the area between the stairs low and high.
func (f *figure) stairs(edges, low, high []float64, run [2]int, fill color.Color) *plotter.Polygon {
	x, below := stairs(edges, low, run[0], run[1])
	_, above := stairs(edges, high, run[0], run[1])
	return f.band(x, below, above, fill)
}

// roomy leaves space above the data, and below unless the Y axis starts at 0.
func (f *figure) roomy() {
	space := 0.04 * (f.Y.Max - f.Y.Min)
	f.Y.Max += space
	if f.Y.Min != 0 {
		f.Y.Min -= space
	}
}

// done is the plot, unless something could not be added.
func (f *figure) done() (*plot.Plot, error) {
	if f.err != nil {
		return nil, f.err
	}
	return f.Plot, nil
}
