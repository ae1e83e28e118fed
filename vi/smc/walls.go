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
	jumps    jumper
	constant []float64 // by plane: the jump; NaN where it depends on the point
	*mass

	ends      []float64 // n × stride: for each affine function Φ where a point ends, how fast it changes, and the thresholds below and above; and shift
	row       []float64 // that of the column
	stride    int
	rows      []float64 // n × 2·affine functions, or × latents
	hit       []bool    // by column: it meets a curve
	flight              // of the column that moves
	met       int       // walls,
	crossings int       // and how many were crossed
}

// A jumper is a derive.LocalJump.
type jumper interface {
	At(l int, at derive.Point) float64
	Constant(l int) (v float64, constant bool)
}

// mostEvents is how many walls a point may meet in one step: more are a rejection.
const mostEvents = 1000

// newWalls returns the walls of d, for batches of n points.
func newWalls(d *graph.Density, n int) (*walls, error) {
	local, err := d.Engine().LocalJumps()
	if err != nil {
		return nil, err
	}
	w := &walls{surfaces: newSurfaces(d.Arrangement(), local, n), hit: make([]bool, n)}
	k, dim := len(w.forms.Const), d.Dim()
	w.stride, w.rows = 4*k+w.width, make([]float64, n*max(2*k, dim))
	w.ends = make([]float64, n*w.stride)
	w.flight = newFlight(dim, n)
	w.pays(local.Bind())
	return w, nil
}

// pays says what is paid at walls.
func (w *walls) pays(jumps jumper) {
	w.jumps, w.constant, w.turns = jumps, make([]float64, len(w.wall)), len(w.bends)+len(w.others) > 0
	for l := range w.constant {
		v, constant := jumps.Constant(l)
		if w.constant[l] = v; !constant {
			w.constant[l], w.turns = math.NaN(), true
		}
	}
}

// begin starts trajectories at z, where the signs of all planes are given.
func (w *walls) begin(z, signs []float64) {
	k := len(w.forms.Const)
	w.forms.AtBatch(w.rows[:k*w.n], z, w.n)
	vec.Transpose(w.ends, w.stride, w.rows, k, w.n)
	w.levels.begin(signs)
	for j := range k {
		w.levels.between(w.rows[j*w.n:][:w.n], w.rows[(k+j)*w.n:][:w.n], j)
	}
	vec.Transpose(w.ends[2*k:], w.stride, w.rows, 2*k, w.n)
}

// bound stores the thresholds that the column is between, of an affine function: that with a number and the next one.
func (w *walls) bound(k, below int) {
	n := len(w.forms.Const)
	w.row[2*n+k], w.row[3*n+k] = w.levels.at[below], w.levels.at[below+1]
}

// drift moves z along v for a time, through the walls, with the momenta p and the signs of all
// planes, where the distribution is that of at.
func (w *walls) drift(z, p, v, signs []float64, time float64, at *path) {
	n, k := w.n, len(w.forms.Const)
	w.normals.AtBatch(w.rows[:k*n], v, n)
	vec.Transpose(w.ends[k:], w.stride, w.rows, k, n)
	vec.AddScaled(z, time, v)
	w.z, w.v, w.signs, w.until = z, v, signs, time
	for _, b := range w.bends {
		b.hits(w.hit, &w.flight)
	}
	met := false
	for i := range n {
		if i%8 == 0 && at.stopped() { // for a collision takes as long as its term
			break
		}
		w.start(i)
		w.row = w.ends[w.stride*i:][:w.stride]
		w.shift = w.row[4*k:]
		if first, ago := vec.FirstExit(w.row, w.row[k:2*k], k, time, 0); first >= 0 || w.hit[i] {
			w.collide(first, ago, p, at)
			w.hit[i], met = false, true
		}
	}
	if met {
		vec.Take(z, w.ends[4*k:], w.stride, n, len(w.turn))
	}
	w.side(z, signs)
}

// side writes the signs of all planes that are no walls at the points z.
func (w *walls) side(z, signs []float64) {
	w.z = z
	for k, l := range w.others {
		w.sign(signs[l*w.n:][:w.n], l, w.curves[k])
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

// collide moves the column through its walls. The first of an affine function is one of function k, which it meets a time ago before the end; −1 if there is
// none. With velocity v + gain·C·a from time t on, instead of v, the column gets further by (until − t)·gain·C·a, and the values of Φ by what that is along
// their normals.
func (w *walls) collide(k int, ago float64, p []float64, at *path) {
	n, slope, p := w.n, w.row[len(w.forms.Const):2*len(w.forms.Const)], p[w.column:]
	events := 0
	for {
		t := max(w.time, w.until-ago)
		if len(w.bends) > 0 {
			k, t = w.bent(k, t)
		}
		if k < 0 {
			break
		}
		if events++; events > mostEvents || math.IsNaN(t) {
			p[0] = math.NaN()
			break
		}
		w.time = t
		var to *push
		var s, up float64
		if k < len(slope) {
			to, s, up = &w.pushes[k], slope[k], slope[k]
		} else {
			b := w.bends[k-len(slope)]
			to, s, up = &b.push, b.meet(&w.flight), b.up
			w.aim(to, w.covariance)
		}
		gain := (w.pay(k, up, s, to.q, at) - s) / to.q
		a := to.a[:len(to.latents)]
		for j, i := range to.latents {
			p[int(i)*n] += gain * a[j]
		}
		further := gain * (w.until - w.time)
		if w.turns {
			w.due = append(w.due, pushed{to, gain})
		}
		k, ago = vec.FirstExit(w.row, to.both, len(slope), further, gain)
	}
	w.met += events
	if w.turns && len(w.due) < events { // turn has some of them
		clear(w.turn)
	}
	w.due = w.due[:0]
}

// pay is the speed of function k after the column has met a wall, up or down by the sign of up, with speed s: across, which changes a sign, or
// back.
func (w *walls) pay(k int, up, s, q float64, at *path) (to float64) {
	below, l := w.levels.ahead(w.column, k, up)
	w.last = l
	rise := 0.0 // of log π behind the wall
	if at.beta > 0 {
		jump := w.constant[l]
		if math.IsNaN(jump) {
			jump = w.jumps.At(l, w)
		}
		rise = at.beta * math.Copysign(1, up) * jump
	}
	if at.required != nil {
		here := w.broken(l, at.required)
		w.flip(l)
		there := w.broken(l, at.required)
		w.flip(l)
		if there != here {
			rise -= at.price * (there - here)
		}
	}
	rest := s*s + 2*q*rise
	if !(rest > 0) {
		return -s
	}
	w.flip(l)
	w.levels.put(w.column, k, below)
	if k < len(w.forms.Const) {
		w.bound(k, below)
	}
	w.crossings++
	return math.Copysign(math.Sqrt(rest), s)
}

// flip changes the sign of a plane.
func (w *walls) flip(l int) {
	sign := w.signOf(l)
	*sign = 1 - *sign
}

// broken is how many of the requirements on wall l do not hold.
func (w *walls) broken(l int, required *derive.Requirements) (n float64) {
	for _, k := range required.On(l) {
		if !required.Holds(k, w) {
			n++
		}
	}
	return n
}

// bent is the function of which the column meets a wall first, and when, where that is function k at time t, or none, of those that are affine.
func (w *walls) bent(k int, t float64) (int, float64) {
	for j, b := range w.bends {
		if earlier, meets := b.next(&w.flight, t); meets {
			k, t = len(w.forms.Const)+j, earlier
		}
	}
	return k, t
}

// Latent is a latent of the column now; see derive.Point.
func (w *walls) Latent(i int) float64 {
	w.settle()
	return w.latent(i, w.time)
}

// Positive is a sign at the column now.
func (w *walls) Positive(l int) bool {
	if w.wall[l] {
		return *w.signOf(l) == 1
	}
	for _, i := range w.latents[l] {
		w.point[i] = w.Latent(i)
	}
	return w.arr.At(l, w.point) > 0
}
