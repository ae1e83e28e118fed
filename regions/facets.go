package regions

import (
	"fmt"
	"math"
	"slices"
)

// Facets returns the numbers of the planes that bound region s, ascending: those that hold a facet, a part of the boundary of dimension
// n−1. The others touch the region in a lower dimension or not at all. A facet that is thin or far in the sense of [Arrangement.Feasible]
// does not count.
//
// It returns an error if s is not feasible, and panics unless s has one sign for each plane.
func (a *Arrangement) Facets(s Signs) ([]int, error) {
	_, ok, err := a.Feasible(s)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("regions: %v is not feasible: it has no facets", s)
	}
	var out []int
	for _, b := range a.blocks() {
		planes, err := b.facets(s)
		if err != nil {
			return nil, err
		}
		out = append(out, planes...)
	}
	slices.Sort(out)
	return out, nil
}

// Neighbours returns the regions across the facets of region s, in the order of Facets: s with the sign of one plane flipped. Errors and
// panics are those of Facets.
func (a *Arrangement) Neighbours(s Signs) ([]Signs, error) {
	planes, err := a.Facets(s)
	var out []Signs
	for _, l := range planes {
		out = append(out, s.Flip(l))
	}
	return out, err
}

// facets returns the planes of the block that hold a facet of its cell s, which is feasible.
func (b *block) facets(s Signs) (out []int, err error) {
	j, _ := b.slabs(s)
	var solve *solver
	if len(b.families) > 1 {
		solve = newSolver(b)
	}
	for f := range b.families {
		levels := b.families[f].levels
		for k := max(j[f]-1, 0); k <= j[f] && k < len(levels); k++ { // below and above the slab
			ok := true
			if solve != nil {
				if ok, err = solve.facet(j, f, k); err != nil {
					return nil, err
				}
			}
			if ok {
				out = append(out, levels[k].plane)
			}
		}
	}
	return out, nil
}

// facet reports whether level k of family f holds a facet of cell j: whether the other walls leave an inside on it. One coordinate of its
// plane is a function of the others, and so the walls are rows of one number less.
func (s *solver) facet(j slabs, f, k int) (bool, error) {
	on := s.cut[f][k]
	pivot := 0
	for i := range s.scale {
		if math.Abs(on[i]) > math.Abs(on[pivot]) {
			pivot = i
		}
	}
	var rows [][]float64
	for _, row := range s.walls(j) {
		if same(row, on) {
			continue
		}
		factor := row[pivot] / on[pivot]
		reduced := make([]float64, 0, len(row)-1)
		for i, x := range row {
			if i != pivot {
				reduced = append(reduced, x-factor*on[i])
			}
		}
		rows = append(rows, reduced)
	}
	t, _, err := margin(rows)
	return t > thin, err
}

// same reports whether a wall is the cut or its negative.
func same(wall, cut []float64) bool {
	return slices.Equal(wall, cut) || slices.Equal(wall, negated(cut))
}
