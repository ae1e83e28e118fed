// What cells say of those beside them where log r, with switches summed out, has several modes.

package cells

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/parallel"
)

// besideMost is how many cells are asked.
const besideMost = 6

// beside are the modes of the nearest cells with the same values of discrete latents, where switches are summed out.
func (f *Search) beside(c *Cell) (points [][]float64) {
	for _, x := range f.nearest(c) {
		points = append(points, x.point)
	}
	return points
}

// nearest are some cells with the same values of discrete latents, where switches are summed out.
func (f *Search) nearest(c *Cell) (near []*Cell) {
	if len(f.s.Switches) == 0 {
		return nil
	}
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
	return near[:min(besideMost, len(near))]
}

// again looks again at cells near those that were expanded now, where log r is higher at the mode of one of these than at their own: they were
// found before it was.
func (f *Search) again(ctx context.Context, known totals, expanded []*Cell) error {
	better := map[*Cell]*Cell{}
	for _, c := range expanded {
		for _, x := range f.nearest(c) {
			y := better[x]
			if y == nil {
				y = &Cell{area: x.area, peak: peak{point: slices.Clone(x.point)}, order: x.order}
			}
			was := slices.Clone(y.point)
			if err := f.finders[0].higher(y, [][]float64{c.point}); err != nil {
				return err
			}
			if !slices.Equal(y.point, was) {
				better[x] = y
			}
		}
	}
	if len(better) == 0 {
		return nil
	}
	todo := slices.SortedFunc(maps.Keys(better), func(a, b *Cell) int { return cmp.Compare(a.order, b.order) })
	err := parallel.Do(len(f.finders), len(todo), func(w, k int) error {
		rng := parallel.NewRand(parallel.Mix(parallel.Mix(f.s.Seed, uint64(f.Tried)), uint64(todo[k].order)))
		return f.finders[w].evaluate(ctx, better[todo[k]], known, rng)
	})
	for _, x := range todo {
		if y := better[x]; y.Q != nil && y.LogEvidence.Value > x.LogEvidence.Value {
			*x = *y
		}
	}
	slices.SortStableFunc(f.Cells, byEvidence)
	return err
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
