package plot

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"

	"github.com/facetvi/facet/vi"
)

// ELBO draws the trace of a fit, Posterior.Trace: estimates of the ELBO, in nats,
// over the steps, with a band of two standard errors to each side.
//
// The climb at the start is often thousands of times as high as what comes
// after it, and so is a single estimate that met a rare region. So the axis
// shows where most of the second half of the trace is; what is far from there
// leaves the figure. Set p.Y.Min and p.Y.Max to see all.
//
// It returns an error if there are fewer than two points, if their steps do not
// increase, or if one is not finite.
func ELBO(trace []vi.TracePoint) (*plot.Plot, error) {
	n := len(trace)
	if n < 2 {
		return nil, fmt.Errorf("plot: a trace of length %d; a line needs 2", n)
	}
	x, mean, low, high := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i, at := range trace {
		if i > 0 && at.Step <= trace[i-1].Step {
			return nil, fmt.Errorf("plot: step %d comes after step %d", at.Step, trace[i-1].Step)
		}
		x[i], mean[i] = float64(at.Step), at.ELBO.Value
		low[i], high[i] = at.ELBO.Value-2*at.ELBO.SE, at.ELBO.Value+2*at.ELBO.SE
		if width := high[i] - low[i]; !(width >= 0) || math.IsInf(width, 0) {
			return nil, fmt.Errorf("plot: the ELBO at step %d is %v", at.Step, at.ELBO)
		}
	}
	f := newFigure("step", "ELBO (nats)")
	area := f.band(x, low, high, pale(blue, 0.3))
	line := f.line(points(x, mean), lineStyle(0))
	f.addLegend()
	f.name("estimate", line)
	f.name("± 2 standard errors", area)
	f.Y.Min, f.Y.Max = late(low, high)
	return f.done()
}

// late is a range that holds most of the second half of a trace: from a tenth of
// low to nine tenths of high, and a quarter of that more on each side.
func late(low, high []float64) (from, to float64) {
	low, high = slices.Sorted(slices.Values(low[len(low)/2:])), slices.Sorted(slices.Values(high[len(high)/2:]))
	from, to = stat.Quantile(0.1, stat.Empirical, low, nil), stat.Quantile(0.9, stat.Empirical, high, nil)
	space := 0.25 * (to - from)
	return from - space, to + space
}
