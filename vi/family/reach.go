package family

import (
	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/regions"
)

// Each Sampler says which latents a batch moves on its way onto a guard, and by which Surface.

// Reach implements Sampler.
func (s *normalSampler) Reach() boundary.Reach {
	if len(s.q.b) == 0 {
		return boundary.OnPlane
	}
	g := s.q.edges
	return boundary.Reach{Name: s.q.family.Name() + ", elimination", Moves: func(h regions.Hyperplane, i int) bool {
		return g.descends(i, h.Index[len(h.Index)-1])
	}}
}

// Surface implements Sampler.
func (s *normalSampler) Surface(pieces []boundary.Piece, at [][]int) Surface {
	return surfaceOf(s, s.n, pieces, at, func(planes []regions.Hyperplane, at [][]int) Surface {
		if len(s.q.b) == 0 {
			return newDiagonal(s, nil, planes, at)
		}
		return newElimination(s, planes, at)
	})
}

// Reach is everything, which moves with η.
func (s *lowRankSampler) Reach() boundary.Reach {
	return boundary.Reach{Name: "everything", Moves: func(regions.Hyperplane, int) bool { return true }}
}

func (s *lowRankSampler) Surface(pieces []boundary.Piece, at [][]int) Surface {
	return surfaceOf(s, s.n, pieces, at, func(planes []regions.Hyperplane, at [][]int) Surface {
		return newDiagonal(s.normalSampler, s, planes, at)
	})
}
