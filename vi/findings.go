package vi

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/events"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/streams"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/smc"
	"github.com/facetvi/facet/vi/verdict"
	"github.com/facetvi/facet/vi/weighted"
)

// A Cell is a part of the latent space inside which the density does not fall off a cliff, and the
// probability that the posterior has there.
type Cell struct {
	// Where says which part it is: by an interval of a latent, "change in (1889, 1890)"; by the latents for which guards
	// of a name hold, "on: noise5–11"; or by the numbers of these guards, "on: [4–10]" for on[4] to on[10]. No two cells of a
	// fit read the same.
	Where  string
	Weight float64 // the probability of the cell
	// ELBO and LogEvidence are those of the density inside the cell, in nats. KHat is the k-hat of the weights of draws
	// there (see weighted.Sample): high where the distribution of the cell is far from the posterior. Of a fit by Cells.Quick
	// it is that of all draws.
	ELBO, LogEvidence Estimate
	KHat              float64
}

// findings are what is known of a fit beside Q: for a fit of cells the results of its search, for others what
// has been computed because somebody asked.
type findings struct {
	mu         sync.Mutex
	q          family.Q // that it is known of
	Cells      []Cell
	Tried      int      // cells that were looked at
	Left       float64  // how much of the posterior is in cells that were found and not kept
	Unfinished float64  // how much of it cells may have that were not looked at
	Scout      Estimate // the log evidence that owes nothing to Q
	Verdict    Verdict  // none yet if Trust is ""
	Cut        []string // what the end of Settings.Budget has cut

	budget      cputime.Limit    // of the fit, which the draws of its judge keep
	run         *smc.Result      // that the draws are of; nil if they are of the proposal
	proposal    family.Q         // of the draws; nil before there are some
	cell        []int            // that each part of it is of
	elbo        Estimate         // of Q, if that is one cell
	draws       int              // of the sample; 0 before it is known how many
	sample      *weighted.Sample // nil until it is asked for
	moments     []Moments        // by latent, likewise
	numbers     *verdict.Numbers // of the summary, and how well they are known; nil before draws were weighed
	LogEvidence Estimate         // of the sample, if there are moments
	quick       bool             // draws are to be no more than numbers need that can be accepted
}

// hasCells reports whether p is a finished fit of cells.
func (p *Posterior) hasCells() bool {
	_, mixed := p.Q.(family.Mixed)
	return mixed && p.findings != nil && p.findings.q == p.Q && p.findings.Tried > 0
}

// known is p itself if its findings are of its Q. If no fit made p, or Q was replaced since, it is a new posterior with the
// same Q and no findings yet.
func (p *Posterior) known() *Posterior {
	if p.findings != nil && p.findings.q == p.Q {
		return p
	}
	return &Posterior{Density: p.Density, Q: p.Q, Settings: p.Settings, findings: &findings{q: p.Q}}
}

// How a fit of one family is drawn from.
const (
	pilotDraws = 1000 // tell whether it is the posterior:
	allButEven = 0.99 // of them are effective then
)

// proposal is the distribution that draws are of, and the cell of each of its parts. It is Q if Q is all but the posterior, and
// else Q mixed with wider distributions, whose draws see tails that Q's own do not.
func (p *Posterior) proposal(ctx context.Context) (q family.Q, cell []int) {
	m, ok := p.Q.(family.Mixed)
	moments := func(part family.Q, i int) (mean, sd float64) { return p.partMoments(ctx, part, i) }
	if ok && p.findings.Cells != nil {
		return m.Defensive(moments)
	}
	pilot, err := weighted.Draw(ctx, p.Density, p.Q, pilotDraws, parallel.Mix(p.Settings.Seed, streams.Judge))
	if err == nil {
		p.findings.elbo = mc.Mean(pilot.LogRatio)
	}
	switch {
	case ok:
		return m.Defensive(moments)
	case err == nil && pilot.ESS > allButEven*pilotDraws:
		return p.Q, []int{0}
	}
	return family.NewMixture([]float64{0}, []family.Q{p.Q}).Defensive(moments)
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

// draw makes n weighted draws.
func (p *Posterior) draw(ctx context.Context, n int) (*weighted.Sample, error) {
	f := p.findings
	if f.proposal == nil {
		if ctx.Err() != nil { // a proposal of many parts takes time
			return nil, context.Cause(ctx)
		}
		f.proposal, f.cell = p.proposal(ctx)
	}
	return weighted.Draw(ctx, p.Density, f.proposal, n, parallel.Mix(p.Settings.Seed, streams.Judge))
}

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
			return nil, fmt.Errorf("vi: %w", err)
		}
		f.sample = s
	}
	return f.sample, nil
}

// even is the part of the draws that is effective.
func (f *findings) even() float64 {
	if f.sample == nil {
		return 0
	}
	return f.sample.ESS / float64(f.sample.Len())
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
		f.Cells = []Cell{{"everywhere", 1, f.elbo, s.LogEvidence, s.K}}
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

// Cells are the parts of the posterior, the one with the highest weight first. A fit of one family has
// one, "everywhere", whose ELBO, log evidence and k-hat are those of all draws; they are NaN if the draws
// could not be weighed. It panics if p was made without a density or a distribution of its latents.
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

// Moments are the posterior means and standard deviations of all latents, in the program's order.
func (p *Posterior) Moments() ([]Moments, error) {
	f, err := p.weighed()
	if err != nil {
		return nil, err
	}
	return slices.Clone(f.moments), nil
}

// LogEvidence is log p(data) in nats, estimated by the logarithm of the draws' mean weight. For a model with a Factor it is the
// logarithm of the integral of r. Its standard error has a part for the cells that were found and left out; of what the search has
// missed it knows nothing, and [Posterior.Verdict] does. See [Compare].
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
	Moments            []Moments
	Draws              int
	Verdict            Verdict
	Cut                []string `json:",omitempty"`
	Warnings           []string
	Run                *savedRun `json:",omitempty"` // of the sampler
}

// savedRun is what a sampler has found: Z has its draws, one after the other, 8 bytes a number.
type savedRun struct {
	Z         string // base64
	Chains    int
	Islands   mc.Numbers
	Effective mc.Number
}

func (f *findings) savedRun() *savedRun {
	if f.run == nil {
		return nil
	}
	var z []byte
	for _, row := range f.run.Z {
		for _, x := range row {
			z = binary.LittleEndian.AppendUint64(z, math.Float64bits(x))
		}
	}
	return &savedRun{base64.StdEncoding.EncodeToString(z), f.run.Chains, f.run.Islands, mc.Number(f.run.Effective)}
}

// restore makes the posterior of the draws.
func (s *savedRun) restore(p *Posterior, evidence Estimate) error {
	raw, err := base64.StdEncoding.DecodeString(s.Z)
	if err != nil {
		return fmt.Errorf("draws: %w", err)
	}
	r := smc.Result{Chains: s.Chains, Islands: s.Islands, Effective: float64(s.Effective), LogEvidence: evidence, Beta: 1}
	n, dim := len(raw)/8, p.Density.Dim()
	if s.Chains < 2 || len(s.Islands) < 2 || s.Chains%len(s.Islands) != 0 || n == 0 || 8*n != len(raw) || n%(dim*s.Chains) != 0 {
		return fmt.Errorf("%d bytes of draws of %d latents by %d chains in %d groups", len(raw), dim, s.Chains, len(s.Islands))
	}
	for k := range n / dim {
		z := make([]float64, dim)
		for i := range z {
			z[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*(k*dim+i):]))
		}
		if !finite(floats.Sum(z)) {
			return errors.New("draws that are not finite")
		}
		r.Z = append(r.Z, z)
	}
	r.Diagnose(p.Density.Arrangement())
	p.findings.run = &r
	p.findings.sample = ofRun(p.Density, p.Q, r, nil)
	return nil
}

type savedCell struct {
	Where             string
	Weight            mc.Number
	ELBO, LogEvidence Estimate
	KHat              mc.Number
}

// saved returns what a file keeps of the findings; nil if the fit was not judged.
func (f *findings) saved(warnings []string) *savedFound {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Verdict.Trust == "" {
		return nil
	}
	s := &savedFound{
		Tried: f.Tried, Left: mc.Number(f.Left), Unfinished: mc.Number(f.Unfinished),
		LogEvidence: f.LogEvidence, Scout: f.Scout, Verdict: f.Verdict, Cut: f.Cut, Warnings: warnings,
		Moments: f.moments, Draws: f.draws, Run: f.savedRun(),
		Cells: make([]savedCell, 0, len(f.Cells)),
	}
	for _, c := range f.Cells {
		s.Cells = append(s.Cells, savedCell{c.Where, mc.Number(c.Weight), c.ELBO, c.LogEvidence, mc.Number(c.KHat)})
	}
	return s
}

// restore writes the saved findings to p, which has its Q already. It returns an error for values that no fit can have found.
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
	case len(s.Moments) != p.Q.Dim() && (s.Moments != nil || s.Verdict.Trust != TrustNothing):
		return fmt.Errorf("moments of %d latents for %d", len(s.Moments), p.Q.Dim())
	case s.Draws < 0 || s.Draws > mostSampled*evidenceDraws && s.Run == nil:
		return fmt.Errorf("%d draws", s.Draws)
	case s.Verdict.Trust != TrustFit && s.Verdict.Trust != TrustNothing:
		return fmt.Errorf("the verdict is %q", s.Verdict.Trust)
	case ok && s.Tried < len(s.Cells):
		return fmt.Errorf("%d cells of %d that were tried", len(s.Cells), s.Tried)
	case !(s.Left >= 0 && s.Unfinished >= 0):
		return fmt.Errorf("parts of %v and %v of the posterior were left out", s.Left, s.Unfinished)
	}
	f := p.findings
	f.Tried, f.Left, f.Unfinished = s.Tried, float64(s.Left), float64(s.Unfinished)
	f.LogEvidence, f.Scout, f.Verdict, f.Cut, p.Warnings = s.LogEvidence, s.Scout, s.Verdict, s.Cut, s.Warnings
	for _, c := range s.Cells {
		f.Cells = append(f.Cells, Cell{c.Where, float64(c.Weight), c.ELBO, c.LogEvidence, float64(c.KHat)})
	}
	f.moments, f.draws = s.Moments, s.Draws
	if s.Run != nil {
		return s.Run.restore(p, s.LogEvidence)
	}
	return nil
}
