// The cells beside a cell: across its sides, and along lines through its mode.

package cells

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// scanKeep is how many intervals of a line are looked at.
const scanKeep = 6

// neighbours are the regions across the cell's sides.
func (f *finder) neighbours(ctx context.Context, c *Cell) (leads []lead) {
	for k, s := range c.span {
		if ctx.Err() != nil {
			return leads
		}
		if s.first > 0 {
			leads = append(leads, f.at(c, k, s.first-1)...)
		}
		if s.last < len(f.lines.group[k]) {
			leads = append(leads, f.at(c, k, s.last+1)...)
		}
	}
	return leads
}

// at are the regions where the line of group k is in interval to.
func (f *finder) at(c *Cell, k, to int) (leads []lead) {
	planes, i := f.lines.group[k], f.lines.interval(k, c.region)
	flip := planes[min(i, to):max(i, to)]
	for _, apart := range []float64{6, 2, math.Inf(1)} {
		z := slices.Clone(c.center)
		leads = append(leads, lead{z: z, s: f.d.Across(z, c.region, flip, apart)})
	}
	return leads
}

// scan looks along the lines of groups of many planes for intervals where log r,
// the other latents staying where they are, is highest. It takes both ends too: beyond all
// planes there may be latents that no data bind, for which to stay is to be much too low.
func (f *finder) scan(ctx context.Context, c *Cell) (leads []lead) {
	for k, planes := range f.lines.group {
		if len(planes) < 3 || f.lines.open[k] {
			continue
		}
		if ctx.Err() != nil {
			return leads
		}
		value, err := f.along(c, k)
		if err != nil {
			return leads
		}
		order := make([]int, len(value))
		for j := range order {
			order[j] = j
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(value[b], value[a]) })
		i := f.lines.interval(k, c.region)
		if len(f.switches) > 0 {
			order = hills(value, order, i)
		}
		for _, to := range append(order[:min(scanKeep, len(order))], 0, len(planes)) {
			if to != i {
				leads = append(leads, f.at(c, k, to)...)
			}
		}
	}
	return leads
}

// valley is how many nats log r falls between hills.
const valley = 2

// hills are the first of the intervals in order on hills of their own: between them, and between each and the interval from, is a valley.
func hills(value []float64, order []int, from int) []int {
	tops := []int{from}
	for _, j := range order {
		if len(tops) <= scanKeep && !slices.ContainsFunc(tops, func(a int) bool {
			return slices.Min(value[min(a, j):max(a, j)+1]) > value[j]-valley
		}) {
			tops = append(tops, j)
		}
	}
	return tops[1:]
}

// along is log r in all intervals of the line of group k, where the cell's other latents are.
func (f *finder) along(c *Cell, k int) ([]float64, error) {
	x, out, run := f.x, f.x.Out, f.x.Run
	if s := f.mode.sum; s != nil {
		x, out, run = s.X, s.Out, func() error {
			s.Place()
			return s.Add()
		}
	}
	planes, i := f.lines.group[k], f.lines.interval(k, c.region)
	value := make([]float64, len(planes)+1)
	for first := 0; first <= len(planes); first += x.N {
		n := min(x.N, len(planes)+1-first)
		x.Spread(c.center)
		x.Force(c.region)
		for col := range n {
			moveColumn(x, col, planes, i, first+col)
		}
		if err := run(); err != nil {
			return nil, err
		}
		copy(value[first:], out[:n])
	}
	return value, nil
}
