package vi

import (
	"context"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/cells"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/mc"
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

// quicker is a fit without a scout, of programs that cells.Intervals takes; its found.Verdict is
// there, and nothing of it is TrustNothing. It is nil where that cannot be had.
func quicker(f *cells.Intervals, d *graph.Density, s Settings) (*Posterior, error) {
	if ok, err := f.Find(d, -math.Expm1(-s.Tolerance)); err != nil || !ok {
		return nil, err
	}
	for _, draws := range [...]int{quickDraws, moreQuickDraws, mostQuickDraws} {
		fitted, err := f.Weigh(mc.Mix(s.Seed, cellStream), draws)
		if err != nil || fitted == nil {
			return nil, err
		}
		p := &Posterior{Density: d, Q: fitted.Q, Settings: s}
		p.found = &found{q: fitted.Q, Tried: fitted.Tried, Left: fitted.Left, Scout: Estimate{Mean: math.NaN(), SE: math.NaN()}}
		for k, c := range fitted.Cells {
			p.found.Cells = append(p.found.Cells, Cell{fitted.Where[k], fitted.Q.Weight(k), c.ELBO, c.LogEvidence, c.KHat})
		}
		ok, err := p.judgeQuick(fitted, draws)
		if err != nil {
			return nil, err
		}
		if ok {
			p.warnOf(p.found.Verdict)
			return p, nil
		}
	}
	return nil, nil
}

// judgeQuick finds the verdict by the weights of the draws that the search has made; ok is false
// where more draws or another search is needed.
func (p *Posterior) judgeQuick(fitted *cells.Fitted, draws int) (ok bool, err error) {
	smoothed, err := check.ParetoSmooth(fitted.Tail)
	if err != nil {
		return false, err
	}
	n := len(fitted.Ratio)
	logSum := floats.LogSumExp(fitted.LogWeight)
	weight := make([]float64, n)
	for k, x := range fitted.LogWeight {
		weight[k] = math.Exp(x - logSum)
	}
	f := p.found
	for k := range f.Cells {
		f.Cells[k].KHat = smoothed.K // of all: a cell has few draws
	}
	f.even = smoothed.ESS / float64(n)
	if draws == quickDraws && (f.even < 1-uneven || !(smoothed.K < check.KThreshold(n))) {
		return false, nil
	}
	if f.even < evenWeights || !(smoothed.K < check.KThreshold(n)) && floats.Max(weight)*float64(n) > heavy {
		return false, nil
	}
	f.LogEvidence = Estimate{Mean: logSum - math.Log(float64(n)), SE: stratified(fitted, func(k int) float64 { return weight[k] })}
	if f.LogEvidence.SE > quickSE {
		return false, nil
	}
	f.Verdict = Verdict{Trust: TrustFit, Draws: p.evidenceDraws()}
	dim := p.Density.Dim()
	plain := make([]float64, n) // the weights of the draws in the fit
	for k, c := range fitted.Cell {
		plain[k] = fitted.Q.Weight(c) / float64(fitted.First[c+1]-fitted.First[c])
	}
	for i, name := range p.Density.Latents() {
		fitMean, fitSquare := 0.0, 0.0
		for c := range fitted.Cells {
			fitMean += fitted.Q.Weight(c) * fitted.Mean[c*dim+i]
			fitSquare += fitted.Q.Weight(c) * fitted.Square[c*dim+i]
		}
		r := check.Reweighted{Name: name, FitMean: fitMean, FitSD: math.Sqrt(max(0, fitSquare-fitMean*fitMean))}
		r.Mean = weighedMean(fitted, weight, plain, fitMean, draws == quickDraws, func(k int) (x, mean float64) {
			return fitted.X[k*dim+i], fitted.Mean[fitted.Cell[k]*dim+i]
		})
		variance := weighedMean(fitted, weight, plain, fitSquare-2*r.Mean.Mean*fitMean+r.Mean.Mean*r.Mean.Mean, draws == quickDraws, func(k int) (x, mean float64) {
			c := fitted.Cell[k]*dim + i
			return fitted.XX[k*dim+i] - 2*r.Mean.Mean*fitted.X[k*dim+i] + r.Mean.Mean*r.Mean.Mean,
				fitted.Square[c] - 2*r.Mean.Mean*fitted.Mean[c] + r.Mean.Mean*r.Mean.Mean
		})
		r.SD = math.Sqrt(max(0, variance.Mean))
		r.SDSE = variance.SE / (2 * r.SD)
		f.Reweighted = append(f.Reweighted, r)
		sdError := r.SDSE / r.SD
		shift, wide := math.Abs(fitMean-r.Mean.Mean)/r.SD, math.Abs(r.FitSD-r.SD)/r.SD
		if wide < offSD {
			sdError /= 2 // the fit's own, which has no noise of draws, says the same
		}
		switch {
		case shift+2*r.Mean.SE/r.SD <= offMean && wide+2*r.SDSE/r.SD <= offSD:
		case draws < mostQuickDraws || r.Mean.SE > knownMean*r.SD || sdError > knownSD:
			return false, nil
		case shift > offMean || wide > offSD:
			f.Verdict.Trust = TrustReweighted
			f.Verdict.Reasons = append(f.Verdict.Reasons, fmt.Sprintf("%s is %.4g ± %.2g by importance, and %.4g ± %.2g in the fit", name, r.Mean.Mean, r.SD, r.FitMean, r.FitSD))
		}
	}
	f.Verdict.Reasons = append(f.Verdict.Reasons, fmt.Sprintf("k-hat %.2f; log evidence %v; all %d intervals were climbed, each from a place of its own, and had one mode; no scout has looked", smoothed.K, f.LogEvidence, fitted.Tried))
	return true, nil
}

// weighedMean is the posterior's mean of x, whose mean in the fit is fit: by the weights, or by what these change
// of the fit's if they are even and that has the smaller standard error. It is exact where the fit is; but of what the
// fit has in tails that no draw has seen, and the posterior has not, it knows nothing. of gives x at draw k, and its mean in that draw's cell in the fit.
func weighedMean(fitted *cells.Fitted, weight, plain []float64, fit float64, even bool, of func(k int) (x, mean float64)) Estimate {
	var all, change Estimate
	change.Mean = fit
	for k, w := range weight {
		x, _ := of(k)
		all.Mean += w * x
		change.Mean += (w - plain[k]) * x
	}
	all.SE = stratified(fitted, func(k int) float64 {
		x, _ := of(k)
		return weight[k] * (x - all.Mean)
	})
	change.SE = stratified(fitted, func(k int) float64 {
		x, mean := of(k)
		return weight[k]*(x-change.Mean) - plain[k]*(x-mean)
	})
	if !even || all.SE < change.SE {
		return all
	}
	return change
}

// manyPairs is how many pairs of draws tell the variance of a cell; those with fewer have theirs from all of these.
const manyPairs = 16

// stratified is the standard error of the sum of e over the draws, of which each cell has its own, in pairs.
func stratified(fitted *cells.Fitted, e func(k int) float64) float64 {
	variance, squares, few := 0.0, 0.0, 0 // of cells with few pairs: Σ of squares in units of the cell's weight, degrees of freedom
	units := 0.0
	for c := range fitted.Cells {
		var m mc.Moments
		for k := fitted.First[c]; k < fitted.First[c+1]; k += 2 {
			m.Add(e(k) + e(k+1))
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

// fitQuick is a fit with Settings.Quick; nil for what takes another one.
func fitQuick(ctx context.Context, d *graph.Density, s Settings) (*Posterior, error) {
	if ctx.Err() != nil {
		return nil, nil
	}
	v, err := d.Cached(quickKey{}, func() (any, error) { return new(sync.Pool), nil })
	if err != nil {
		return nil, err
	}
	pool := v.(*sync.Pool)
	f, known := pool.Get().(*cells.Intervals)
	if !known {
		if f, err = cells.NewIntervals(d); err != nil {
			return nil, err
		}
	}
	defer pool.Put(f)
	if f == nil {
		return nil, nil
	}
	return quicker(f, d, s)
}

// quickKey is where a program's cells.Intervals that no fit is using are: nil ones, if it is of another kind.
type quickKey struct{}
