package vi

import (
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// hasCells reports whether p is a finished fit of cells.
func (p *Posterior) hasCells() bool {
	_, mixed := p.Q.(family.Mixed)
	return mixed && p.findings != nil && p.findings.q == p.Q && p.findings.Tried > 0
}

// known is p, if it keeps what is found out of its Q. Of a posterior that no fit
// made, or whose Q was replaced since, it is another of the same Q that does.
func (p *Posterior) known() *Posterior {
	if p.findings != nil && p.findings.q == p.Q {
		return p
	}
	return &Posterior{Density: p.Density, Q: p.Q, Settings: p.Settings, findings: &findings{q: p.Q}}
}

// note keeps what weights of a fit's draws say.
func (f *findings) note(w check.Importance) {
	f.LogEvidence, f.Reweighted = w.LogEvidence, w.Latents
	if f.Cells == nil {
		f.Cells = []Cell{{"everywhere", 1, w.ELBO, w.LogEvidence, w.K}}
	}
}

// weighed is what is known of the fit when its draws have been weighted.
func (p *Posterior) weighed() (*findings, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	p = p.known()
	f := p.findings
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Reweighted == nil {
		w, err := p.Importance(p.evidenceDraws(), mc.Mix(p.Settings.Seed, judgeStream))
		if err != nil {
			return nil, fmt.Errorf("vi: %w", err)
		}
		f.note(w)
	}
	return f, nil
}

// Cells are the parts of the posterior by weight, highest first. A fit of one family has
// one, "everywhere", whose ELBO, log evidence and k-hat are those of 10 000 draws
// weighted by importance; they are NaN if these have no weights. It panics if p was made
// without a density or a distribution of its latents.
func (p *Posterior) Cells() []Cell {
	p.must()
	if p.hasCells() {
		return slices.Clone(p.findings.Cells)
	}
	f, err := p.weighed()
	if err != nil {
		none := Estimate{Value: math.NaN(), SE: math.NaN()}
		return []Cell{{"everywhere", 1, none, none, math.NaN()}}
	}
	return slices.Clone(f.Cells)
}

// Moments are the means and standard deviations of the latents on the program's own scale: the
// fit's, and those of the posterior by importance weights, of the draws that have judged the fit or
// else of 10 000.
func (p *Posterior) Moments() ([]check.Reweighted, error) {
	f, err := p.weighed()
	if err != nil {
		return nil, err
	}
	return slices.Clone(f.Reweighted), nil
}

// LogEvidence is log p(data) in nats, if the model has no Factor, and else the log
// normaliser of log r: by 10 000 draws of the fit, weighted by importance. Its standard
// error knows nothing of what the fit misses; [Posterior.Verdict] does. See [Compare].
func (p *Posterior) LogEvidence() (Estimate, error) {
	f, err := p.weighed()
	if err != nil {
		return Estimate{Value: math.NaN(), SE: math.NaN()}, err
	}
	return f.LogEvidence, nil
}

// savedFound is what is known of a fit that was judged, in JSON.
type savedFound struct {
	Cells              []savedCell
	Tried              int
	Left, Unfinished   mc.Number
	LogEvidence, Scout Estimate
	Reweighted         []savedMoments
	Verdict            Verdict
	Cut                []string `json:",omitempty"`
	Warnings           []string
}

type savedCell struct {
	Where             string
	ELBO, LogEvidence Estimate
	KHat              mc.Number
}

type savedMoments struct {
	FitMean, FitSD mc.Number
	Mean           Estimate
	SD, SDSE       mc.Number
}

// saved is what there is to save: nothing of a fit that was not judged.
func (f *findings) saved(warnings []string) *savedFound {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Verdict.Trust == "" {
		return nil
	}
	s := &savedFound{
		Tried: f.Tried, Left: mc.Number(f.Left), Unfinished: mc.Number(f.Unfinished),
		LogEvidence: f.LogEvidence, Scout: f.Scout, Verdict: f.Verdict, Cut: f.Cut, Warnings: warnings,
		Cells: make([]savedCell, 0, len(f.Cells)),
	}
	for _, c := range f.Cells {
		s.Cells = append(s.Cells, savedCell{c.Where, c.ELBO, c.LogEvidence, mc.Number(c.KHat)})
	}
	for _, l := range f.Reweighted {
		s.Reweighted = append(s.Reweighted, savedMoments{mc.Number(l.FitMean), mc.Number(l.FitSD), l.Mean, mc.Number(l.SD), mc.Number(l.SDSE)})
	}
	return s
}

// restore writes it to the fit p, which has its Q already. It reports what no fit
// can have found.
func (s *savedFound) restore(p *Posterior) error {
	if s == nil {
		return nil
	}
	m, ok := p.Q.(family.Mixed)
	if !ok {
		m = family.NewMixture([]float64{0}, []family.Q{p.Q})
	}
	switch {
	case len(s.Cells) != m.Len():
		return fmt.Errorf("descriptions of %d cells for %d", len(s.Cells), m.Len())
	case len(s.Reweighted) != p.Q.Dim() && (s.Reweighted != nil || s.Verdict.Trust != TrustNothing):
		return fmt.Errorf("moments of %d latents for %d", len(s.Reweighted), p.Q.Dim())
	case !slices.Contains([]Trust{TrustFit, TrustReweighted, TrustNothing}, s.Verdict.Trust):
		return fmt.Errorf("the verdict is %q", s.Verdict.Trust)
	case ok && s.Tried < len(s.Cells):
		return fmt.Errorf("%d cells of %d that were tried", len(s.Cells), s.Tried)
	case !(s.Left >= 0 && s.Unfinished >= 0):
		return fmt.Errorf("parts of %v and %v of the posterior were left out", s.Left, s.Unfinished)
	}
	f := p.findings
	f.Tried, f.Left, f.Unfinished = s.Tried, float64(s.Left), float64(s.Unfinished)
	f.LogEvidence, f.Scout, f.Verdict, f.Cut, p.Warnings = s.LogEvidence, s.Scout, s.Verdict, s.Cut, s.Warnings
	for k, c := range s.Cells {
		f.Cells = append(f.Cells, Cell{c.Where, m.Weight(k), c.ELBO, c.LogEvidence, float64(c.KHat)})
	}
	for i, l := range s.Reweighted {
		f.Reweighted = append(f.Reweighted, check.Reweighted{
			Name: p.Density.Latents()[i], FitMean: float64(l.FitMean), FitSD: float64(l.FitSD), Mean: l.Mean, SD: float64(l.SD), SDSE: float64(l.SDSE),
		})
	}
	return nil
}
