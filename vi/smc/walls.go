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

	phi, slope []float64 // Φ at the points and how fast it changes, n × affine functions
	bounds     []float64 // the thresholds that it is between, n × (those below, and those above)
	rows       []float64 // 2·affine functions × n
	hit        []bool    // by column: it meets a curve
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
	w.phi, w.slope, w.bounds, w.rows = make([]float64, k*n), make([]float64, k*n), make([]float64, 2*k*n), make([]float64, 2*k*n)
	w.flight = newFlight(d.Dim(), n)
	return w, nil
}

// begin starts trajectories at z, where the signs of all planes are given.
func (w *walls) begin(z, signs []float64) {
	w.forms.AtBatch(w.rows[:len(w.phi)], z, w.n)
	vec.Transpose(w.phi, w.rows, len(w.forms.Const), w.n)
	w.levels.begin(signs, w.plane)
	for k := range w.forms.Const {
		w.levels.between(w.rows[k*w.n:][:w.n], w.rows[len(w.phi)+k*w.n:][:w.n], k)
	}
	vec.Transpose(w.bounds, w.rows, 2*len(w.forms.Const), w.n)
}

// bound stores the thresholds that the column is between, of an affine function.
func (w *walls) bound(k int) {
	below, bounds := w.levels.of(w.column, k), w.row(w.bounds)
	bounds[k], bounds[len(bounds)/2+k] = w.levels.at[below], w.levels.at[below+1]
}

// drift moves z along v for a time, through the walls, with the momenta p and the signs of all
// planes, where the distribution is that of at.
func (w *walls) drift(z, p, v, signs []float64, time float64, at *path) {
	n := w.n
	w.normals.AtBatch(w.rows[:len(w.phi)], v, n)
	vec.Transpose(w.slope, w.rows, len(w.forms.Const), n)
	w.z, w.v, w.signs = z, v, signs
	for _, b := range w.bends {
		b.hits(w.hit, &w.flight, time)
	}
	for i := range n {
		w.start(i, w.hit[i])
		first, when := w.next(time)
		if w.hit[i] = false; first < 0 {
			continue
		}
		if at.stopped() { // for a collision takes as long as its term
			return
		}
		w.collide(first, when, p, time, at)
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

// collide moves the column through its walls, of which it meets the first at some time, until another. With velocity v + gain·C·a from
// time t on it gets to where it would from z − t·gain·C·a with that velocity from the beginning; so do the values of Φ. These and their slopes
// are left as if so, and z less what v makes of it.
func (w *walls) collide(first int, when float64, p []float64, until float64, at *path) {
	n, i := w.n, w.column
	phi, slope := w.row(w.phi), w.row(w.slope)
	events := 0
	for k, t := first, when; k >= 0; k, t = w.next(until) {
		if events++; events > mostEvents || math.IsNaN(t) {
			p[i] = math.NaN()
			break
		}
		w.time, w.bent = t, true
		if k >= len(phi) {
			b := w.bends[k-len(phi)]
			s, q := b.meet(&w.flight, w.covariance)
			gain := (w.pay(k, b.up, s, q, at) - s) / q
			w.along(w.across, b.reach)
			w.turns(gain, b.reach, w.across)
			for j, r := range b.latents {
				p[r*n+i] += gain * b.slopes[j][0]
			}
			continue
		}
		s, q, threshold := slope[k], w.meet[k][k], phi[k]+t*slope[k]
		to := w.pay(k, s, s, q, at)
		gain := (to - s) / q
		w.turns(gain, w.reach[k], w.meet[k])
		phi[k], slope[k] = threshold-t*to, to
		for e := w.forms.From[k]; e < w.forms.From[k+1]; e++ {
			p[int(w.forms.Index[e])*n+i] += gain * w.forms.Coef[e]
		}
	}
	for r, x := range w.shift {
		w.z[r*n+i] += x + until*w.turn[r]
	}
	clear(w.shift)
	clear(w.turn)
}

// row is that of the column, in a matrix of n × affine functions.
func (w *walls) row(x []float64) []float64 {
	k := len(x) / w.n
	return x[w.column*k:][:k]
}

// turns changes the velocity of the column by a multiple of C·a, which changes the affine functions by that of meet.
func (w *walls) turns(gain float64, reach, meet []float64) {
	vec.AddScaled(w.row(w.phi), -gain*w.time, meet)
	vec.AddScaled(w.row(w.slope), gain, meet)
	vec.AddScaled(w.shift, -gain*w.time, reach)
	vec.AddScaled(w.turn, gain, reach)
}

// pay is the speed of function k after the column has met a wall, up or down by the sign of up, with speed s: across, which changes a sign, or
// back.
func (w *walls) pay(k int, up, s, q float64, at *path) (to float64) {
	l := w.levels.ahead(w.column, k, up)
	w.last = l
	rest := s*s + 2*q*w.rise(l, at)
	if !(rest > 0) {
		return -s
	}
	sign := w.signOf(w.plane[l])
	*sign = 1 - *sign
	w.levels.cross(w.column, k, 2**sign-1)
	if k < len(w.forms.Const) {
		w.bound(k)
	}
	w.crossings++
	return math.Copysign(math.Sqrt(rest), s)
}

// rise is how much higher log π is behind wall l.
func (w *walls) rise(l int, at *path) (rise float64) {
	sign := w.signOf(w.plane[l])
	if at.required != nil {
		here := w.broken(l, at.required)
		*sign = 1 - *sign
		there := w.broken(l, at.required)
		*sign = 1 - *sign
		if there != here {
			rise = -at.price * (there - here)
		}
	}
	if at.beta > 0 && !math.IsInf(rise, -1) {
		rise -= at.beta * (2**sign - 1) * w.jumps.At(w.plane[l], w)
	}
	return rise
}

// broken is how many of the requirements on wall l do not hold.
func (w *walls) broken(l int, required *derive.Requirements) (n float64) {
	for _, k := range required.On(w.plane[l]) {
		if !required.Holds(k, w) {
			n++
		}
	}
	return n
}

// next is the function of which the column meets a wall first, and when; −1 if that is not until then.
func (w *walls) next(until float64) (k int, when float64) {
	k, t := vec.FirstExit(w.row(w.phi), w.row(w.slope), w.row(w.bounds), until)
	if when = max(w.time, t); k < 0 {
		when = until
	}
	if k < 0 && !w.bent {
		return k, when
	}
	for j, b := range w.bends {
		if t, meets := b.next(&w.flight, when); meets {
			k, when = len(w.forms.Const)+j, t
		}
	}
	return k, when
}

// Latent is a latent of the column now; see derive.Point.
func (w *walls) Latent(i int) float64 { return w.latent(i, w.time) }

// Positive is a sign at the column now.
func (w *walls) Positive(l int) bool {
	if w.wall[l] >= 0 {
		return *w.signOf(l) == 1
	}
	for _, i := range w.latents[l] {
		w.point[i] = w.Latent(i)
	}
	return w.arr.At(l, w.point) > 0
}
