package regions

import (
	"fmt"
	"math"
	"slices"
)

// Facets returns the numbers of the planes that bound region s, ascending: those that hold a facet, a part of the boundary of dimension
// n−1. The others touch the region in a lower dimension or not at all. A facet that is thin or far in the sense of [Arrangement.Feasible]
// does not count. Coincident planes of an arrangement from PushForward bound a region together.
//
// It returns an error if s is not feasible, and panics unless s has one sign for each plane.
func (a *Arrangement) Facets(s Signs) ([]int, error) {
	groups, err := a.facets(s)
	var out []int
	for _, v := range groups {
		for _, p := range v.planes {
			out = append(out, p.plane)
		}
	}
	slices.Sort(out)
	return out, err
}

// Neighbours returns the regions across the facets of region s, in the order of Facets: s with the sign of one plane flipped. Coincident
// planes flip together. Errors and panics are those of Facets.
func (a *Arrangement) Neighbours(s Signs) ([]Signs, error) {
	groups, err := a.facets(s)
	slices.SortFunc(groups, func(v, w level) int { return v.planes[0].plane - w.planes[0].plane })
	var out []Signs
	for _, v := range groups {
		next := s
		for _, p := range v.planes {
			next = next.Flip(p.plane)
		}
		out = append(out, next)
	}
	return out, err
}

// facets returns the levels on which s has facets.
func (a *Arrangement) facets(s Signs) (out []level, err error) {
	_, ok, err := a.Feasible(s)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("regions: %v is not feasible: it has no facets", s)
	}
	for _, b := range a.blocks() {
		j, _ := b.slabs(s)
		var solve *solver
		if len(b.families) > 1 {
			solve = newSolver(&b)
		}
		for f := range b.families {
			for _, k := range []int{j[f] - 1, j[f]} { // the levels below and above the slab
				if k < 0 || k == len(b.families[f].levels) {
					continue
				}
				ok := true
				if solve != nil {
					if ok, err = solve.facet(j, f, k); err != nil {
						return nil, err
					}
				}
				if ok {
					out = append(out, b.families[f].levels[k])
				}
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
