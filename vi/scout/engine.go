package scout

import (
	"context"
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
)

// An engine evaluates blocks of points: residuals, latents, likelihoods.
type engine struct {
	*graph.Residuals
	likelihood  *graph.Executor
	evaluations int
}

func newEngine(d *graph.Density, p *graph.Program, width int) (*engine, error) {
	r, err := d.Residuals(width)
	if err != nil {
		return nil, err
	}
	x, err := d.ExecutorOf(p, width, graph.Compute{Out: true})
	return &engine{Residuals: r, likelihood: x}, err
}

// evaluate computes the log likelihood of each column of Z. What is no density,
// NaN or infinite, is −Inf. It is an error if ctx is done.
func (e *engine) evaluate(ctx context.Context) ([]float64, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("stopped: %w", context.Cause(ctx))
	}
	copy(e.likelihood.Z, e.Z)
	copy(e.likelihood.Signs, e.Signs)
	if err := e.likelihood.Run(); err != nil {
		return nil, err
	}
	e.evaluations += e.N
	out := e.likelihood.Out
	for k, v := range out {
		if !(v < math.Inf(1)) || math.IsNaN(e.LogPrior[k]) {
			out[k] = math.Inf(-1)
		}
	}
	return out, nil
}
