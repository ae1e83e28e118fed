package scout

import (
	"context"
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/residuals"
)

// An engine evaluates blocks of points: residuals, latents, likelihoods.
type engine struct {
	*residuals.Batch
	likelihood  *graph.Executor
	sum         Sum // instead of likelihood; or nil
	out         []float64
	within      *Within
	rest        []int // latents that are not summed out, and not parameters
	evaluations int
}

func newEngine(d *graph.Density, p *graph.Program, s Settings, width int) (*engine, error) {
	r, err := d.Residuals(width)
	if err != nil {
		return nil, err
	}
	e := &engine{Batch: r, out: make([]float64, width), within: s.Within}
	if s.Sum == nil {
		e.likelihood, err = d.Engine().Executor(p, width, graph.Compute{Out: true})
	} else {
		e.sum, err = s.Sum(width)
	}
	for i := d.Params(); i < d.Dim(); i++ {
		if e.moves(i) {
			e.rest = append(e.rest, i)
		}
	}
	return e, err
}

// moves reports whether latent i is one that chains move.
func (e *engine) moves(i int) bool { return e.sum == nil || !e.sum.Sums(i) }

// outside reports whether column k is not where chains stay.
func (e *engine) outside(k int) bool {
	w := e.within
	if w == nil {
		return false
	}
	x := e.Z[w.Latent*e.N+k]
	return x <= w.Above || x > w.To
}

// evaluate computes the log likelihood of each column of Z. What is no density,
// NaN or infinite, is −Inf. It is an error if ctx is done.
func (e *engine) evaluate(ctx context.Context) ([]float64, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("stopped: %w", context.Cause(ctx))
	}
	out := e.out
	if e.sum == nil {
		copy(e.likelihood.Z, e.Z)
		copy(e.likelihood.Signs, e.Signs)
		if err := e.likelihood.Run(); err != nil {
			return nil, err
		}
		out = e.likelihood.Out
	} else if err := e.sum.LogProb(out, e.Z); err != nil {
		return nil, err
	}
	e.evaluations += e.N
	for k, v := range out {
		if e.sum != nil {
			for _, i := range e.rest {
				v -= e.LogPriorOf(i, k)
			}
			out[k] = v
		}
		if !(v < math.Inf(1)) || math.IsNaN(e.LogPrior[k]) || e.outside(k) {
			out[k] = math.Inf(-1)
		}
	}
	return out, nil
}
