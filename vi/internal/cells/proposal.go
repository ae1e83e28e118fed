package cells

import (
	"context"
	"math/rand/v2"

	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/internal/sumout"
	"github.com/facetvi/facet/vi/mixture"
)

// A Proposal is a distribution near draws of a posterior, of the latents but for switches that are summed out.
type Proposal struct {
	q       *mixture.Mixture
	latents []int
}

// MostProposed is of how many latents a mixture of normals may come near a posterior that one normal is far from.
const MostProposed = 20

// NewProposal is the mixture of normals near draws, with a wider part; nil if there are many latents, or a covariance matrix is singular.
func NewProposal(ctx context.Context, dim int, draws [][]float64, switches []derive.SwitchLatent, seed uint64) *Proposal {
	p := &Proposal{latents: sumout.Without(dim, switches)}
	if len(p.latents) > MostProposed {
		return nil
	}
	q := mixtureOf(ctx, shape{latents: p.latents}.points(draws), true, parallel.NewRand(seed))
	if q == nil {
		return nil
	}
	p.q = defensive(q)
	return p
}

// LogProbs stores the log density at n points z, latents × n, in dst of length n.
func (p *Proposal) LogProbs(dst, z []float64) {
	n := len(dst)
	if len(p.latents)*n < len(z) {
		rows := make([]float64, 0, len(p.latents)*n)
		for _, i := range p.latents {
			rows = append(rows, z[i*n:][:n]...)
		}
		z = rows
	}
	p.q.LogProbs(dst, z)
}

// Rand draws the latents of z but for the switches.
func (p *Proposal) Rand(z []float64, rng *rand.Rand) {
	x := make([]float64, len(p.latents))
	p.q.Rand(x, rng)
	for j, i := range p.latents {
		z[i] = x[j]
	}
}
