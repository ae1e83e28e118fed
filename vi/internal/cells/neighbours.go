// The cells beside a cell: across its sides, and along lines through its mode.

package cells

import (
	"cmp"
	"context"
	"math"
	"slices"
)

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
	if f.prober == nil {
		var err error
		if f.prober, err = newProber(f.d, probes); err != nil {
			return nil
		}
	}
	p := f.prober
	for k, planes := range f.lines.group {
		if len(planes) < 3 || f.lines.open[k] {
			continue
		}
		if ctx.Err() != nil {
			return leads
		}
		i := f.lines.interval(k, c.region)
		value := make([]float64, len(planes)+1)
		for first := 0; first <= len(planes); first += probes {
			n := min(probes, len(planes)+1-first)
			p.reset(c.center, c.region)
			for col := range n {
				p.move(col, planes, i, first+col)
			}
			if p.x.Run() != nil {
				return leads
			}
			copy(value[first:], p.x.Out[:n])
		}
		order := make([]int, len(value))
		for j := range order {
			order[j] = j
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(value[b], value[a]) })
		for _, to := range append(order[:min(scanKeep, len(order))], 0, len(planes)) {
			if to != i {
				leads = append(leads, f.at(c, k, to)...)
			}
		}
	}
	return leads
}
