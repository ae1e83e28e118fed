package vi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/cells"
	"github.com/facetvi/facet/vi/internal/sumout"
	"github.com/facetvi/facet/vi/scout"
	"github.com/facetvi/facet/vi/smc"
	"github.com/facetvi/facet/vi/weighted"
)

// What a sampler's verdict goes by.
const (
	mostRHat     = 1.01 // of ranks, over islands: that of each latent
	hopelessRHat = 1.1  // of a sampler that has not arrived
)

// runSampler is the fit by the sampler alone.
func runSampler(ctx context.Context, d *graph.Density, s job, m *monitor) (*Posterior, error) {
	begun := &Posterior{Density: d, Q: PriorStart(d), Settings: s.settings()}
	if err := begun.checkpoint(); err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	p, err := bySampler(ctx, d, s, m, noScout, nil)
	switch {
	case err != nil && ctx.Err() != nil && p == nil:
		return begun, fmt.Errorf("vi: stopped before the sampler had arrived: %w", cause(ctx))
	case err != nil && ctx.Err() != nil:
		return p, fmt.Errorf("vi: the sampler was stopped: %w", cause(ctx))
	case err != nil:
		return nil, fmt.Errorf("vi: %w", err)
	}
	p.warnOf(p.findings.Verdict)
	return p, m.concluded(p)
}

// bySampler is the posterior of d by the sampler, from draws that a scout has found, or from a short scout of its own. It is nil, beside an
// error, if it was stopped before it had come to the posterior.
func bySampler(ctx context.Context, d *graph.Density, s job, m *monitor, sample scout.Result, from [][]float64) (*Posterior, error) {
	m.begins("sampling")
	run := smc.Settings{Seed: parallel.Mix(s.Seed, samplerStream), Effective: s.sampler.Draws, Over: m.budget.Over}
	w, err := withoutSwitches(d, &run, from)
	if err != nil {
		return nil, err
	}
	if from == nil {
		if sample, err = w.scouted(ctx, s, m); err != nil {
			return nil, err
		}
		if run.Draws, err = w.toSampler(sample.Z); err != nil {
			return nil, err
		}
	}
	p := &Posterior{Density: d, Settings: s.settings(), findings: &findings{Tried: 1, Scout: sample.LogEvidence}}
	var began time.Time // of the moves at β = 1
	run.Progress = func(at smc.Progress) {
		if at.Moves <= 1 {
			began = time.Now()
		}
		m.sampling(at, began)
	}
	run.Near = func(draws [][]float64) (smc.Proposal, error) {
		if q := cells.NewProposal(ctx, d.Dim(), draws, w.switches, parallel.Mix(s.Seed, cellStream)); q != nil {
			return q, nil
		}
		return nil, ctx.Err()
	}
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
	if e := sample.LogEvidence; e.SE < r.LogEvidence.SE && math.Abs(e.Value-r.LogEvidence.Value) <= scoutErrors*r.LogEvidence.SE+scoutNats {
		r.LogEvidence = e // it begins with the prior, which near funnels is a better beginning
	}
	if err == nil {
		if failed := w.bridge(ctx, &r, s.Seed); failed != nil {
			return nil, failed
		}
	}
	if w.centring != nil {
		r = w.fromSampler(r)
		r.Diagnose(d.Arrangement())
	}
	p.take(r)
	p.findings.Verdict = p.judgeSampler(r, sample)
	if m.budget.Over() || err != nil {
		p.findings.Cut = append(p.findings.Cut, fmt.Sprintf("the sampler ended with %.0f effective draws", p.findings.sample.ESS))
	}
	return p, err
}

// What is the sampler's at once.
const (
	leastSampled = 8   // latents: of fewer, cells give a better evidence
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
	room            []float64       // of the last result
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
	rng := parallel.NewRand(parallel.Mix(run.Seed, samplerStream))
	for _, z := range run.Draws {
		prior := d.PriorDraw(nil, rng) // which is what they have there
		for _, x := range w.switches {
			z[x.Latent] = prior[x.Latent]
		}
	}
	return w, nil
}

// scouted is the sample of a short scout.
func (w *marginal) scouted(ctx context.Context, s job, m *monitor) (scout.Result, error) {
	sample, err := scout.Run(ctx, w.summed, scout.Settings{Islands: 4, Particles: 128, Seed: parallel.Mix(s.Seed, scoutStream), Over: m.half.Over})
	if required, _ := w.summed.Engine().Requirements(); errors.Is(err, scout.ErrNowhere) && required != nil {
		return noScout, nil // the prior hardly ever meets what is required, which the sampler comes to step by step
	}
	return sample, err
}

// bridge gives r the log evidence by a bridge, if that is known better.
func (w *marginal) bridge(ctx context.Context, r *smc.Result, seed uint64) error {
	draws := weighted.Chains{Z: r.Z, N: r.Chains, Effective: r.Effective}
	e, err := cells.Bridge(ctx, w.sampled, draws, w.switches, r.Gradients/8, parallel.Mix(seed, cellStream))
	if err == nil && e.SE < r.LogEvidence.SE {
		r.LogEvidence = e
	}
	return err
}

// toSampler returns copies of draws in the coordinates of the sampler.
func (w *marginal) toSampler(draws [][]float64) ([][]float64, error) { return w.shifted(draws, 1, nil) }

// shifted are copies of draws in other coordinates, where there is room for so many.
func (w *marginal) shifted(draws [][]float64, sign float64, room []float64) ([][]float64, error) {
	all := make([][]float64, len(draws))
	for k, z := range draws {
		n := min(len(z), len(room))
		all[k], room = append(room[:0:n], z...), room[n:]
	}
	if w.centring == nil {
		return all, nil
	}
	return all, w.centring.Shift(all, sign)
}

// fromSampler is the result in the coordinates of the density, until it is called again.
func (w *marginal) fromSampler(r smc.Result) smc.Result {
	if w.centring != nil {
		if n := len(r.Z) * w.sampled.Dim(); n > len(w.room) {
			w.room = make([]float64, max(n, 2*len(w.room)))
		}
		r.Z, _ = w.shifted(r.Z, -1, w.room) // which has gone well before
	}
	return r
}

// take makes p the posterior of the sampler's draws.
func (p *Posterior) take(r smc.Result) {
	f := p.findings
	var room []float64
	if f.sample != nil { // of an earlier look at the same chains
		room = f.sample.Z[:cap(f.sample.Z)]
	}
	s := ofRun(p.Density, nil, r, room)
	q := s.Proposal()
	p.Q, f.q, f.proposal, f.cell = q, q, q, []int{0}
	f.Cells, f.elbo = nil, Estimate{Value: math.NaN(), SE: math.NaN()}
	f.run = &r
	f.note(s)
}

func ofRun(d *graph.Density, q family.Q, r smc.Result, room []float64) *weighted.Sample {
	return weighted.OfChains(d, q, weighted.Chains{
		Z: r.Z, N: r.Chains, Groups: len(r.Islands), Effective: r.Effective, LogEvidence: r.LogEvidence, Room: room,
	})
}

// need is by how many times the draws of a sampler have to be more for the numbers of the summary.
func (p *Posterior) need(r smc.Result) float64 {
	p.take(r)
	worst := 0.0
	for _, x := range p.ofSampler().p.findings.known {
		worst = max(worst, x.accepted)
	}
	return worst * worst
}

// ofSampler is a judgement of the sampler's draws that begins with how well they tell the numbers of the summary.
func (p *Posterior) ofSampler() judgement {
	j := judgement{Verdict: Verdict{Trust: TrustFit}, p: p, s: p.findings.sample, other: "another Settings.Seed"}
	if p.findings.known = j.numbers(); j.tails() {
		p.findings.known = j.numbers()
	}
	return j
}

// judgeSampler asks whether islands agree, and how well the numbers are known by the draws.
func (p *Posterior) judgeSampler(r smc.Result, sample scout.Result) Verdict {
	j := p.ofSampler()
	worst, least := floats.MaxIdx(r.RHat), math.Inf(1)
	for i := range r.Bulk {
		least = min(least, r.Bulk[i], r.Tail[i])
	}
	names := p.Density.Latents()
	if r.RHat[worst] > mostRHat {
		j.refuse(j.other, "independent groups of the sampler's draws differ in %s by more than they should: R-hat is %.3f", names[worst], r.RHat[worst])
	}
	found := r.LogEvidence
	if gap := sample.LogEvidence.Value - found.Value; gap > scoutErrors*math.Hypot(found.SE, sample.LogEvidence.SE)+scoutNats {
		j.refuse(j.other, "the log evidence by an independent search, %v, is above the sampler's, %v: it misses explanations", sample.LogEvidence, found)
	}
	if j.Trust == TrustFit {
		j.errors()
	}
	if j.Trust == TrustFit {
		j.Reasons = append(j.Reasons, fmt.Sprintf("a sampler's %d draws are worth at least %.0f independent ones for each latent, and %d groups of them agree; the log evidence is %v",
			j.s.Len(), least, len(r.Islands), found))
	}
	return j.Verdict
}

// fitOrSample is the best fit of cells of d, or the sampler's posterior where that cannot be relied on; nil if no cell has a
// mode, for what rises without end may be no distribution.
func fitOrSample(ctx context.Context, d *graph.Density, s job, m *monitor) (*Posterior, error) {
	first := false
	var err error
	if !s.cells.Alone {
		if first, err = samplerFirst(ctx, d); err != nil {
			return nil, err
		}
	}
	var q *Posterior
	if first {
		if q, err = bySampler(ctx, d, s, m, noScout, nil); m.budget.Over() || ctx.Err() != nil || q != nil && q.findings.Verdict.Trust != TrustNothing {
			return q, err
		}
	}
	p, c, err := fitDensity(ctx, d, s, m)
	if nowhere := errors.Is(err, scout.ErrNowhere); nowhere {
		if required, fail := d.Engine().Requirements(); fail != nil || required == nil {
			return nil, err
		}
		c.sample = noScout // the prior hardly ever meets what is required, which the sampler comes to step by step
	} else if p == nil || p.findings.Verdict.Trust != TrustNothing || s.cells.Alone || m.budget.Over() {
		return p, err
	}
	if q == nil {
		if q, err = bySampler(ctx, d, s, m, c.sample, c.draws()); q != nil {
			q.findings.Cut = append(c.cuts, q.findings.Cut...)
		}
	}
	if p == nil || q != nil && slices.Max(q.findings.run.RHat) <= hopelessRHat {
		return q, err
	}
	why := "was stopped"
	switch {
	case q != nil:
		why = "did not arrive: " + q.findings.Verdict.Reasons[0]
	case ctx.Err() != nil:
		p.findings.Cut = append(p.findings.Cut, "the sampler "+why)
	default:
		err, why = nil, "failed: "+err.Error()
	}
	p.findings.Verdict.Reasons = append(p.findings.Verdict.Reasons, "a sampler that went on from there "+why)
	return p, err
}

// noScout is what is known without a scout.
var noScout = scout.Result{Beta: 1, LogEvidence: Estimate{Value: math.NaN(), SE: math.NaN()}}

// sampling tells how far the sampler is.
func (m *monitor) sampling(at smc.Progress, began time.Time) {
	if at.Moves == 0 {
		m.at("sampling: at %.2g of the data's weight", at.Beta)
		return
	}
	text := ""
	if at.Goal > at.Effective && at.Effective > 0 {
		left := time.Duration(float64(time.Since(began)) * (at.Goal/at.Effective - 1))
		text = fmt.Sprintf(", about %v left", left.Round(time.Second))
	}
	m.at("sampling: %.0f of %.0f effective draws%s", at.Effective, at.Goal, text)
}
