package vi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/internal/cells"
	"github.com/facetvi/facet/vi/internal/streams"
	"github.com/facetvi/facet/vi/internal/sumout"
	"github.com/facetvi/facet/vi/scout"
	"github.com/facetvi/facet/vi/smc"
	"github.com/facetvi/facet/vi/verdict"
	"github.com/facetvi/facet/vi/weighted"
)

// hopelessRHat is the R-hat of a sampler that has not arrived.
const hopelessRHat = 1.1

// runSampler is the fit by the sampler alone.
func runSampler(ctx context.Context, d *graph.Density, s job, m monitor) (*Posterior, error) {
	begun := s.begun(d)
	if err := begun.checkpoint(); err != nil {
		return nil, err
	}
	p, err := bySampler(ctx, d, s, m, noScout)
	switch {
	case err != nil && ctx.Err() != nil && p == nil:
		return begun, fmt.Errorf("stopped before the sampler had arrived: %w", cause(ctx))
	case err != nil && ctx.Err() != nil:
		return p, fmt.Errorf("the sampler was stopped: %w", cause(ctx))
	case err != nil:
		return nil, err
	}
	p.warnOf(p.findings.Verdict)
	return p, m.concluded(p)
}

// bySampler is the posterior of d by the sampler, from what a scout has found, or from a short scout of its own. It is nil, beside an
// error, if it was stopped before it had come to the posterior.
func bySampler(ctx context.Context, d *graph.Density, s job, m monitor, sample scout.Result) (*Posterior, error) {
	m.Now("sampling")
	run := smc.Settings{Seed: parallel.Mix(s.Seed, streams.Sampler), Effective: s.sampler.Draws, Over: m.Budget.Over, Undiagnosed: true}
	w, err := withoutSwitches(d, &run, sample.Z)
	if err != nil {
		return nil, err
	}
	if sample.Z == nil {
		if sample, err = w.scouted(ctx, s, m); err != nil {
			return nil, err
		}
		if run.Draws, err = w.toSampler(sample.Z); err != nil {
			return nil, err
		}
	}
	p := &Posterior{Density: d, Settings: s.settings(), findings: &findings{found: found{Tried: 1}, Scout: sample.LogEvidence}}
	var began time.Time // of the moves at β = 1
	run.Progress = func(at smc.Progress) {
		if at.Moves <= 1 {
			began = time.Now()
		}
		m.sampling(at, began)
	}
	run.Near = w.near(ctx, s.Seed)
	if s.sampler.Draws == 0 {
		run.Enough = func(r smc.Result) float64 { return p.need(w.fromSampler(r)) }
	}
	r, err := smc.Run(ctx, w.sampled, run)
	if r.Z == nil || err != nil && ctx.Err() == nil {
		return nil, err
	}
	if r.Beta < 1 {
		return nil, cmp.Or(err, errors.New("the budget ended before the sampler had come to the posterior"))
	}
	if e := sample.LogEvidence; e.SE < r.LogEvidence.SE && !verdict.Differ(math.Abs(e.Value-r.LogEvidence.Value), r.LogEvidence.SE) {
		r.LogEvidence = e // it begins with the prior, which near funnels is a better beginning
	}
	if err == nil {
		if failed := w.bridge(ctx, &r, s.Seed); failed != nil {
			return nil, failed
		}
	}
	r = w.fromSampler(r)
	r.Diagnose(d.Arrangement())
	p.take(r)
	p.findings.Verdict = verdict.OfRun(p.findings.numbers, r, sample)
	if m.Budget.Over() || err != nil {
		p.findings.Cut = append(p.findings.Cut, fmt.Sprintf("the sampler ended with %.0f effective draws", p.findings.sample.ESS))
	}
	return p, err
}

// near makes distributions near draws.
func (w *marginal) near(ctx context.Context, seed uint64) func(draws [][]float64) (smc.Proposal, error) {
	return func(draws [][]float64) (smc.Proposal, error) {
		if q := cells.NewProposal(ctx, w.sampled.Dim(), draws, w.switches, parallel.Mix(seed, streams.Cells)); q != nil {
			return q, nil
		}
		return nil, ctx.Err()
	}
}

// What is the sampler's at once.
const (
	leastSampled = 7   // latents: of fewer, cells give a better evidence
	mostUnlike   = 0.3 // nats between the posterior and the normal at its mode
)

// samplerFirst reports whether no cells are looked for before the sampler has tried: where there are none, for log r without switches does not jump, and one
// normal is far from the posterior, as in a hierarchy; or where each jump is that of another switch, as in a ranking.
func samplerFirst(ctx context.Context, d *graph.Density) (bool, error) {
	switches := d.Engine().Switches()
	if d.Params() > 0 || d.Dim()-len(switches) <= leastSampled {
		return false, nil
	}
	summed, _, err := d.SumOut()
	if err != nil {
		return false, err
	}
	if summed != nil {
		d = summed
	}
	of := map[int]bool{} // planes of switches with one
	for _, w := range switches {
		if of[w.Planes[0]] = len(w.Planes) == 1; !of[w.Planes[0]] && d.Dim()-len(switches) <= fewLatents {
			return false, nil // a threshold among data may have far places of little weight, which climbs find
		}
	}
	if beside, err := d.Engine().JumpsBeside(of); err != nil || beside {
		return false, err
	}
	jumps, err := d.Engine().LocalJumps()
	if err != nil {
		return false, err
	}
	walls := 0
	for l := range d.Arrangement().Len() {
		if jumps.Jumps(l) {
			walls++
		}
	}
	if walls > 0 {
		return walls >= manySwitches && d.Dim()-len(switches) <= fewLatents, nil
	}
	if d.Dim() > cells.MostLatents {
		return true, nil
	}
	center, _ := d.PriorStart()
	search, err := cells.Find(ctx, d, cells.Settings{Points: [][]float64{center}, Most: 1})
	if err != nil {
		return false, err
	}
	return len(search.Cells) == 0 || search.Cells[0].LogEvidence.Value-search.Cells[0].ELBO.Value > mostUnlike, nil
}

// A marginal is a density with switches summed out, as far as that goes, and where there are some perhaps in other coordinates.
type marginal struct {
	summed, sampled *graph.Density // in the coordinates of the density, and in the sampler's
	switches        []derive.SwitchLatent
	centring        *graph.Centring // nil where coordinates are the same
	from, to        [][]float64     // the sampler's draws so far, and what they are in the coordinates of the density
}

// withoutSwitches is d with switches summed out, and makes run draw them given the others, and begin with draws.
func withoutSwitches(d *graph.Density, run *smc.Settings, draws [][]float64) (w marginal, err error) {
	w = marginal{summed: d, sampled: d}
	run.Draws = draws
	summed, switches, err := d.SumOut()
	if err != nil || summed == nil {
		return w, err
	}
	w.summed, w.sampled, w.switches = summed, summed, switches
	if w.centring, err = d.Centre(); err != nil {
		return w, err
	}
	from := d
	if w.centring != nil {
		from = w.centring.Density
		if w.sampled, w.switches, err = from.SumOut(); err != nil {
			return w, err
		}
	}
	complete := sumout.NewGiven(from, w.switches).Completer
	run.Complete = func(n int) smc.Completer { return complete(n) }
	if run.Draws, err = w.toSampler(draws); err != nil {
		return w, err
	}
	rng := parallel.NewRand(parallel.Mix(run.Seed, streams.Sampler))
	for _, z := range run.Draws {
		prior := d.PriorDraw(nil, rng) // which is what they have there
		for _, x := range w.switches {
			z[x.Latent] = prior[x.Latent]
		}
	}
	return w, nil
}

// scouted is the sample of a short scout.
func (w *marginal) scouted(ctx context.Context, s job, m monitor) (scout.Result, error) {
	look := scout.Settings{Islands: 4, Particles: 128, Seed: parallel.Mix(s.Seed, streams.Scout), Over: m.Half.Over}
	if w.summed.Dim()-len(w.switches) <= cells.MostProposed { // whose posterior may have several modes that can be found
		look.Islands, look.Particles = 0, 0
	}
	sample, err := scout.Run(ctx, w.summed, look)
	if required, _ := w.summed.Engine().Requirements(); errors.Is(err, scout.ErrNowhere) && required != nil {
		return noScout, nil // the prior hardly ever meets what is required, which the sampler comes to step by step
	}
	return sample, err
}

// bridge gives r the log evidence by a bridge, if that is known better.
func (w *marginal) bridge(ctx context.Context, r *smc.Result, seed uint64) error {
	draws := weighted.Chains{Z: r.Z, N: r.Chains, Effective: r.Effective}
	e, err := cells.Bridge(ctx, w.sampled, draws, w.switches, r.Gradients/8, parallel.Mix(seed, streams.Cells))
	if err == nil && e.SE < r.LogEvidence.SE {
		r.LogEvidence = e
	}
	return err
}

// toSampler returns copies of draws in the coordinates of the sampler.
func (w *marginal) toSampler(draws [][]float64) ([][]float64, error) { return w.shifted(draws, 1) }

// shifted are copies of draws in other coordinates.
func (w *marginal) shifted(draws [][]float64, sign float64) ([][]float64, error) {
	all := make([][]float64, len(draws))
	for k, z := range draws {
		all[k] = slices.Clone(z)
	}
	if w.centring == nil {
		return all, nil
	}
	return all, w.centring.Shift(all, sign)
}

// fromSampler is the result in the coordinates of the density.
func (w *marginal) fromSampler(r smc.Result) smc.Result {
	if w.centring != nil {
		if !begins(r.Z, w.from) {
			w.from, w.to = nil, nil
		}
		more, _ := w.shifted(r.Z[len(w.from):], -1) // which has gone well before
		w.from, w.to = r.Z, append(w.to, more...)
		r.Z = w.to
	}
	return r
}

// begins reports whether draws begin with the first ones, which are the same slices then.
func begins(draws, first [][]float64) bool {
	n := len(first)
	return n == 0 || n <= len(draws) && &draws[0][0] == &first[0][0] && &draws[n-1][0] == &first[n-1][0]
}

// take makes p the posterior of the sampler's draws.
func (p *Posterior) take(r smc.Result) {
	f := p.findings
	var before *weighted.Sample
	if f.run != nil && begins(r.Z, f.run.Z) {
		if before = f.sample; len(r.Z) == len(f.run.Z) {
			before.LogEvidence, f.LogEvidence, f.Cells[0].LogEvidence, f.run = r.LogEvidence, r.LogEvidence, r.LogEvidence, &r
			return
		}
	}
	s := ofRun(p.Density, nil, r, before)
	q := s.Proposal()
	p.Q, f.q = q, q
	f.Cells, f.proposal = nil, proposal{q, []int{0}, Estimate{Value: math.NaN(), SE: math.NaN()}}
	f.run = &r
	f.note(s)
	f.numbers.Tails()
}

// need is by how many times the draws of a sampler have to be more for the numbers of the summary.
func (p *Posterior) need(r smc.Result) float64 {
	p.take(r)
	return p.findings.numbers.Times()
}

// noScout is what is known without a scout.
var noScout = scout.Result{Beta: 1, LogEvidence: Estimate{Value: math.NaN(), SE: math.NaN()}}

// sampling tells how far the sampler is.
func (m monitor) sampling(at smc.Progress, began time.Time) {
	if at.Moves == 0 {
		m.Soon("sampling: at %.2g of the data's weight", at.Beta)
		return
	}
	text := ""
	if at.Goal > at.Effective && at.Effective > 0 {
		left := time.Duration(float64(time.Since(began)) * (at.Goal/at.Effective - 1))
		text = fmt.Sprintf(", about %v left", left.Round(time.Second))
	}
	m.Soon("sampling: %.0f of %.0f effective draws%s", at.Effective, at.Goal, text)
}
