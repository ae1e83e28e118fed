package vi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/vi/climb"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mixture"
	"github.com/facetvi/facet/vi/smc"
	"github.com/facetvi/facet/vi/verdict"
	"github.com/facetvi/facet/vi/weighted"
)

// A Posterior is what a fit has found: a distribution Q near the posterior of the program, and draws of Q with
// importance weights, which stand for the posterior itself. Its methods return numbers of the posterior,
// not of Q, each with its standard error; see package weighted.
type Posterior struct {
	Density   *graph.Density
	Q         family.Q     // the distribution that was found: the proposal of the draws
	Steps     int          // steps taken
	Optimizer *Adam        // the optimiser's state, with which a fit can go on
	Trace     []TracePoint // the ELBO on the way
	Restarts  []Restart    // all fits, of which this is the best
	Warnings  []string     // what to know before trusting the fit
	Settings  Settings     // of the fit, defaults filled in

	states   []climb.State // of the restarts, to go on from
	reached  [][]float64   // draws of the last temperature of a sampler that has not ended, to go on from
	findings *findings     // nil if no fit made this
}

// usable reports a posterior that was made without what it needs.
func (p *Posterior) usable() error {
	switch {
	case p == nil:
		return errors.New("vi: a nil Posterior")
	case p.Density == nil:
		return errors.New("vi: a Posterior without a density")
	}
	if err := family.Check(p.Q, p.Density); err != nil {
		return fmt.Errorf("vi: Posterior.Q: %w", err)
	}
	return nil
}

// must panics unless p is usable.
func (p *Posterior) must() {
	if err := p.usable(); err != nil {
		panic(err.Error())
	}
}

// coordinate returns the number of the latent, or an error that names it.
func (p *Posterior) coordinate(name string) (int, error) {
	if err := p.usable(); err != nil {
		return 0, err
	}
	i, ok := p.Density.Latent(name)
	if !ok {
		return 0, fmt.Errorf("vi: no latent %q in the model", name)
	}
	return i, nil
}

// Param is the value of the parameter with the given name (see graph.Model.Param) that the fit has
// learned, on the program's own scale. Mean is the same, and SD is 0.
func (p *Posterior) Param(name string) (float64, error) {
	i, err := p.coordinate(name)
	if err == nil && i >= p.Density.Params() {
		err = fmt.Errorf("vi: %q is a latent, no parameter", name)
	}
	if err != nil {
		return math.NaN(), err
	}
	return p.Density.Coordinate(i).Value(p.Q.Mean(i)), nil
}

// atParams is the density with the fit's parameters as their starts, for questions about the latents alone.
func (p *Posterior) atParams() *graph.Density {
	n := p.Density.Params()
	if n == 0 {
		return p.Density
	}
	u := make([]float64, n)
	for i := range u {
		u[i] = p.Q.Mean(i)
	}
	return p.Density.WithParams(u)
}

// job is what the fit went by. One that no fit made is taken for a climb.
func (p *Posterior) job() job {
	s := p.Settings
	if _, mixed := p.Q.(*mixture.Mixture); s.Method == nil && !mixed {
		s.Method = Climb{Family: p.Q.Family()}
	}
	return newJob(p.Density, s)
}

// begun is the fit before there is another: a normal at the prior's centre.
func (s job) begun(d *graph.Density) *Posterior {
	return &Posterior{Density: d, Q: PriorStart(d), Settings: s.settings(), reached: s.from}
}

// nothing is p where nothing else was found, and says so.
func (p *Posterior) nothing() *Posterior {
	unknown := Estimate{Value: math.NaN(), SE: math.NaN()}
	p.findings = &findings{q: p.Q, found: found{Cells: []Cell{{"everywhere", 1, unknown, unknown, math.NaN()}}}, Scout: unknown, Verdict: Verdict{
		Trust: TrustNothing, Reasons: []string{"the fit was stopped before it had found anything: this is a normal at the prior's centre"}, Try: []string{"more time"},
	}}
	p.warnOf(p.findings.Verdict)
	return p
}

// reach notes how far a sampler has come.
func (p *Posterior) reach(draws [][]float64) error {
	p.reached = draws
	return p.checkpoint()
}

// ofClimb is the posterior of d that a climb has found.
func ofClimb(d *graph.Density, s job, r climb.Result) *Posterior {
	return &Posterior{
		Density: d, Q: r.Q, Steps: r.Steps, Optimizer: r.Optimizer, Trace: r.Trace, Restarts: r.Restarts, Warnings: r.Warnings,
		Settings: s.settings(), states: r.States, findings: &findings{q: r.Q},
	}
}

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
	mu sync.Mutex
	q  family.Q // that it is known of
	found
	Scout   Estimate // the log evidence that owes nothing to Q
	Verdict Verdict  // none yet if Trust is ""

	budget   cputime.Limit // of the fit, which the draws of its judge keep
	quick    bool          // draws are to be no more than numbers need that can be accepted
	run      *smc.Result   // that the draws are of; nil if they are of the proposal
	proposal proposal
	told
}

// found is what a search for cells has found.
type found struct {
	Cells      []Cell
	Tried      int      // cells that were looked at
	Left       float64  // how much of the posterior is in cells that were found and not kept
	Unfinished float64  // how much of it cells may have that were not looked at
	Cut        []string // what the end of Settings.Budget has cut
}

// A proposal is what draws are of.
type proposal struct {
	q    family.Q // nil before there are some
	cell []int    // that each part of it is of
	elbo Estimate // of Posterior.Q, if that is one cell
}

// told is what the draws tell.
type told struct {
	sample      *weighted.Sample // nil until it is asked for
	draws       int              // of the sample; 0 before it is known how many
	moments     []Moments        // by latent; nil before draws were weighed
	numbers     *verdict.Numbers // of the summary, and how well they are known, likewise; nil of a fit from a file
	LogEvidence Estimate         // of the sample, if there are moments
}

// hasCells reports whether p is a finished fit of cells.
func (p *Posterior) hasCells() bool {
	_, mixed := p.Q.(*mixture.Mixture)
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

// even is the part of the draws that is effective.
func (t *told) even() float64 {
	if t.sample == nil {
		return 0
	}
	return t.sample.ESS / float64(t.sample.Len())
}

// weighCells gives cells the weights that the draws say.
func (f *findings) weighCells() {
	m, ok := f.q.(*mixture.Mixture)
	if !ok || len(f.Cells) != m.Len() {
		return
	}
	for k := range f.Cells {
		f.Cells[k].Weight = 0
	}
	for j, w := range f.sample.Shares(len(f.proposal.cell)) {
		f.Cells[f.proposal.cell[j]].Weight += w
	}
}

// warnOfCuts adds what the end of a budget, or of ctx, has cut to the warnings.
func (p *Posterior) warnOfCuts(ctx context.Context) {
	if p.findings.Cut == nil {
		return
	}
	why := fmt.Sprintf("Settings.Budget = %v of CPU time was over", p.Settings.Budget)
	if ctx.Err() != nil {
		why = "the fit was stopped"
	}
	p.Warnings = append(p.Warnings, fmt.Sprintf("%s: %s; what a fit that was cut short finds depends on the machine", why, strings.Join(p.findings.Cut, ", ")))
}

// warnOf adds a verdict to the warnings, if it is not to trust the fit.
func (p *Posterior) warnOf(v Verdict) {
	if text := v.String(); v.Trust != "" && v.Trust != TrustFit && !slices.Contains(p.Warnings, text) {
		p.Warnings = append(p.Warnings, text)
	}
}
