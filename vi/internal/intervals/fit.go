package intervals

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
	"github.com/facetvi/facet/vi/verdict"
	"github.com/facetvi/facet/vi/weighted"
)

// What a fit goes by.
const (
	fewDraws    = 256   // of its normals, if of these all but
	uneven      = 1e-3  // are effective and k-hat is low,
	moreDraws   = 4096  // or so many, or
	mostDraws   = 16384 // if these are too few
	evenWeights = 0.5   // of them that are effective, at least
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
	Moments     []verdict.Moments
	LogEvidence mc.Estimate
	Tried       int     // intervals
	Left        float64 // of the mass, not in Q
	Draws       int
	Effective   float64 // part of them
}

// A Fitter fits data set after data set of one program. It is for one goroutine.
type Fitter struct {
	finder *finder
	shares *shares
	drawer *drawer
	by     estimator
}

// New returns nil if d is not of the kind.
func New(d *graph.Density) (*Fitter, error) {
	p, err := newProgram(d)
	if err != nil || p == nil {
		return nil, err
	}
	f, err := newFinder(p)
	if err != nil {
		return nil, err
	}
	s := newShares(len(p.parts), len(p.rest)+1)
	x, err := newDrawer(f, s)
	return &Fitter{f, s, x, estimator{sample: &x.sample}}, err
}

// find finds the normals of the intervals that hold all but the part lost of the posterior, with the data of d. It
// reports false if the intervals are not near normals that are all there is.
func (f *Fitter) find(d *graph.Density, lost float64) (bool, error) {
	if err := d.Feed(f.drawer.x.Executor); err != nil {
		return false, err
	}
	if ok, err := f.finder.find(d); err != nil || !ok {
		return false, err
	}
	f.shares.keep(f.finder, lost)
	return true, f.finder.polish(f.shares.kept)
}

// Fit fits the data of d, which is of the Fitter's program. It is nil where the intervals are not near normals that are all there
// is, or where so many draws do not tell the posterior as well as s says.
func (f *Fitter) Fit(d *graph.Density, s Settings) (*Fit, error) {
	if ok, err := f.find(d, s.Lost); err != nil || !ok {
		return nil, err
	}
	for _, draws := range [...]int{fewDraws, moreDraws, mostDraws} {
		ok, err := f.drawer.weigh(s.Seed, draws)
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
	w := &f.drawer.sample
	smoothed, err := weighted.ParetoSmooth(w.tail)
	if err != nil {
		return nil, err
	}
	n, logSum := len(w.ratio), f.by.weigh()
	effective, light := smoothed.ESS/float64(n), smoothed.K < weighted.KThreshold(n)
	if draws == fewDraws && (effective < 1-uneven || !light) ||
		effective < evenWeights || !light && floats.Max(f.by.weight)*float64(n) > weighted.Heavy {
		return nil, nil
	}
	fit := &Fit{Q: w.q, Cells: w.cells, Tried: len(f.finder.parts), Left: f.shares.lost, Draws: draws, Effective: effective}
	fit.LogEvidence = mc.Estimate{Value: logSum - math.Log(float64(n)), SE: w.stratified(f.by.weight)}
	if fit.LogEvidence.SE > s.LogEvidence {
		return nil, nil
	}
	for k := range fit.Cells {
		fit.Cells[k].KHat = smoothed.K // a cell has few draws
	}
	fit.Moments = make([]verdict.Moments, f.finder.d.Dim())
	for i := range fit.Moments {
		m := f.by.moments(i, draws == fewDraws)
		if m.Mean.SE > s.Mean*m.SD.Value || m.SD.SE > s.SD*m.SD.Value {
			return nil, nil
		}
		fit.Moments[i] = m
	}
	return fit, nil
}
