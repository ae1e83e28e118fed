package vi

import (
	"context"
	"strings"

	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/scout"
	"github.com/facetvi/facet/vi/verdict"
	"github.com/facetvi/facet/vi/weighted"
)

// How many draws are weighted.
const (
	evidenceDraws = 10_000
	cheapGuards   = 1000 // with more, draws are fewer
	mostSampled   = 32   // times as many, at most, where numbers need them
	judgedGuards  = 40   // are looked at, of all parts of the program
	overrun       = 0.5  // CPU seconds beyond a budget that more draws may take
)

// Draws of a proposal with many cells: fewer of each say little, but times the first number of draws there are no more at once.
const (
	perCell    = 25
	mostAtOnce = 4
)

// evidenceDraws is how many draws are weighted at first: fewer of a density that takes long.
func (p *Posterior) evidenceDraws() int {
	return evidenceDraws * cheapGuards / max(cheapGuards, min(5*cheapGuards, p.Density.Arrangement().Len()))
}

// finalDraws are evidenceDraws, or a tenth of them when the budget of the fit is over.
func (p *Posterior) finalDraws(m monitor) int {
	n := p.evidenceDraws()
	if m.Budget.Over() {
		return n / 10
	}
	return n
}

// sampled weighs draws, at first the given number of them, and more as long as the numbers of the summary need more and the
// weights are of use. The findings keep what they say.
func (p *Posterior) sampled(ctx context.Context, draws int) (*weighted.Sample, error) {
	first := draws
	if m, ok := p.Q.(family.Mixed); ok && draws >= p.evidenceDraws() { // there is a budget for them
		draws = min(max(draws, perCell*m.Len()), mostAtOnce*draws)
	}
	for {
		began := cputime.Seconds()
		s, err := p.draw(ctx, draws)
		if err != nil {
			return nil, err
		}
		p.findings.note(s)
		p.findings.weighCells()
		more := p.findings.needed(first)
		if s.Scattered() > 0.5 { // the numbers will say that they need less
			more = min(more, mostAtOnce*draws)
		}
		if verdict.OfWeights(s).Trust == TrustNothing {
			return s, nil
		}
		if cost := (cputime.Seconds() - began) * float64(more) / float64(draws); p.findings.budget != 0 && cost > p.findings.budget.Left().Seconds()+overrun {
			more = draws
		}
		if more <= draws {
			p.findings.numbers.Tails()
			return s, nil
		}
		draws = more
	}
}

// judge compares a fit with the sample of a scout, which knows nothing of the fit, and asks how well its weighted draws tell the
// numbers.
func (p *Posterior) judge(ctx context.Context, sample scout.Result, draws int) Verdict {
	f := p.findings
	if _, err := p.sampled(ctx, draws); err != nil {
		return Verdict{Trust: TrustNothing, Reasons: []string{strings.TrimPrefix(err.Error(), "weighted: ")}}
	}
	return verdict.Of(f.numbers, sample, verdict.Fit{
		Cells: p.hasCells(), Left: f.Left, Unfinished: f.Unfinished, Cut: f.Cut != nil, LogEvidence: f.LogEvidence, Seed: p.Settings.Seed,
	})
}

// needed is how many draws the numbers need; first is how many were taken at first.
func (f *findings) needed(first int) int {
	if f.quick {
		return f.numbers.Needed(first, quickMore, true)
	}
	return f.numbers.Needed(first, mostSampled, false)
}

// weighCells gives cells the weights that the draws say.
func (f *findings) weighCells() {
	m, ok := f.q.(family.Mixed)
	if !ok || len(f.Cells) != m.Len() {
		return
	}
	for k := range f.Cells {
		f.Cells[k].Weight = 0
	}
	for j, w := range f.sample.Shares(len(f.cell)) {
		f.Cells[f.cell[j]].Weight += w
	}
}

// Verdict says whether the numbers of the fit can be relied on. It asks whether an independent search (a scout: tempered
// sequential Monte Carlo that knows nothing of the fit) has found more than the fit has, how even the weights of the draws are,
// and how large the standard errors of the summary's numbers are. Fits of cells, and climbs of 80 000 gradient samples or more, are
// judged when they end, and Posterior.Warnings then has a verdict that is not to trust the fit. Other
// climbs, those that OnStep watches, and those that an Optimizer continues are judged when the verdict is first asked for, also by Summary.
func (p *Posterior) Verdict() (Verdict, error) {
	if err := p.usable(); err != nil {
		return Verdict{}, err
	}
	p = p.known()
	err := p.findings.judge(context.Background(), p, 0)
	return p.findings.Verdict, err
}
