package picture

import (
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/plotter"
)

// Interval is the mean of some draws and their central 90 %.
func Interval(draws []float64) (mean, low, high float64) {
	v := slices.Sorted(slices.Values(draws))
	return stat.Mean(v, nil), stat.Quantile(0.05, stat.Empirical, v, nil), stat.Quantile(0.95, stat.Empirical, v, nil)
}

// A Curve is a posterior mean and the central 90 % of the draws, at each x.
type Curve struct{ Mean, Low, High plotter.XYs }

// CurveOf summarises draws 0 to draws−1 of a curve, which f evaluates, at each x.
func CurveOf(x []float64, draws int, f func(draw int, x float64) float64) Curve {
	var c Curve
	v := make([]float64, draws)
	for _, at := range x {
		for k := range v {
			v[k] = f(k, at)
		}
		mean, low, high := Interval(v)
		c.Mean = append(c.Mean, plotter.XY{X: at, Y: mean})
		c.Low = append(c.Low, plotter.XY{X: at, Y: low})
		c.High = append(c.High, plotter.XY{X: at, Y: high})
	}
	return c
}

// Points pairs x and y, which must have the same length.
func Points(x, y []float64) plotter.XYs {
	xy := make(plotter.XYs, len(x))
	for i := range x {
		xy[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	return xy
}
