// Mixtures of normals for cells with switches summed out that have many intervals.

package cells

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// How the latents beside switches get a mixture.
const (
	mixedLeast   = 3e-4 // of the mass of a cell,
	mixedSure    = 0.9  // unless it is light and so many of the draws of its search are effective,
	mixedEven    = 0.85 // of whose draws not as many are effective,
	mixedKHat    = 0.5  // or whose k-hat is above, if it is heavy,
	mixedNear    = 0.4  // unless those of another cell's mixture are,
	mixedWatched = 1    // round of mixtures is tried where weights are even, too,
	mixedWeighty = 2e-3 // and there is so much of the mass:
	mixedHidden  = 0.02 // nats more there than such a cell was known to have are in other modes
	mixedAtOnce  = 2    // mixtures, each in at most
	mixedEnough  = 0.5  // of the draws of a mixture effective are enough: there are no more
	mixedRounds  = 4    // rounds
	mixedDraws   = 512  // of draws,
	mixedNormals = 64   // of which at most so many are in regions whose normals are taken;
	mixedProduct = 200  // regions of the intervals of switches that are looked at
	mixedOwn     = 2    // times as heavy
)

// mix gives cells with switches summed out mixtures, where these are nearer. Given the intervals of the switches one normal may be near
// to the other latents, where without them they have as many as there are intervals: a leaf of a tree has another mean and another width for
// each threshold. The mixture is over such intervals,
//
//	p(rest) = Σ_j p(j)·p(rest | j) ≈ Σ_j w_j·N(rest; near log r in j).
//
// That of one cell, moved to another with the same values of discrete latents, is often near enough there: a few are made at a time, and the others try
// these.
func (f *Search) mix(ctx context.Context, cells []*Cell, known totals) error {
	x := &mixing{Search: f, cells: cells, known: known, own: make([]bool, len(cells)), hidden: make([]bool, len(cells))}
	for k, c := range cells {
		switch part := f.part(c, known); {
		case part > mixedLeast && (c.even < mixedEven || c.KHat > unreliable || c.KHat > mixedKHat && part > weighty):
			x.todo = append(x.todo, k)
		case part > mixedWeighty:
			x.watched = append(x.watched, k)
		}
	}
	for ; ctx.Err() == nil && !f.over(); x.round++ {
		var first []int
		for _, k := range x.todo {
			if !x.own[k] && len(first) < mixedAtOnce {
				first, x.own[k] = append(first, k), true
			}
		}
		if len(first) == 0 {
			return nil
		}
		made, err := x.make(ctx, first)
		if err != nil {
			return err
		}
		if err := x.share(ctx, first, made); err != nil {
			return err
		}
		x.todo = slices.DeleteFunc(x.todo, func(k int) bool { return cells[k].settled() })
		x.watched = slices.DeleteFunc(x.watched, func(k int) bool {
			if x.hidden[k] {
				x.todo = append(x.todo, k)
			}
			return x.hidden[k]
		})
	}
	return ctx.Err()
}

// A mixing is under way.
type mixing struct {
	*Search
	cells         []*Cell
	known         totals
	todo, watched []int // cells that need a mixture, and those that may have other modes
	own, hidden   []bool
	round         int
}

func (x *mixing) rng(k int) *rand.Rand {
	return parallel.NewRand(parallel.Mix(parallel.Mix(x.s.Seed, uint64(1<<33+k)), uint64(x.round)))
}

// settled reports whether a cell has a mixture, and a good one.
func (c *Cell) settled() bool { return c.mixed && c.even > mixedNear && c.KHat < unreliable }

// make looks for mixtures of cells, side by side.
func (x *mixing) make(ctx context.Context, cells []int) (made []normals, err error) {
	made = make([]normals, len(cells))
	err = parallel.Do(min(len(x.finders), len(cells)), len(cells), func(w, i int) error {
		c, f, rng := x.cells[cells[i]], x.finders[w], x.rng(cells[i])
		q, m, err := f.mixed(ctx, c, x.shapeOf(c), rng)
		if made[i] = m; err != nil || q == nil || x.over() {
			return err
		}
		return x.settle(ctx, f, c, q, rng)
	})
	return made, err
}

// share tries the mixtures of cells in others.
func (x *mixing) share(ctx context.Context, cells []int, made []normals) error {
	others := slices.Clone(x.todo)
	if x.round < mixedWatched {
		others = append(others, x.watched...)
	}
	others = slices.DeleteFunc(others, func(k int) bool { return slices.Contains(cells, k) || x.cells[k].settled() })
	return parallel.Do(min(len(x.finders), max(1, len(others))), len(others), func(w, i int) error {
		k := others[i]
		c, f, rng := x.cells[k], x.finders[w], x.rng(k)
		s := x.shapeOf(c)
		for j, m := range made {
			if a := x.cells[cells[j]]; m == nil || x.over() || c.settled() || !a.settled() || x.values(a) != x.values(c) {
				continue
			}
			q := s.of(f.moved(s, m))
			if q == nil {
				continue
			}
			draws, err := f.inside(ctx, c, s, q, quick, rng)
			if err != nil {
				return err
			}
			if slices.Contains(x.watched, k) {
				more := mc.LogMean(draws.ratio)
				x.hidden[k] = x.hidden[k] || more.Value-c.LogEvidence.Value-3*math.Hypot(more.SE, c.LogEvidence.SE) > mixedHidden
			} else if evenness(draws.ratio) > mixedNear {
				if err := x.settle(ctx, f, c, q, rng); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// settle gives a cell a mixture, unless it has one with better weights, and judges it.
func (x *mixing) settle(ctx context.Context, f *finder, c *Cell, q family.Q, rng *rand.Rand) (err error) {
	t := *c
	t.Q, t.mixed = q, true
	if t.even, err = x.judge(ctx, f.x, &t, x.draws(x.part(c, x.known)), rng); err != nil {
		return err
	}
	if !c.mixed || t.KHat < max(unreliable, c.KHat) && (t.even > c.even || c.KHat > unreliable) {
		*c = t
	}
	return nil
}

// shapeOf is what is made of normals for a cell.
func (f *Search) shapeOf(c *Cell) shape {
	return newShape(c.Q, f.lines.boundsOf(c.span).half)
}

// moved are normals of another cell, with the latents that guards alone compare as their priors.
func (f *finder) moved(s shape, m normals) (list normals) {
	for _, p := range m {
		c := &component{logWeight: p.logWeight, mean: slices.Clone(p.mean), precision: mat.NewSymDense(len(p.mean), nil)}
		c.precision.CopySym(p.precision)
		for _, i := range f.mode.still {
			k := slices.Index(s.latents, i)
			c.mean[k] = f.mode.centre[i]
			for j := range s.latents {
				c.precision.SetSym(k, j, 0)
			}
			c.precision.SetSym(k, k, 1/(f.mode.prior[i]*f.mode.prior[i]))
		}
		list = append(list, c)
	}
	return list
}

// inside are draws of a distribution for a cell, with no weight outside.
func (f *finder) inside(ctx context.Context, c *Cell, s shape, q family.Q, n int, rng *rand.Rand) (weighed, error) {
	w, err := ratios(ctx, f.d, f.x, q, n, rng)
	for k, z := range w.z {
		if s.outside(z) || f.lines.outside(c.open, z) {
			w.ratio[k] = math.Inf(-1)
		}
	}
	return w, err
}

// mixed looks for a mixture for a cell: that with the most even weights, and its normals; nil if there is none.
func (f *finder) mixed(ctx context.Context, c *Cell, s shape, rng *rand.Rand) (best family.Q, of normals, err error) {
	w, err := f.inside(ctx, c, s, s.over(defensive(restOf(c.Q))), mixedDraws, rng)
	for most, round := 0.0, 0; err == nil && round < mixedRounds && most < mixedEnough && finite(floats.Max(w.ratio)) && !f.over(); round++ {
		var m, more normals
		if m, err = f.conditionals(ctx, s, w, rng); err != nil {
			break
		}
		if more, err = f.product(ctx, s, w.z[floats.MaxIdx(w.ratio)], rng); err != nil {
			break
		}
		m = append(m, more.scaled(math.Log(mixedOwn))...)
		if len(m) == 0 {
			break
		}
		q := s.of(m)
		if q == nil {
			break
		}
		if w, err = f.inside(ctx, c, s, q, mixedDraws, rng); err == nil && evenness(w.ratio) > most {
			best, of, most = q, m, evenness(w.ratio)
		}
	}
	return best, of, err
}

// scaled are the normals with weights that sum to exp(log), without those of the least.
func (m normals) scaled(log float64) normals {
	logs := make([]float64, len(m))
	for k, p := range m {
		logs[k] = p.logWeight
	}
	if len(m) == 0 {
		return nil
	}
	log -= floats.LogSumExp(logs)
	for _, p := range m {
		p.logWeight += log
	}
	return slices.DeleteFunc(m, func(p *component) bool { return p.logWeight < math.Log(mixedLeast/10) })
}

// conditionals are the normals near log r in the regions of draws that are chosen by weight.
func (f *finder) conditionals(ctx context.Context, s shape, w weighed, rng *rand.Rand) (m normals, err error) {
	arr := f.d.Arrangement()
	total, sum, u := floats.LogSumExp(w.ratio), 0.0, rng.Float64()
	of := map[regions.Signs]*component{}
	for k, z := range w.z {
		count := 0.0
		for sum += mixedNormals * math.Exp(w.ratio[k]-total); u < sum; u++ {
			count++
		}
		if count == 0 {
			continue
		}
		signs := arr.Signs(z)
		p, known := of[signs]
		if !known {
			if p, _, err = f.normalIn(ctx, s.latents, z, signs); err != nil {
				return nil, err
			}
			if of[signs] = p; p != nil {
				m = append(m, p)
			}
		}
		if p != nil {
			p.logWeight = logAdd(p.logWeight, math.Log(count/mixedNormals))
		}
	}
	return m, nil
}

// product are normals near log r in regions that switches come to from z, drawn by the root of what these have of the mass.
func (f *finder) product(ctx context.Context, s shape, z []float64, rng *rand.Rand) (m normals, err error) {
	x, err := f.around(ctx, s.latents, z, f.d.Arrangement().Signs(z), mixedFar, rng)
	if err != nil || x == nil {
		return nil, err
	}
	for range mixedProduct {
		p := x.at(func(list []shift) shift {
			weights := make([]float64, len(list))
			for k, y := range list {
				weights[k] = y.log / 2
			}
			total := floats.LogSumExp(weights)
			for k, log := range weights {
				weights[k] = math.Exp(log - total)
			}
			return list[choose(weights, rng.Float64())]
		})
		if p != nil {
			p.logWeight /= 2
			m = append(m, p)
		}
	}
	return m, nil
}
