package plot

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Width and Height are the size in which Save draws.
const (
	Width  = 16 * vg.Centimeter
	Height = 9 * vg.Centimeter
)

const (
	dpi    = 192 // of PNG files; gonum's own 96 is too coarse for print
	margin = vg.Length(7)
)

// Colours of Okabe and Ito, Color Universal Design (2008), without their yellow,
// which is too pale for thin lines on white.
var (
	blue      = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	vermilion = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	green     = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	purple    = color.RGBA{0xcc, 0x79, 0xa7, 0xff}
	orange    = color.RGBA{0xe6, 0x9f, 0x00, 0xff}
	sky       = color.RGBA{0x56, 0xb4, 0xe9, 0xff}
	black     = color.RGBA{0x00, 0x00, 0x00, 0xff}

	palette = []color.RGBA{blue, vermilion, green, purple, orange, sky, black}

	ink  = color.RGBA{0x26, 0x26, 0x26, 0xff} // text and axes
	rule = color.RGBA{0xe2, 0xe2, 0xe2, 0xff} // the grid
)

// dashes tell apart lines that share a colour.
var dashes = [][]vg.Length{nil, {5, 3}, {1.5, 2}, {7, 2, 1.5, 2}}

const (
	lineWidth = vg.Length(1.5)
	thinWidth = vg.Length(0.5)
)

// lineStyle is the style of line i of a figure.
func lineStyle(i int) draw.LineStyle {
	return draw.LineStyle{
		Color:  palette[i%len(palette)],
		Width:  lineWidth,
		Dashes: dashes[i/len(palette)%len(dashes)],
	}
}

// pale is c mixed with white: strength 1 is c, strength 0 white. Bands use it
// instead of transparency, which not all formats and printers know.
func pale(c color.RGBA, strength float64) color.RGBA {
	mix := func(x uint8) uint8 { return uint8(255 - strength*float64(255-x) + 0.5) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 0xff}
}

// pointStyle is the style of observed data.
func pointStyle() draw.GlyphStyle {
	return draw.GlyphStyle{Color: ink, Radius: 1.8, Shape: draw.CircleGlyph{}}
}

// points are y over x.
func points(x, y []float64) plotter.XYs {
	xys := make(plotter.XYs, len(x))
	for i := range x {
		xys[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	return xys
}

// Save draws p, Width × Height with a margin, into a file of the format that its
// extension names: svg, pdf, eps, tex, tif, jpg, png. PNG files have 192 dots per
// inch, for which p.Save has 96. Plots below it are of the same size, and their data
// stand beneath its data: give them the same range of x to read them as one picture.
func Save(p *plot.Plot, file string, below ...*plot.Plot) error {
	height := Height * vg.Length(1+len(below))
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))
	var c vg.CanvasWriterTo
	if format == "png" {
		c = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(Width, height), vgimg.UseDPI(dpi))}
	} else {
		var err error
		if c, err = draw.NewFormattedCanvas(Width, height, format); err != nil {
			return fmt.Errorf("plot: %s: %w", file, err)
		}
	}
	stack(draw.New(c), append([]*plot.Plot{p}, below...))
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	_, err = c.WriteTo(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// stack draws plots one below the other, their data beneath each other's.
func stack(sheet draw.Canvas, plots []*plot.Plot) {
	if plots[0].BackgroundColor != nil {
		sheet.SetColor(plots[0].BackgroundColor)
		sheet.Fill(sheet.Path())
	}
	column := make([][]*plot.Plot, len(plots))
	for i, p := range plots {
		column[i] = []*plot.Plot{p}
	}
	tiles := draw.Tiles{
		Rows: len(plots), Cols: 1, PadY: 2 * margin,
		PadTop: margin, PadBottom: margin, PadLeft: margin, PadRight: margin,
	}
	for i, row := range plot.Align(column, tiles, sheet) {
		plots[i].Draw(row[0])
	}
}

// Points are observations (x[i], y[i]) to add to a plot, in the style of those of [Predictive]. It returns an error if x and y differ
// in length or one of them is not finite.
func Points(x, y []float64) (plot.Plotter, error) {
	if len(x) != len(y) {
		return nil, fmt.Errorf("plot: %d values of x and %d of y", len(x), len(y))
	}
	for i := range x {
		if v := x[i] + y[i]; math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("plot: point %d is (%v, %v)", i, x[i], y[i])
		}
	}
	dots, err := plotter.NewScatter(points(x, y))
	if err != nil {
		return nil, fmt.Errorf("plot: %w", err)
	}
	dots.GlyphStyle = pointStyle()
	return dots, nil
}
