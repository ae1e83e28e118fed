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
	f := newFigure("rank", "distribution − uniform")
	f.addLegend()
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
			f.name("95 % of right fits", f.band(x, low, high, pale(blue, 0.18)))
		}
		f.name(q.Name, f.line(points(x, off), lineStyle(lines)))
		lines++
	}
	if lines == 0 {
		return nil, fmt.Errorf("plot: no quantity of the calibration is called %q", names)
	}
	f.roomy()
	return f.done()
}

// Models draws the probabilities of models as bars with their standard errors, beside what was said of them before the data
// and their weights by predictions, as points.
func Models(c vi.Comparison) (*plot.Plot, error) {
	f := newFigure("", "probability")
	f.addLegend()
	var labels []plot.Tick
	var names []string
	var before, stacked plotter.XYs
	for k, m := range c.Models {
		at := float64(k)
		bar := f.band([]float64{at - 0.36, at + 0.36}, []float64{0, 0}, []float64{m.Prob.Value, m.Prob.Value}, blue)
		if k == 0 {
			f.name("given the data", bar)
		}
		f.line(plotter.XYs{{X: at, Y: m.Prob.Value - m.Prob.SE}, {X: at, Y: m.Prob.Value + m.Prob.SE}}, plotter.DefaultLineStyle)
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
		if len(x.at) > 0 {
			f.name(x.name, f.dots(x.at, draw.GlyphStyle{Color: x.color, Radius: 3, Shape: draw.CircleGlyph{}}))
		}
	}
	f.X.Min, f.X.Max, f.Y.Min = -0.6, float64(len(c.Models))-0.4, 0
	f.X.Tick.Marker, f.X.Tick.Length = plot.ConstantTicks(labels), 0
	if letters := len(strings.Join(names, "")); letters > mostLetters { // else they would run into each other
		f.X.Tick.Label.Rotation, f.X.Tick.Label.XAlign, f.X.Tick.Label.YAlign = math.Pi/6, draw.XRight, draw.YTop
	}
	f.roomy()
	return f.done()
}

// mostLetters stand side by side below the bars of models.
const mostLetters = 30
