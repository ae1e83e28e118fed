package regions

import (
	"fmt"
	"math"
	"slices"
)

// Feasible reports whether region s is one: whether the open cell {z : Φ_l(z) > 0 where σ_l = +, Φ_l(z) < 0 where σ_l = −} is not empty.
// A sign − includes the plane itself, so points on planes can have signs whose open cell is empty; they have no volume, and such signs
// are not feasible here. If the cell is not empty, point is inside it, with coordinates that no plane uses at zero: Signs(point) is s.
//
// Planes that are all parallel are compared exactly. Otherwise a linear program maximises the margin t of the planes, with rows and
// columns scaled to a largest number of about 1, and a cell with t ≤ 1e-9 counts as empty: such cells are thinner than 1e-9 of the
// distances between the planes, or farther away than 1e9 times these. Rounding fakes no cell.
//
// The error, of the linear program's arithmetic, is not expected. Feasible panics unless s has one sign for each plane.
func (a *Arrangement) Feasible(s Signs) (point []float64, ok bool, err error) {
	a.checkSigns(s)
	point = make([]float64, a.dim)
	for _, b := range a.blocks() {
		j, ok := b.slabs(s)
		if !ok {
			return nil, false, nil
		}
		if len(b.families) == 1 {
			var at float64
			at, ok = b.families[0].between(j[0])
			b.families[0].put(point, at)
		} else {
			ok, err = newSolver(&b).inside(point, j)
		}
		if !ok || err != nil {
			return nil, false, err
		}
	}
	if got := a.Signs(point); got != s {
		return nil, false, fmt.Errorf("regions: rounding moves the point found in region %v to %v", s, got)
	}
	return point, true, nil
}

func (a *Arrangement) checkSigns(s Signs) {
	if s.Len() != len(a.planes) {
		panic(fmt.Sprintf("regions: %d signs for %d planes", s.Len(), len(a.planes)))
	}
}

// between returns a number between the levels of slab j, and whether there is one.
func (f *family) between(j int) (at float64, ok bool) {
	low, high := j > 0, j < len(f.levels)
	switch {
	case low && high:
		at = f.levels[j-1].at/2 + f.levels[j].at/2
		return at, at > f.levels[j-1].at && at < f.levels[j].at
	case low:
		return beyond(f.levels[j-1].at, f.spread()), true
	}
	return beyond(f.levels[0].at, -f.spread()), true
}

// put changes one coordinate, so that n·z is at: one with a coefficient of ±1, which every canonical form has, to round nothing.
func (f *family) put(z []float64, at float64) {
	k := slices.IndexFunc(f.normal.Coef, func(c float64) bool { return math.Abs(c) == 1 })
	z[f.normal.Index[k]] = at / f.normal.Coef[k]
}

// spread is the distance of the outermost levels, or 1.
func (f *family) spread() float64 {
	if d := f.levels[len(f.levels)-1].at - f.levels[0].at; d > 0 {
		return d
	}
	return 1
}

// beyond is at + step, or farther if that is lost in rounding.
func beyond(at, step float64) float64 {
	for at+step == at {
		step *= 2
	}
	return at + step
}

func (s *solver) inside(z []float64, j slabs) (bool, error) {
	t, x, err := margin(s.walls(j))
	if err != nil || t <= thin {
		return false, err
	}
	s.point(z, x)
	return true, nil
}
