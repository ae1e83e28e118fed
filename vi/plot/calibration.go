package plot

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/sbc"
)

// Calibration draws for each quantity of a calibration by how much the distribution function of its ranks is above that of uniform
// ones, and the band in which the line of a right fit is at all places at once with probability 0.95. A line above the band
// on the left and below it on the right is of fits that are too narrow. names choose quantities; all if there are none.
func Calibration(c vi.Calibration, names ...string) (*plot.Plot, error) {
	p := newPlot("rank", "distribution − uniform")
	l := addLegend(p)
	lines := 0
	for _, q := range c.Quantities {
		if len(names) > 0 && !slices.Contains(names, q.Name) {
			continue
		}
		x, low, high := sbc.Band(len(q.Ranks), 0.95)
		if len(x) == 0 {
			return nil, fmt.Errorf("plot: %s has no ranks", q.Name)
		}
		ranks, off := slices.Sorted(slices.Values(q.Ranks)), make([]float64, len(x))
		below := 0
		for i, at := range x {
			for below < len(ranks) && ranks[below] < at {
				below++
			}
			off[i] = float64(below)/float64(len(ranks)) - at
			low[i], high[i] = low[i]-at, high[i]-at
		}
		if lines == 0 { // of as many fits
			wide, err := band(x, low, high, pale(blue, 0.18))
			if err != nil {
				return nil, err
			}
			p.Add(wide)
			l.add("95 % of right fits", wide)
		}
		line, err := plotter.NewLine(points(x, off))
		if err != nil {
			return nil, err
		}
		line.LineStyle = lineStyle(lines)
		p.Add(line)
		l.add(q.Name, line)
		lines++
	}
	if lines == 0 {
		return nil, fmt.Errorf("plot: no quantity of the calibration is called %q", names)
	}
	roomy(p)
	return p, nil
}

// Models draws the probabilities of models as bars with their standard errors, beside what was said of them before the data
// and their weights by predictions, as points.
func Models(c vi.Comparison) (*plot.Plot, error) {
	p := newPlot("", "probability")
	l := addLegend(p)
	var labels []plot.Tick
	var names []string
	var before, stacked plotter.XYs
	for k, m := range c.Models {
		at := float64(k)
		bar, err := band([]float64{at - 0.36, at + 0.36}, []float64{0, 0}, []float64{m.Prob.Value, m.Prob.Value}, blue)
		if err != nil {
			return nil, err
		}
		p.Add(bar)
		if k == 0 {
			l.add("given the data", bar)
		}
		errors, err := plotter.NewLine(plotter.XYs{{X: at, Y: m.Prob.Value - m.Prob.SE}, {X: at, Y: m.Prob.Value + m.Prob.SE}})
		if err != nil {
			return nil, err
		}
		p.Add(errors)
		labels, names = append(labels, plot.Tick{Value: at, Label: m.Name}), append(names, m.Name)
		before = append(before, plotter.XY{X: at - 0.18, Y: m.Prior})
		if m.Stacking >= 0 {
			stacked = append(stacked, plotter.XY{X: at + 0.18, Y: m.Stacking})
		}
	}
	for _, x := range []struct {
		name  string
		at    plotter.XYs
		color color.Color
	}{{"before the data", before, black}, {"by predictions", stacked, vermilion}} {
		if len(x.at) == 0 {
			continue
		}
		dots, err := plotter.NewScatter(x.at)
		if err != nil {
			return nil, err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: x.color, Radius: 3, Shape: draw.CircleGlyph{}}
		p.Add(dots)
		l.add(x.name, dots)
	}
	p.X.Min, p.X.Max, p.Y.Min = -0.6, float64(len(c.Models))-0.4, 0
	p.X.Tick.Marker, p.X.Tick.Length = plot.ConstantTicks(labels), 0
	if letters := len(strings.Join(names, "")); letters > mostLetters { // else they would run into each other
		p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/6, draw.XRight, draw.YTop
	}
	roomy(p)
	return p, nil
}

// mostLetters stand side by side below the bars of models.
const mostLetters = 30

// LeftOut draws the k-hat of each observation that was left out, and the threshold above which how it is predicted from the
// others is not known. x has the position of each observation, or is nil for 0, 1, ….
func LeftOut(r vi.LOO, x []float64) (*plot.Plot, error) {
	if x != nil && len(x) != len(r.Points) {
		return nil, fmt.Errorf("plot: %d positions for %d observations", len(x), len(r.Points))
	}
	p := newPlot(indexLabel(x), "k-hat")
	var xys [2]plotter.XYs // reliable or not
	for i, point := range r.Points {
		at, kind := float64(i), 0
		if x != nil {
			at = x[i]
		}
		if point.K > r.Threshold {
			kind = 1
		}
		if point.K < -1 || point.K > 5 { // infinities
			point.K = min(max(point.K, -1), 5)
		}
		xys[kind] = append(xys[kind], plotter.XY{X: at, Y: point.K})
	}
	for kind, c := range []color.Color{blue, vermilion} {
		if len(xys[kind]) > 0 {
			dots, err := plotter.NewScatter(xys[kind])
			if err != nil {
				return nil, err
			}
			dots.GlyphStyle = draw.GlyphStyle{Color: c, Radius: 2.2, Shape: draw.CircleGlyph{}}
			p.Add(dots)
		}
	}
	line, err := plotter.NewLine(plotter.XYs{{X: p.X.Min, Y: r.Threshold}, {X: p.X.Max, Y: r.Threshold}})
	if err != nil {
		return nil, err
	}
	line.LineStyle = lineStyle(1)
	p.Add(line)
	roomy(p)
	return p, nil
}
