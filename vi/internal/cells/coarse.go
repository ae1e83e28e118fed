package cells

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/regions"
)

// What a search with switches summed out looks at before it starts.
const (
	coarseLine  = 32 // planes of a line of which not all intervals are,
	coarseParts = 24 // but so many of them,
	coarseFar   = 16 // each in so many intervals of each group of switches,
	coarseNear  = 48 // and in so many where most mass is:
	coarseKeep  = 6  // of a line's intervals, which are leads
)

// coarse looks along the long lines through z, where it is and with each discrete latent at its other values, for intervals that hold much of the mass,
// whatever the switches are there and wherever that has the other latents. So another way to split the data is found, from which all leads
// that move one latent alone, lead back.
func (f *Search) coarse(ctx context.Context, z []float64) error {
	signs := f.d.Arrangement().Signs(z)
	starts := []regions.Signs{signs}
	for k, planes := range f.lines.group {
		if at := f.lines.arr.Latents(planes[0]); f.lines.open[k] || len(at) != 1 || !f.finders[0].discrete[at[0]] {
			continue
		}
		for j := range len(planes) + 1 {
			if j != f.lines.interval(k, signs) {
				starts = append(starts, f.lines.moved(signs, k, j))
			}
		}
	}
	for k, planes := range f.lines.group {
		if f.lines.open[k] || len(planes) < coarseLine || f.lines.arr.Curve(planes[0]) != nil {
			continue
		}
		stride := len(planes)/coarseParts + 1
		for _, s := range starts {
			list := make([]lead, len(planes)/stride)
			for i := range list {
				list[i] = lead{z: slices.Clone(z), s: f.lines.moved(s, k, i*stride+stride/2), log: math.Inf(-1)}
			}
			for _, far := range []int{coarseFar, coarseNear} {
				err := parallel.Do(len(f.finders), len(list), func(w, i int) error {
					if f.over() {
						return nil
					}
					return f.finders[w].guess(ctx, &list[i], far)
				})
				if err != nil {
					return err
				}
				slices.SortStableFunc(list, func(a, b lead) int { return cmp.Compare(b.log, a.log) })
				list = list[:min(coarseKeep, len(list))]
			}
			for _, l := range list {
				if !math.IsInf(l.log, -1) {
					l.log = math.Inf(1)
					f.queue.push(l)
				}
			}
		}
	}
	return nil
}

// guess moves a lead's point to where log r is highest in the best of so many intervals of each group of switches, and promises what is in all
// intervals.
func (f *finder) guess(ctx context.Context, l *lead, far int) error {
	s, err := f.likely(l.z, l.s)
	if err != nil {
		return err
	}
	around, err := f.around(ctx, f.mode.rest, l.z, s, far, nil)
	if err != nil || around == nil {
		return err
	}
	p := around.at(func(list []shift) shift {
		return slices.MaxFunc(list, func(a, b shift) int { return cmp.Compare(a.log, b.log) })
	})
	if p == nil {
		l.log = math.Inf(-1)
		return nil
	}
	for j, i := range f.mode.rest {
		l.z[i] = p.mean[j]
	}
	l.log = around.total()
	return nil
}

// likely are signs with each switch in its most probable interval, given the other latents.
func (f *finder) likely(z []float64, s regions.Signs) (regions.Signs, error) {
	sum := f.mode.sum
	sum.X.Spread(z)
	if err := sum.Run(&s); err != nil {
		return s, err
	}
	for i, p := range sum.Marginals() {
		best := 0
		for j := range len(f.switches[i].Planes) + 1 {
			if p[j*sum.N] > p[best*sum.N] {
				best = j
			}
		}
		s = inInterval(s, f.switches[i], best)
	}
	return s, nil
}
