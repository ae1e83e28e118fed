package vi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/elimination"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/cells"
	"github.com/facetvi/facet/vi/internal/sumout"
	"github.com/facetvi/facet/vi/scout"
)

// How much is spent on a search for cells.
const (
	mostTried = 3000
	leadDraws = 300
)

// runCells is a fit of cells, with a checkpoint at its beginning and at its end.
func runCells(ctx context.Context, d *graph.Density, s job, m *monitor) (*Posterior, error) {
	if s.cells.Quick {
		p, err := fitQuick(ctx, d, s)
		if p == nil && err == nil {
			p, err = fitSmooth(ctx, d, s, m)
		}
		if err != nil {
			return nil, fmt.Errorf("vi: %w", err)
		}
		if p != nil {
			m.searched(p.findings)
			return p, m.concluded(p)
		}
	}
	begun := &Posterior{Density: d, Q: PriorStart(d), Settings: s.settings()}
	if err := begun.checkpoint(); err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	p, err := fitCells(ctx, d, s, m)
	switch {
	case err != nil && ctx.Err() != nil && p == nil:
		return begun, fmt.Errorf("vi: stopped while looking for cells: %w", cause(ctx))
	case err != nil && ctx.Err() != nil:
		return p, errors.Join(fmt.Errorf("vi: stopped while sampling: %w", cause(ctx)), m.concluded(p))
	case err != nil:
		return nil, fmt.Errorf("vi: %w", err)
	}
	return p, m.concluded(p)
}

// concluded reports the end, and saves it.
func (m *monitor) concluded(p *Posterior) error {
	m.report(p)
	if err := p.checkpoint(); err != nil {
		return fmt.Errorf("vi: %w", err)
	}
	return nil
}

// fitCells finds the cells of a posterior and a distribution for each. Where the verdict is
// that these cannot be relied on, it tries what suits posteriors that have no cells to speak
// of, and then the sampler, and returns what has the most even weights. A density of much data is fitted and judged
// by one that costs less. If ctx ends the sampler there is what was found before, beside the error.
func fitCells(ctx context.Context, whole *graph.Density, s job, m *monitor) (*Posterior, error) {
	d, err := compact(ctx, whole, s, m)
	if err != nil {
		return nil, err
	}
	var best *Posterior
	if d == whole {
		if best, err = fitModes(ctx, whole, s, m); err != nil {
			return nil, err
		}
	}
	if best == nil || best.findings.Verdict.Trust == TrustNothing && !m.budget.Over() {
		if best, err = fitOrSample(ctx, d, s, m); err != nil && best == nil {
			return nil, err
		}
	}
	if best == nil {
		if why := gradient.Blame(whole, PriorStart(whole)); why != "" {
			return nil, fmt.Errorf("%w; %s", errNoCells, why)
		}
		return nil, errNoCells
	}
	if cuts := best.findings.Cut; cuts != nil && s.Budget > 0 {
		best.Warnings = append(best.Warnings, fmt.Sprintf("Settings.Budget = %v of CPU time was over: %s; what a fit that was cut short finds depends on the machine", s.Budget, strings.Join(cuts, ", ")))
	}
	if best.Density = whole; best.findings.sample != nil {
		best.findings.sample = best.findings.sample.Of(whole)
	}
	best.warnOf(best.findings.Verdict)
	m.searched(best.findings)
	return best, err
}

// fitDensity is the best fit of cells of d, and how it was made; nil if no cell has a mode.
func fitDensity(ctx context.Context, d *graph.Density, s job, m *monitor) (*Posterior, cellsFit, error) {
	c := cellsFit{d: d, s: s, m: m, switches: d.Engine().Switches()}
	scouting := scout.Settings{Seed: parallel.Mix(s.Seed, scoutStream), Over: m.half.Over, Progress: func(beta float64) {
		m.at("independent search: the data at %.2g of their weight", beta)
	}}
	if meet, err := c.meet(ctx); err != nil {
		return nil, c, err
	} else if meet {
		scouting.Sum = func(n int) (scout.Sum, error) { return sumout.New(d, c.switches, n) }
	}
	sample, err := scout.Run(ctx, d, scouting)
	if errors.Is(err, scout.ErrNowhere) {
		if why := gradient.Blame(d, PriorStart(d)); why != "" {
			return nil, c, fmt.Errorf("%w: %s", err, why)
		}
	}
	if err != nil {
		return nil, c, err
	}
	m.scouted(sample.LogEvidence)
	if c.sample = sample; sample.Beta < 1 {
		c.cut("the independent search ended with the data at %.2g of their weight", sample.Beta)
	}
	tries, err := c.tries(ctx)
	if err != nil {
		return nil, c, err
	}
	var best *Posterior
	for _, try := range tries {
		p, err := try(ctx)
		if err != nil {
			return nil, c, err
		}
		if p == nil {
			continue
		}
		p.findings.Cut, p.findings.budget = c.cuts, m.budget
		m.at("judging a fit of %d cells", len(p.findings.Cells))
		p.findings.Verdict = p.judge(ctx, sample, p.finalDraws(m))
		if best == nil || p.findings.even() > best.findings.even() || p.findings.Verdict.Trust != TrustNothing {
			best = p
		}
		if best.findings.Verdict.Trust != TrustNothing || m.budget.Over() {
			break
		}
	}
	if best == nil {
		return nil, c, nil
	}
	if m.budget.Over() {
		c.cut("the fit is judged by a tenth of the draws")
	}
	best.findings.Cut = c.cuts
	return best, c, nil
}

// muchData is from how many terms of log r on it is seen whether it can be had for less.
const muchData = 1000

// compact is a density that costs less than d, if there is one; see cells.Compact.
func compact(ctx context.Context, d *graph.Density, s job, m *monitor) (*graph.Density, error) {
	if d.Terms() < muchData {
		return d, nil
	}
	m.at("adding up %d terms", d.Terms())
	return cells.Compact(ctx, d, func(d *graph.Density) ([][]float64, error) {
		sample, err := scout.Run(ctx, d, scout.Settings{Seed: parallel.Mix(s.Seed, scoutStream), Over: m.half.Over})
		if errors.Is(err, scout.ErrNowhere) {
			return nil, nil
		}
		return cells.Different(d, sample.Z, compactStarts), err
	})
}

// compactStarts is from how many of a scout's draws a density with several kinds of guards is made
// compact.
const compactStarts = 8

var errNoCells = errors.New("log r has no maximum in any cell that was found: if it rises without end, the posterior is not a distribution")

// A cellsFit is a fit of cells under way.
type cellsFit struct {
	d        *graph.Density
	s        job
	sample   scout.Result
	m        *monitor
	switches []derive.SwitchLatent
	cuts     []string // what the end of the budget has cut
}

func (c *cellsFit) cut(format string, args ...any) {
	c.cuts = append(c.cuts, fmt.Sprintf(format, args...))
}

// When switches are summed out first: where so many draws of a scout are in cells that have
// no other draw that there are too many cells to look at, as with a threshold for each
// of many groups; and where that leaves few latents, of many, or of
// several with many intervals, or none. The intervals of one are cells to look at, however many: where
// it leaves a latent without data that latent is as its prior, far from what one normal says of it.
const (
	mostScattered = 0.8
	manySwitches  = 6
	manyIntervals = 300
	fewLatents    = 12
)

// tries are the ways to a fit, the most promising first: by cells of the latents, by those that are
// left when switches are summed out, and by normals near the scout's draws.
func (c *cellsFit) tries(ctx context.Context) (list []func(context.Context) (*Posterior, error), err error) {
	plain := func(ctx context.Context) (*Posterior, error) { return c.find(ctx, nil) }
	if c.m.budget.Over() {
		return append(list, plain, c.ofDraws), nil
	}
	summed := func(ctx context.Context) (*Posterior, error) { return c.find(ctx, c.switches) }
	switch {
	case len(c.switches) == 0:
		return append(list, plain, c.ofDraws), nil
	case c.sumsFirst() && c.d.Dim() > cells.MostLatents:
		return append(list, summed), nil
	case c.sumsFirst():
		return append(list, summed, plain, c.ofDraws), nil
	}
	scattered, err := cells.Scattered(ctx, c.d, c.sample.Z)
	if err != nil {
		return nil, err
	}
	if _, err := c.d.Engine().Tabulate(ctx, c.switches); err != nil { // which may take long, and ctx stops only this
		return nil, err
	}
	switch {
	case scattered > mostScattered:
		list = append(list, summed)
	case c.few():
		list = append(list, plain, summed)
	default:
		list = append(list, plain)
	}
	return append(list, c.ofDraws), nil
}

// few reports whether few latents are left when switches are summed out.
func (c *cellsFit) few() bool { return c.d.Dim()-len(c.switches) <= fewLatents }

// meet reports whether switches that are summed out first depend on each other, as the states of a
// chain do: a scout that moves them one by one comes nowhere.
func (c *cellsFit) meet(ctx context.Context) (bool, error) {
	if !c.sumsFirst() {
		return false, nil
	}
	t, err := c.d.Engine().Tabulate(ctx, c.switches)
	return err == nil && slices.ContainsFunc(t.Factors, func(f elimination.Factor) bool {
		return len(slices.DeleteFunc(slices.Clone(f.Vars), func(v int) bool { return c.switches[v].Beside })) > 1
	}), err
}

// sumsFirst reports whether to sum switches out first, whatever the posterior is like.
func (c *cellsFit) sumsFirst() bool {
	intervals := 0
	for _, w := range c.switches {
		intervals += len(w.Planes)
	}
	return c.few() && (len(c.switches) >= manySwitches || len(c.switches) > 1 && intervals >= manyIntervals || len(c.switches) == c.d.Dim())
}

// find is the fit by cells, with switches summed out.
func (c *cellsFit) find(ctx context.Context, switches []derive.SwitchLatent) (*Posterior, error) {
	draws := c.draws()
	search, err := cells.Find(ctx, c.d, cells.Settings{
		Points: cells.Different(c.d, c.sample.Z, leadDraws), Most: mostTried, Over: c.m.budget.Over,
		Draws: draws,
		Lost:  -math.Expm1(-c.s.cells.Tolerance), Seed: parallel.Mix(c.s.Seed, cellStream), Switches: switches,
		Progress: func(tried, found int) { c.m.at("searching: %d cells tried, %d found", tried, found) },
	})
	if search != nil && search.Leads > 0 && c.m.budget.Over() {
		c.cut("the search ended after %d cells, with %d more to look at", search.Tried, search.Leads)
	}
	if err != nil || len(search.Cells) == 0 {
		return nil, err
	}
	kept, left, err := search.Finish(ctx, cells.Finish{
		Most: c.s.cells.Most, Draws: draws,
		Progress: func(judged, kept int) { c.m.at("judging: %d of %d cells", judged, kept) },
	})
	if c.m.budget.Over() {
		c.cut("not all cells were judged")
	}
	if err != nil {
		return nil, err
	}
	f := &findings{Tried: search.Tried, Left: left, Unfinished: search.Unfinished()}
	logs, parts := make([]float64, len(kept)), make([]family.Q, len(kept))
	for k, x := range kept {
		logs[k], parts[k] = x.LogEvidence.Value, x.Q
	}
	mixture := family.NewMixture(logs, parts)
	names := search.Where(kept)
	for k, x := range kept {
		f.Cells = append(f.Cells, Cell{names[k], mixture.Weight(k), x.ELBO, x.LogEvidence, x.KHat})
	}
	return c.posterior(mixture, f), nil
}

// some are n of the scout's draws, of as many islands as there are.
func (c *cellsFit) some(n int) (draws [][]float64) {
	for k := range min(n, len(c.sample.Z)) {
		draws = append(draws, c.sample.Z[(2*k+1)*len(c.sample.Z)/(2*n)])
	}
	return draws
}

// ofDraws is the fit by normals near the scout's draws.
func (c *cellsFit) ofDraws(ctx context.Context) (*Posterior, error) {
	mixture, err := cells.OfDraws(ctx, c.d, c.draws(), parallel.Mix(c.s.Seed, cellStream))
	if err != nil || mixture == nil {
		return nil, err
	}
	p := c.posterior(family.NewMixture([]float64{0}, []family.Q{mixture}), &findings{Tried: 1})
	return p, nil // its cell is everywhere
}

func (c *cellsFit) posterior(q family.Mixed, f *findings) *Posterior {
	f.q, f.Scout = q, c.sample.LogEvidence
	return &Posterior{Density: c.d, Q: q, Settings: c.s.settings(), findings: f}
}

// fittedDraws is how many of the scout's draws normals are fitted to.
const fittedDraws = 8000

// draws are some of the scout's, as many of each island as its evidence says.
func (c *cellsFit) draws() (list [][]float64) {
	if len(c.sample.Islands) == 0 {
		return nil
	}
	byIsland := make([][]int, len(c.sample.Islands))
	for k, i := range c.sample.Island {
		byIsland[i] = append(byIsland[i], k)
	}
	total := floats.LogSumExp(c.sample.Islands)
	for i, of := range byIsland {
		n := int(fittedDraws * math.Exp(c.sample.Islands[i]-total))
		for k := range min(n, len(of)) {
			list = append(list, c.sample.Z[of[k*len(of)/min(n, len(of))]])
		}
	}
	return list
}
