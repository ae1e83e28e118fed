package family

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A massesSampler is the Sampler of masses. The coordinate of a discrete latent is in the middle
// of the interval of the value that is drawn: log r − log q is the same all over it. The sums are those
// of the rest, and then for each cut of the discrete latents Σ Δ.
type massesSampler struct {
	rest  Sampler
	q     *masses // a copy, of what θ says of discrete latents
	n     int
	z     []float64   // of the rest, latents × n
	grad  []float64   // scratch, of the rest
	seeds []float64   // of the rest, from a Surface; nil if there are none
	logQ  [][]float64 // by discrete latent and value: log q in the middle of its interval
	value []int       // of the samples, discrete latents × n
	h     []float64   // scratch: by value of a latent
}

func (q *masses) Drawer(n int) Drawer {
	s := &massesSampler{
		rest: q.rest.Drawer(n).(Sampler), q: q.Clone().(*masses), n: n, z: make([]float64, len(q.of)*n), grad: make([]float64, len(q.of)*n),
		value: make([]int, len(q.laws)*n),
	}
	most := 0
	for _, l := range q.laws {
		s.logQ = append(s.logQ, make([]float64, len(l.prob)))
		most = max(most, len(l.prob))
	}
	s.h = make([]float64, most)
	s.Locate(q)
	return s
}

func (s *massesSampler) Locate(q Q) {
	from := q.(*masses)
	s.rest.Locate(from.rest)
	copy(s.q.derived, from.derived)
	for d := range s.logQ {
		l := &s.q.laws[d]
		for j, u := range l.at {
			s.logQ[d][j] = l.ratio[j] - 0.5*(u*u+log2Pi)
		}
	}
}

func (s *massesSampler) Draw(z []float64, rng *rand.Rand) {
	s.rest.Draw(s.z, rng)
	for b, i := range s.q.of {
		copy(z[i*s.n:][:s.n], s.z[b*s.n:])
	}
	for d := range s.q.laws {
		l := &s.q.laws[d]
		row := z[l.latent*s.n:][:s.n]
		for k := range row {
			j := l.pick(rng.Float64())
			s.value[d*s.n+k], row[k] = j, l.at[j]
		}
	}
}

func (s *massesSampler) SubLogQ(dst []float64) {
	s.rest.SubLogQ(dst)
	for d, logs := range s.logQ {
		for k, j := range s.value[d*s.n:][:s.n] {
			dst[k] -= logs[j]
		}
	}
}

func (s *massesSampler) Sums() int {
	n := s.rest.Sums()
	for _, l := range s.q.laws {
		n += len(l.cuts)
	}
	return n
}

// jumps calls f with the part of sums of each discrete latent.
func (s *massesSampler) jumps(sums []float64, f func(d int, l *massLaw, jumps []float64)) {
	sums = sums[s.rest.Sums():]
	for d := range s.q.laws {
		l := &s.q.laws[d]
		f(d, l, sums[:len(l.cuts)])
		sums = sums[len(l.cuts):]
	}
}

// ofRest is a field on the rest, with what a Surface has left there.
func (s *massesSampler) ofRest(field []float64) []float64 {
	for b, i := range s.q.of {
		copy(s.grad[b*s.n:][:s.n], field[i*s.n:])
	}
	if s.seeds != nil {
		floats.Add(s.grad, s.seeds)
		clear(s.seeds)
	}
	return s.grad
}

// AddPath is that of the rest: the paths of discrete latents stay in their intervals, where
// log r − log q does not change.
func (s *massesSampler) AddPath(sums, grad []float64) {
	s.rest.AddPath(sums[:s.rest.Sums()], s.ofRest(grad))
}

func (s *massesSampler) Pull(sums, field []float64) {
	s.rest.Pull(sums[:s.rest.Sums()], s.ofRest(field))
}

// AddScore adds to Σ Δ what has the same gradient: with weights w of the samples that have value k,
// h_k = Σ w/π_k. Finish adds the part of log q, which is in the weights.
func (s *massesSampler) AddScore(sums, weight []float64) {
	s.rest.AddScore(sums[:s.rest.Sums()], weight)
	s.jumps(sums, func(d int, l *massLaw, jumps []float64) {
		for k, j := range s.value[d*s.n:][:s.n] {
			h := weight[k] / l.prob[j]
			if j > 0 {
				jumps[j-1] += h
			}
			if j < len(jumps) {
				jumps[j] -= h
			}
		}
		for j := range jumps {
			jumps[j] += float64(s.n) * (l.ratio[j+1] - l.ratio[j])
		}
	})
}

// slopes are ∂/∂η of Σ π·h, where h_0 = 0 and jumps are the differences of the h. They are valid
// until the next call.
func (s *massesSampler) slopes(l *massLaw, jumps []float64, scale float64) []float64 {
	h, mean := s.h[:len(l.prob)], 0.0
	h[0] = 0
	for j, x := range jumps {
		h[j+1] = h[j] + x*scale
		mean += l.prob[j+1] * h[j+1]
	}
	for j, p := range l.prob {
		h[j] = p * (h[j] - mean)
	}
	return h
}

func (s *massesSampler) Finish(dst, sums []float64, n int) {
	at := len(s.q.rest.Theta())
	s.rest.Finish(dst[:at], sums[:s.rest.Sums()], n)
	s.jumps(sums, func(_ int, l *massLaw, jumps []float64) {
		grad := dst[at:][:len(l.prob)]
		copy(grad, s.slopes(l, jumps, 1/float64(n)))
		entropy := floats.Dot(l.prob, l.ratio) // −KL to the prior is −Σ π·log(π/P)
		for j, p := range l.prob {
			grad[j] -= p * (l.ratio[j] - entropy)
		}
		at += len(l.prob)
	})
}

// Reach is that of the rest, beside cuts that move their latents alone.
func (s *massesSampler) Reach() boundary.Reach {
	of, q := s.rest.Reach(), s.q
	if of.Name == boundary.OnPlane.Name {
		return of
	}
	return boundary.Reach{Name: of.Name + ", beside masses", Moves: func(h regions.Hyperplane, i int) bool {
		if l := q.lawOf(h); l != nil || q.law(i) != nil {
			return l != nil && l.latent == i
		}
		return of.Moves(q.ofRest(h), q.number[i])
	}}
}

// A massesSurface is the Surface of masses.
type massesSurface struct {
	Surface // of the rest
	s       *massesSampler
	number  []int // by piece: its number among those of the rest; of a cut −1 − its number in cuts
	cuts    []massCut
}

// A massCut is a cut of a discrete latent.
type massCut struct {
	law   *massLaw
	cut   int // its number
	sum   int // where its Σ Δ is
	along []float64
}

func (s *massesSampler) Surface(pieces []boundary.Piece, at [][]int) Surface {
	f := &massesSurface{s: s}
	sum, next := make([]int, len(s.q.laws)), s.rest.Sums()
	for d, l := range s.q.laws {
		sum[d], next = next, next+len(l.cuts)
	}
	var rest []boundary.Piece
	var points [][]int
	curves := map[*regions.Curve]*regions.Curve{}
	for k, p := range pieces {
		if p.Curve == nil {
			if l := s.q.lawOf(p.Hyperplane); l != nil {
				d, j := -1-s.q.number[l.latent], l.value(-p.Const/p.Coef[0])
				f.cuts = append(f.cuts, massCut{l, j, sum[d] + j, make([]float64, len(at[k]))})
				f.number = append(f.number, -len(f.cuts))
				continue
			}
			p.Hyperplane = s.q.ofRest(p.Hyperplane)
		} else {
			if curves[p.Curve] == nil {
				curves[p.Curve] = p.Curve.Renumbered(s.q.number)
			}
			p.Curve = curves[p.Curve]
		}
		wanted := make([]int, len(at[k]))
		for x, i := range at[k] {
			wanted[x] = s.q.number[i]
		}
		f.number = append(f.number, len(rest))
		rest, points = append(rest, p), append(points, wanted)
	}
	f.Surface = s.rest.Surface(rest, points)
	if f.Seeds() && s.seeds == nil {
		s.seeds = make([]float64, len(s.grad))
	}
	return f
}

// cut is the cut that piece k is; nil if it is one of the rest.
func (f *massesSurface) cut(k int) *massCut {
	if c := f.number[k]; c < 0 {
		return &f.cuts[-1-c]
	}
	return nil
}

func (f *massesSurface) Along(k int) []float64 {
	if c := f.cut(k); c != nil {
		return c.along
	}
	return f.Surface.Along(f.number[k])
}

// Density is F·(1 − F) at a cut.
func (f *massesSurface) Density(k int) float64 {
	if c := f.cut(k); c != nil {
		return c.law.below[c.cut] * c.law.above[c.cut]
	}
	return f.Surface.Density(f.number[k])
}

func (f *massesSurface) Reached(k int) bool {
	if c := f.cut(k); c != nil {
		return c.law.below[c.cut] > 0 && c.law.above[c.cut] > 0
	}
	return f.Surface.Reached(f.number[k])
}

func (f *massesSurface) Each(k int) bool { return f.cut(k) == nil && f.Surface.Each(f.number[k]) }

func (f *massesSurface) AddSums(sums []float64, first int, jumps []float64) {
	for x, jump := range jumps {
		switch c := f.cut(first + x); {
		case c == nil:
			f.Surface.AddSums(sums[:f.s.rest.Sums()], f.number[first+x], jumps[x:x+1])
		case f.Reached(first + x): // else the jump, which may be infinite, does not count
			sums[c.sum] += jump
		}
	}
}

func (f *massesSurface) Add(sums, _ []float64, k int, phi, jumps []float64) {
	if c := f.cut(k); c != nil {
		sums[c.sum] += vec.Sum(jumps)
		return
	}
	f.Surface.Add(sums[:f.s.rest.Sums()], f.s.seeds, f.number[k], phi, jumps)
}

// Curved implements boundary.Curves.
func (f *massesSurface) Curved(k int) bool {
	c, ok := f.Surface.(boundary.Curves)
	return ok && f.cut(k) == nil && c.Curved(f.number[k])
}

// Move implements boundary.Curves.
func (f *massesSurface) Move(dst []float64, k int, _, phi []float64, at *regions.CurveBatch) {
	f.Surface.(boundary.Curves).Move(dst, f.number[k], f.s.z, phi, at)
}
