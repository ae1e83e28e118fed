package cells

import (
	"context"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
)

// OfDraws fits mixtures of normals to draws of a posterior and refines them: for posteriors
// whose guards are many and their jumps small, so that they have no cells to speak of.
// It returns nil if none has a density.
func OfDraws(ctx context.Context, d *graph.Density, draws [][]float64, seed uint64) (family.Q, error) {
	x, err := d.Executor(quick, graph.Compute{Out: true})
	if err != nil {
		return nil, err
	}
	return refine(ctx, d, x, everywhere(d.Dim(), nil), nil, draws, parallel.NewRand(seed))
}
