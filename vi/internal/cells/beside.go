// What cells say of those beside them where log r, with switches summed out, has several modes.

package cells

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/parallel"
)

const (
	besideMost  = 6 // cells are asked
	besideFar   = 4 // standard deviations away are points from where another mode is looked for,
	besideBelow = 6 // if they are not so many nats below the mode that is known; or that are higher
)

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

// higher moves the point of a cell to one of others, if log r is higher there.
func (f *finder) higher(c *Cell, others [][]float64) error {
	if len(others) == 0 {
		return nil
	}
	v, err := f.summed(c, others)
	if err != nil {
		return err
	}
	if k := floats.MaxIdx(v); k > 0 {
		for _, i := range f.mode.rest {
			c.point[i] = others[k-1][i]
		}
	}
	return nil
}

// summed are log r of a cell, with switches summed out, where its point has its own other latents, and those of others.
func (f *finder) summed(c *Cell, others [][]float64) ([]float64, error) {
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
	return m.values(points, c.region)
}

// again looks for other modes of cells where those of the cells beside them, which may have been found later, say that there may be some.
func (f *Search) again(ctx context.Context) error {
	if !f.finders[0].mixes() {
		return nil
	}
	known := f.together()
	others := make([][][]float64, len(f.Cells))
	for k, c := range f.Cells {
		others[k] = f.beside(c)
	}
	err := parallel.Do(len(f.finders), len(f.Cells), func(w, k int) error {
		c, x := f.Cells[k], f.finders[w]
		if len(others[k]) == 0 || ctx.Err() != nil || f.over() {
			return ctx.Err()
		}
		v, err := x.summed(c, others[k])
		if err != nil {
			return err
		}
		for j, z := range others[k] {
			far := slices.ContainsFunc(x.mode.rest, func(i int) bool { return math.Abs(z[i]-c.center[i]) > besideFar*c.moments.sd[i] })
			if v[1+j] > v[0] || far && v[1+j] > v[0]-besideBelow {
				c.starts = append(c.starts, z)
			}
		}
		if len(c.starts) == 0 {
			return nil
		}
		t := *c
		t.point, t.Q = slices.Clone(c.point), nil
		if err := x.higher(&t, c.starts); err != nil {
			return err
		}
		t.starts = append(t.starts, c.point)
		if err := x.evaluate(ctx, &t, known, parallel.NewRand(parallel.Mix(f.s.Seed, uint64(1<<34+k)))); err != nil || t.Q == nil {
			return err
		}
		*c = t
		return nil
	})
	slices.SortStableFunc(f.Cells, byEvidence)
	return err
}
