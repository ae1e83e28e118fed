package vi

import (
	"cmp"
	"context"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/events"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/streams"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
	"github.com/facetvi/facet/vi/smc"
	"github.com/facetvi/facet/vi/verdict"
	"github.com/facetvi/facet/vi/weighted"
)

// How many draws are weighted.
const (
	evidenceDraws = 10_000
	cheapGuards   = 1000 // with more, draws are fewer
	mostSampled   = 32   // times as many, at most, where numbers need them,
	quickMore     = 16   // or in a quick fit
	judgedGuards  = 40   // are looked at, of all parts of the program
	overrun       = 0.5  // CPU seconds beyond a budget that more draws may take
)

// Draws of a proposal with many cells: fewer of each say little, but times the first number of draws there are no more at once.
const (
	perCell    = 25
	mostAtOnce = 4
)

// How a fit of one family is drawn from.
const (
	pilotDraws = 1000 // tell whether it is the posterior:
	allButEven = 0.99 // of them are effective then
)

// Sample returns the weighted draws that all numbers of the posterior are made of: 10 000, or more if the numbers of the
// summary need more. It must not be changed.
func (p *Posterior) Sample() (*weighted.Sample, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	p = p.known()
	f := p.findings
	f.mu.Lock()
	defer f.mu.Unlock()
	return p.drawn()
}

// drawn is Sample for a caller that has the lock.
func (p *Posterior) drawn() (*weighted.Sample, error) {
	f := p.findings
	if f.sample == nil {
		n, draw := f.draws, p.draw
		if n == 0 {
			n = p.evidenceDraws()
			if f.moments == nil {
				draw = p.sampled
			}
		}
		s, err := draw(context.Background(), n)
		if err != nil {
			return nil, wrapped(err)
		}
		f.sample = s
	}
	return f.sample, nil
}

// weighed returns the findings, after draws have been weighed.
func (p *Posterior) weighed() (*findings, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	p = p.known()
	f := p.findings
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.moments == nil {
		if _, err := p.drawn(); err != nil { // which notes them
			return nil, err
		}
	}
	return f, nil
}

// sampled weighs draws, at first the given number of them, and more as long as the numbers of the summary need more and the
// weights are of use. The findings keep what they say.
func (p *Posterior) sampled(ctx context.Context, draws int) (*weighted.Sample, error) {
	first := draws
	if m, ok := p.Q.(*mixture.Mixture); ok && draws >= p.evidenceDraws() { // there is a budget for them
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

// evidenceDraws is how many draws are weighted at first: fewer of a density that takes long.
func (p *Posterior) evidenceDraws() int {
	return evidenceDraws * cheapGuards / max(cheapGuards, min(5*cheapGuards, p.Density.Arrangement().Len()))
}

// needed is how many draws the numbers need; first is how many were taken at first.
func (f *findings) needed(first int) int {
	if f.quick {
		return f.numbers.Needed(first, quickMore, true)
	}
	return f.numbers.Needed(first, mostSampled, false)
}

// note keeps the sample, and what it says of moments, evidence and cells.
func (f *findings) note(s *weighted.Sample) {
	f.sample, f.draws, f.LogEvidence = s, s.Len(), s.LogEvidence
	if f.run == nil {
		f.LogEvidence.SE = math.Hypot(f.LogEvidence.SE, f.Left)
	}
	f.moments = make([]Moments, s.Density().Dim())
	for i := range f.moments {
		if i < s.Density().Params() {
			f.moments[i].Mean.Value = s.Latent(i)[0]
			continue
		}
		f.moments[i].Mean, f.moments[i].SD = s.Moments(i)
	}
	f.numbers = summaryNumbers(s, f.moments)
	switch {
	case f.Cells == nil:
		f.Cells = []Cell{{"everywhere", 1, f.proposal.elbo, s.LogEvidence, s.K}}
	case len(f.Cells) == 1:
		f.Cells[0].LogEvidence, f.Cells[0].KHat = s.LogEvidence, s.K
	}
}

// summaryNumbers are the numbers of the summary, by draws that give the moments.
func summaryNumbers(s *weighted.Sample, moments []Moments) *verdict.Numbers {
	var guards []verdict.Guard
	for _, g := range guardsOf(events.Of(s), s.Density(), judgedGuards) {
		guards = append(guards, verdict.Guard{What: cmp.Or(g.Condition, g.Name), SE: g.Prob.SE})
	}
	return verdict.NumbersOf(s, moments, guards)
}

// draw makes n weighted draws.
func (p *Posterior) draw(ctx context.Context, n int) (*weighted.Sample, error) {
	f := p.findings
	if f.proposal.q == nil {
		if ctx.Err() != nil { // a proposal of many parts takes time
			return nil, context.Cause(ctx)
		}
		f.proposal.q, f.proposal.cell = p.proposal(ctx)
	}
	return weighted.Draw(ctx, p.Density, f.proposal.q, n, parallel.Mix(p.Settings.Seed, streams.Judge))
}

// proposal is the distribution that draws are of, and the cell of each of its parts. It is Q if Q is all but the posterior, and
// else Q mixed with wider distributions, whose draws see tails that Q's own do not.
func (p *Posterior) proposal(ctx context.Context) (q family.Q, cell []int) {
	m, ok := p.Q.(*mixture.Mixture)
	moments := func(part family.Q, i int) (mean, sd float64) { return p.partMoments(ctx, part, i) }
	if ok && p.findings.Cells != nil {
		return m.Defensive(moments)
	}
	pilot, err := weighted.Draw(ctx, p.Density, p.Q, pilotDraws, parallel.Mix(p.Settings.Seed, streams.Judge))
	if err == nil {
		p.findings.proposal.elbo = mc.Mean(pilot.LogRatio)
	}
	switch {
	case ok:
		return m.Defensive(moments)
	case err == nil && pilot.ESS > allButEven*pilotDraws:
		return p.Q, []int{0}
	}
	return mixture.New([]float64{0}, []family.Q{p.Q}).Defensive(moments)
}

// partMoments are the mean and sd of latent i in a part: of a discrete latent on the program's scale, because all of its variance may
// come from a rare value, and of others on the unconstrained scale, where they have closed forms.
func (p *Posterior) partMoments(ctx context.Context, part family.Q, i int) (mean, sd float64) {
	if ctx.Err() != nil { // nothing will be drawn
		return 0, 1
	}
	if values, _ := p.Density.Values(i); values != nil {
		return weighted.PartMoments(p.Density, part, i)
	}
	return part.Mean(i), part.SD(i)
}

// ofRun is the sample of a sampler's draws, which to, if not nil, brings to the coordinates of d; before, if not nil, is that of the first of them.
func ofRun(d *graph.Density, q family.Q, r smc.Result, to func(draws [][]float64), before *weighted.Sample) *weighted.Sample {
	return weighted.OfChains(d, q, weighted.Chains{
		Z: r.Z, To: to, Weights: r.Weights, N: r.Chains, Groups: len(r.Islands), Effective: r.Effective, LogEvidence: r.LogEvidence, Before: before,
	})
}
