package vi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/elimination"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/cells"
	"github.com/facetvi/facet/vi/internal/streams"
	"github.com/facetvi/facet/vi/internal/sumout"
	"github.com/facetvi/facet/vi/mixture"
	"github.com/facetvi/facet/vi/scout"
)

// How much is spent on a search for cells.
const (
	mostTried   = 3000
	leadDraws   = 300
	mostUnseen  = 8  // values of discrete latents are looked at that the scout has not seen,
	unseenDraws = 32 // and so many draws of each
)

// concluded reports the end, and saves it.
func (m monitor) concluded(p *Posterior) error {
	m.report(p)
	return p.checkpoint()
}

// fitDensity is the best fit of cells of d, and how it was made; nil if no cell has a mode.
func fitDensity(ctx context.Context, d *graph.Density, s job, m monitor) (*Posterior, cellsFit, error) {
	c := cellsFit{d: d, s: s, m: m, switches: d.Engine().Switches()}
	scouting := scout.Settings{Seed: parallel.Mix(s.Seed, streams.Scout), Over: m.Half.Over, Progress: func(beta float64) {
		m.Soon("independent search: the data at %.2g of their weight", beta)
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
	if c.unseen, err = c.otherValues(ctx); err != nil {
		return nil, c, err
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
		p.findings.Cut, p.findings.budget = c.cuts, m.Budget
		m.Soon("judging a fit of %d cells", len(p.findings.Cells))
		p.findings.Verdict = p.judge(ctx, sample, p.finalDraws(m))
		if best == nil || p.findings.even() > best.findings.even() || p.findings.Verdict.Trust != TrustNothing {
			best = p
		}
		if best.findings.Verdict.Trust != TrustNothing || m.Budget.Over() {
			break
		}
	}
	if best == nil {
		return nil, c, nil
	}
	if m.Budget.Over() {
		c.cut("the fit is judged by a tenth of the draws")
	}
	best.findings.Cut = c.cuts
	return best, c, nil
}

// A cellsFit is a fit of cells under way.
type cellsFit struct {
	d        *graph.Density
	s        job
	sample   scout.Result
	unseen   [][]float64 // points with values of discrete latents that no draw of it has
	m        monitor
	switches []derive.SwitchLatent
	cuts     []string // what the end of the budget has cut
}

func (c *cellsFit) cut(format string, args ...any) {
	c.cuts = append(c.cuts, fmt.Sprintf(format, args...))
}

// otherValues looks for values of discrete latents that no draw of the scout has, by small scouts that stay there: all of its particles may have left
// a value, as the variable by which a tree splits at its root, for another one before they were near its best place there.
func (c *cellsFit) otherValues(ctx context.Context) (points [][]float64, err error) {
	if c.m.Half.Over() {
		return nil, nil
	}
	runs, seen := 0, c.draws()
	for i := c.d.Params(); i < c.d.Dim(); i++ {
		values, cuts := c.d.Values(i)
		if slices.ContainsFunc(c.switches, func(w derive.SwitchLatent) bool { return w.Latent == i }) {
			continue // it is summed out
		}
		for j := range values {
			at := scout.Within{Latent: i, Above: math.Inf(-1), To: math.Inf(1)}
			if j > 0 {
				at.Above = cuts[j-1]
			}
			if j < len(cuts) {
				at.To = cuts[j]
			}
			if runs == mostUnseen || slices.ContainsFunc(seen, func(z []float64) bool { return z[i] > at.Above && z[i] <= at.To }) {
				continue
			}
			runs++
			seed := parallel.Mix(parallel.Mix(c.s.Seed, streams.Scout), uint64(runs))
			look := scout.Settings{Islands: 4, Particles: 64, Seed: seed, Within: &at, Over: c.m.Half.Over}
			if len(c.switches) > 0 {
				look.Sum = func(n int) (scout.Sum, error) { return sumout.New(c.d, c.switches, n) }
			}
			found, err := scout.Run(ctx, c.d, look)
			switch {
			case errors.Is(err, scout.ErrNowhere):
			case err != nil:
				return nil, err
			default:
				points = append(points, cells.Different(c.d, found.Z, unseenDraws)...)
			}
		}
	}
	return points, nil
}

// tries are the ways to a fit, the most promising first: by cells of the latents, by those that are
// left when switches are summed out, and by normals near the scout's draws.
func (c *cellsFit) tries(ctx context.Context) (list []func(context.Context) (*Posterior, error), err error) {
	plain := func(ctx context.Context) (*Posterior, error) { return c.find(ctx, nil) }
	if c.m.Budget.Over() {
		return append(list, plain, c.ofDraws), nil
	}
	summed := func(ctx context.Context) (*Posterior, error) { return c.find(ctx, c.switches) }
	together, err := c.meet(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(c.switches) == 0:
		return append(list, plain, c.ofDraws), nil
	case sumsFirst(c.d, c.switches) && c.d.Dim() > cells.MostLatents, together:
		return append(list, summed), nil
	case sumsFirst(c.d, c.switches):
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
	case few(c.d, c.switches):
		list = append(list, plain, summed)
	default:
		list = append(list, plain)
	}
	return append(list, c.ofDraws), nil
}

// meet reports whether switches that are summed out first depend on each other, as the states of a
// chain do: a scout that moves them one by one comes nowhere.
func (c *cellsFit) meet(ctx context.Context) (bool, error) {
	if !sumsFirst(c.d, c.switches) {
		return false, nil
	}
	t, err := c.d.Engine().Tabulate(ctx, c.switches)
	return err == nil && slices.ContainsFunc(t.Factors, func(f elimination.Factor) bool {
		return len(slices.DeleteFunc(slices.Clone(f.Vars), func(v int) bool { return c.switches[v].Beside })) > 1
	}), err
}

// find is the fit by cells, with switches summed out.
func (c *cellsFit) find(ctx context.Context, switches []derive.SwitchLatent) (*Posterior, error) {
	draws := c.draws()
	search, err := cells.Find(ctx, c.d, cells.Settings{
		Points: append(cells.Different(c.d, c.sample.Z, leadDraws), c.unseen...), Most: mostTried, Over: c.m.Budget.Over,
		Draws: draws,
		Lost:  -math.Expm1(-c.s.cells.Tolerance), Seed: parallel.Mix(c.s.Seed, streams.Cells), Switches: switches,
		Progress: func(tried, found int) { c.m.Soon("searching: %d cells tried, %d found", tried, found) },
	})
	if search != nil && search.Leads > 0 && c.m.Budget.Over() {
		c.cut("the search ended after %d cells, with %d more to look at", search.Tried, search.Leads)
	}
	if err != nil || len(search.Cells) == 0 {
		return nil, err
	}
	kept, left, err := search.Finish(ctx, cells.Finish{
		Most: c.s.cells.Most, Draws: draws,
		Progress: func(judged, kept int) { c.m.Soon("judging: %d of %d cells", judged, kept) },
	})
	if c.m.Budget.Over() {
		c.cut("not all cells were judged")
	}
	if err != nil {
		return nil, err
	}
	f := &findings{found: found{Tried: search.Tried, Left: left, Unfinished: search.Unfinished()}}
	logs, parts := make([]float64, len(kept)), make([]family.Q, len(kept))
	for k, x := range kept {
		logs[k], parts[k] = x.LogEvidence.Value, x.Q
	}
	q := mixture.New(logs, parts)
	names := search.Where(kept)
	for k, x := range kept {
		f.Cells = append(f.Cells, Cell{names[k], q.Weight(k), x.ELBO, x.LogEvidence, x.KHat})
	}
	return c.posterior(q, f), nil
}

// ofDraws is the fit by normals near the scout's draws.
func (c *cellsFit) ofDraws(ctx context.Context) (*Posterior, error) {
	q, err := cells.OfDraws(ctx, c.d, c.draws(), parallel.Mix(c.s.Seed, streams.Cells))
	if err != nil || q == nil {
		return nil, err
	}
	p := c.posterior(mixture.New([]float64{0}, []family.Q{q}), &findings{found: found{Tried: 1}})
	return p, nil // its cell is everywhere
}

func (c *cellsFit) posterior(q *mixture.Mixture, f *findings) *Posterior {
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
