// What cells say of those beside them where log r, with switches summed out, has several modes.

package cells

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// besideMost is how many cells are asked.
const besideMost = 6

// beside are the modes of the nearest cells with the same values of discrete latents, where switches are summed out.
func (f *Search) beside(c *Cell) (points [][]float64) {
	if len(f.s.Switches) == 0 {
		return nil
	}
	var near []*Cell
	apart := map[*Cell]int{}
	of := f.values(c)
	for _, x := range f.Cells {
		if x == c || f.values(x) != of {
			continue
		}
		for k := range c.span {
			apart[x] += max(c.span[k].first-x.span[k].last, x.span[k].first-c.span[k].last, 0)
		}
		near = append(near, x)
	}
	slices.SortStableFunc(near, func(a, b *Cell) int { return cmp.Compare(apart[a], apart[b]) })
	for _, x := range near[:min(besideMost, len(near))] {
		points = append(points, x.point)
	}
	return points
}

// higher moves the point of a cell to one of others, if log r is higher there, with switches summed out.
func (f *finder) higher(c *Cell, others [][]float64) error {
	if len(others) == 0 {
		return nil
	}
	m := f.mode
	copy(m.z, c.point)
	var points [][]float64
	for _, z := range append([][]float64{c.point}, others...) {
		at := make([]float64, len(m.rest))
		for k, i := range m.rest {
			at[k] = z[i] / m.scale[k]
		}
		points = append(points, at)
	}
	v, err := m.values(points, c.region)
	if err != nil {
		return err
	}
	if k := floats.MaxIdx(v); k > 0 {
		for _, i := range m.rest {
			c.point[i] = others[k-1][i]
		}
	}
	return nil
}
