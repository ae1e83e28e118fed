package smc

import (
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// Walls are the hyperplanes at which log r jumps. On its straight way with velocity v a point meets
// the first of them. Along the normal a of the wall its momentum pays for the jump, or turns back:
//
//	s = a·v,  q = aᵀ·C·a:    s′² = s² − 2q·ΔU  and across, or else s′ = −s;    p ← p + a·(s′ − s)/q
//
// (Afshar and Domke, NeurIPS 2015). On which side of each wall a point is, is a state that changes
// where it crosses, and is not found again from positions.
type walls struct {
	jumps   jumper
	arr     *regions.Arrangement
	plane   []int                 // of the arrangement, by wall
	wall    []int                 // by plane; −1 if it is none
	latents [][]int               // by plane
	others  []int                 // planes that are no walls
	curves  []*regions.CurveBatch // of others; nil where affine
	forms   regions.Forms
	*mass

	n          int
	phi, slope []float64 // Φ at the points and how fast it changes, walls × n
	hit        []bool    // by column

	// Of the column that moves:
	column             int
	z, v               []float64 // latents × n
	value, speed, side []float64 // Φ, how fast it changes, and its sign 1 or −1, by wall
	time               float64   // since the drift began
	events             []event
	shift, point       []float64
	crossings          int
}

// A jumper is a derive.LocalJump.
type jumper interface {
	At(l int, at derive.Point) float64
}

// An event is a change of velocity by gain·C·a of a wall.
type event struct {
	wall       int
	time, gain float64
}

// mostEvents is how many walls a point may meet in one step: more are a rejection.
const mostEvents = 1000

// newWalls returns the walls of d, for batches of n points.
func newWalls(d *graph.Density, n int) (*walls, error) {
	local, err := d.Engine().LocalJumps()
	if err != nil {
		return nil, err
	}
	w := &walls{jumps: local.Bind(), arr: d.Arrangement(), n: n, hit: make([]bool, n)}
	for l := range w.arr.Len() {
		w.wall, w.latents = append(w.wall, -1), append(w.latents, w.arr.Latents(l))
		if w.arr.Curve(l) == nil && local.Jumps(l) {
			w.wall[l] = len(w.plane)
			w.plane = append(w.plane, l)
			w.forms.Add(w.arr.Plane(l))
			continue
		}
		if !local.Depends(l) {
			continue
		}
		w.others, w.curves = append(w.others, l), append(w.curves, nil)
		if c := w.arr.Curve(l); c != nil {
			w.curves[len(w.curves)-1] = c.Bind(n)
		}
	}
	k := len(w.plane)
	w.phi, w.slope = make([]float64, k*n), make([]float64, k*n)
	w.value, w.speed, w.side = make([]float64, k), make([]float64, k), make([]float64, k)
	w.shift, w.point = make([]float64, d.Dim()), make([]float64, d.Dim())
	return w, nil
}

// A mass is what walls need of the covariance C of velocities.
type mass struct {
	reach [][]float64 // C·a, by wall
	meet  [][]float64 // a_k·C·a_l
}

func (w *walls) newMass(c *linear) *mass {
	m, dim := &mass{}, len(w.point)
	a, room := make([]float64, dim), make([]float64, dim)
	for l := range w.plane {
		clear(a)
		for e := w.forms.From[l]; e < w.forms.From[l+1]; e++ {
			a[w.forms.Index[e]] = w.forms.Coef[e]
		}
		reach, meet := make([]float64, dim), make([]float64, len(w.plane))
		c.apply(reach, a, room, 1)
		for k := range meet {
			for e := w.forms.From[k]; e < w.forms.From[k+1]; e++ {
				meet[k] += w.forms.Coef[e] * reach[w.forms.Index[e]]
			}
		}
		m.reach, m.meet = append(m.reach, reach), append(m.meet, meet)
	}
	return m
}

// begin starts trajectories at z.
func (w *walls) begin(z []float64) { w.forms.AtBatch(w.phi, z, w.n) }

// drift moves z along v for a time, through the walls, with the momenta p and the signs of all
// planes, where the distribution is that of at.
func (w *walls) drift(z, p, v, signs []float64, time float64, at *path) {
	n := w.n
	w.forms.AtBatch(w.slope, v, n)
	for k, l := range w.plane {
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
	for k, l := range w.plane {
		w.value[k], w.speed[k], w.side[k] = w.phi[k*n+i], w.slope[k*n+i], 2*signs[l*n+i]-1
	}
	w.time, w.events = 0, w.events[:0]
	for l, after := w.next(time); l >= 0; l, after = w.next(time - w.time) {
		w.time += after
		vec.AddScaled(w.value, after, w.speed)
		w.value[l] = 0
		s, q := w.speed[l], w.meet[l][l]
		to := -s
		if rest := s*s + 2*q*w.rise(l, at); rest > 0 {
			to = math.Copysign(math.Sqrt(rest), s)
			w.side[l] = -w.side[l]
			signs[w.plane[l]*n+i] = 1 - signs[w.plane[l]*n+i]
			w.crossings++
		}
		gain := (to - s) / q
		vec.AddScaled(w.speed, gain, w.meet[l])
		w.speed[l] = to
		for e := w.forms.From[l]; e < w.forms.From[l+1]; e++ {
			p[int(w.forms.Index[e])*n+i] += gain * w.forms.Coef[e]
		}
		if w.events = append(w.events, event{l, w.time, gain}); len(w.events) > mostEvents {
			p[i] = math.NaN()
			break
		}
	}
	for k := range w.plane {
		w.phi[k*n+i], w.slope[k*n+i] = w.value[k]+(time-w.time)*w.speed[k], 0
	}
	clear(w.shift)
	for _, e := range w.events {
		vec.AddScaled(w.shift, e.gain*(time-e.time), w.reach[e.wall])
	}
	for r, x := range w.shift {
		w.z[r*n+i] += x
	}
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
	return wall, after
}

// Latent is a latent of the column now; see derive.Point.
func (w *walls) Latent(i int) float64 {
	at := i*w.n + w.column
	x := w.z[at] + w.time*w.v[at]
	for _, e := range w.events {
		x += e.gain * (w.time - e.time) * w.reach[e.wall][i]
	}
	return x
}

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
