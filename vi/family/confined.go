package family

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A confined is a sequential normal whose conditionals are truncated, so that all
// of its draws are on given sides of guards:
//
//	z_i = m_i + s_i·T(ε_i; α_i, β_i),   α_i = (lo_i − m_i)/s_i,   β_i = (hi_i − m_i)/s_i,
//
// where T is truncnorm.At and lo_i and hi_i are the bounds of z_i, by the sides whose
// last latent it is, given the latents before. Econometrics calls it the GHK
// simulator (Geweke, Hajivassiliou and Keane). θ is that of the normal: Place and
// Correlate say what the latents were without the truncation.
//
// Mean, SD and Law are exact where no latent before has a part in them that is not
// normal, and else averages over a fixed set of draws of those, stratified.
type confined struct {
	normal *Normal // each conditional before it is truncated
	*confinement
	draws atomic.Pointer[[][]float64]
	mass  atomic.Pointer[float64] // log of the product of the masses that are the same everywhere
	size  int                     // of the sample
}

// A confinement is what all members of a Confined's family have in common.
type confinement struct {
	sequence    Sequence
	truncations []*truncation // by latent; nil if it is free
	links       *edges        // from its parents, and the latents in its bounds, to each latent; not from parameters
	bent        []bool        // by latent: it is not normal
	constant    []*truncation // whose masses are the same everywhere,
	varying     []*truncation // and the others
}

// A truncation is the interval of a latent.
type truncation struct {
	latent           int
	floors, ceilings []bound
}

// A bound is z_i > at + Σ slope_k·z_Index[k], or <.
type bound struct {
	Side
	at    float64
	slope []float64
}

func newBound(s Side) (b bound, floor bool) {
	last := len(s.Index) - 1
	a := s.Coef[last]
	b = bound{Side: s, at: -s.Const / a}
	for _, x := range s.Coef[:last] {
		b.slope = append(b.slope, -x/a)
	}
	return b, s.Positive == (a > 0)
}

// parallel reports whether b − c is the same wherever the latents before are.
func (b *bound) parallel(c *bound) bool {
	const rounding = 1e-12
	return slices.Equal(b.Index, c.Index) && slices.EqualFunc(b.slope, c.slope, func(x, y float64) bool {
		return math.Abs(x-y) <= rounding*math.Abs(x)
	})
}

// value is the bound at z.
func (b *bound) value(z []float64) float64 {
	x := b.at
	for l, slope := range b.slope {
		x += slope * z[b.Index[l]]
	}
	return x
}

// holds reports whether z is on the side, as regions.Arrangement sees it.
func (b *bound) holds(z []float64) bool {
	phi := b.Const
	for l, i := range b.Index {
		phi += float64(b.Coef[l] * z[i])
	}
	return (phi > 0) == b.Positive
}

// holdAt sets dst to −Inf at the points, latents × n, that are not on the side; phi is scratch of n numbers.
func (b *bound) holdAt(dst, z, phi []float64) {
	vec.Fill(phi, b.Const)
	for l, i := range b.Index {
		vec.AddScaled(phi, b.Coef[l], z[i*len(phi):][:len(phi)])
	}
	for k, x := range phi {
		if x > 0 != b.Positive {
			dst[k] = math.Inf(-1)
		}
	}
}

// ends are the bounds at z, and which of the floors and ceilings they are; −1 if there is none.
func (r *truncation) ends(z []float64) (lo, hi float64, floor, ceiling int) {
	lo, hi, floor, ceiling = math.Inf(-1), math.Inf(1), -1, -1
	for l := range r.floors {
		if x := r.floors[l].value(z); x > lo {
			lo, floor = x, l
		}
	}
	for l := range r.ceilings {
		if x := r.ceilings[l].value(z); x < hi {
			hi, ceiling = x, l
		}
	}
	return lo, hi, floor, ceiling
}

// contains reports whether z is inside.
func (r *truncation) contains(z []float64) bool {
	for _, bounds := range [2][]bound{r.floors, r.ceilings} {
		for l := range bounds {
			if !bounds[l].holds(z) {
				return false
			}
		}
	}
	return true
}

// nudge moves the latent by a few roundings, until z is inside.
func (r *truncation) nudge(z []float64, scale float64) {
	x := &z[r.latent]
	move := func(bounds []bound, sign float64) {
		for l := range bounds {
			step := sign * 1e-16 * (math.Abs(*x) + scale)
			for tries := 0; tries < 60 && !bounds[l].holds(z); tries++ {
				*x += step
				step *= 2
			}
		}
	}
	move(r.floors, 1)
	move(r.ceilings, -1)
}

// Confine confines the normal to sides of guards. It takes those that leave room
// for their last latent whatever the latents before are: one-sided bounds always
// do, and a bound from below and one from above if they are parallel. A side that
// holds wherever those of single latents do is left out. soft are the numbers of the
// others, for a fit to treat as guards that q may cross; sides come first that matter
// most. It is an error if sides contradict each other, if one is no side of a
// hyperplane in the latents, or for members of Softplus.
func (q *Normal) Confine(sides []Side) (c Q, soft []int, err error) {
	if q.slope != nil {
		return nil, nil, fmt.Errorf("family: confined: members of %s cannot be", q.family.Name())
	}
	dim := len(q.mu)
	for k, s := range sides {
		if err := s.Validate(); err != nil {
			return nil, nil, fmt.Errorf("family: confined: side %d: %w", k, err)
		}
		if i := s.Index[len(s.Index)-1]; i >= dim {
			return nil, nil, fmt.Errorf("family: confined: side %d is of latent %d; there are %d", k, i, dim)
		}
	}
	in := &confinement{truncations: make([]*truncation, dim), bent: make([]bool, dim)}
	kept, soft, err := in.take(sides)
	if err != nil {
		return nil, nil, err
	}
	if len(soft) > 0 { // without them others may be implied
		c, _, err = q.Confine(kept)
		return c, soft, err
	}
	links := make([][]int, dim)
	for i, r := range in.truncations {
		for _, j := range q.edges.parents(i) {
			links[i] = append(links[i], int(j))
		}
		if r != nil {
			for _, b := range slices.Concat(r.floors, r.ceilings) {
				links[i] = append(links[i], b.Index[:len(b.slope)]...)
			}
		}
		slices.Sort(links[i])
		links[i] = slices.Compact(links[i])
		first, _ := slices.BinarySearch(links[i], q.points)
		links[i] = links[i][first:]
		in.bent[i] = r != nil || slices.ContainsFunc(links[i], func(j int) bool { return in.bent[j] })
	}
	in.links = newEdges(links)
	for i, r := range in.truncations {
		switch {
		case r == nil:
		case q.points == 0 && in.links.root(i):
			in.constant = append(in.constant, r)
		default:
			in.varying = append(in.varying, r)
		}
	}
	in.sequence = Sequence{Parents: q.edges.text(), Sides: asJSON(kept)}
	return &confined{normal: q.Clone().(*Normal), confinement: in, size: sampleSize}, soft, nil
}

// New implements Family: it is what Confine makes, whose Family is f.
func (f Sequence) New(p Program) (Q, error) {
	var parents [][]int
	if err := json.Unmarshal([]byte(f.Parents), &parents); err != nil {
		return nil, fmt.Errorf("%s: parents: %w", f.Name(), err)
	}
	if len(parents) != p.Dim() {
		return nil, fmt.Errorf("%s: parents of %d latents for %d", f.Name(), len(parents), p.Dim())
	}
	for i, list := range parents {
		if !ascending(list, i) {
			return nil, fmt.Errorf("%s: parents %v of latent %d: they must be earlier latents, ascending", f.Name(), list, i)
		}
	}
	for i, list := range parents {
		if i < p.Params() && len(list) > 0 || len(list) > 0 && list[0] < p.Params() {
			return nil, fmt.Errorf("%s: parents %v of latent %d: a parameter has neither parents nor children", f.Name(), list, i)
		}
	}
	q := Sequential(parents).Points(p.Params())
	if f.Sides == "" {
		return q, nil
	}
	var sides []Side
	if err := json.Unmarshal([]byte(f.Sides), &sides); err != nil {
		return nil, fmt.Errorf("%s: sides: %w", f.Name(), err)
	}
	c, soft, err := q.Confine(sides)
	switch {
	case err != nil:
		return nil, err
	case len(soft) > 0:
		return nil, fmt.Errorf("%s: side %d may leave no room", f.Name(), soft[0])
	}
	return c, nil
}

// take narrows the truncations by sides, and lists those that it took, in their order, and the numbers of those that leave no room. Those that
// others which it took imply are in neither list.
func (in *confinement) take(sides []Side) (kept []Side, soft []int, err error) {
	firm := slices.Clone(sides) // what others may be implied by
	for again := true; again; {
		again, kept, soft = false, nil, nil
		clear(in.truncations)
		implied := impliedBy(len(in.truncations), firm)
		for k, s := range sides {
			if implied(s) {
				continue
			}
			i := s.Index[len(s.Index)-1]
			if in.truncations[i] == nil {
				in.truncations[i] = &truncation{latent: i}
			}
			switch ok, err := in.truncations[i].narrow(s); {
			case err != nil:
				return nil, nil, fmt.Errorf("family: confined: side %d: %w", k, err)
			case ok:
				kept = append(kept, s)
			default:
				soft = append(soft, k)
				again = again || len(firm[k].Index) == 1
				firm[k] = Side{}
			}
		}
	}
	return kept, soft, nil
}

// impliedBy returns what reports whether a side is one of several latents that holds wherever those of single latents among sides do: so x < y
// if x < 1 and y > 1.
func impliedBy(dim int, sides []Side) func(s Side) bool {
	low, high := make([]float64, dim), make([]float64, dim)
	for i := range dim {
		low[i], high[i] = math.Inf(-1), math.Inf(1)
	}
	for _, s := range sides {
		if len(s.Index) == 1 {
			i, lo, hi := s.Index[0], 0.0, 0.0
			lo, hi = s.Interval()
			low[i], high[i] = max(low[i], lo), min(high[i], hi)
		}
	}
	return func(s Side) bool {
		if len(s.Index) == 1 {
			return false
		}
		sign := -1.0
		if s.Positive {
			sign = 1
		}
		least := sign * s.Const // of Φ, in the direction of the side
		for k, i := range s.Index {
			c := sign * s.Coef[k]
			least += min(c*low[i], c*high[i])
		}
		return least >= 0
	}
}

// narrow adds a side. It reports false if that may leave no room.
func (r *truncation) narrow(s Side) (bool, error) {
	b, floor := newBound(s)
	mine, others, sign := &r.floors, r.ceilings, 1.0
	if !floor {
		mine, others, sign = &r.ceilings, r.floors, -1
	}
	for l := range others {
		switch {
		case !b.parallel(&others[l]):
			return false, nil
		case !(sign*(others[l].at-b.at) > 0):
			return false, fmt.Errorf("%v contradicts another", s.Hyperplane)
		}
	}
	for l := range *mine {
		if m := &(*mine)[l]; b.parallel(m) {
			if sign*(b.at-m.at) > 0 {
				*m = b
			}
			return true, nil
		}
	}
	*mine = append(*mine, b)
	return true, nil
}

// Family implements Q.
func (q *confined) Family() Family { return q.sequence }

// Sides implements Truncated.
func (q *confined) Sides() (sides []Side) {
	for _, r := range q.truncations {
		if r != nil {
			for _, bounds := range [2][]bound{r.floors, r.ceilings} {
				for _, b := range bounds {
					sides = append(sides, b.Side)
				}
			}
		}
	}
	return sides
}

// Dim, Theta, Param, Fault, Units, Set, Move and Place implement Q.
func (q *confined) Dim() int                 { return q.normal.Dim() }
func (q *confined) Theta() []float64         { return q.normal.Theta() }
func (q *confined) Param(k int) Param        { return q.normal.Param(k) }
func (q *confined) Fault() int               { return q.normal.Fault() }
func (q *confined) Units(dst []float64)      { q.normal.Units(dst) }
func (q *confined) Set(theta []float64)      { q.normal.Set(theta); q.moved() }
func (q *confined) Move(step []float64)      { q.normal.Move(step); q.moved() }
func (q *confined) Place(mean, sd []float64) { q.normal.Place(mean, sd); q.moved() }

// Correlate implements Q.
func (q *confined) Correlate(precision mat.Symmetric) {
	q.normal.Correlate(precision)
	q.moved()
}

// moved forgets what was known at another θ.
func (q *confined) moved() {
	q.draws.Store(nil)
	q.mass.Store(nil)
}

// Clone implements Q.
func (q *confined) Clone() Q {
	return &confined{normal: q.normal.Clone().(*Normal), confinement: q.confinement, size: q.size}
}

// within are α and β of a confined latent at z, and the bounds that they are of, given its conditional mean m.
func (q *confined) within(r *truncation, m float64, z []float64) (alpha, beta float64, floor, ceiling int) {
	lo, hi, floor, ceiling := r.ends(z)
	inv := q.normal.inv[r.latent]
	return (lo - m) * inv, (hi - m) * inv, floor, ceiling
}

// interval is within without the bounds.
func (q *confined) interval(r *truncation, m float64, z []float64) (alpha, beta float64) {
	alpha, beta, _, _ = q.within(r, m, z)
	return alpha, beta
}

// put sets a latent of z by its noise, given those before.
func (q *confined) put(i int, z []float64, eps float64) {
	m := q.normal.conditional(i, z)
	if r := q.truncations[i]; r != nil {
		alpha, beta := q.interval(r, m, z)
		q.inside(r, z, m, truncnorm.At(eps, alpha, beta))
		return
	}
	z[i] = m + q.normal.s[i]*eps
}

// putQuantile sets a latent of z by the conditional probability u below it, and returns its distance from the conditional mean in units of s. If
// it is confined, in becomes its interval; where that is what an earlier call has left, it takes less time.
func (q *confined) putQuantile(i int, z []float64, u float64, in *truncnorm.Interval) (t float64) {
	m := q.normal.conditional(i, z)
	if r := q.truncations[i]; r != nil {
		in.Set(q.interval(r, m, z))
		t = in.Quantile(u)
		q.inside(r, z, m, t)
		return t
	}
	t = mathext.NormalQuantile(u)
	z[i] = m + q.normal.s[i]*t
	return t
}

// inside sets a confined latent to m + s·t, and moves it where rounding has left it on the other side of a bound.
func (q *confined) inside(r *truncation, z []float64, m, t float64) {
	scale := q.normal.s[r.latent]
	z[r.latent] = m + scale*t
	r.nudge(z, scale)
}

// Rand implements Q.
func (q *confined) Rand(dst []float64, rng *rand.Rand) {
	checkRand(q, dst, rng)
	for i := range dst {
		q.put(i, dst, rng.NormFloat64())
	}
}

// LogProb implements Q. It is −Inf outside the sides.
func (q *confined) LogProb(z []float64) float64 {
	for _, r := range q.truncations {
		if r != nil && !r.contains(z) {
			return math.Inf(-1)
		}
	}
	return q.normal.LogProb(z) - q.logMass(q.varying, z) - q.sameMass(z)
}

// sameMass is the logMass of what is the same everywhere.
func (q *confined) sameMass(z []float64) float64 {
	known := q.mass.Load()
	if known == nil {
		log := q.logMass(q.constant, z)
		known = &log
		q.mass.Store(known)
	}
	return *known
}

// LogProbs implements Truncated.
func (q *confined) LogProbs(dst, z []float64, plus float64, room []float64) {
	n := len(dst)
	point := room[n:][:q.Dim()]
	at := func(k int) []float64 {
		for i := range point {
			point[i] = z[i*n+k]
		}
		return point
	}
	q.normal.LogProbs(dst, z, plus-q.sameMass(at(0)), room)
	phi := room[:n]
	for _, r := range q.truncations {
		if r == nil {
			continue
		}
		for _, bounds := range [2][]bound{r.floors, r.ceilings} {
			for i := range bounds {
				bounds[i].holdAt(dst, z, phi)
			}
		}
	}
	for k, log := range dst {
		if len(q.varying) > 0 && !math.IsInf(log, -1) {
			dst[k] -= q.logMass(q.varying, at(k))
		}
	}
}

// logMass is the log of the product of the masses of truncations at z.
func (q *confined) logMass(list []*truncation, z []float64) (log float64) {
	if len(list) == 0 {
		return 0
	}
	mass := 1.0
	for _, r := range list {
		if alpha, beta := q.interval(r, q.normal.conditional(r.latent, z), z); !truncnorm.IsWhole(alpha, beta) {
			log += times(&mass, truncnorm.Mass(alpha, beta), alpha, beta)
		}
	}
	return log + math.Log(mass)
}

// times multiplies a product of masses by that of the interval (α, β), and returns 0. Where it might underflow, it leaves the product, and returns the
// logarithm of the mass: the sum of all that it returns and the logarithm of the product is that of all masses.
func times(product *float64, mass, alpha, beta float64) (log float64) {
	const small = 1e-100
	if mass > small && *product > small {
		*product *= mass
		return 0
	}
	return truncnorm.LogMass(alpha, beta)
}

// So many draws stand for the latents on which others depend: of a part of a mixture fewer.
const (
	sampleSize  = 512
	leastSample = 20
)

// Resize implements Sampled.
func (q *confined) Resize(share float64) {
	q.size = max(leastSample, int(sampleSize*share))
	q.draws.Store(nil)
}

// sample are draws, always the same at the same θ. The noise of each latent has
// one of them in each of as many parts of equal probability.
func (q *confined) sample() [][]float64 {
	if all := q.draws.Load(); all != nil {
		return *all
	}
	rng := rand.New(rand.NewPCG(sampleSize, 1))
	all := make([][]float64, q.size)
	for k := range all {
		all[k] = make([]float64, q.Dim())
	}
	for i := range q.Dim() {
		var in truncnorm.Interval
		for k, part := range rng.Perm(q.size) {
			u := (float64(part) + rng.Float64()) / float64(q.size)
			q.putQuantile(i, all[k], u, &in)
		}
	}
	q.draws.Store(&all)
	return all
}

// Exact reports whether Law is exact.
func (q *confined) Exact(h regions.Hyperplane) bool {
	return !slices.ContainsFunc(h.Index, func(i int) bool { return q.bent[i] }) || len(h.Index) == 1 && q.links.root(h.Index[0])
}

// Law implements Q. Given the latents before its last one, Φ is a truncated
// normal.
func (q *confined) Law(h regions.Hyperplane) Law {
	if !slices.ContainsFunc(h.Index, func(i int) bool { return q.bent[i] }) {
		return q.normal.Law(h)
	}
	sample, last := q.sample(), len(h.Index)-1
	i, a := h.Index[last], h.Coef[last]
	if last == 0 && q.links.root(i) {
		sample = sample[:1]
	}
	law := make(Law, len(sample))
	for k, z := range sample {
		rest, m := h.At(z)-a*z[i], q.normal.conditional(i, z)
		lo, hi := math.Inf(-1), math.Inf(1)
		if q.truncations[i] != nil {
			lo, hi, _, _ = q.truncations[i].ends(z)
		}
		if a < 0 {
			lo, hi = hi, lo
		}
		rounding := math.Abs(h.Const)
		for l, j := range h.Index {
			rounding += math.Abs(h.Coef[l] * z[j])
		}
		rounding *= 1e-14
		law[k] = Piece{1 / float64(len(sample)), rest + a*m, math.Abs(a) * q.normal.s[i], end(rest+a*lo, rounding), end(rest+a*hi, rounding)}
	}
	return law
}

// end is the end of a piece: 0 if it is, but for rounding, so that nothing is on the
// other side of a guard that confines.
func end(x, rounding float64) float64 {
	if math.Abs(x) < rounding {
		return 0
	}
	return x
}

// Mean and SD implement Q.
func (q *confined) Mean(i int) float64 { return q.Law(axis(i)).Mean() }
func (q *confined) SD(i int) float64   { return q.Law(axis(i)).SD() }

// MoverTo implements Q. The last latent of Φ is drawn from the part of its conditional
// that is on the side, whose share is the weight, and those after it anew.
func (q *confined) MoverTo(h regions.Hyperplane, positive bool) Mover {
	last := len(h.Index) - 1
	i, a := h.Index[last], h.Coef[last]
	return func(z []float64, rng *rand.Rand) (logQ, weight float64) {
		was, m, s := q.LogProb(z), q.normal.conditional(i, z), q.normal.s[i]
		lo, hi := math.Inf(-1), math.Inf(1)
		if q.truncations[i] != nil {
			lo, hi, _, _ = q.within(q.truncations[i], m, z)
		}
		from, to := lo, hi
		if at := (z[i] - h.At(z)/a - m) / s; positive == (a > 0) {
			from = max(from, at)
		} else {
			to = min(to, at)
		}
		if !(from < to) {
			return 0, 0
		}
		z[i] = m + s*truncnorm.At(rng.NormFloat64(), from, to)
		if q.truncations[i] != nil {
			q.truncations[i].nudge(z, s)
		}
		for j := i + 1; j < len(z); j++ {
			q.put(j, z, rng.NormFloat64())
		}
		return q.LogProb(z) - was, math.Exp(truncnorm.LogMass(from, to) - truncnorm.LogMass(lo, hi))
	}
}

// Drawer implements Q. It is no Sampler: what is confined is made at a mode, and not fitted by gradients.
func (q *confined) Drawer(n int) Drawer { return newPointDrawer(q, n) }
