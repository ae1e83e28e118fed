package cells

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
)

// How the latents beside switches get a mixture.
const (
	mixedLeast   = 3e-4 // of the mass of a cell
	mixedEven    = 0.9  // of whose draws not as many are effective,
	mixedNear    = 0.6  // unless those of another cell's mixture are,
	mixedAtOnce  = 2    // mixtures, each in at most
	mixedRounds  = 3    // rounds
	mixedDraws   = 512  // of draws,
	mixedNormals = 64   // of which at most so many are in regions whose normals are taken;
	mixedFar     = 48   // intervals of each switch are looked at,
	mixedProduct = 200  // and of these so many regions
	mixedOwn     = 2    // times as heavy
)

// mix gives cells with switches summed out mixtures, where these are nearer. Given the intervals of the switches one normal may be near
// to the other latents, where without them they have as many as there are intervals: a leaf of a tree has another mean and another width for
// each threshold. The mixture is over such intervals,
//
//	p(rest) = Σ_j p(j)·p(rest | j) ≈ Σ_j w_j·N(rest; near log r in j).
//
// That of one cell, moved to another, is often near enough there: a few are made at a time, and the others try these.
func (f *Search) mix(ctx context.Context, cells []*Cell, known whole) error {
	var todo []int
	for k, c := range cells {
		if f.part(c, known) > mixedLeast && (c.even < mixedEven || c.KHat > unreliable) {
			todo = append(todo, k)
		}
	}
	rng := func(k, of int) *rand.Rand {
		return parallel.NewRand(parallel.Mix(parallel.Mix(f.s.Seed, uint64(1<<33+k)), uint64(of)))
	}
	for of := 0; len(todo) > 0; of += mixedAtOnce {
		first, others := todo[:min(mixedAtOnce, len(todo))], todo[min(mixedAtOnce, len(todo)):]
		made := make([]normals, len(first))
		err := parallel.Do(min(len(f.finders), len(first)), len(first), func(w, i int) (err error) {
			c, x, rng := cells[first[i]], f.finders[w], rng(first[i], of)
			var q family.Q
			if q, made[i], err = x.mixed(ctx, c, f.shape(c), rng); err != nil || made[i] == nil {
				return err
			}
			return f.settle(ctx, x, c, q, known, rng)
		})
		if err != nil {
			return err
		}
		near := make([]bool, len(others))
		err = parallel.Do(min(len(f.finders), max(1, len(others))), len(others), func(w, i int) error {
			c, x, rng := cells[others[i]], f.finders[w], rng(others[i], of)
			s := f.shape(c)
			for _, m := range made {
				if m == nil {
					continue
				}
				q := s.of(x.moved(s, m))
				if q == nil {
					continue
				}
				draws, err := x.inside(ctx, c, s, q, rng)
				if err != nil {
					return err
				}
				if near[i] = even(draws.ratio) > mixedNear; near[i] {
					return f.settle(ctx, x, c, q, known, rng)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		todo = nil
		for i, k := range others {
			if !near[i] {
				todo = append(todo, k)
			}
		}
	}
	return nil
}

// part is how much of the mass a cell has.
func (f *Search) part(c *Cell, known whole) float64 {
	return math.Exp(c.LogEvidence.Value - known.total)
}

// shape is what is made of normals for a cell.
func (f *Search) shape(c *Cell) shape {
	half, _, _ := f.lines.affine(f.lines.sides(c.span))
	return newShape(c.Q, half)
}

// settle gives a cell another distribution, and judges it.
func (f *Search) settle(ctx context.Context, x *finder, c *Cell, q family.Q, known whole, rng *rand.Rand) (err error) {
	c.Q = q
	c.even, err = f.judge(ctx, x.x, c, f.draws(f.part(c, known)), rng)
	return err
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

// inside are draws of a distribution for a cell, and some of a wider one, with no weight outside.
func (f *finder) inside(ctx context.Context, c *Cell, s shape, q family.Q, rng *rand.Rand) (weighed, error) {
	w, err := ratios(ctx, f.d, f.x, s.over(defensive(rest(q))), mixedDraws, rng)
	for k, z := range w.z {
		if s.outside(z) || f.lines.outside(c.open, z) {
			w.ratio[k] = math.Inf(-1)
		}
	}
	return w, err
}

// mixed looks for a mixture for a cell, and returns what had the most even weights. Its normals are nil if that is the cell's own.
func (f *finder) mixed(ctx context.Context, c *Cell, s shape, rng *rand.Rand) (best family.Q, of normals, err error) {
	most, now := 0.0, normals(nil)
	best = c.Q
	for round, q := 0, c.Q; q != nil; round++ {
		w, err := f.inside(ctx, c, s, q, rng)
		if err != nil {
			return nil, nil, err
		}
		part := even(w.ratio)
		if part > most {
			best, of, most = q, now, part
		}
		if part == 0 || round > 0 && part > evenEnough || round == mixedRounds-1 {
			break
		}
		if now, err = f.conditionals(ctx, s, w, rng); err != nil {
			return nil, nil, err
		}
		more, err := f.product(ctx, s, w.z[floats.MaxIdx(w.ratio)], rng)
		if err != nil {
			return nil, nil, err
		}
		if now, q = append(now, more.scaled(math.Log(mixedOwn))...), nil; len(now) > 0 {
			q = s.of(now)
		}
	}
	return best, of, nil
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
	if f.plain == nil {
		if f.plain, err = NewModeFinder(f.d, nil); err != nil || f.plain == nil {
			return nil, err
		}
	}
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
			if p, _, err = f.conditional(ctx, s, z, signs); err != nil {
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

// conditional is the normal near log r in the region of z with the given signs, with weight 0, and the log of its integral; nil if there is none.
func (f *finder) conditional(ctx context.Context, s shape, z []float64, signs regions.Signs) (p *component, top float64, err error) {
	at := slices.Clone(z)
	precision, top, err := f.plain.extend(ctx, at, signs)
	if err != nil || precision == nil {
		return nil, 0, err
	}
	p = &component{logWeight: math.Inf(-1), mean: make([]float64, len(s.latents)), precision: mat.NewSymDense(len(s.latents), nil)}
	for i, l := range s.latents {
		p.mean[i] = at[l]
		for j, k := range s.latents[:i+1] {
			p.precision.SetSym(i, j, precision.At(l, k))
		}
	}
	return p, top, nil
}

// A shift is what log r gains when a switch goes from its interval to another one: a square in the other latents, by precision and precision ×
// mean, and the log weight of the interval.
type shift struct {
	precision *mat.SymDense
	pull      *mat.VecDense
	log       float64
}

// product are normals near log r in regions that switches come to from z, each on its own. What one switch adds to log r does
// not depend on the others, and squares that are added are a square: of evenly spaced intervals of each switch there are many regions.
func (f *finder) product(ctx context.Context, s shape, z []float64, rng *rand.Rand) (m normals, err error) {
	signs := f.d.Arrangement().Signs(z)
	base, here, err := f.conditional(ctx, s, z, signs)
	if err != nil || base == nil {
		return nil, err
	}
	n := len(base.mean)
	pull, less := mat.NewVecDense(n, nil), mat.NewSymDense(n, nil)
	pull.MulVec(base.precision, mat.NewVecDense(n, base.mean))
	less.ScaleSym(-1, base.precision)
	var all [][]shift
	sum, _ := s.like.drawn()
	for i, w := range s.like.switches {
		stride := 1 + len(w.Planes)/mixedFar
		var list []shift
		for j := rng.IntN(stride); j <= len(w.Planes); j += stride {
			normal, top, err := f.conditional(ctx, s, z, across(signs, w, j))
			if err != nil {
				return nil, err
			}
			if log := top - here + sum.mass[i][j*sum.n]; normal != nil && finite(log) {
				x := shift{precision: normal.precision, pull: mat.NewVecDense(n, nil), log: log}
				x.pull.MulVec(normal.precision, mat.NewVecDense(n, normal.mean))
				x.pull.SubVec(x.pull, pull)
				x.precision.AddSym(x.precision, less)
				list = append(list, x)
			}
		}
		if len(list) > 0 {
			all = append(all, list)
		}
	}
	for range mixedProduct {
		precision, h, log := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil), 0.0
		precision.CopySym(base.precision)
		h.CopyVec(pull)
		for _, list := range all {
			logs := make([]float64, len(list))
			for k, x := range list {
				logs[k] = x.log / 2
			}
			total := floats.LogSumExp(logs)
			u, k := rng.Float64(), 0
			for ; k < len(list)-1; k++ {
				if u -= math.Exp(logs[k] - total); u < 0 {
					break
				}
			}
			precision.AddSym(precision, list[k].precision)
			h.AddVec(h, list[k].pull)
			log += list[k].log / 2
		}
		var chol mat.Cholesky
		mean := mat.NewVecDense(n, nil)
		if chol.Factorize(precision) && chol.SolveVecTo(mean, h) == nil {
			m = append(m, &component{logWeight: log, mean: mean.RawVector().Data, precision: precision})
		}
	}
	return m, nil
}

// interval is where switch w is.
func interval(signs regions.Signs, w derive.SwitchLatent) int {
	return sort.Search(len(w.Planes), func(k int) bool { return signs.Positive(w.Planes[k]) == w.Down })
}

// across are signs with switch w in its interval j.
func across(signs regions.Signs, w derive.SwitchLatent, j int) regions.Signs {
	positive := make([]bool, signs.Len())
	for l := range positive {
		positive[l] = signs.Positive(l)
	}
	for k, l := range w.Planes {
		positive[l] = j > k != w.Down
	}
	return regions.NewSigns(positive)
}
