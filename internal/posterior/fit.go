package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/facetvi/facet/examples/models/exact"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/vi"
)

// draws are those of the ELBO.
const draws = 10000

// A fitted is all that the report and the JSON say of a fit.
type fitted struct {
	posterior         *vi.Posterior
	seconds           float64 // CPU
	elbo, logEvidence vi.Estimate
	cells             []vi.Cell
	verdict           vi.Verdict
	guards, latents   []string // their names, in the order of the answers
	answer            answer
}

// An answer is what somebody says of the guards and of the latents, in the order of exact.Posterior.
type answer struct {
	guards  []float64
	latents []exact.Moments
}

// fit fits the model with the library's defaults.
func (p problem) fit(ctx context.Context, seed uint64) (*fitted, error) {
	density, err := p.model().Compile()
	if err != nil {
		return nil, err
	}
	start := cputime.Seconds()
	posterior, err := vi.Fit(ctx, density, vi.Settings{Seed: seed})
	seconds := cputime.Seconds() - start
	if err != nil {
		return nil, err
	}
	f := &fitted{posterior: posterior, seconds: seconds, latents: density.Latents()}
	planes := density.GuardsByPlane()
	for _, name := range density.GuardNames() {
		guards := density.Named(name)
		probs, err := posterior.Probs(guards)
		if err != nil {
			return nil, err
		}
		for i, g := range guards {
			f.answer.guards = append(f.answer.guards, probs[i].Value)
			label := name
			if len(guards) > 1 {
				label = fmt.Sprintf("%s[%d]", name, i)
			}
			if side, ok := g.Side(); ok {
				label += ": " + planes[side.Plane][0].Condition(side.Positive)
			}
			f.guards = append(f.guards, label)
		}
	}
	for _, name := range f.latents {
		mean, err1 := posterior.Mean(name)
		sd, err2 := posterior.SD(name)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		f.answer.latents = append(f.answer.latents, exact.Moments{Mean: mean.Value, SD: sd.Value})
	}
	return f, f.judge(posterior, seed)
}

// judge fills in what the fit says of itself: ELBO, evidence, cells and verdict.
func (f *fitted) judge(p *vi.Posterior, seed uint64) error {
	var err1, err2, err3 error
	f.elbo, err1 = p.ELBO(draws, seed)
	f.logEvidence, err2 = p.LogEvidence()
	f.verdict, err3 = p.Verdict()
	f.cells = p.Cells()
	return errors.Join(err1, err2, err3)
}
