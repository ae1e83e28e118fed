package intervals

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/verdict"
)

// manyPairs of draws tell the variance of a cell; those with fewer have theirs from all of these.
const manyPairs = 16

// An estimator makes estimates of the draws of a sample.
type estimator struct {
	*sample
	weight, plain []float64 // by draw: its weight in the posterior, and in the fit
	f, known, e   []float64 // a function, what is known of its mean where a draw is from, and terms of an error
}

// weigh finds the weights, and returns the log of the sum of what they are in proportion to.
func (x *estimator) weigh() (logSum float64) {
	n := len(x.logWeight)
	for _, list := range [...]*[]float64{&x.weight, &x.plain, &x.f, &x.known, &x.e} {
		*list = slices.Grow((*list)[:0], n)[:n]
	}
	logSum = floats.LogSumExp(x.logWeight)
	for k, log := range x.logWeight {
		c := x.cell[k]
		x.weight[k], x.plain[k] = math.Exp(log-logSum), x.q.Weight(c)/float64(x.first[c+1]-x.first[c])
	}
	return logSum
}

// moments are those of latent i.
func (x *estimator) moments(i int, even bool) verdict.Moments {
	dim := len(x.sample.x) / len(x.cell)
	for k, c := range x.cell {
		x.f[k], x.known[k] = x.sample.x[k*dim+i], x.mean[c*dim+i]
	}
	mean := x.expectation(even)
	for k, c := range x.cell { // (x − mean)²
		x.f[k] = x.xx[k*dim+i] - 2*mean.Value*x.sample.x[k*dim+i] + mean.Value*mean.Value
		x.known[k] = x.square[c*dim+i] - 2*mean.Value*x.mean[c*dim+i] + mean.Value*mean.Value
	}
	variance := x.expectation(even)
	sd := math.Sqrt(max(0, variance.Value))
	return verdict.Moments{Mean: mean, SD: mc.Estimate{Value: sd, SE: variance.SE / (2 * sd)}}
}

// expectation is the posterior's mean of x.f, which has the mean x.known, if that is known, where a draw is from: by the weights, or
// by what these change of the known means if they are even and that has the smaller standard error. It is exact where the
// weights are; but of what the draws' distributions have in tails that no draw has seen, and the posterior has not, it
// knows nothing.
func (x *estimator) expectation(even bool) mc.Estimate {
	all, change := mc.Estimate{}, mc.Estimate{}
	for k, w := range x.weight {
		all.Value += w * x.f[k]
		change.Value += x.change(k, 0)
	}
	for k, w := range x.weight {
		x.e[k] = w * (x.f[k] - all.Value)
	}
	if all.SE = x.stratified(x.e); !even {
		return all
	}
	for k, w := range x.weight {
		x.e[k] = x.change(k, w*change.Value)
	}
	if change.SE = x.stratified(x.e); all.SE < change.SE {
		return all
	}
	return change
}

// change is what draw k adds to a mean, less its part of the mean.
func (x *estimator) change(k int, part float64) float64 {
	if math.IsNaN(x.known[k]) {
		return x.weight[k]*x.f[k] - part
	}
	return x.weight[k]*x.f[k] - x.plain[k]*(x.f[k]-x.known[k]) - part
}

// stratified is the standard error of the sum of e over the draws, of which each cell has its own, in pairs.
func (w *sample) stratified(e []float64) float64 {
	variance, squares, few := 0.0, 0.0, 0 // of cells with few pairs: Σ of squares in units of the cell's weight, degrees of freedom
	units := 0.0
	for c := range w.cells {
		var m mc.Moments
		for k := w.first[c]; k < w.first[c+1]; k += 2 {
			m.Add(e[k] + e[k+1])
		}
		if m.N >= manyPairs {
			variance += float64(m.N) * m.Variance()
			continue
		}
		unit := w.q.Weight(c) / float64(m.N)
		squares += m.Variance() * float64(m.N-1) / (unit * unit)
		few += m.N - 1
		units += float64(m.N) * unit * unit
	}
	if few > 0 {
		variance += units * squares / float64(few)
	}
	return math.Sqrt(variance)
}
