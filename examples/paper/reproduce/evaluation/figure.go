package evaluation

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes of the figure. A panel is a model and a step size.
const (
	panelWidth  = 6.9 * vg.Centimeter
	panelHeight = 5.8 * vg.Centimeter
	legendWidth = 3.8 * vg.Centimeter
	dpi         = 160
)

// A lineStyle is one of those that tell the numbers of samples apart.
type lineStyle struct {
	dashes []vg.Length
	width  vg.Length
}

// lineStyles are for the numbers of samples in order, over and over.
var lineStyles = []lineStyle{
	{[]vg.Length{1.2, 1.8}, 0.9},
	{[]vg.Length{5, 2}, 1.1},
	{nil, 1.3},
	{[]vg.Length{6, 2, 1.5, 2}, 1.1},
}

// figure draws Figure 1: the ELBO against the iteration, in closed form and by
// Monte Carlo, in a row of panels for each step size.
func (s *summary) figure() (png, svg []byte, err error) {
	plots, err := s.panels()
	if err != nil {
		return nil, nil, err
	}
	width := panelWidth*vg.Length(len(plots[0])) + legendWidth
	height := panelHeight * vg.Length(len(plots))
	image := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))}
	vector := vgsvg.New(width, height)
	for _, c := range []draw.Canvas{draw.New(image), draw.New(vector)} {
		s.compose(c, plots)
	}
	var pngOut, svgOut bytes.Buffer
	if _, err := image.WriteTo(&pngOut); err != nil {
		return nil, nil, fmt.Errorf("figure: %w", err)
	}
	if _, err := vector.WriteTo(&svgOut); err != nil {
		return nil, nil, fmt.Errorf("figure: %w", err)
	}
	// Arial and Helvetica have Liberation's widths.
	families := strings.NewReplacer("font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	return pngOut.Bytes(), []byte(families.Replace(svgOut.String())), nil
}

// panels are the plots, a row for each step size. A model's have the same axes.
func (s *summary) panels() ([][]*plot.Plot, error) {
	plots := make([][]*plot.Plot, len(s.Settings.StepSizes))
	for _, m := range s.Settings.Models {
		lo, hi := 0.0, 0.0
		for i, step := range s.Settings.StepSizes {
			p, err := s.panel(m, step)
			if err != nil {
				return nil, err
			}
			lo, hi = math.Min(lo, p.Y.Min), math.Max(hi, p.Y.Max)
			plots[i] = append(plots[i], p)
		}
		for _, row := range plots {
			p := row[len(row)-1]
			p.Y.Min, p.Y.Max = lo-(hi-lo)/50, hi+(hi-lo)/30
		}
	}
	return plots, nil
}

// compose draws the panels, and the legend at their right.
func (s *summary) compose(c draw.Canvas, plots [][]*plot.Plot) {
	panels := draw.Crop(c, 0, -legendWidth, 0, 0)
	tiles := draw.Tiles{
		Rows: len(plots), Cols: len(plots[0]), PadX: 4 * vg.Millimeter, PadY: 4 * vg.Millimeter,
		PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 2 * vg.Millimeter,
	}
	for i, row := range plot.Align(plots, tiles, panels) {
		for j, canvas := range row {
			plots[i][j].Draw(canvas)
		}
	}
	legend := s.legend()
	legend.Draw(draw.Crop(c, panels.Max.X-panels.Min.X+2*vg.Millimeter, -2*vg.Millimeter, 0, -9*vg.Millimeter))
}

// panel is the plot of one model and step size.
func (s *summary) panel(model string, step float64) (*plot.Plot, error) {
	scale := s.scaleOf(model)
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s, step size %s", model, number(step))
	p.Title.TextStyle.Font = sans(9)
	p.Title.Padding = 1.5 * vg.Millimeter
	p.X.Label.Text = "iteration"
	p.Y.Label.Text = "ELBO, nats from " + nats(scale.optimum)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = sans(8)
		a.Tick.Label.Font = sans(7)
		a.Tick.Length = 3
		a.LineStyle.Width, a.Tick.LineStyle.Width = 0.5, 0.5
	}
	p.Y.Tick.Marker = scale
	p.X.Tick.Marker = plot.TickerFunc(iterationTicks)
	p.Add(grid())
	last := float64(s.Settings.Steps)
	optimum, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 0}, {X: last, Y: 0}})
	if err != nil {
		return nil, err
	}
	optimum.LineStyle = draw.LineStyle{Color: color.Black, Width: 0.7}
	p.Add(optimum)
	for _, add := range []func(*plot.Plot, *result, elboScale, lineStyle) error{addMonteCarlo, addCurve} { // that below this
		for k, n := range s.Settings.Samples {
			for _, e := range s.Settings.Estimators {
				if err := add(p, s.run(model, step, n, e), scale, lineStyles[k%len(lineStyles)]); err != nil {
					return nil, err
				}
			}
		}
	}
	p.X.Min, p.X.Max = 0, last
	return p, nil
}

// addMonteCarlo adds a run's ELBO by Monte Carlo, thin and pale.
func addMonteCarlo(p *plot.Plot, r *result, scale elboScale, _ lineStyle) error {
	line, err := curve(r, scale, func(e elboPoint) float64 { return e.MonteCarlo })
	if line == nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: pale(estimatorNamed(r.Run.Estimator).color), Width: monteCarloWidth}
	p.Add(line)
	return nil
}

const monteCarloWidth = 0.6

// pale is a colour halfway to white.
func pale(c color.RGBA) color.RGBA {
	return color.RGBA{c.R/2 + 0x80, c.G/2 + 0x80, c.B/2 + 0x80, 0xff}
}

// curve is the line of one of a run's ELBOs, or nil if none of it is finite.
func curve(r *result, scale elboScale, elbo func(elboPoint) float64) (*plotter.Line, error) {
	var xys plotter.XYs
	for _, e := range r.ELBO {
		if y := scale.at(elbo(e)); !math.IsNaN(y) && !math.IsInf(y, 0) {
			xys = append(xys, plotter.XY{X: float64(e.Iteration), Y: y})
		}
	}
	if len(xys) == 0 {
		return nil, nil
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", r.Run, err)
	}
	return line, nil
}

// addCurve adds a run's ELBO in closed form, with a cross where it diverged.
func addCurve(p *plot.Plot, r *result, scale elboScale, style lineStyle) error {
	line, err := curve(r, scale, func(e elboPoint) float64 { return e.Exact })
	if line == nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: estimatorNamed(r.Run.Estimator).color, Width: style.width, Dashes: style.dashes}
	p.Add(line)
	if r.Diverged == 0 {
		return nil
	}
	end, err := plotter.NewScatter(line.XYs[len(line.XYs)-1:])
	if err != nil {
		return fmt.Errorf("%v: %w", r.Run, err)
	}
	end.GlyphStyle = draw.GlyphStyle{Color: line.Color, Radius: 3, Shape: draw.CrossGlyph{}}
	p.Add(end)
	return nil
}

func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	light := draw.LineStyle{Color: color.Gray{0xe4}, Width: 0.4}
	g.Horizontal, g.Vertical = light, light
	return g
}

// legend names colours and line styles.
func (s *summary) legend() plot.Legend {
	l := plot.NewLegend()
	l.TextStyle.Font = sans(8)
	l.Top, l.Left = true, true
	l.ThumbnailWidth, l.Padding = 7*vg.Millimeter, 0.8*vg.Millimeter
	entry := func(name string, c color.Color, style lineStyle) {
		l.Add(name, &plotter.Line{LineStyle: draw.LineStyle{Color: c, Width: style.width, Dashes: style.dashes}})
	}
	for _, e := range s.Settings.Estimators {
		entry(label(e), estimatorNamed(e).color, lineStyle{nil, 2.5})
	}
	gray := color.Gray{0x40}
	for k, n := range s.Settings.Samples {
		entry(fmt.Sprintf("N = %d", n), gray, lineStyles[k%len(lineStyles)])
	}
	entry("Monte Carlo", color.Gray{0xa0}, lineStyle{nil, monteCarloWidth})
	entry("optimum (BFGS)", color.Black, lineStyle{nil, 0.7})
	return l
}

// iterationTicks names the ends and the middle of the axis.
func iterationTicks(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	for k := range 5 {
		t := plot.Tick{Value: lo + (hi-lo)*float64(k)/4}
		if k%2 == 0 {
			t.Label = sig(t.Value, 6)
		}
		ticks = append(ticks, t)
	}
	return ticks
}
