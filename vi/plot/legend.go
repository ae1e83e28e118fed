package plot

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A legend is a list of samples and names, to the right of the data. Gonum's own
// lies on the data.
type legend struct {
	style   text.Style
	entries []entry
}

type entry struct {
	name   string
	sample plot.Thumbnailer
}

const (
	legendGap    = vg.Length(10) // from the data
	legendSample = vg.Length(16) // width of a sample
	legendSpace  = vg.Length(5)  // from the sample to the name, and between lines
)

// Plot draws the legend beside the data canvas.
func (l *legend) Plot(c draw.Canvas, _ *plot.Plot) {
	height := l.style.FontExtents().Height
	at := vg.Point{X: c.Max.X + legendGap, Y: c.Max.Y - height}
	for _, e := range l.entries {
		box := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: at,
			Max: vg.Point{X: at.X + legendSample, Y: at.Y + height},
		}}
		e.sample.Thumbnail(&box)
		descent := l.style.FontExtents().Descent
		c.FillText(l.style, vg.Point{X: box.Max.X + legendSpace, Y: at.Y + descent}, e.name)
		at.Y -= height + legendSpace
	}
}

// GlyphBoxes makes room for the legend.
func (l *legend) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	width := vg.Length(0)
	for _, e := range l.entries {
		width = max(width, l.style.Rectangle(e.name).Size().X)
	}
	if width == 0 {
		return nil
	}
	return []plot.GlyphBox{{X: 1, Rectangle: vg.Rectangle{
		Max: vg.Point{X: legendGap + legendSample + legendSpace + width},
	}}}
}
