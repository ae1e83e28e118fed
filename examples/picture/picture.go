package picture

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	viplot "github.com/facetvi/facet/vi/plot"
)

// The colours are those of vi/plot.
var (
	palette   = viplot.Palette()
	Blue      = palette[0]
	Vermilion = palette[1]
	Orange    = palette[4]
	SkyBlue   = palette[5]
	Black     = palette[6]
	Grey      = color.RGBA{110, 110, 110, 255} // for data in the background
)

const (
	width   = 8 * vg.Inch
	height  = 4.6 * vg.Inch
	margin  = 10 // points
	opacity = 70 // of a band, of 255
)

// A Picture is a plot whose legend stands below the axes.
type Picture struct {
	*plot.Plot
	legend []plot.Legend
}

// New returns an empty picture with the given title and axis labels.
func New(title, x, y string) *Picture {
	p := &Picture{Plot: plot.New()}
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font.Size = 15
	p.Title.Padding = 8
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Size = 13
		axis.Tick.Label.Font.Size = 12
		axis.Padding = 4
	}
	p.Y.Label.Padding = 4
	return p
}

// entry adds a line to the legend unless name is empty.
func (p *Picture) entry(name string, t plot.Thumbnailer) {
	if name == "" {
		return
	}
	l := plot.NewLegend()
	l.Left, l.TextStyle.Font.Size = true, 12
	l.Add(name, t)
	p.legend = append(p.legend, l)
}

// Points adds one dot for each point.
func (p *Picture) Points(name string, xy plotter.XYs, c color.Color) error {
	s, err := plotter.NewScatter(xy)
	if err != nil {
		return err
	}
	s.GlyphStyle = draw.GlyphStyle{Color: c, Radius: 2.6, Shape: draw.CircleGlyph{}}
	p.Add(s)
	p.entry(name, s)
	return nil
}

// Line adds a line through the points.
func (p *Picture) Line(name string, xy plotter.XYs, c color.Color) error {
	return p.line(name, xy, c, 2, nil)
}

// Dashed adds a dashed line through the points.
func (p *Picture) Dashed(name string, xy plotter.XYs, c color.Color) error {
	return p.line(name, xy, c, 1.5, []vg.Length{5, 4})
}

func (p *Picture) line(name string, xy plotter.XYs, c color.Color, w vg.Length, dashes []vg.Length) error {
	l, err := plotter.NewLine(xy)
	if err != nil {
		return err
	}
	l.LineStyle = draw.LineStyle{Color: c, Width: w, Dashes: dashes}
	p.Add(l)
	p.entry(name, l)
	return nil
}

// Band adds the area between two lines, which have the same x.
func (p *Picture) Band(name string, low, high plotter.XYs, c color.RGBA) error {
	around := append(plotter.XYs{}, low...)
	for i := len(high) - 1; i >= 0; i-- {
		around = append(around, high[i])
	}
	b, err := plotter.NewPolygon(around)
	if err != nil {
		return err
	}
	b.Color, b.LineStyle.Width = color.NRGBA{c.R, c.G, c.B, opacity}, 0
	p.Add(b)
	p.entry(name, b)
	return nil
}

// Chances adds a bar from bottom for each x, one wide, as high as its probability, with an axis for it on the right: the highest reaches top.
func (p *Picture) Chances(name string, x, prob []float64, bottom, top float64, c color.RGBA) error {
	most := floats.Max(prob)
	var low, high plotter.XYs
	for i, at := range x {
		for _, side := range []float64{at - 0.5, at + 0.5} {
			low = append(low, plotter.XY{X: side, Y: bottom})
			high = append(high, plotter.XY{X: side, Y: bottom + (top-bottom)*prob[i]/most})
		}
	}
	p.Add(scale{bottom, top, most})
	return p.Band(name, low, high, c)
}

// A scale is an axis on the right, of probabilities from 0 at bottom to most at top.
type scale struct{ bottom, top, most float64 }

const tick = vg.Length(5)

// Plot draws the axis beside the data canvas.
func (s scale) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	line, text := p.Y.LineStyle, p.Y.Tick.Label
	text.XAlign, text.YAlign = draw.XLeft, draw.YCenter
	right := c.Max.X + tick
	c.StrokeLine2(line, right, y(s.bottom), right, y(s.top))
	for _, t := range s.ticks() {
		at := y(s.bottom + (s.top-s.bottom)*t.Value/s.most)
		c.StrokeLine2(line, right, at, right+tick, at)
		c.FillText(text, vg.Point{X: right + 2*tick, Y: at}, t.Label)
	}
}

// GlyphBoxes makes room for the axis.
func (s scale) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	width := vg.Length(0)
	for _, t := range s.ticks() {
		width = max(width, p.Y.Tick.Label.Width(t.Label))
	}
	return []plot.GlyphBox{{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: 3*tick + width}}}}
}

func (s scale) ticks() (labelled []plot.Tick) {
	for _, t := range (plot.DefaultTicks{}).Ticks(0, s.most) {
		if !t.IsMinor() {
			labelled = append(labelled, t)
		}
	}
	return labelled
}

// Bars adds a vertical line from low to high at each x.
func (p *Picture) Bars(name string, low, high plotter.XYs, c color.Color) error {
	for i := range low {
		if err := p.line(name, plotter.XYs{low[i], high[i]}, c, 1.2, nil); err != nil {
			return err
		}
		name = "" // one entry for all
	}
	return nil
}

// Every puts a labelled mark at each multiple of step in [from, to].
func Every(step, from, to int) plot.ConstantTicks {
	var t plot.ConstantTicks
	for v := from + (step-from%step)%step; v <= to; v += step {
		t = append(t, plot.Tick{Value: float64(v), Label: strconv.Itoa(v)})
	}
	return t
}

// Check reports whether a picture can be saved to the file; an empty name is
// fine: no picture is asked for.
func Check(file string) error {
	if file == "" {
		return nil
	}
	_, err := canvas(file)
	return err
}

// canvas is an empty one in the format of the file's extension.
func canvas(file string) (vg.CanvasWriterTo, error) {
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))
	if format == "png" {
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))}, nil
	}
	c, err := draw.NewFormattedCanvas(width, height, format)
	if err != nil {
		return nil, errors.New("the name of a picture must end in .png, .svg or .pdf")
	}
	return c, nil
}

// Offer makes and saves the picture of an example and says where; without a
// file it says how to ask for one.
func Offer(out io.Writer, example, file string, make func() (*Picture, error)) error {
	if file == "" {
		fmt.Fprintf(out, "For the picture: go run ./examples/%s -plot %s.png\n", example, example)
		return nil
	}
	p, err := make()
	if err != nil {
		return err
	}
	if err := p.Save(file); err != nil {
		return err
	}
	fmt.Fprintln(out, "The picture is in", file)
	return nil
}

// Save writes the picture to a file, in the format of its extension.
func (p *Picture) Save(file string) (err error) {
	c, err := canvas(file)
	if err != nil {
		return err
	}
	p.draw(draw.New(c))
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	_, err = c.WriteTo(f)
	return err
}

// draw puts the axes above and the legend's entries below, in rows.
func (p *Picture) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -2*margin, margin, -margin)
	rows := p.rows(c.Max.X - c.Min.X)
	const row = 18
	for i, entries := range rows {
		x, top := c.Min.X+3*margin, c.Min.Y+vg.Length(len(rows)-i)*row
		for _, l := range entries {
			l.Draw(draw.Canvas{Canvas: c, Rectangle: vg.Rectangle{
				Min: vg.Point{X: x, Y: top - row}, Max: vg.Point{X: c.Max.X, Y: top},
			}})
			x += span(l, c)
		}
	}
	p.Plot.Draw(draw.Crop(c, 0, 0, vg.Length(len(rows))*row+margin/2, 0))
}

// rows breaks the legend into rows that fit.
func (p *Picture) rows(width vg.Length) [][]plot.Legend {
	var rows [][]plot.Legend
	used := width
	for _, l := range p.legend {
		w := span(l, draw.Canvas{})
		if used+w > width-3*margin {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], l)
		used += w
	}
	return rows
}

// span is the width of a legend of one entry, with the space after it.
func span(l plot.Legend, c draw.Canvas) vg.Length {
	r := l.Rectangle(c)
	return r.Max.X - r.Min.X + 2*margin
}
