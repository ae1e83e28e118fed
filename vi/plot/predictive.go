package plot

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/facetvi/facet/vi"
)

// Predictive draws the posterior predictive of an observation or a named
// deterministic expression, element by element: its median, and bands that hold
// 50 % and 90 % of the draws. Observed data are points. x has the position of
// each element, in any order, or is nil for 0, 1, …. Of elements at the same
// position, the median and the bands are of the draws of all of them together.
//
// Elements that no draw reaches (see [vi.Predictive]) leave a gap in the bands.
// It returns an error for an unknown name, for an x of another length or with
// an element that is not finite, and if no draw reaches any element.
func Predictive(r vi.Predictive, name string, x []float64) (*plot.Plot, error) {
	draws, err := r.Of(name)
	if err != nil {
		return nil, err
	}
	_, elements := draws.Dims()
	shared, at, err := places(x, elements)
	if err != nil {
		return nil, fmt.Errorf("plot: %s: %w", name, err)
	}
	q := quantiles(draws, shared)
	present := runs(q[2])
	if len(present) == 0 {
		return nil, fmt.Errorf("plot: no draw reaches any element of %s", name)
	}
	p := newPlot("", indexLabel(x), name)
	l := addLegend(p)
	for i, run := range present {
		wide, err := stairsBand(at, q[0], q[4], run, pale(blue, 0.18))
		if err != nil {
			return nil, err
		}
		narrow, err := stairsBand(at, q[1], q[3], run, pale(blue, 0.42))
		if err != nil {
			return nil, err
		}
		median, err := plotter.NewLine(points(stairs(at, q[2], run[0], run[1])))
		if err != nil {
			return nil, err
		}
		median.LineStyle = lineStyle(0)
		p.Add(wide, narrow, median)
		if i == 0 {
			l.add("median", median)
			l.add("50 % of draws", narrow)
			l.add("90 % of draws", wide)
		}
	}
	if slices.Contains(r.Observations, name) {
		dots, err := observed(r, name, shared)
		if err != nil {
			return nil, err
		}
		p.Add(dots)
		l.add("observed", dots)
	}
	roomy(p)
	return p, nil
}

// quantiles are those of the draws in each place, NaN if there are none.
func quantiles(draws *mat.Dense, at []place) (q [5][]float64) {
	for _, place := range at {
		var v []float64
		for _, i := range place.elements {
			v = append(v, mat.Col(nil, i, draws)...)
		}
		v = slices.DeleteFunc(v, math.IsNaN)
		slices.Sort(v)
		for k, prob := range []float64{0.05, 0.25, 0.5, 0.75, 0.95} {
			value := math.NaN()
			if len(v) > 0 {
				value = stat.Quantile(prob, stat.Empirical, v, nil)
			}
			q[k] = append(q[k], value)
		}
	}
	return q
}

func observed(r vi.Predictive, name string, at []place) (*plotter.Scatter, error) {
	data, err := r.Data(name)
	if err != nil {
		return nil, err
	}
	var xys plotter.XYs
	for _, place := range at {
		for _, i := range place.elements {
			xys = append(xys, plotter.XY{X: place.x, Y: data[i]})
		}
	}
	dots, err := plotter.NewScatter(xys)
	if err != nil {
		return nil, err
	}
	dots.GlyphStyle = pointStyle()
	return dots, nil
}

// stairsBand is the area between the stairs low and high.
func stairsBand(edges, low, high []float64, run [2]int, fill color.Color) (*plotter.Polygon, error) {
	x, below := stairs(edges, low, run[0], run[1])
	_, above := stairs(edges, high, run[0], run[1])
	return band(x, below, above, fill)
}
