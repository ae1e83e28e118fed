// Log r in all intervals of switches, by what it is near some of them.

package cells

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/regions"
)

// normalIn is the normal near log r in the region of z with the given signs, with weight 0, and the log of its integral; nil if there is none.
func (f *finder) normalIn(ctx context.Context, latents []int, z []float64, signs regions.Signs) (p *component, top float64, err error) {
	if f.plain == nil {
		if f.plain, err = newModeFinder(f.d, nil, true); err != nil || f.plain == nil {
			return nil, 0, err
		}
	}
	at := slices.Clone(z)
	precision, top, err := f.plain.extend(ctx, at, signs)
	if err != nil || precision == nil {
		return nil, 0, err
	}
	p = &component{logWeight: math.Inf(-1), mean: make([]float64, len(latents)), precision: mat.NewSymDense(len(latents), nil)}
	for i, l := range latents {
		p.mean[i] = at[l]
		for j, k := range latents[:i+1] {
			p.precision.SetSym(i, j, precision.At(l, k))
		}
	}
	return p, top, nil
}

// A shift is what log r gains when a group of switches goes from its intervals to others: a square in the other latents, by precision and
// precision × mean, and the log weight of the intervals.
type shift struct {
	precision *mat.SymDense
	pull      *mat.VecDense
	log       float64
}

// A wide is log r near its mode in the intervals of one point, and the shifts of each group of switches from there to others. What one group
// adds to log r does not depend on the others, and squares that are added are a square: so log r is known in all intervals of all switches.
type wide struct {
	shift           // to the intervals of the point itself
	all   [][]shift // by group
}

const (
	mixedFar     = 48      // intervals of each group of switches are looked at,
	mostTogether = 1 << 13 // of so many at most
)

// mixes reports whether log r is known in all intervals of the switches that are summed out by what is near some of them, and whether these are many.
func (f *finder) mixes() bool {
	sum, most := f.mode.sum, 0
	if sum == nil || !sum.Fixed() || len(f.mode.rest) == 0 {
		return false
	}
	for _, group := range f.groups() {
		most = max(most, f.together(group))
	}
	return most >= mixedFar && most <= mostTogether
}

// groups are the numbers of the switches that depend on each other.
func (f *finder) groups() [][]int {
	of := map[int][]int{}
	for i := range f.switches {
		g := f.mode.sum.Group(i)
		of[g] = append(of[g], i)
	}
	var list [][]int
	for _, g := range slices.Sorted(maps.Keys(of)) {
		list = append(list, of[g])
	}
	return list
}

// together is how many intervals a group of switches has, or more than mostTogether.
func (f *finder) together(group []int) int {
	total := 1
	for _, i := range group {
		total = min(total*(len(f.switches[i].Planes)+1), mostTogether+1)
	}
	return total
}

// around is log r near the mode of latents in the region of z with the given signs, and in about most other intervals of each group of switches,
// every so many, from a random one on. It is nil if there is no mode.
func (f *finder) around(ctx context.Context, latents []int, z []float64, signs regions.Signs, most int, rng *rand.Rand) (*wide, error) {
	z = slices.Clone(z)
	base, here, err := f.normalIn(ctx, latents, z, signs)
	if err != nil || base == nil {
		return nil, err
	}
	for k, i := range latents { // the other modes are nearer to this one
		z[i] = base.mean[k]
	}
	x, sum := &wide{shift: base.square(here)}, f.mode.sum
	for _, group := range f.groups() {
		total := f.together(group)
		stride := (total-1)/most + 1
		var list []shift
		for at := rng.IntN(stride); at < total; at += stride {
			to, mass := signs, 0.0
			left := at
			for _, i := range group {
				w := f.switches[i]
				j := left % (len(w.Planes) + 1)
				left /= len(w.Planes) + 1
				to = inInterval(to, w, j)
				mass += sum.LogMass(i, j)
			}
			p, top, err := f.normalIn(ctx, latents, z, to)
			if err != nil {
				return nil, err
			}
			if p != nil && finite(top+mass) {
				list = append(list, p.square(top+mass).less(x.shift))
			}
		}
		if len(list) > 0 {
			x.all = append(x.all, list)
		}
	}
	return x, nil
}

// square is log r of a normal with the given integral.
func (p *component) square(log float64) shift {
	n := len(p.mean)
	x := shift{precision: p.precision, pull: mat.NewVecDense(n, nil), log: log}
	x.pull.MulVec(p.precision, mat.NewVecDense(n, p.mean))
	return x
}

// less is x without y.
func (x shift) less(y shift) shift {
	n := x.pull.Len()
	z := shift{precision: mat.NewSymDense(n, nil), pull: mat.NewVecDense(n, nil), log: x.log - y.log}
	z.precision.ScaleSym(-1, y.precision)
	z.precision.AddSym(z.precision, x.precision)
	z.pull.SubVec(x.pull, y.pull)
	return z
}

// at is the normal with a shift of each group that pick chooses, with the log of its weight; nil if that is none.
func (x *wide) at(pick func(list []shift) shift) *component {
	n := x.pull.Len()
	precision, pull, log := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil), x.log
	precision.CopySym(x.precision)
	pull.CopyVec(x.pull)
	for _, list := range x.all {
		y := pick(list)
		precision.AddSym(precision, y.precision)
		pull.AddVec(pull, y.pull)
		log += y.log
	}
	var chol mat.Cholesky
	mean := mat.NewVecDense(n, nil)
	if !chol.Factorize(precision) || chol.SolveVecTo(mean, pull) != nil {
		return nil
	}
	return &component{logWeight: log, mean: mean.RawVector().Data, precision: precision}
}
