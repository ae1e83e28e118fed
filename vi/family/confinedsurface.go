package family

import (
	"math"

	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A confinedSurface is the elimination of a sequential normal where some latents
// are confined. Of a confined one the weight is the density of its truncated
// conditional, 0 outside; and where one follows, it does so by T, not along a line.
type confinedSurface struct {
	*elimination
	s     *confinedSampler
	more  []confinedPlane
	point []float64 // scratch: one sample's latents
}

type confinedPlane struct {
	at         []int
	truncation int   // of the pivot, in the sampler's; −1 if it is free
	dead       bool  // the sides keep all samples off
	follow     []int // latents below the pivot, if they do not all follow along lines
	fixed      []int // what those depend on, and the latents that are asked for
}

func newConfinedSurface(s *confinedSampler, planes []regions.Hyperplane, at [][]int) *confinedSurface {
	e := &confinedSurface{
		elimination: newElimination(s.normalSampler, planes, at), s: s, more: make([]confinedPlane, len(planes)), point: make([]float64, len(s.q.mu)),
	}
	number := map[int]int{}
	for l, r := range s.truncations {
		number[r.latent] = l
	}
	for k, h := range planes {
		p := &e.more[k]
		p.at, p.truncation = at[k], -1
		pivot, _ := e.pivot(k)
		if l, ok := number[pivot]; ok {
			p.truncation, p.dead = l, s.truncations[l].excludes(h)
			e.axes[k].w = -1
		}
		p.follow, p.fixed = s.of.following(pivot, at[k])
	}
	return e
}

// excludes reports whether a plane lies outside the truncation wherever the latents
// before are.
func (r *truncation) excludes(h regions.Hyperplane) bool {
	b, _ := newBound(Side{Hyperplane: h})
	for l := range r.floors {
		if f := &r.floors[l]; b.parallel(f) && b.at <= f.at {
			return true
		}
	}
	for l := range r.ceilings {
		if c := &r.ceilings[l]; b.parallel(c) && b.at >= c.at {
			return true
		}
	}
	return false
}

// following lists the latents below pivot that at needs, if some of them are
// confined, and what all of them and at depend on.
func (q *confined) following(pivot int, at []int) (follow, fixed []int) {
	last := pivot
	if len(at) > 0 {
		last = max(last, at[len(at)-1])
	}
	moved, needed := make([]bool, last+1), make([]bool, last+1)
	moved[pivot] = true
	for i := pivot + 1; i <= last; i++ {
		for _, j := range q.links.parents(i) {
			moved[i] = moved[i] || moved[j]
		}
	}
	for _, i := range at {
		needed[i] = true
	}
	curved := false
	for i := last; i > pivot; i-- {
		if moved[i] && needed[i] {
			curved = curved || q.truncations[i] != nil
			for _, j := range q.links.parents(i) {
				needed[j] = true
			}
		}
	}
	if !curved {
		return nil, nil
	}
	for i, yes := range needed {
		switch {
		case yes && moved[i] && i > pivot:
			follow = append(follow, i)
		case yes:
			fixed = append(fixed, i)
		}
	}
	return follow, fixed
}

// Density implements Surface.
func (e *confinedSurface) Density(k int) float64 {
	if e.more[k].dead {
		return 0
	}
	return e.s.of.Law(e.planes[k]).Density(0)
}

// Reached and Each implement Surface.
func (e *confinedSurface) Reached(k int) bool { return !e.more[k].dead && e.elimination.Reached(k) }
func (e *confinedSurface) Each(k int) bool    { return !e.more[k].dead && e.elimination.Each(k) }

// Curved implements boundary.Curves.
func (e *confinedSurface) Curved(k int) bool { return e.more[k].follow != nil }

// Move implements boundary.Curves.
func (e *confinedSurface) Move(dst []float64, k int, _, phi []float64, _ *regions.CurveBatch) {
	p, q, n := &e.more[k], e.s.of, e.s.n
	pivot, coef := e.pivot(k)
	mu := e.s.q.mu
	copy(e.point, mu[:e.s.q.points])
	for b, f := range phi {
		for _, i := range p.fixed {
			e.point[i] = mu[i] + e.s.y[i*n+b]
		}
		e.point[pivot] = mu[pivot] + e.s.y[pivot*n+b] - f/coef
		for _, i := range p.follow {
			q.put(i, e.point, e.s.noise[i][b])
		}
		for l, i := range p.at {
			dst[l*n+b] = e.point[i]
		}
	}
}

// Add implements Surface.
func (e *confinedSurface) Add(sums, grad []float64, k int, phi, jumps []float64) {
	if e.more[k].truncation < 0 {
		e.elimination.Add(sums, grad, k, phi, jumps)
		return
	}
	p, coef := e.pivot(k)
	r := &e.s.truncations[e.more[k].truncation]
	inv := e.s.q.inv[p]
	r.forGradients(e.s.n)
	_, scale, _ := e.s.parts(sums)
	for b, at := range e.s.row(e.s.eps, p) {
		e.wd[b] = 0
		alpha, beta := r.alpha[b], r.beta[b]
		t := at - phi[b]*inv/coef
		w := math.Exp(truncnorm.LogProb(t, alpha, beta)) * inv / math.Abs(coef)
		if w == 0 {
			continue
		}
		e.wd[b] = w * jumps[b]
		v := e.wd[b] * coef
		byLo, byHi := truncnorm.Slopes(t, alpha, beta)
		byMean := v * (1 - byLo - byHi)
		r.seeds[0][b] += byMean
		r.seeds[1][b] += v * byLo
		r.seeds[2][b] += v * byHi
		scale[p] += byMean*(t-at) + v*stretch(t, alpha, beta, byLo, byHi)
	}
	for j, i := range e.planes[k].Index[:len(e.planes[k].Index)-1] {
		vec.AddScaled(e.s.row(grad, i), e.planes[k].Coef[j], e.wd)
	}
}
