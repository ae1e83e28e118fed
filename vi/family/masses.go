package family

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/regions"
)

// masses are a member of one of the normals for a program with discrete latents. These have
// masses of their own, independent of the rest:
//
//	q(z) = q_rest(z_rest)·Π_i π_i(k_i)·φ(u_i)/P_i(k_i),   π_i(k) = exp η_ik / Σ_l exp η_il
//
// The coordinate u_i of discrete latent i is in the interval of value k_i, between two cuts,
// which has the prior probability P_i(k_i); inside it q has the shape φ of the prior, which
// cancels in log r − log q. Write h_k for E[log r − log q | k_i = k], F_k for the probability of
// the values up to k, and Δ_k for the jump of log r at the cut above value k. Then
//
//	∂ELBO/∂η_ik = π_k·(h_k − Σ_l π_l·h_l) = −Σ_l (∂F_l/∂η_ik)·(h_{l+1} − h_l),
//	h_{k+1} − h_k = E[Δ_k] − log(π_{k+1}/P_{k+1}) + log(π_k/P_k).
//
// This is the boundary term with the weights −∂F_l/∂η_ik at the cuts. Only Δ has to be
// sampled, and it depends on the other latents alone: a latent's own draw brings no
// variance, and the part of log q is exact.
//
// The unit of a logit is 1/√π_k, so that the length of a gradient in units is that by the Fisher metric.
// Steps follow the natural gradient h_k − Σ_l π_l·h_l, which does not vanish with π_k: η moves by the
// step itself, and the whole natural gradient as a step is that of coordinate ascent.
type masses struct {
	rest    Q
	theta   []float64 // that of rest, then η
	number  []int     // by latent: its number among the rest; of a discrete one −1 − its number among these
	of      []int     // the latents of the rest, ascending
	laws    []massLaw
	derived []float64 // what η says: the laws' π, F, 1 − F and log(π/P)
	hold
}

// A massLaw is the distribution of a discrete latent. Its slices but for cuts, prior and
// at are views of masses.
type massLaw struct {
	latent       int
	cuts         []float64 // between the intervals of its values
	prior        []float64 // log P
	at           []float64 // the median of φ in each interval
	eta          []float64
	prob         []float64 // π
	below, above []float64 // by cut: F and 1 − F, both accurate where they are small
	ratio        []float64 // log(π/P)
}

// check reports a latent whose values are not those that it has in p.
func (q *masses) check(p Program) error {
	for i, k := range q.number {
		var cuts []float64
		if k < 0 {
			cuts = q.laws[-k-1].cuts
		}
		if values, of := p.Values(i); (values != nil) != (k < 0) || !slices.Equal(cuts, of) {
			return fmt.Errorf("latent %s: a member for other values, of another program", p.Latents()[i])
		}
	}
	return nil
}

// A normals is a family that gives discrete latents masses beside its members for the other
// latents, which normal makes.
type normals interface {
	normal(rest Program) (Q, error)
}

// besideMasses is the member of f for p.
func besideMasses(f normals, p Program) (Q, error) {
	q := &masses{number: make([]int, p.Dim())}
	for i := range q.number {
		values, cuts := p.Values(i)
		if values == nil {
			q.number[i] = len(q.of)
			q.of = append(q.of, i)
			continue
		}
		l := massLaw{latent: i, cuts: cuts}
		for j := range values {
			lo, hi := truncnorm.Between(l.cuts, j)
			l.prior = append(l.prior, truncnorm.LogMass(lo, hi))
			l.at = append(l.at, l.within(j, 0.5))
		}
		q.laws = append(q.laws, l)
		q.number[i] = -len(q.laws)
	}
	if len(q.laws) == 0 {
		return f.normal(p)
	}
	var err error
	if q.rest, err = f.normal(restOf{p, q}); err != nil {
		return nil, err
	}
	size := 0
	for _, l := range q.laws {
		size += len(l.prior)
	}
	q.theta = append(slices.Clone(q.rest.Theta()), make([]float64, size)...)
	q.derived = make([]float64, 4*size-2*len(q.laws))
	q.view()
	q.Place(make([]float64, p.Dim()), slices.Repeat([]float64{1}, p.Dim()))
	return q, nil
}

// hasMasses reports whether members of f for p are masses.
func hasMasses(f Family, p Program) bool {
	if _, ok := f.(normals); !ok {
		return false
	}
	for i := range p.Dim() {
		if values, _ := p.Values(i); values != nil {
			return true
		}
	}
	return false
}

// restOf is a program without its discrete latents.
type restOf struct {
	Program
	q *masses
}

func (p restOf) Dim() int                            { return len(p.q.of) }
func (p restOf) Values(int) (values, cuts []float64) { return nil, nil }

func (p restOf) Latents() (names []string) {
	all := p.Program.Latents()
	for _, i := range p.q.of {
		names = append(names, all[i])
	}
	return names
}

func (p restOf) Parents() [][]int {
	all, parents := p.Program.Parents(), make([][]int, len(p.q.of))
	for b, i := range p.q.of {
		for _, j := range all[i] {
			if k := p.q.number[j]; k >= 0 {
				parents[b] = append(parents[b], k)
			}
		}
	}
	return parents
}

// view makes the laws' views.
func (q *masses) view() {
	eta, derived := q.theta[len(q.rest.Theta()):], q.derived
	take := func(from *[]float64, n int) (head []float64) {
		head, *from = (*from)[:n:n], (*from)[n:]
		return head
	}
	for d := range q.laws {
		l := &q.laws[d]
		n, cuts := len(l.prior), len(l.cuts)
		l.eta, l.prob, l.ratio = take(&eta, n), take(&derived, n), take(&derived, n)
		l.below, l.above = take(&derived, cuts), take(&derived, cuts)
	}
}

// read finds what η says.
func (q *masses) read() {
	for d := range q.laws {
		l := &q.laws[d]
		sum := floats.LogSumExp(l.eta)
		for j, x := range l.eta {
			l.prob[j], l.ratio[j] = math.Exp(x-sum), x-sum-l.prior[j]
		}
		below, above := 0.0, 0.0
		for j := range l.cuts {
			below += l.prob[j]
			l.below[j] = below
		}
		for j := len(l.cuts) - 1; j >= 0; j-- {
			above += l.prob[j+1]
			if l.above[j] = above; above < 0.5 {
				l.below[j] = 1 - above
			} else {
				l.above[j] = 1 - l.below[j]
			}
		}
	}
}

// within is the coordinate with the part u of the prior in the interval of value j below it.
func (l *massLaw) within(j int, u float64) float64 {
	lo, hi := truncnorm.Between(l.cuts, j)
	return min(max(truncnorm.Quantile(u, lo, hi), math.Nextafter(lo, math.Inf(1))), hi)
}

// value is the number of the value that a coordinate has.
func (l *massLaw) value(u float64) int { return sort.SearchFloat64s(l.cuts, u) }

// pick is the value at u of the cumulative masses, 0 ≤ u < 1.
func (l *massLaw) pick(u float64) int {
	return sort.Search(len(l.below), func(j int) bool { return u < l.below[j] })
}

// log2Pi is a number: the compiler would take the logarithm at each call.
var log2Pi = math.Log(2 * math.Pi)

// logProb is log q of a coordinate.
func (l *massLaw) logProb(u float64) float64 {
	return l.ratio[l.value(u)] - 0.5*(u*u+log2Pi)
}

// law is that of latent i if it is discrete, else nil.
func (q *masses) law(i int) *massLaw {
	if b := q.number[i]; b < 0 {
		return &q.laws[-1-b]
	}
	return nil
}

// lawOf is that of the discrete latent of h, nil if it has none. It panics if there are others,
// too: no guard has such a form.
func (q *masses) lawOf(h regions.Hyperplane) *massLaw {
	for _, i := range h.Index {
		if l := q.law(i); l != nil {
			if len(h.Index) > 1 {
				panic("family: a plane through the coordinate of a discrete latent and others")
			}
			return l
		}
	}
	return nil
}

// ofRest is h in the numbers of the rest.
func (q *masses) ofRest(h regions.Hyperplane) regions.Hyperplane {
	h.Index = slices.Clone(h.Index)
	for k, i := range h.Index {
		h.Index[k] = q.number[i]
	}
	return h
}

// part writes the coordinates of the rest to dst.
func (q *masses) part(dst, z []float64) []float64 {
	for b, i := range q.of {
		dst[b] = z[i]
	}
	return dst
}

func (q *masses) Family() Family   { return q.rest.Family() }
func (q *masses) Dim() int         { return len(q.number) }
func (q *masses) Theta() []float64 { return q.theta }

func (q *masses) Set(theta []float64) {
	if len(theta) != len(q.theta) {
		panic("family: parameters of another length")
	}
	copy(q.theta, theta)
	q.rest.Set(theta[:len(q.rest.Theta())])
	q.read()
}

// leastPrior is the part of its prior that Place leaves to each value, for gradients to go by.
const leastPrior = 0.01

// Place gives discrete latents the masses that normal coordinates would have, and a part of their
// prior.
func (q *masses) Place(mean, sd []float64) {
	if len(mean) != len(q.number) || len(sd) != len(q.number) {
		panic("family: means or standard deviations of another number of latents")
	}
	q.rest.Place(q.part(make([]float64, len(q.of)), mean), q.part(make([]float64, len(q.of)), sd))
	for _, l := range q.laws {
		m, s := mean[l.latent], sd[l.latent]
		for j := range l.eta {
			lo, hi := truncnorm.Between(l.cuts, j)
			normal := math.Exp(truncnorm.LogMass((lo-m)/s, (hi-m)/s))
			l.eta[j] = math.Log((1-leastPrior)*normal + leastPrior*math.Exp(l.prior[j]))
		}
	}
	q.collect()
}

// collect takes θ from the rest, and finds what η says.
func (q *masses) collect() {
	copy(q.theta, q.rest.Theta())
	q.read()
}

// Correlate gives the rest the partial correlations of the matrix.
func (q *masses) Correlate(precision mat.Symmetric) {
	if len(q.of) == 0 {
		return
	}
	part := mat.NewSymDense(len(q.of), nil)
	for b, i := range q.of {
		for c, j := range q.of[:b+1] {
			part.SetSym(b, c, precision.At(i, j))
		}
	}
	q.rest.Correlate(part)
	q.collect()
}

func (q *masses) Clone() Q {
	c := &masses{rest: q.rest.Clone(), theta: slices.Clone(q.theta), number: q.number, of: q.of, laws: slices.Clone(q.laws), derived: slices.Clone(q.derived)}
	c.view()
	return c
}

// Param is "η" of a discrete latent, On its values by their numbers.
func (q *masses) Param(k int) Param {
	if k -= len(q.rest.Theta()); k < 0 {
		p := q.rest.Param(k + len(q.rest.Theta()))
		p.Latent = q.of[p.Latent]
		if p.Symbol == "B" {
			p.On = q.of[p.On]
		}
		return p
	}
	for _, l := range q.laws {
		if k < len(l.eta) {
			return Param{l.latent, "η", k}
		}
		k -= len(l.eta)
	}
	panic("family: no such parameter")
}

func (q *masses) Fault() int {
	if k := q.rest.Fault(); k >= 0 {
		return k
	}
	return slices.IndexFunc(q.theta, func(x float64) bool { return !finite(x) })
}

// Units are 1/√π of logits.
func (q *masses) Units(dst []float64) {
	n := len(q.rest.Theta())
	q.rest.Units(dst[:n])
	for _, l := range q.laws {
		for _, p := range l.prob {
			dst[n] = 1 / math.Sqrt(max(p, leastMass))
			n++
		}
	}
}

// leastMass is what masses count as at least where they divide.
const leastMass = 1e-300

// Natural implements Natural: of the gradient by η in units, √π_k·(h_k − Σ_l π_l·h_l), it leaves the difference.
func (q *masses) Natural(grad []float64) {
	n := len(q.rest.Theta())
	for _, l := range q.laws {
		for _, p := range l.prob {
			grad[n] /= math.Sqrt(max(p, leastMass))
			n++
		}
	}
}

// Move moves logits by step itself.
func (q *masses) Move(step []float64) {
	n := len(q.rest.Theta())
	q.rest.Move(step[:n])
	floats.Add(q.theta[n:], step[n:])
	q.collect()
}

func (q *masses) Mean(i int) float64 {
	if q.law(i) != nil {
		return Marginal(q, i).Mean()
	}
	return q.rest.Mean(q.number[i])
}

func (q *masses) SD(i int) float64 {
	if q.law(i) != nil {
		return Marginal(q, i).SD()
	}
	return q.rest.SD(q.number[i])
}

// Law of a discrete latent's coordinate has a piece for each value.
func (q *masses) Law(h regions.Hyperplane) (law Law) {
	l := q.lawOf(h)
	if l == nil {
		return q.rest.Law(q.ofRest(h))
	}
	a := h.Coef[0]
	for j, p := range l.prob {
		lo, hi := truncnorm.Between(l.cuts, j)
		lo, hi = h.Const+a*lo, h.Const+a*hi
		law = append(law, Piece{p, h.Const, math.Abs(a), min(lo, hi), max(lo, hi)})
	}
	return law
}

// MoverTo of a cut draws the latent anew from the values on the side.
func (q *masses) MoverTo(h regions.Hyperplane, positive bool) Mover {
	l := q.lawOf(h)
	if l == nil {
		move := q.rest.MoverTo(q.ofRest(h), positive)
		if move == nil {
			return nil
		}
		return func(z []float64, rng *rand.Rand) (logQ, weight float64) {
			part := q.part(make([]float64, len(q.of)), z)
			logQ, weight = move(part, rng)
			for b, i := range q.of {
				z[i] = part[b]
			}
			return logQ, weight
		}
	}
	share, total := make([]float64, len(l.prob)), q.Law(h).OnSide(positive)
	for j, p := range l.prob {
		if (h.Coef[0]*l.at[j]+h.Const > 0) == positive {
			share[j] = p / total
		}
	}
	return func(z []float64, rng *rand.Rand) (logQ, weight float64) {
		u := &z[l.latent]
		logQ = -l.logProb(*u)
		*u = l.within(Pick(share, rng.Float64()), rng.Float64())
		return logQ + l.logProb(*u), total
	}
}

func (q *masses) LogProb(z []float64) float64 {
	if len(z) != len(q.number) {
		panic("family: a point of another number of latents")
	}
	log := q.rest.LogProb(q.part(make([]float64, len(q.of)), z))
	for d := range q.laws {
		log += q.laws[d].logProb(z[q.laws[d].latent])
	}
	return log
}

func (q *masses) Rand(dst []float64, rng *rand.Rand) {
	checkRand(q, dst, rng)
	part := make([]float64, len(q.of))
	q.rest.Rand(part, rng)
	for b, i := range q.of {
		dst[i] = part[b]
	}
	for d := range q.laws {
		l := &q.laws[d]
		dst[l.latent] = l.within(l.pick(rng.Float64()), rng.Float64())
	}
}
