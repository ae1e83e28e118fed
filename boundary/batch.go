package boundary

import (
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
)

// A Batch evaluates the jumps of a density at boundary points made from batches
// of N samples, under z = μ + s⊙ε with standard normal ε, and with them the
// gradient of log r at the samples themselves. That boundary points reuse the
// samples is unbiased by linearity; draws of their own have no less variance on
// any of the paper's models. A Batch is not safe for concurrent use, and
// allocates nothing after it is made.
//
// For each batch: fill Z and Signs of Samples, then call Run and AddGradient.
// Call Locate before that whenever μ or s has changed.
type Batch struct {
	j  *Jumps
	n  int
	s  Settings
	ex *graph.Executor

	planes []plane
	eps    []float64 // ε at the points of planes with several coordinates, rows × N
	factor []float64 // of subsampling, planes × N; nil if all guards are used
	prob   []float64 // probability of choosing a plane
	cum    []float64
}

// A plane is a hyperplane in the coordinates of ε.
type plane struct {
	active bool    // log r jumps here
	live   bool    // and q has mass here
	axis   bool    // the plane has one coordinate
	latent int     // of axis planes: that coordinate,
	coef   float64 // its coefficient a,
	at     float64 // its value on the plane,
	t      float64 // and its ε on the plane
	w      float64 // weight of axis and orthogonally projected planes
	norm2  float64 // ‖ã‖²
	shift  float64 // c̃
	pivot  int     // position of the pivot in the plane's coordinates
	tilt   []float64
	wb     []float64 // weights of the samples, if eliminated
}

// Bind returns a Batch of n samples for the data of d.
func (j *Jumps) Bind(d *graph.Density, n int, s Settings) (*Batch, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	// Planes with one coordinate need the sum of their jumps over the samples only.
	want := graph.Want{OutSum: true, Grad: true}
	if s.Guards > 0 || len(j.points) > 0 {
		want = graph.Want{Out: true, Grad: true}
	}
	ex, err := d.ExecutorOf(j.prog, n, want)
	if err != nil {
		return nil, err
	}
	b := &Batch{j: j, n: n, s: s, ex: ex, planes: make([]plane, j.Len()), eps: make([]float64, len(j.points)*n)}
	for l := range b.planes {
		p, h := &b.planes[l], j.arr.Plane(l)
		p.active, p.axis = j.active[l], len(h.Index) == 1
		if p.axis {
			p.latent, p.coef, p.at = h.Index[0], h.Coef[0], -h.Const/h.Coef[0]
			continue
		}
		p.tilt, p.wb = make([]float64, len(h.Index)), make([]float64, n)
	}
	if s.Guards > 0 {
		b.factor = make([]float64, j.Len()*n)
		b.prob, b.cum = make([]float64, j.Len()), make([]float64, j.Len())
	}
	return b, nil
}

// Samples is the executor whose Z and Signs hold the samples. After Run its Grad
// is the gradient of log r there.
func (b *Batch) Samples() *graph.Executor { return b.ex }

// Locate moves the hyperplanes to the coordinates of ε for the family's
// location mu and scale s, each of length Dim.
func (b *Batch) Locate(mu, s []float64) {
	for l := range b.planes {
		b.locate(l, mu, s)
	}
	if b.factor != nil {
		b.setProbabilities()
	}
}

func (b *Batch) locate(l int, mu, s []float64) {
	p := &b.planes[l]
	if p.live = p.active; !p.live {
		return
	}
	if p.axis {
		inv := 1 / s[p.latent]
		p.t = (p.at - mu[p.latent]) * inv
		p.w = normalDensity(p.t) * inv / math.Abs(p.coef)
		p.live = p.w > 0
		return
	}
	h := b.j.arr.Plane(l)
	p.norm2, p.shift = 0, h.Const
	for k, i := range h.Index {
		p.tilt[k] = h.Coef[k] * s[i]
		p.norm2 += p.tilt[k] * p.tilt[k]
		p.shift += h.Coef[k] * mu[i]
	}
	p.pivot = pivot(p.tilt)
	norm := math.Sqrt(p.norm2)
	p.w = normalDensity(p.shift/norm) / norm
	p.live = p.w > 0
}

const invSqrt2Pi = 0.398942280401432677939946059934

// normalDensity is φ(x), 0 where that underflows.
func normalDensity(x float64) float64 {
	if x*x > 1491 {
		return 0
	}
	return invSqrt2Pi * math.Exp(-0.5*x*x)
}

// setProbabilities prepares the choice of guards.
func (b *Batch) setProbabilities() {
	sum := 0.0
	for l, p := range b.planes {
		b.prob[l] = 0
		switch {
		case b.s.By == Uniform && p.active:
			b.prob[l] = 1
		case b.s.By == ByWeight && p.live:
			b.prob[l] = p.w
		}
		sum += b.prob[l]
		b.cum[l] = sum
	}
	if sum > 0 {
		for l := range b.prob {
			b.prob[l] /= sum
			b.cum[l] /= sum
		}
	}
}

// choose draws the guards of each sample.
func (b *Batch) choose(rng *rand.Rand) {
	clear(b.factor)
	if len(b.cum) == 0 || b.cum[len(b.cum)-1] == 0 {
		return
	}
	for i := range b.n {
		for range b.s.Guards {
			l := search(b.cum, rng.Float64())
			b.factor[l*b.n+i] += 1 / (b.prob[l] * float64(b.s.Guards))
		}
	}
}

// search is the first position whose cumulative probability exceeds u.
func search(cum []float64, u float64) int {
	lo, hi := 0, len(cum)-1
	for lo < hi {
		mid := (lo + hi) / 2
		if cum[mid] > u {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	for lo > 0 && cum[lo-1] == cum[lo] { // u rounded up to 1: step back to a guard that can be chosen
		lo--
	}
	return lo
}

// Run moves the samples to all hyperplanes and evaluates the jumps there. eps
// is the batch of ε, Dim × N, that Z was made from; mu and s are as
// in Locate. rng is used only if guards are subsampled.
func (b *Batch) Run(eps, mu, s []float64, rng *rand.Rand) error {
	if b.factor != nil {
		b.choose(rng)
	}
	for l := range b.planes {
		if p := &b.planes[l]; p.live && !p.axis {
			b.project(l, b.j.first[l], eps, mu, s)
		}
	}
	for r, x := range b.j.signs {
		b.signRow(r, x)
	}
	return b.ex.Run()
}

// project fills the points of a plane with several coordinates.
func (b *Batch) project(l, first int, eps, mu, s []float64) {
	p, n := &b.planes[l], b.n
	index := b.j.arr.Plane(l).Index
	for i := range n {
		dist := p.shift // ã·ε + c̃
		for k, d := range index {
			dist += p.tilt[k] * eps[d*n+i]
		}
		p.wb[i] = p.w
		for k, d := range index {
			e := eps[d*n+i]
			switch {
			case b.s.Method == Orthogonal:
				e -= dist / p.norm2 * p.tilt[k]
			case k == p.pivot:
				e -= dist / p.tilt[k]
				p.wb[i] = normalDensity(e) / math.Abs(p.tilt[k])
			}
			b.eps[(first+k)*n+i] = e
			b.ex.Points[(first+k)*n+i] = mu[d] + s[d]*e
		}
	}
}

// signRow fills the signs of plane x.other at the points on x.plane.
func (b *Batch) signRow(r int, x signRow) {
	n, on, other := b.n, b.j.arr.Plane(x.plane), b.j.arr.Plane(x.other)
	first := b.j.first[x.plane]
	for i := range n {
		phi := other.Const
		for k, d := range other.Index {
			v := b.ex.Z[d*n+i]
			for m, e := range on.Index {
				if e == d && first >= 0 {
					v = b.ex.Points[(first+m)*n+i]
				} else if e == d {
					v = -on.Const / on.Coef[0]
				}
			}
			phi += other.Coef[k] * v
		}
		b.ex.PointSigns[r*n+i] = 0
		if phi > 0 {
			b.ex.PointSigns[r*n+i] = 1
		}
	}
}

// AddGradient adds BouContr's summands, summed over the batch's N samples, to
// the gradients with respect to μ and s, each of length Dim.
func (b *Batch) AddGradient(gMu, gScale []float64) {
	n := b.n
	for l := range b.planes {
		p := &b.planes[l]
		if !p.live {
			continue
		}
		if b.ex.OutSum != nil {
			p.addAxis(b.ex.OutSum[l], gMu, gScale)
			continue
		}
		delta := b.ex.Out[l*n : l*n+n]
		if b.factor != nil {
			subsample(delta, b.factor[l*n:l*n+n])
		}
		if !p.axis {
			b.addDense(l, b.j.first[l], delta, gMu, gScale)
			continue
		}
		sum := 0.0
		for _, d := range delta {
			sum += d
		}
		p.addAxis(sum, gMu, gScale)
	}
}

// subsample multiplies jumps by factors; where a factor is 0 the jump does not
// count, whatever it is.
func subsample(delta, factor []float64) {
	for i, f := range factor {
		if f == 0 {
			delta[i] = 0
		} else {
			delta[i] *= f
		}
	}
}

// addAxis adds the gradient of a plane with one coordinate, all of whose points
// have one ε.
func (p *plane) addAxis(jumps float64, gMu, gScale []float64) {
	g := p.w * p.coef * jumps
	gMu[p.latent] += g
	gScale[p.latent] += g * p.t
}

func (b *Batch) addDense(l, first int, delta, gMu, gScale []float64) {
	n, h, wb := b.n, b.j.arr.Plane(l), b.planes[l].wb
	for k, d := range h.Index {
		eps := b.eps[(first+k)*n : (first+k)*n+n]
		m, s := 0.0, 0.0
		for i, x := range delta {
			if wb[i] != 0 {
				m += wb[i] * x
				s += wb[i] * x * eps[i]
			}
		}
		gMu[d] += h.Coef[k] * m
		gScale[d] += h.Coef[k] * s
	}
}
