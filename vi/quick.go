package vi

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/internal/intervals"
	"github.com/facetvi/facet/vi/internal/streams"
	"github.com/facetvi/facet/vi/scout"
	"github.com/facetvi/facet/vi/verdict"
)

// quickSE is the standard error of the log evidence of a quick fit, at most, in nats.
const quickSE = 0.03

// fitQuick is a fit with Cells.Quick; nil for what takes another one. Nothing of it is TrustNothing.
func fitQuick(ctx context.Context, d *graph.Density, s job) (*Posterior, error) {
	if ctx.Err() != nil {
		return nil, nil
	}
	pool, err := derive.Cached(d.Engine(), quickKey{}, func() (*sync.Pool, error) { return new(sync.Pool), nil })
	if err != nil {
		return nil, err
	}
	f, known := pool.Get().(*intervals.Fitter)
	if !known {
		if f, err = intervals.New(d); err != nil {
			return nil, err
		}
	}
	var fit *intervals.Fit
	if f != nil {
		fit, err = f.Fit(d, intervals.Settings{
			Lost: -math.Expm1(-s.cells.Tolerance), Seed: parallel.Mix(s.Seed, streams.Cells), Mean: verdict.AcceptedMean, SD: verdict.AcceptedSD, LogEvidence: quickSE,
		})
	}
	if err != nil || fit == nil {
		pool.Put(f) // not after a panic
		return nil, err
	}
	p := &Posterior{Density: d, Q: fit.Q, Settings: s.settings()}
	p.findings = &findings{
		q: fit.Q, Scout: Estimate{Value: math.NaN(), SE: math.NaN()},
		found: found{Cells: make([]Cell, len(fit.Cells)), Tried: fit.Tried, Left: fit.Left},
		told:  told{moments: fit.Moments, LogEvidence: fit.LogEvidence},
		Verdict: Verdict{Trust: TrustFit, Reasons: []string{fmt.Sprintf(
			"the weights of %d draws are %.0f%% effective; the log evidence is %v; all %d intervals were climbed, each from a place of its own, and had one mode",
			fit.Draws, 100*fit.Effective, fit.LogEvidence, fit.Tried)}},
	}
	for k, c := range fit.Cells {
		p.findings.Cells[k] = Cell(c)
	}
	pool.Put(f) // whose cells fit has
	p.warnOf(p.findings.Verdict)
	return p, nil
}

// The search of a quick fit of a program without guards.
const (
	quickLatents   = 12 // at most
	quickIslands   = 4
	quickParticles = 128
	quickMoves     = 6
	quickDraws     = 4000 // at first
)

// fitSmooth is a fit with Cells.Quick of a program without guards: by normals near the draws of a small scout. It is nil for other
// programs, and for a fit that is not to be trusted, if it is not to be Alone.
func fitSmooth(ctx context.Context, d *graph.Density, s job, m monitor) (*Posterior, error) {
	if d.Arrangement().Len() > 0 || d.Params() > 0 || d.Dim() > quickLatents || ctx.Err() != nil {
		return nil, nil
	}
	sample, err := scout.Run(ctx, d, scout.Settings{
		Islands: quickIslands, Particles: quickParticles, Moves: quickMoves, Seed: parallel.Mix(s.Seed, streams.Scout), Over: m.Half.Over,
	})
	if err != nil || sample.Beta < 1 {
		return nil, nil // the fit without Quick says why
	}
	c := cellsFit{d: d, s: s, m: m, sample: sample}
	p, err := c.ofDraws(ctx)
	if p == nil || err != nil {
		return nil, err
	}
	p.findings.quick = true
	p.findings.Verdict = p.judge(ctx, sample, quickDraws)
	if p.findings.Verdict.Trust == TrustNothing && !s.cells.Alone {
		return nil, nil
	}
	p.warnOf(p.findings.Verdict)
	return p, nil
}

// quickKey is where a program's Fitters are that no fit is using: nil, if it is of another kind.
type quickKey struct{}
