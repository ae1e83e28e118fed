package ir

import (
	"slices"
)

// A Kink says that two expressions are equal on a plane, as known when it was made.
type Kink struct {
	Plane int
	A, B  ID
}

func (s *Store) KnowEqual(plane int, a, b ID) { s.Kinks[Kink{plane, min(a, b), max(a, b)}] = true }

// vanishing are nodes by plane; perhaps short.
type vanishing [][]ID

// On are those of plane l, in the order in which they were added.
func (z vanishing) On(l int) []ID {
	if l < len(z) {
		return z[l]
	}
	return nil
}

func (z *vanishing) Add(l int, id ID) {
	for l >= len(*z) {
		*z = append(*z, nil)
	}
	(*z)[l] = append(slices.Clip((*z)[l]), id)
}

// mostPlanes has a formula of which it is known what vanishes there.
const mostPlanes = 8

// PlanesOf are the planes of a formula, if they are few.
func (s *Store) PlanesOf(formula ID) (planes []int, few bool) {
	seen := 0
	for id := range s.Under(formula) {
		if n := s.At(id); n.Kind == Sign {
			planes = append(planes, int(n.A))
		}
		if seen++; seen > 4*mostPlanes || len(planes) > mostPlanes {
			return planes, false
		}
	}
	return planes, true
}
