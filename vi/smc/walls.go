package smc

import (
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// Walls are the hyperplanes, and the curves (see bend), at which log r jumps. On its straight way with velocity v a point meets
// the first of them. Along the normal a of the wall its momentum pays for the jump, or turns back:
//
//	s = a·v,  q = aᵀ·C·a:    s′² = s² − 2q·ΔU  and across, or else s′ = −s;    p ← p + a·(s′ − s)/q
//
// (Afshar and Domke, NeurIPS 2015). On which side of each wall a point is, is a state that changes
// where it crosses, and is not found again from positions.
type walls struct {
	surfaces
	jumps jumper
	*mass

	phi, slope []float64 // Φ at the points and how fast it changes, affine walls × n
	hit        []bool    // by column
	flight               // of the column that moves
	crossings  int
}

// A jumper is a derive.LocalJump.
type jumper interface {
	At(l int, at derive.Point) float64
}

// mostEvents is how many walls a point may meet in one step: more are a rejection.
const mostEvents = 1000

// newWalls returns the walls of d, for batches of n points.
func newWalls(d *graph.Density, n int) (*walls, error) {
	local, err := d.Engine().LocalJumps()
	if err != nil {
		return nil, err
	}
	w := &walls{surfaces: newSurfaces(d.Arrangement(), local, n), jumps: local.Bind(), hit: make([]bool, n)}
	k := len(w.forms.Const)
	w.phi, w.slope = make([]float64, k*n), make([]float64, k*n)
	w.value, w.speed, w.side = make([]float64, k), make([]float64, k), make([]float64, len(w.plane))
	w.of, w.shift, w.point = n, make([]float64, d.Dim()), make([]float64, d.Dim())
	return w, nil
}

// begin starts trajectories at z.
func (w *walls) begin(z []float64) { w.forms.AtBatch(w.phi, z, w.n) }

// drift moves z along v for a time, through the walls, with the momenta p and the signs of all
// planes, where the distribution is that of at.
func (w *walls) drift(z, p, v, signs []float64, time float64, at *path) {
	n := w.n
	w.forms.AtBatch(w.slope, v, n)
	for k, l := range w.plane[:len(w.value)] {
		phi, slope, sign := w.phi[k*n:][:n], w.slope[k*n:][:n], signs[l*n:][:n]
		for i, s := range slope {
			s -= w.forms.Const[k]
			slope[i] = s
			if positive := sign[i] == 1; positive != (phi[i]+time*s > 0) && positive == (s < 0) {
				w.hit[i] = true
			}
		}
	}
	w.z, w.v = z, v
	for _, b := range w.bends {
		b.hits(w.hit, &w.flight, w.plane, signs, time)
	}
	for i, hit := range w.hit {
		if hit {
			if at.stopped() { // for a collision takes as long as its term
				return
			}
			w.column = i
			w.collide(p, signs, time, at)
			w.hit[i] = false
		}
	}
	vec.AddScaled(z, time, v)
	vec.AddScaled(w.phi, time, w.slope)
	for k, l := range w.others {
		w.sign(signs[l*n:][:n], l, w.curves[k])
	}
}

// sign writes the signs of a plane that is no wall at the points z.
func (w *walls) sign(dst []float64, l int, curve *regions.CurveBatch) {
	if curve == nil {
		w.arr.SignRow(dst, l, w.z, w.n)
		return
	}
	for k, i := range w.latents[l] {
		curve.In[k] = w.z[i*w.n:][:w.n]
	}
	vec.Step(dst, curve.Values(), 1, 0)
}

// collide moves the column through its walls. What it leaves of z is less than where that gets to by
// what the velocity at the beginning makes of it.
func (w *walls) collide(p, signs []float64, time float64, at *path) {
	n, i := w.n, w.column
	for k := range w.value {
		w.value[k], w.speed[k] = w.phi[k*n+i], w.slope[k*n+i]
	}
	for k, l := range w.plane {
		w.side[k] = 2*signs[l*n+i] - 1
	}
	w.time, w.events = 0, w.events[:0]
	for l, after := w.next(time); l >= 0; l, after = w.next(time - w.time) {
		w.time += after
		vec.AddScaled(w.value, after, w.speed)
		if len(w.events) == mostEvents || math.IsNaN(after) {
			p[i] = math.NaN()
			break
		}
		if b := w.bendOf[l]; b != nil {
			reach := w.room()
			s, q := b.meet(&w.flight, w.covariance, reach)
			gain := (w.pay(l, s, q, signs, at) - s) / q
			w.along(w.speed, gain, reach)
			for k, r := range b.latents {
				p[r*n+i] += gain * b.slopes[k][0]
			}
			w.events = append(w.events, event{l, reach, w.time, gain})
			continue
		}
		w.value[l] = 0
		s, q := w.speed[l], w.meet[l][l]
		to := w.pay(l, s, q, signs, at)
		gain := (to - s) / q
		vec.AddScaled(w.speed, gain, w.meet[l])
		w.speed[l] = to
		for e := w.forms.From[l]; e < w.forms.From[l+1]; e++ {
			p[int(w.forms.Index[e])*n+i] += gain * w.forms.Coef[e]
		}
		w.events = append(w.events, event{l, w.reach[l], w.time, gain})
	}
	for k := range w.value {
		w.phi[k*n+i], w.slope[k*n+i] = w.value[k]+(time-w.time)*w.speed[k], 0
	}
	clear(w.shift)
	for _, e := range w.events {
		vec.AddScaled(w.shift, e.gain*(time-e.time), e.reach)
	}
	for r, x := range w.shift {
		w.z[r*n+i] += x
	}
}

// pay is the speed along the normal of wall l after the column has met it with speed s: across, which changes its sign, or back.
func (w *walls) pay(l int, s, q float64, signs []float64, at *path) (to float64) {
	rest := s*s + 2*q*w.rise(l, at)
	if !(rest > 0) {
		return -s
	}
	w.side[l] = -w.side[l]
	sign := &signs[w.plane[l]*w.n+w.column]
	*sign = 1 - *sign
	w.crossings++
	return math.Copysign(math.Sqrt(rest), s)
}

// rise is how much higher log π is behind wall l.
func (w *walls) rise(l int, at *path) (rise float64) {
	if at.required != nil {
		if more := w.broken(l, at.required, -1) - w.broken(l, at.required, 1); more != 0 {
			rise = -at.price * more
		}
	}
	if at.beta > 0 && !math.IsInf(rise, -1) {
		rise -= at.beta * w.side[l] * w.jumps.At(w.plane[l], w)
	}
	return rise
}

// broken is how many of the requirements on wall l do not hold on this side of it, 1, or on the other, −1.
func (w *walls) broken(l int, required *derive.Requirements, side float64) (n float64) {
	w.side[l] *= side
	for _, k := range required.On(w.plane[l]) {
		if !required.Holds(k, w) {
			n++
		}
	}
	w.side[l] *= side
	return n
}

// next is the wall that the column meets first, and after what time; −1 if that is not within the
// time that is left.
func (w *walls) next(left float64) (wall int, after float64) {
	wall, after = -1, left
	side, speed := w.side[:len(w.value)], w.speed[:len(w.value)]
	for k, x := range w.value {
		away, s := side[k]*x, side[k]*speed[k]
		if s < 0 && away < -s*after {
			wall, after = k, max(0, -away/s)
		}
	}
	for _, b := range w.bends {
		if k, t := b.next(&w.flight, after); k >= 0 {
			wall, after = k, t
		}
	}
	return wall, after
}

// Latent is a latent of the column now; see derive.Point.
func (w *walls) Latent(i int) float64 { return w.latent(i, w.time) }

// Positive is a sign at the column now.
func (w *walls) Positive(l int) bool {
	if k := w.wall[l]; k >= 0 {
		return w.side[k] > 0
	}
	for _, i := range w.latents[l] {
		w.point[i] = w.Latent(i)
	}
	return w.arr.At(l, w.point) > 0
}
