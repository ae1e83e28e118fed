package vi

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/scout"
)

// A Trust says which numbers of a fit can be relied on.
type Trust string

// The fit's own numbers; those of Posterior.Importance, but not the fit's own; none.
const (
	TrustFit        Trust = "trust"
	TrustReweighted Trust = "trust the reweighted numbers"
	TrustNothing    Trust = "do not trust"
)

// A Verdict is what is known of how near a fit is to the posterior.
type Verdict struct {
	Trust   Trust
	Reasons []string // why
	Try     []string // what may help
}

// String is the verdict in a line or a few.
func (v Verdict) String() string {
	s := string(v.Trust)
	if len(v.Reasons) > 0 {
		s += ": " + strings.Join(v.Reasons, "; ")
	}
	if len(v.Try) > 0 {
		s += "\ntry " + strings.Join(v.Try, "; or ")
	}
	return s
}

// What a verdict goes by.
const (
	evidenceDraws  = 10_000
	cheapGuards    = 1000 // with more, draws are fewer
	scoutErrors    = 4    // standard errors of a scout, which come from few islands
	scoutNats      = 0.15 // beside them
	leastEffective = 0.1  // of the draws
	fewEffective   = 0.3  // of the draws, where k-hat is high; and
	heavy          = 100. // times the mean, a weight that makes k-hat count
	mostSE         = 0.1  // of a log evidence, in nats
	scoutDraws     = 1000 // that are looked at
	mostMissed     = 0.04 // of the scout's draws, or of the mass that was found
	farAbove       = 3.5  // log of the posterior over the fit, at a draw that the fit misses,
	outOfSight     = 7    // and at one that reweighting does not mend
	offMean        = 0.03 // of a standard deviation
	offSD          = 0.06
)

// evidenceDraws is how many draws are weighted: fewer of a density that takes long.
func (p *Posterior) evidenceDraws() int {
	return evidenceDraws * cheapGuards / max(cheapGuards, min(5*cheapGuards, p.Density.Arrangement().Len()))
}

// finalDraws are evidenceDraws, or a tenth of them when the budget of the fit is over.
func (p *Posterior) finalDraws(m *monitor) int {
	n := p.evidenceDraws()
	if m.over() {
		return n / 10
	}
	return n
}

// judge compares a fit with a scout, which owes nothing to it, and with its own
// reweighted draws.
func (p *Posterior) judge(sample scout.Result, draws int) (Verdict, error) {
	w, err := p.weigh(draws, mc.Mix(p.Settings.Seed, judgeStream))
	if err != nil {
		return Verdict{Trust: TrustNothing, Reasons: []string{err.Error()}}, nil
	}
	p.found.note(w)
	p.found.even = w.ESS
	v := Verdict{Trust: TrustFit}
	other := "family.Cells"
	if p.hasCells() {
		other = "another Seed"
	}
	refuse := func(try, format string, args ...any) {
		v.Trust = TrustNothing
		v.Reasons = append(v.Reasons, fmt.Sprintf(format, args...))
		if !slices.Contains(v.Try, try) {
			v.Try = append(v.Try, try)
		}
	}
	n := float64(len(w.Weights))
	if w.ESS < leastEffective*n || !w.Reliable() && (w.ESS < fewEffective*n || floats.Max(w.Weights) > heavy/n) {
		refuse(other, "k-hat %.2f: a few draws outweigh the others", w.K)
	} else if w.LogEvidence.SE > mostSE {
		refuse("more draws", "the log evidence is known to %.2g nats only", w.LogEvidence.SE)
	}
	se := math.Hypot(w.LogEvidence.SE, sample.LogEvidence.SE)
	switch gap := sample.LogEvidence.Mean - w.LogEvidence.Mean; {
	case sample.Beta < 1:
		refuse("a longer Settings.Budget", "the budget ended before the scout had arrived: where the fit is not nobody has looked")
	case gap > scoutErrors*se+scoutNats:
		refuse(other, "the scout's log evidence %v is above the fit's, %v: the fit misses explanations", sample.LogEvidence, w.LogEvidence)
	case gap > -scoutErrors*se-1: // else the scout has not arrived
		if missed := p.missed(sample, w.LogEvidence.Mean); missed > mostMissed {
			refuse(other, "%.0f%% of the scout's draws are where the fit is not", 100*missed)
		}
	}
	if f := p.found; f != nil {
		if f.Left > mostMissed {
			refuse("a higher Settings.Cells, or a lower Settings.Tolerance", "%.0f%% of the posterior is in cells that were not kept", 100*f.Left)
		}
		if f.Unfinished > mostMissed {
			try := "another Seed, or a family of one normal beside it"
			if f.Cut != nil {
				try = "a longer Settings.Budget"
			}
			refuse(try, "the search ended before it had seen all cells that may matter")
		}
	}
	if v.Trust == TrustNothing {
		return v, nil
	}
	for _, l := range w.Latents {
		if math.Abs(l.FitMean-l.Mean.Mean) > offMean*l.SD || math.Abs(l.FitSD-l.SD) > offSD*l.SD {
			v.Trust = TrustReweighted
			v.Reasons = append(v.Reasons, fmt.Sprintf("%s is %.4g ± %.2g by importance, and %.4g ± %.2g in the fit", l.Name, l.Mean.Mean, l.SD, l.FitMean, l.FitSD))
			break
		}
	}
	v.Reasons = append(v.Reasons, fmt.Sprintf("k-hat %.2f; log evidence %v, and %v by the scout", w.K, w.LogEvidence, sample.LogEvidence))
	return v, nil
}

// missed is the part of a scout's draws where the posterior is much higher than the fit;
// those that reweighting mends count half, the others four times.
func (p *Posterior) missed(sample scout.Result, logEvidence float64) float64 {
	n := 0.0
	var points [][]float64
	var logProb []float64
	for k := 0; k < len(sample.Z); k += max(1, len(sample.Z)/scoutDraws) {
		points, logProb = append(points, sample.Z[k]), append(logProb, sample.LogProb[k])
	}
	for k, logQ := range family.LogProbs(p.defensive(), points) {
		switch over := logProb[k] - logEvidence - logQ; {
		case over > outOfSight:
			n += 4
		case over > farAbove:
			n += 0.5
		}
	}
	return min(1, n/float64(len(points)))
}

// Verdict says whether the fit can be relied on: by where a scout, tempered sequential
// Monte Carlo that owes nothing to the fit, finds the posterior, and by importance
// weights. A fit of cells has it from its search, and a fit of one family with 80 000
// samples of gradients or more from its end: it is among Posterior.Warnings then, if it is
// not to trust the fit. Of shorter fits, and of those that OnStep watches or that an
// Optimizer continues, it is found out when it is first asked for, also by Summary.
func (p *Posterior) Verdict() (Verdict, error) {
	if err := p.usable(); err != nil {
		return Verdict{}, err
	}
	p = p.known()
	err := p.found.judge(context.Background(), p, time.Time{})
	return p.found.Verdict, err
}

// defensive is what importance draws are from: the fit, and for cells a part of the
// draws from wider ones, which see the tails that the fit's own draws do not.
func (p *Posterior) defensive() family.Q {
	m, ok := p.Q.(*family.Mixture)
	if !ok {
		return p.Q
	}
	return m.Defensive()
}
