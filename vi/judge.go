package vi

import (
	"context"
	"fmt"
	"strings"

	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/internal/streams"
	"github.com/facetvi/facet/vi/scout"
	"github.com/facetvi/facet/vi/verdict"
)

// judgedFrom is how many samples of gradients make a fit of one family that is judged at
// its end: half of those of the default settings. A verdict took 0.1 to 1.7 times the CPU
// time of a fit with default settings: of the paper's models, of two on real data, and of
// one with 500 latents.
const judgedFrom = 80_000

// conclude judges a climb at its end, if it was long. It does not judge a climb that OnStep
// watches or that continues with an Optimizer, which is a part of something else that can ask for
// a verdict; nor one with Subsample, for a verdict is by all of the data.
func (p *Posterior) conclude(ctx context.Context, m monitor) error {
	work, s := 0, p.job().climb
	for _, st := range p.states {
		work += st.Step * s.Samples
	}
	if s.OnStep != nil || s.Optimizer != nil || s.Subsample > 1 || work < judgedFrom || m.Budget.Over() {
		return nil
	}
	m.Soon("judging the fit")
	if err := p.findings.judge(ctx, p, m.Budget); err != nil {
		return err
	}
	p.warnOf(p.findings.Verdict)
	return p.checkpoint()
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
	return p.findings.Verdict, wrapped(err)
}

// judge finds the verdict of the fit p, unless there is one, by a scout that ends with the
// budget.
func (f *findings) judge(ctx context.Context, p *Posterior, budget cputime.Limit) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Verdict.Trust != "" {
		return nil
	}
	d := p.atParams()
	search := p.job().muchData(budget.Over)
	sample, all, err := search.Scout(ctx, d)
	if all && err == nil {
		sample, err = scout.Run(ctx, d, scout.Settings{Seed: parallel.Mix(p.Settings.Seed, streams.Scout), Over: budget.Over})
	}
	if ctx.Err() != nil {
		return fmt.Errorf("stopped while judging the fit: %w", cause(ctx))
	}
	if err != nil {
		return err
	}
	f.Scout, f.budget = sample.LogEvidence, budget
	if f.Verdict = p.judge(ctx, sample, p.evidenceDraws()); !all && f.Verdict.Trust != TrustNothing {
		f.Verdict.Reasons = append(f.Verdict.Reasons, search.How(d))
	}
	return nil
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

// finalDraws are evidenceDraws, or a tenth of them when the budget of the fit is over.
func (p *Posterior) finalDraws(m monitor) int {
	n := p.evidenceDraws()
	if m.Budget.Over() {
		return n / 10
	}
	return n
}
