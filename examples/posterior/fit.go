package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/facetvi/facet/examples/models/exact"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/vi"
)

// draws are those that the fit is judged by.
const draws = 10000

// A fitted is all that the report and the JSON say of a fit.
type fitted struct {
	seconds           float64 // CPU
	elbo, logEvidence vi.Estimate
	cells             []vi.Cell
	verdict           vi.Verdict
	guards, latents   []string // their names, in the order of the answers
	answer            answer   // the fit's
	reweighted        answer   // by importance
	weighted          bool     // whether there is a reweighted answer, which is the one to trust
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
	f := &fitted{seconds: seconds, latents: density.Latents()}
	planes := density.GuardsByPlane()
	for _, name := range density.GuardNames() {
		guards := density.Named(name)
		probs, err := posterior.Probs(guards)
		if err != nil {
			return nil, err
		}
		f.answer.guards = append(f.answer.guards, probs...)
		for i, g := range guards {
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
		f.answer.latents = append(f.answer.latents, exact.Moments{Mean: mean, SD: sd})
	}
	return f, f.judge(posterior, seed)
}

// judge fills in what the fit says of itself: ELBO, evidence, cells, verdict, and the reweighted answer where that is the one to
// trust.
func (f *fitted) judge(p *vi.Posterior, seed uint64) (err error) {
	var err1, err2, err3 error
	f.elbo, err1 = p.ELBO(draws, seed)
	f.logEvidence, err2 = p.LogEvidence()
	f.verdict, err3 = p.Verdict()
	f.cells = p.Cells()
	if err := errors.Join(err1, err2, err3); err != nil || f.verdict.Trust != vi.TrustReweighted {
		return err
	}
	weighted, err := p.Importance(max(draws, f.verdict.Draws), seed)
	if err != nil {
		return err
	}
	f.weighted = true
	f.reweighted, err = reweigh(p.Density, weighted)
	return err
}

// trusted is the answer to trust: the reweighted one, if there is one.
func (f *fitted) trusted() answer {
	if f.weighted {
		return f.reweighted
	}
	return f.answer
}

// reweigh is the answer of the weighted draws.
func reweigh(d *graph.Density, w vi.Importance) (a answer, err error) {
	for _, l := range w.Latents {
		a.latents = append(a.latents, exact.Moments{Mean: l.Mean.Value, SD: l.SD})
	}
	var guards []graph.Guard
	for _, name := range d.GuardNames() {
		guards = append(guards, d.Named(name)...)
	}
	a.guards = make([]float64, len(guards))
	holds, z := make([]bool, len(guards)), make([]float64, d.Dim())
	for k, weight := range w.Weights {
		for i := range z {
			if z[i], err = d.UnconstrainOne(i, w.Draws.Values[k][i]); err != nil {
				return answer{}, err
			}
		}
		for i, holding := range graph.Holding(holds, guards, d.Arrangement().Signs(z)) {
			if holding {
				a.guards[i] += weight
			}
		}
	}
	return a, nil
}
