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
// 50 % and 90 % of the draws. Observed data are points; elements that are missing have other colours and no
// points: forecasts, at the end of a series. x has the position of
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
	isObserved := slices.Contains(r.Observations, name)
	var data []float64
	if isObserved {
		if data, err = r.Data(name); err != nil {
			return nil, err
		}
	}
	q := quantiles(draws, shared)
	present := runs(q[2])
	if len(present) == 0 {
		return nil, fmt.Errorf("plot: no draw reaches any element of %s", name)
	}
	p := newPlot(indexLabel(x), name)
	l := addLegend(p)
	var named [2]bool
	for _, run := range apart(present, shared, data) {
		style, of := 0, ""
		if run.missing {
			style, of = 1, ", missing"
		}
		wide, narrow, median, err := bands(at, q, run.ends, style)
		if err != nil {
			return nil, err
		}
		p.Add(wide, narrow, median)
		if !named[style] {
			named[style] = true
			l.add("median"+of, median)
			l.add("50 % of draws"+of, narrow)
			l.add("90 % of draws"+of, wide)
		}
	}
	if dots := observed(data, shared); len(dots) > 0 {
		points, err := plotter.NewScatter(dots)
		if err != nil {
			return nil, err
		}
		points.GlyphStyle = pointStyle()
		p.Add(points)
		l.add("observed", points)
	}
	roomy(p)
	return p, nil
}

// bands are those of 90 % and of 50 % of draws, and the line of their medians, from one end to the other.
func bands(at []float64, q [5][]float64, ends [2]int, style int) (wide, narrow *plotter.Polygon, median *plotter.Line, err error) {
	if wide, err = stairsBand(at, q[0], q[4], ends, pale(palette[style], 0.18)); err != nil {
		return nil, nil, nil, err
	}
	if narrow, err = stairsBand(at, q[1], q[3], ends, pale(palette[style], 0.42)); err != nil {
		return nil, nil, nil, err
	}
	if median, err = plotter.NewLine(points(stairs(at, q[2], ends[0], ends[1]))); err != nil {
		return nil, nil, nil, err
	}
	median.LineStyle = lineStyle(style)
	return wide, narrow, median, nil
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

// A stretch is a run of places of which all are missing, or none is.
type stretch struct {
	ends    [2]int
	missing bool
}

// apart cuts runs where what was observed ends or begins.
func apart(runs [][2]int, at []place, data []float64) (list []stretch) {
	missing := func(k int) bool {
		for _, i := range at[k].elements {
			if data == nil || !math.IsNaN(data[i]) {
				return false
			}
		}
		return true
	}
	for _, run := range runs {
		for from := run[0]; from < run[1]; {
			to := from + 1
			for to < run[1] && missing(to) == missing(from) {
				to++
			}
			list = append(list, stretch{[2]int{from, to}, missing(from)})
			from = to
		}
	}
	return list
}

// observed are the points of data that are not missing.
func observed(data []float64, at []place) (xys plotter.XYs) {
	for _, place := range at {
		for _, i := range place.elements {
			if data != nil && !math.IsNaN(data[i]) {
				xys = append(xys, plotter.XY{X: place.x, Y: data[i]})
			}
		}
	}
	return xys
}

// stairsBand is the area between the stairs low and high.
func stairsBand(edges, low, high []float64, run [2]int, fill color.Color) (*plotter.Polygon, error) {
	x, below := stairs(edges, low, run[0], run[1])
	_, above := stairs(edges, high, run[0], run[1])
	return band(x, below, above, fill)
}
