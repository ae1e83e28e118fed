package family

import (
	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/regions"
)

// Each Sampler says which latents a batch moves on its way onto a guard, and by which Surface.

// Reach implements Sampler.
func (s *normalSampler) Reach(m Method) boundary.Reach {
	g := s.q.edges
	switch {
	case len(s.q.b) == 0:
		return boundary.OnPlane
	case m == Orthogonal:
		group := g.groups()
		return boundary.Reach{Name: s.q.family.Name() + ", orthogonal", Moves: func(h regions.Hyperplane, i int) bool {
			for _, j := range h.Index {
				if group[i] == group[j] {
					return true
				}
			}
			return false
		}}
	}
	return boundary.Reach{Name: s.q.family.Name() + ", elimination", Moves: func(h regions.Hyperplane, i int) bool {
		return g.descends(i, h.Index[len(h.Index)-1])
	}}
}

// Surface implements Sampler.
func (s *normalSampler) Surface(pieces []boundary.Piece, at [][]int, m Method) Surface {
	return surfaceOf(s, s.n, pieces, at, func(planes []regions.Hyperplane, at [][]int) Surface {
		switch {
		case len(s.q.b) == 0:
			return newDiagonal(s, nil, planes, at, m)
		case m == Orthogonal:
			return newProjection(s, planes, at)
		}
		return newElimination(s, planes, at)
	})
}

func (s *lowRankSampler) Reach(m Method) boundary.Reach {
	if m != Elimination {
		return boundary.Reach{Name: "everything", Moves: func(regions.Hyperplane, int) bool { return true }}
	}
	return boundary.OnPlane
}

func (s *lowRankSampler) Surface(pieces []boundary.Piece, at [][]int, m Method) Surface {
	return surfaceOf(s, s.n, pieces, at, func(planes []regions.Hyperplane, at [][]int) Surface {
		return newDiagonal(s.normalSampler, s, planes, at, m)
	})
}

// Reach implements Sampler. All methods are Elimination.
func (s *confinedSampler) Reach(Method) boundary.Reach {
	links := s.of.links
	return boundary.Reach{Name: "elimination, " + links.text(), Moves: func(h regions.Hyperplane, i int) bool {
		return links.descends(i, h.Index[len(h.Index)-1])
	}}
}

// Surface implements Sampler.
func (s *confinedSampler) Surface(pieces []boundary.Piece, at [][]int, _ Method) Surface {
	return surfaceOf(s, s.n, pieces, at, func(planes []regions.Hyperplane, at [][]int) Surface { return newConfinedSurface(s, planes, at) })
}
