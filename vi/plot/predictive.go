package plot

import (
	"fmt"
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
	f := newFigure(indexLabel(x), name)
	f.addLegend()
	var named [2]bool
	for _, run := range apart(present, shared, data) {
		style, of := 0, ""
		if run.missing {
			style, of = 1, ", missing"
		}
		wide := f.stairs(at, q[0], q[4], run.ends, pale(palette[style], 0.18))
		narrow := f.stairs(at, q[1], q[3], run.ends, pale(palette[style], 0.42))
		median := f.line(points(stairs(at, q[2], run.ends[0], run.ends[1])), lineStyle(style))
		if !named[style] {
			named[style] = true
			f.name("median"+of, median)
			f.name("50 % of draws"+of, narrow)
			f.name("90 % of draws"+of, wide)
		}
	}
	if dots := observed(data, shared); len(dots) > 0 {
		f.name("observed", f.dots(dots, pointStyle()))
	}
	f.roomy()
	return f.done()
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
