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
	s.reach = begun.reach
	p, err := bySampler(ctx, d, s, m, s.before())
	switch {
	case err != nil && ctx.Err() != nil && p == nil:
		return begun.nothing(), fmt.Errorf("stopped before the sampler had begun: %w", cause(ctx))
	case err != nil && ctx.Err() == nil:
		return nil, err
	}
	p.warnOfCuts(ctx)
	p.warnOf(p.findings.Verdict)
	if p.resumes(begun); err != nil {
		return p, errors.Join(fmt.Errorf("the sampler was stopped: %w", cause(ctx)), wrapped(m.concluded(p)))
	}
	return p, m.concluded(p)
}

// before is what a sampler goes on from that was stopped, as if a scout had found it; noScout if there was none.
func (s job) before() scout.Result {
	r := noScout
	r.Z = s.from
	return r
}

// bySampler is the posterior of d by the sampler, from what a scout has found, or from a short scout of its own. Where it was stopped the draws are those that
// there were, weighed, and the verdict is not to trust them if they had not come to the posterior; it is nil, beside an error, if there were none.
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
		run.Draws = shifted(sample.Z, w.toSampler)
	}
	p := &Posterior{Density: d, Settings: s.settings(), findings: &findings{found: found{Tried: 1}, Scout: sample.LogEvidence}}
	var began time.Time // of the moves at β = 1
	run.Progress = func(at smc.Progress) {
		if at.Moves <= 1 {
			began = time.Now()
		}
		m.sampling(at, began)
	}
	run.Near, run.Reached = w.near(ctx, s.Seed), w.reached(s)
	if s.sampler.Draws == 0 {
		run.Enough = func(r smc.Result) float64 { return p.need(ctx, &w, r, s.Seed, m.Budget.Over) }
	}
	r, err := smc.Run(ctx, w.sampled, run)
	err = cmp.Or(err, w.pool.err)
	if r.Z == nil || err != nil && ctx.Err() == nil {
		return nil, err
	}
	if e := sample.LogEvidence; sample.Beta == 1 && e.SE < r.LogEvidence.SE && !verdict.Differ(math.Abs(e.Value-r.LogEvidence.Value), r.LogEvidence.SE) {
		r.LogEvidence = e // it begins with the prior, which near funnels is a better beginning
	}
	if err == nil {
		if failed := w.bridge(ctx, &r, s.Seed); failed != nil {
			return nil, failed
		}
	}
	thin := r.Thin()
	thin.Z = shifted(thin.Z, w.fromSampler)
	thin.Diagnose(d.Arrangement())
	r.Diagnostics = thin.Diagnostics
	if pool := w.pool.found; pool != nil {
		r.Z, r.Weights, r.Proposed, r.Effective = pool.Z, pool.Weights, pool.Proposed, pool.Effective
		if pool.LogEvidence.SE < r.LogEvidence.SE {
			r.LogEvidence = pool.LogEvidence
		}
	}
	p.take(&w, r)
	p.findings.run.Z, p.findings.run.Island = nil, nil // the sample has them
	cut := m.Budget.Over() || err != nil
	switch {
	case cut && r.Beta < 1:
		p.findings.Cut = []string{fmt.Sprintf("the sampler ended with the data at %.2g of their weight", r.Beta)}
	case cut:
		p.findings.Cut = []string{fmt.Sprintf("the sampler ended with %.0f effective draws", p.findings.sample.ESS)}
	}
	p.findings.Verdict = verdict.OfRun(p.findings.numbers, r, sample, s.sampler.Draws, cut)
	return p, err
}

// resumes makes p, if it was cut, one that goes on from the last temperature of what has begun.
func (p *Posterior) resumes(begun *Posterior) {
	if p.findings.run != nil && p.findings.Cut != nil {
		p.reached = begun.reached
	}
}

// reached notes draws of each temperature.
func (w *marginal) reached(s job) func(draws [][]float64) error {
	return func(draws [][]float64) error {
		if s.reach == nil {
			return nil
		}
		return s.reach(shifted(draws, w.fromSampler))
	}
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
	mostCurves   = 100 // walls that are curves: cells between more of them hold too little each
	mostCut      = 50  // latents on which walls depend that are not of switches: of more there are too many cells to look at
)

// samplerFirst reports whether no cells are looked for before the sampler has tried: where there are none, for log r without switches does not jump, and one
// normal is far from the posterior, as in a hierarchy; where each jump is that of another switch, as in a ranking; where many are at curves, as
// for breaks in order; or where walls cut many latents, as of effects beyond a threshold.
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
	jumps, err := d.Engine().LocalJumps()
	if err != nil {
		return false, err
	}
	walls, curves, cut := wallsOf(d, jumps, of)
	if curves > mostCurves || cut > mostCut {
		return true, nil
	}
	if beside, err := d.Engine().JumpsBeside(of); err != nil || beside {
		return false, err
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

// wallsOf counts the walls, those that are curves, and the latents on which walls depend that are not in of.
func wallsOf(d *graph.Density, jumps *derive.LocalJumps, of map[int]bool) (walls, curves, cut int) {
	latents := map[int]bool{}
	for l := range d.Arrangement().Len() {
		if !jumps.Jumps(l) {
			continue
		}
		walls++
		if d.Arrangement().Curve(l) != nil {
			curves++
		}
		if !of[l] {
			for _, i := range d.Arrangement().Latents(l) {
				latents[i] = true
			}
		}
	}
	return walls, curves, len(latents)
}

// A marginal is a density with switches summed out, as far as that goes, and where there are some perhaps in other coordinates.
type marginal struct {
	summed, sampled *graph.Density // in the coordinates of the density, and in the sampler's
	switches        []derive.SwitchLatent
	given           *sumout.Given // draws them; nil if there are none
	// Between the coordinates; nil where they are the same.
	toSampler, fromSampler func(draws [][]float64)
	pool                   pooled
}

// A pooled is what pools of the sampler's draws have come to.
type pooled struct {
	from  int         // draws of chains from which on the next one is tried
	found *smc.Result // one that is good enough
	err   error
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
	centring, err := d.Centre()
	if err != nil {
		return w, err
	}
	from := d
	if centring != nil {
		from = centring.Density
		if w.sampled, w.switches, err = from.SumOut(); err != nil {
			return w, err
		}
		if w.toSampler, err = centring.Shift(1); err != nil {
			return w, err
		}
		if w.fromSampler, err = centring.Shift(-1); err != nil {
			return w, err
		}
	}
	w.given = sumout.NewGiven(from, w.switches)
	run.Complete = func(n int) smc.Completer { return w.given.Completer(n) }
	run.Draws = shifted(draws, w.toSampler)
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

// shifted are copies of draws in other coordinates, to which shift brings them; nil where these are the same.
func shifted(draws [][]float64, shift func(draws [][]float64)) [][]float64 {
	all := make([][]float64, len(draws))
	for k, z := range draws {
		all[k] = slices.Clone(z)
	}
	if shift != nil {
		shift(all)
	}
	return all
}

// begins reports whether there are first draws, and draws begin with them, which are the same slices then.
func begins(draws, first [][]float64) bool {
	n := len(first)
	return n > 0 && n <= len(draws) && &draws[0][0] == &first[0][0] && &draws[n-1][0] == &first[n-1][0]
}

// take makes p the posterior of the sampler's draws.
func (p *Posterior) take(w *marginal, r smc.Result) {
	f := p.findings
	var before *weighted.Sample
	if f.run != nil && begins(r.Z, f.run.Z) {
		if before = f.sample; len(r.Z) == len(f.run.Z) {
			before.LogEvidence, f.LogEvidence, f.Cells[0].LogEvidence, f.run = r.LogEvidence, r.LogEvidence, r.LogEvidence, &r
			return
		}
	}
	s := ofRun(p.Density, nil, r, w.fromSampler, before)
	q := s.Proposal()
	p.Q, f.q = q, q
	f.Cells, f.proposal = nil, proposal{q, []int{0}, Estimate{Value: math.NaN(), SE: math.NaN()}}
	f.run = &r
	f.note(s)
	f.numbers.Tails()
}

// Where the numbers of the summary need many more draws than chains have so far, these are pooled with others.
const (
	worthPooling = 1.5  // by how many times they have to be more
	leastJumps   = 0.1  // of what a mixture of normals proposes, which has to be near
	leastPooled  = 4000 // effective draws of chains
	againPooled  = 2    // times as many draws as the last time,
	unsettled    = 8    // or so many, where a tail was heavy because few chains had been there
)

// need is by how many times the draws of a sampler have to be more for the numbers of the summary.
func (p *Posterior) need(ctx context.Context, w *marginal, r smc.Result, seed uint64, over func() bool) float64 {
	p.take(w, r)
	more := p.findings.numbers.Times()
	if more < worthPooling || r.Jumps < leastJumps || r.Effective < leastPooled || len(r.Z) < w.pool.from {
		return more
	}
	w.pool.from = againPooled * len(r.Z)
	chains := weighted.Chains{Z: r.Z, N: r.Chains, Groups: len(r.Islands), Effective: r.Effective}
	enough, err := cells.Pool(ctx, w.sampled, chains, cells.Pooling{
		Switches: w.switches, Complete: w.complete(seed), Seed: parallel.Mix(seed, streams.Cells),
		Judge: func(pool weighted.Chains, proposed int) (enough, hopeless bool) {
			all := r
			all.Z, all.Weights, all.Proposed, all.Effective, all.LogEvidence = pool.Z, pool.Weights, proposed, pool.Effective, pool.LogEvidence
			p.take(w, all)
			w.pool.found = &all
			n := p.findings.numbers
			return n.Times() <= 1 && !n.Heavy(), over() || n.Unsettled()
		},
	})
	if w.pool.err = err; err == nil && (enough || p.findings.numbers.Times() <= 1 && !p.findings.numbers.Unsettled()) {
		return 1
	}
	if w.pool.found = nil; p.findings.numbers.Unsettled() {
		w.pool.from = unsettled * len(r.Z)
	}
	return more
}

// complete draws the switches of points given the rest of their latents; nil if there are none.
func (w *marginal) complete(seed uint64) func(z [][]float64) {
	if w.given == nil {
		return nil
	}
	return func(z [][]float64) {
		const n = 64
		rng, c := parallel.NewRand(parallel.Mix(seed, streams.Sampler)), w.given.Completer(n)
		columns, u := make([]float64, n*len(z[0])), make([]float64, n*c.Uniforms())
		for first := 0; first < len(z); first += n {
			for k := range n {
				for i, x := range z[min(first+k, len(z)-1)] {
					columns[i*n+k] = x
				}
			}
			for k := range u {
				u[k] = rng.Float64()
			}
			c.Draw(nil, columns, u)
			for k, x := range z[first:min(first+n, len(z))] {
				for _, s := range w.switches {
					x[s.Latent] = columns[s.Latent*n+k]
				}
			}
		}
	}
}

// noScout is what is known without a scout.
var noScout = scout.Result{Beta: 1, LogEvidence: Estimate{Value: math.NaN(), SE: math.NaN()}}

// sampling tells how far the sampler is.
func (m monitor) sampling(at smc.Progress, began time.Time) {
	switch {
	case at.Beta == 0:
		m.Soon("sampling: looking for where to begin")
		return
	case at.Moves == 0:
		m.Soon("sampling: at %.2g of the data's weight", at.Beta)
		return
	}
	text := ""
	if at.Goal > at.Effective && at.Effective > 0 && time.Since(began) > time.Second { // before, it would be a guess
		left := time.Duration(float64(time.Since(began)) * (at.Goal/at.Effective - 1))
		text = fmt.Sprintf(", about %v left", left.Round(time.Second))
	}
	m.Soon("sampling: %.0f of %.0f effective draws%s", at.Effective, at.Goal, text)
}
