package vi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/cells"
	"github.com/facetvi/facet/vi/internal/streams"
	"github.com/facetvi/facet/vi/scout"
)

// runCells is a fit of cells, with a checkpoint at its beginning and at its end.
func runCells(ctx context.Context, d *graph.Density, s job, m monitor) (*Posterior, error) {
	if s.cells.Quick {
		p, err := fitQuick(ctx, d, s)
		if p == nil && err == nil {
			p, err = fitSmooth(ctx, d, s, m)
		}
		if err != nil {
			return nil, err
		}
		if p != nil {
			m.searched(p.findings)
			return p, m.concluded(p)
		}
	}
	begun := s.begun(d)
	if err := begun.checkpoint(); err != nil {
		return nil, err
	}
	s.reach = begun.reach
	p, err := fitCells(ctx, d, s, m)
	switch {
	case err != nil && ctx.Err() != nil && p == nil:
		return begun.nothing(), fmt.Errorf("stopped while looking for cells: %w", cause(ctx))
	case err != nil && ctx.Err() != nil:
		p.resumes(begun)
		return p, errors.Join(fmt.Errorf("stopped while sampling: %w", cause(ctx)), wrapped(m.concluded(p)))
	case err != nil:
		return nil, err
	}
	p.resumes(begun)
	return p, m.concluded(p)
}

// fitCells finds the cells of a posterior and a distribution for each. Where the verdict is
// that these cannot be relied on, it tries what suits posteriors that have no cells to speak
// of, and then the sampler, and returns what has the most even weights. A density of much data is fitted and judged
// by one that costs less. If ctx ends the sampler there is what was found before, beside the error.
func fitCells(ctx context.Context, whole *graph.Density, s job, m monitor) (*Posterior, error) {
	d, err := compact(ctx, whole, s, m)
	if err != nil {
		return nil, err
	}
	var best *Posterior
	if d == whole && s.from == nil {
		if best, err = fitModes(ctx, whole, s, m); err != nil {
			return nil, err
		}
	}
	if best == nil || best.findings.Verdict.Trust == TrustNothing && !m.Budget.Over() {
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
	best.warnOfCuts(ctx)
	if best.Density = whole; best.findings.sample != nil {
		best.findings.sample = best.findings.sample.Of(whole)
	}
	best.warnOf(best.findings.Verdict)
	m.searched(best.findings)
	return best, err
}

// fitOrSample is the best fit of cells of d, or the sampler's posterior where that cannot be relied on; nil if no cell has a
// mode, for what rises without end may be no distribution.
func fitOrSample(ctx context.Context, d *graph.Density, s job, m monitor) (*Posterior, error) {
	first := s.from != nil
	var err error
	if !s.cells.Alone && !first {
		if first, err = samplerFirst(ctx, d); err != nil {
			return nil, err
		}
	}
	var q *Posterior
	if first {
		if q, err = bySampler(ctx, d, s, m, s.before()); m.Budget.Over() || ctx.Err() != nil || q != nil && q.findings.Verdict.Trust != TrustNothing {
			return q, err
		}
	}
	p, c, err := fitDensity(ctx, d, s, m)
	if nowhere := errors.Is(err, scout.ErrNowhere); nowhere {
		if required, fail := d.Engine().Requirements(); fail != nil || required == nil {
			return nil, err
		}
		if s.cells.Alone {
			return nil, fmt.Errorf("Cells.Alone = true: the prior hardly ever meets what is required, and only a Sampler comes to it: %w", err)
		}
		c.sample = noScout // the prior hardly ever meets what is required, which the sampler comes to step by step
	} else if p == nil || p.isEnough() || s.cells.Alone || m.Budget.Over() {
		return p, err
	}
	if q == nil {
		if q, err = bySampler(ctx, d, s, m, c.sample); q != nil {
			q.findings.Cut = append(c.cuts, q.findings.Cut...)
		}
	}
	switch {
	case p == nil:
		return q, err
	case p.findings.Verdict.Trust != TrustNothing:
		if q != nil && q.findings.Verdict.Trust != TrustNothing && q.knowsMore(p) {
			return q, err
		}
		return p, nil // there may be no such mean
	case q != nil && q.findings.Verdict.Trust != TrustNothing:
		return q, err
	case q != nil && q.findings.run.Beta == 1 && slices.Max(q.findings.run.RHat) <= hopelessRHat:
		return q, err
	}
	why := "was stopped"
	switch {
	case q != nil:
		why = "did not arrive: " + q.findings.Verdict.Reasons[0]
		if q.findings.Cut != nil {
			p.findings.Cut = q.findings.Cut
		}
	case ctx.Err() != nil:
		p.findings.Cut = append(p.findings.Cut, "the sampler "+why)
	default:
		err, why = nil, "failed: "+err.Error()
	}
	p.findings.Verdict.Reasons = append(p.findings.Verdict.Reasons, "a sampler that went on from there "+why)
	return p, err
}

// isEnough reports whether a fit of cells can be relied on, and says what it was asked for: a mean that it does not know may be that of a far
// mode, which a sampler of a few latents goes to.
func (p *Posterior) isEnough() bool {
	return p.findings.Verdict.Trust != TrustNothing && (p.Density.Dim() > cells.MostProposed || p.findings.numbers.Unknown() == nil)
}

// knowsMore reports whether p knows some mean that another does not.
func (p *Posterior) knowsMore(than *Posterior) bool {
	return slices.ContainsFunc(than.findings.numbers.Unknown(), func(i int) bool { return !math.IsInf(p.findings.numbers.Moments[i].Mean.SE, 1) })
}

// muchData is from how many terms of log r on it is seen whether it can be had for less.
const muchData = 1000

// compact is a density that costs less than d, if there is one; see cells.Compact.
func compact(ctx context.Context, d *graph.Density, s job, m monitor) (*graph.Density, error) {
	if d.Terms() < muchData {
		return d, nil
	}
	m.Soon("adding up %d terms", d.Terms())
	return cells.Compact(ctx, d, func(d *graph.Density) ([][]float64, error) {
		sample, err := scout.Run(ctx, d, scout.Settings{Seed: parallel.Mix(s.Seed, streams.Scout), Over: m.Half.Over})
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
