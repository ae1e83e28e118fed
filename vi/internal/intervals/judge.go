package intervals

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
	"github.com/facetvi/facet/vi/weighted"
)

// What a fit goes by.
const (
	fewDraws    = 256   // of its normals, if of these all but
	uneven      = 1e-3  // are effective and k-hat is low,
	moreDraws   = 4096  // or so many, or
	mostDraws   = 16384 // if these are too few
	evenWeights = 0.5   // of them that are effective, at least
	manyPairs   = 16    // of draws tell the variance of a cell; those with fewer have theirs from all of these
)

// Settings say what a fit must be like.
type Settings struct {
	Lost float64 // how much of the posterior may be left out
	Seed uint64
	// Mean, SD and LogEvidence are standard errors at most: of means in posterior standard deviations, of standard deviations
	// as a part, and of the log evidence in nats.
	Mean, SD, LogEvidence float64
}

// A Fit is of one data set.
type Fit struct {
	Q           *mixture.Mixture
	Cells       []Cell // of Q; the Fitter's, until its next fit
	Moments     []Moments
	LogEvidence mc.Estimate
	Tried       int     // intervals
	Left        float64 // of the mass, not in Q
	Draws       int
	Effective   float64 // part of them
}

// A Cell is an interval.
type Cell struct {
	Where             string
	Weight            float64 // its probability
	ELBO, LogEvidence mc.Estimate
	KHat              float64 // of the draws in all cells
}

// Moments are the posterior mean and standard deviation of a latent, on the program's own scale.
type Moments struct{ Mean, SD mc.Estimate }

// Fit fits the data of d, which is of the Fitter's program. It is nil where the intervals are not near normals that are all there
// is, or where so many draws do not tell the posterior as well as s says.
func (f *Fitter) Fit(d *graph.Density, s Settings) (*Fit, error) {
	if ok, err := f.find(d, s.Lost); err != nil || !ok {
		return nil, err
	}
	for _, draws := range [...]int{fewDraws, moreDraws, mostDraws} {
		ok, err := f.weigh(s.Seed, draws)
		if err != nil || !ok {
			return nil, err
		}
		if fit, err := f.judge(s, draws); err != nil || fit != nil {
			return fit, err
		}
	}
	return nil, nil
}

// judge makes a fit of the sample. It is nil where more draws or another search is needed.
func (f *Fitter) judge(s Settings, draws int) (*Fit, error) {
	w := &f.sample
	smoothed, err := weighted.ParetoSmooth(w.tail)
	if err != nil {
		return nil, err
	}
	n := len(w.ratio)
	for _, list := range [...]*[]float64{&f.weight, &f.plain, &f.f, &f.known, &f.e} {
		*list = slices.Grow((*list)[:0], n)[:n]
	}
	logSum := floats.LogSumExp(w.logWeight)
	for k, x := range w.logWeight {
		f.weight[k] = math.Exp(x - logSum)
	}
	effective, light := smoothed.ESS/float64(n), smoothed.K < weighted.KThreshold(n)
	if draws == fewDraws && (effective < 1-uneven || !light) ||
		effective < evenWeights || !light && floats.Max(f.weight)*float64(n) > weighted.Heavy {
		return nil, nil
	}
	fit := &Fit{Q: w.q, Cells: w.cells, Tried: len(f.parts), Left: f.lost, Draws: draws, Effective: effective}
	fit.LogEvidence = mc.Estimate{Value: logSum - math.Log(float64(n)), SE: w.stratified(f.weight)}
	if fit.LogEvidence.SE > s.LogEvidence {
		return nil, nil
	}
	for k := range fit.Cells {
		fit.Cells[k].KHat = smoothed.K // a cell has few draws
	}
	for k, c := range w.cell { // the weights of the draws in the fit
		f.plain[k] = w.q.Weight(c) / float64(w.first[c+1]-w.first[c])
	}
	fit.Moments = make([]Moments, f.d.Dim())
	for i := range fit.Moments {
		m := f.momentsOf(i, draws == fewDraws)
		if m.Mean.SE > s.Mean*m.SD.Value || m.SD.SE > s.SD*m.SD.Value {
			return nil, nil
		}
		fit.Moments[i] = m
	}
	return fit, nil
}

// momentsOf are those of latent i.
func (f *Fitter) momentsOf(i int, even bool) Moments {
	w, dim := &f.sample, f.d.Dim()
	for k, c := range w.cell {
		f.f[k], f.known[k] = w.x[k*dim+i], w.mean[c*dim+i]
	}
	mean := f.expectation(even)
	for k, c := range w.cell { // (x − mean)²
		f.f[k] = w.xx[k*dim+i] - 2*mean.Value*w.x[k*dim+i] + mean.Value*mean.Value
		f.known[k] = w.square[c*dim+i] - 2*mean.Value*w.mean[c*dim+i] + mean.Value*mean.Value
	}
	variance := f.expectation(even)
	sd := math.Sqrt(max(0, variance.Value))
	return Moments{mean, mc.Estimate{Value: sd, SE: variance.SE / (2 * sd)}}
}

// expectation is the posterior's mean of f.f, which has the mean f.known, if that is known, where a draw is from: by the weights, or
// by what these change of the known means if they are even and that has the smaller standard error. It is exact where the
// weights are; but of what the draws' distributions have in tails that no draw has seen, and the posterior has not, it
// knows nothing.
func (f *Fitter) expectation(even bool) mc.Estimate {
	all, change := mc.Estimate{}, mc.Estimate{}
	for k, w := range f.weight {
		all.Value += w * f.f[k]
		change.Value += f.change(k, 0)
	}
	for k, w := range f.weight {
		f.e[k] = w * (f.f[k] - all.Value)
	}
	if all.SE = f.sample.stratified(f.e); !even {
		return all
	}
	for k, w := range f.weight {
		f.e[k] = f.change(k, w*change.Value)
	}
	if change.SE = f.sample.stratified(f.e); all.SE < change.SE {
		return all
	}
	return change
}

// change is what draw k adds to a mean, less its part of the mean.
func (f *Fitter) change(k int, part float64) float64 {
	if math.IsNaN(f.known[k]) {
		return f.weight[k]*f.f[k] - part
	}
	return f.weight[k]*f.f[k] - f.plain[k]*(f.f[k]-f.known[k]) - part
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
