package vi

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/cells"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/weighted"
)

// What a quick fit goes by.
const (
	quickDraws     = 256   // of its normals, if of these all but
	uneven         = 1e-3  // are effective and k-hat is low,
	moreQuickDraws = 4096  // or so many, or
	mostQuickDraws = 16384 // if these are too few
	evenWeights    = 0.5   // of them that are effective, at least
	quickSE        = 0.03  // of the log evidence, at most, in nats
)

// A quickFit fits data sets of a program one after the other.
type quickFit struct {
	*cells.Intervals
	weight, plain, x, mean, e []float64 // by draw, for judge
}

// of is a fit without a scout, of programs that cells.Intervals takes; its found.Verdict is
// there, and nothing of it is TrustNothing. It is nil where that cannot be had.
func (f *quickFit) of(d *graph.Density, s job) (*Posterior, error) {
	if ok, err := f.Find(d, -math.Expm1(-s.cells.Tolerance)); err != nil || !ok {
		return nil, err
	}
	for _, draws := range [...]int{quickDraws, moreQuickDraws, mostQuickDraws} {
		fitted, err := f.Weigh(mc.Mix(s.Seed, cellStream), draws)
		if err != nil || fitted == nil {
			return nil, err
		}
		p := &Posterior{Density: d, Q: fitted.Q, Settings: s.settings()}
		p.findings = &findings{q: fitted.Q, Tried: fitted.Tried, Left: fitted.Left, Scout: Estimate{Value: math.NaN(), SE: math.NaN()}}
		p.findings.Cells = make([]Cell, 0, len(fitted.Cells))
		for k, c := range fitted.Cells {
			p.findings.Cells = append(p.findings.Cells, Cell{fitted.Where[k], fitted.Q.Weight(k), c.ELBO, c.LogEvidence, c.KHat})
		}
		ok, err := f.judge(p, fitted, draws)
		if err != nil {
			return nil, err
		}
		if ok {
			p.warnOf(p.findings.Verdict)
			return p, nil
		}
	}
	return nil, nil
}

// judge finds the verdict by the weights of the draws that the search has made; ok is false
// where more draws or another search is needed.
func (f *quickFit) judge(p *Posterior, fitted *cells.Fitted, draws int) (ok bool, err error) {
	smoothed, err := weighted.ParetoSmooth(fitted.Tail)
	if err != nil {
		return false, err
	}
	n := len(fitted.Ratio)
	for _, list := range [...]*[]float64{&f.weight, &f.plain, &f.x, &f.mean, &f.e} {
		*list = slices.Grow((*list)[:0], n)[:n]
	}
	logSum := floats.LogSumExp(fitted.LogWeight)
	for k, x := range fitted.LogWeight {
		f.weight[k] = math.Exp(x - logSum)
	}
	found := p.findings
	for k := range found.Cells {
		found.Cells[k].KHat = smoothed.K // of all: a cell has few draws
	}
	even := smoothed.ESS / float64(n)
	if draws == quickDraws && (even < 1-uneven || !(smoothed.K < weighted.KThreshold(n))) {
		return false, nil
	}
	if even < evenWeights || !(smoothed.K < weighted.KThreshold(n)) && floats.Max(f.weight)*float64(n) > heavy {
		return false, nil
	}
	found.LogEvidence = Estimate{Value: logSum - math.Log(float64(n)), SE: stratified(fitted, f.weight)}
	if found.LogEvidence.SE > quickSE {
		return false, nil
	}
	found.Verdict = Verdict{Trust: TrustFit}
	dim := p.Density.Dim()
	for k, c := range fitted.Cell { // the weights of the draws in the fit
		f.plain[k] = fitted.Q.Weight(c) / float64(fitted.First[c+1]-fitted.First[c])
	}
	found.moments = make([]Moments, 0, dim)
	for i := range dim {
		for k, c := range fitted.Cell {
			f.x[k], f.mean[k] = fitted.X[k*dim+i], fitted.DrawMean[c*dim+i]
		}
		mean := f.weighedMean(fitted, draws == quickDraws)
		for k, c := range fitted.Cell { // (x − mean)²
			f.x[k] = fitted.XX[k*dim+i] - 2*mean.Value*fitted.X[k*dim+i] + mean.Value*mean.Value
			f.mean[k] = fitted.DrawSquare[c*dim+i] - 2*mean.Value*fitted.DrawMean[c*dim+i] + mean.Value*mean.Value
		}
		variance := f.weighedMean(fitted, draws == quickDraws)
		sd := math.Sqrt(max(0, variance.Value))
		m := Moments{mean, Estimate{Value: sd, SE: variance.SE / (2 * sd)}}
		if m.Mean.SE > accepted.mean*sd || m.SD.SE > accepted.sd*sd {
			return false, nil
		}
		found.moments = append(found.moments, m)
	}
	found.Verdict.Reasons = append(found.Verdict.Reasons, fmt.Sprintf("the weights of %d draws are %.0f%% effective; the log evidence is %v; all %d intervals were climbed, each from a place of its own, and had one mode", draws, 100*even, found.LogEvidence, fitted.Tried))
	return true, nil
}

// weighedMean is the posterior's mean of f.x, which has the mean f.mean, if that is known, where a draw is from: by the weights, or
// by what these change of the known means if they are even and that has the smaller standard error. It is exact where the
// weights are; but of what the draws' distributions have in tails that no draw has seen, and the posterior has not, it
// knows nothing.
func (f *quickFit) weighedMean(fitted *cells.Fitted, even bool) Estimate {
	all, change := Estimate{}, Estimate{}
	for k, w := range f.weight {
		all.Value += w * f.x[k]
		change.Value += f.change(k, 0)
	}
	for k, w := range f.weight {
		f.e[k] = w * (f.x[k] - all.Value)
	}
	if all.SE = stratified(fitted, f.e); !even {
		return all
	}
	for k, w := range f.weight {
		f.e[k] = f.change(k, w*change.Value)
	}
	if change.SE = stratified(fitted, f.e); all.SE < change.SE {
		return all
	}
	return change
}

// change is what draw k adds to a mean, less its part of the mean.
func (f *quickFit) change(k int, part float64) float64 {
	if math.IsNaN(f.mean[k]) {
		return f.weight[k]*f.x[k] - part
	}
	return f.weight[k]*f.x[k] - f.plain[k]*(f.x[k]-f.mean[k]) - part
}

// manyPairs is how many pairs of draws tell the variance of a cell; those with fewer have theirs from all of these.
const manyPairs = 16

// stratified is the standard error of the sum of e over the draws, of which each cell has its own, in pairs.
func stratified(fitted *cells.Fitted, e []float64) float64 {
	variance, squares, few := 0.0, 0.0, 0 // of cells with few pairs: Σ of squares in units of the cell's weight, degrees of freedom
	units := 0.0
	for c := range fitted.Cells {
		var m mc.Moments
		for k := fitted.First[c]; k < fitted.First[c+1]; k += 2 {
			m.Add(e[k] + e[k+1])
		}
		if m.N >= manyPairs {
			variance += float64(m.N) * m.Variance()
			continue
		}
		unit := fitted.Q.Weight(c) / float64(m.N)
		squares += m.Variance() * float64(m.N-1) / (unit * unit)
		few += m.N - 1
		units += float64(m.N) * unit * unit
	}
	if few > 0 {
		variance += units * squares / float64(few)
	}
	return math.Sqrt(variance)
}

// fitQuick is a fit with Cells.Quick; nil for what takes another one.
func fitQuick(ctx context.Context, d *graph.Density, s job) (*Posterior, error) {
	if ctx.Err() != nil {
		return nil, nil
	}
	v, err := d.Cached(quickKey{}, func() (any, error) { return new(sync.Pool), nil })
	if err != nil {
		return nil, err
	}
	pool := v.(*sync.Pool)
	f, known := pool.Get().(*quickFit)
	if !known {
		f = new(quickFit)
		if f.Intervals, err = cells.NewIntervals(d); err != nil {
			return nil, err
		}
	}
	var p *Posterior
	if f.Intervals != nil {
		p, err = f.of(d, s)
	}
	pool.Put(f) // not after a panic
	return p, err
}

// quickKey is where a program's quickFits are that no fit is using: without Intervals, if it is of another kind.
type quickKey struct{}
