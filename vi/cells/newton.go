package cells

import (
	"math"

	"github.com/facetvi/facet/graph"
)

// How climbs go.
const (
	modeDamping  = 1e-3 // of the first step after one that failed, in units of the prior's precision
	leastDamping = modeDamping / 10
	mostDamping  = 1e12
	modeInterval = 1e-4 // of differences of gradients, in standard deviations
	modeGain     = 1e-5 // nats that are worth another step,
	modeRounding = 1e-3 // and that a step that fails is worth where log r's rounding, or an edge of it, is in the way
)

// A climb goes to a maximum of a function by Newton's method, damped as that of Levenberg and Marquardt. Its coordinates u are latents in
// units of the prior's scale. Its owner computes the function and its derivatives at trial and calls advance, until the climb has
// arrived or failed. So many climbs can go side by side.
type climb struct {
	u, trial    []float64 // where it is, and where it looks next: when it has arrived, the maximum
	g, nextG    []float64 // gradients at u and trial
	h, nextH    []float64 // minus the Hessians there, n × n
	root, step  []float64 // the Cholesky factor of h with damping, lower triangular, and the Newton step from u
	width       []float64 // of differences at trial
	apart       float64   // of it, in standard deviations
	value, gain float64   // the function at u, and what the step to trial should add
	damping     float64
	tries       int
	state       climbState
}

type climbState uint8

const (
	begun climbState = iota
	climbing
	arrived
	failed
)

// newClimb returns a climb in n coordinates whose differences are so many standard deviations wide.
func newClimb(n int, apart float64) climb {
	v := make([]float64, 6*n+3*n*n)
	vector := func(n int) (w []float64) {
		w, v = v[:n:n], v[n:]
		return w
	}
	return climb{
		u: vector(n), trial: vector(n), g: vector(n), nextG: vector(n), step: vector(n), width: vector(n),
		h: vector(n * n), nextH: vector(n * n), root: vector(n * n), apart: apart,
	}
}

// begin begins at trial.
func (c *climb) begin() {
	c.state, c.value, c.damping, c.tries = begun, math.Inf(-1), 0, 0
	for i := range c.width {
		c.width[i] = c.apart
	}
}

// advance decides where to look next, given the function at trial, nextG and nextH.
func (c *climb) advance(value float64) {
	c.tries++
	switch {
	case value >= c.value && finite(value) && allFinite(c.nextG) && allFinite(c.nextH):
		c.accept(value)
		if c.solve(0) && c.gain < modeGain {
			c.look(arrived)
			return
		}
	case c.state == begun:
		c.state = failed
		return
	case c.gain < modeRounding:
		c.settle()
		return
	default:
		c.damping = max(modeDamping, 10*c.damping)
	}
	for !c.solve(c.damping) {
		if c.damping = max(modeDamping, 10*c.damping); c.damping > mostDamping {
			c.state = failed
			return
		}
	}
	c.look(climbing)
}

// accept goes to trial.
func (c *climb) accept(value float64) {
	c.u, c.trial, c.g, c.nextG, c.h, c.nextH = c.trial, c.u, c.nextG, c.g, c.nextH, c.h
	c.value = value
	if c.damping /= 10; c.damping < leastDamping {
		c.damping = 0
	}
	for i, n := 0, len(c.u); i < n; i++ {
		c.width[i] = c.apart / math.Sqrt(max(1, c.h[i*n+i]))
	}
}

// look puts trial where the step goes.
func (c *climb) look(state climbState) {
	for i, s := range c.step {
		c.trial[i] = c.u[i] + s
	}
	c.state = state
}

// glance ends a climb if the value at trial is better and nextG says that the next step gains next to nothing, with h as it is.
func (c *climb) glance(value float64) bool {
	if !(value >= c.value) || !finite(value) {
		return false
	}
	gain := newton(c.step, c.root, c.nextG)
	if gain >= modeGain {
		return false
	}
	c.u, c.trial, c.g, c.nextG = c.trial, c.u, c.nextG, c.g
	c.value, c.gain = value, gain
	c.look(arrived)
	return true
}

// settle ends the climb at u.
func (c *climb) settle() {
	if c.state = failed; c.solve(0) {
		copy(c.trial, c.u)
		c.gain, c.state = 0, arrived
	}
}

// shorten makes the step to trial a part of what it is. Where that gains next to nothing, the climb has arrived.
func (c *climb) shorten(part float64) {
	c.gain *= part * (2 - part)
	for i, s := range c.step {
		c.trial[i] = c.u[i] + part*s
	}
	if c.gain < modeGain {
		c.state = arrived
	}
}

// solve finds the Newton step and its gain. It reports false where the damping does not make h positive definite.
func (c *climb) solve(damping float64) bool {
	if !cholesky(c.root, c.h, len(c.u), damping) {
		return false
	}
	c.gain = newton(c.step, c.root, c.g)
	return true
}

// logNormal is the log of the integral, over u, of the normal that the function is like at its maximum.
func (c *climb) logNormal() (log float64) {
	n := len(c.u)
	log = c.value + c.gain + 0.5*float64(n)*math.Log(2*math.Pi)
	for i := range n {
		log -= math.Log(c.root[i*n+i])
	}
	return log
}

// put fills 2n + 1 columns of x from first on with trial, and points beside it in each coordinate, which is a latent by its scale.
func (c *climb) put(x *graph.Executor, first int, latents []int, scale []float64) {
	for k, i := range latents {
		row := x.Z[i*x.N+first:][:2*len(latents)+1]
		for e := range row {
			row[e] = c.trial[k] * scale[k]
		}
		row[1+2*k] = (c.trial[k] + c.width[k]) * scale[k]
		row[2+2*k] = (c.trial[k] - c.width[k]) * scale[k]
	}
}

// read finds nextG and nextH from the gradients in the columns that put has filled.
func (c *climb) read(x *graph.Executor, first int, latents []int, scale []float64) {
	n := len(latents)
	at := func(i, column int) float64 { return x.Grad[latents[i]*x.N+first+column] * scale[i] }
	for i := range n {
		c.nextG[i] = at(i, 0)
		for j := range i + 1 {
			ij := (at(i, 2*j+2) - at(i, 2*j+1)) / (2 * c.width[j])
			ji := (at(j, 2*i+2) - at(j, 2*i+1)) / (2 * c.width[i])
			c.nextH[i*n+j] = (ij + ji) / 2
			c.nextH[j*n+i] = c.nextH[i*n+j]
		}
	}
}

// newton writes the Newton step to step, given the factor of minus the Hessian and the gradient, and returns what it gains.
func newton(step, root, g []float64) (gain float64) {
	copy(step, g)
	solveLower(root, step, len(g))
	solveUpper(root, step, len(g))
	for i, s := range step {
		gain += s * g[i] / 2
	}
	return gain
}

// cholesky writes the lower factor of h + damping·max(1, |diagonal|) to l, and reports whether that is
// positive definite.
func cholesky(l, h []float64, n int, damping float64) bool {
	for i := range n {
		for j := range i + 1 {
			v := h[i*n+j]
			if i == j {
				v += damping * max(1, math.Abs(v))
			}
			for k := range j {
				v -= l[i*n+k] * l[j*n+k]
			}
			if i == j {
				if !(v > 0) || math.IsInf(v, 1) {
					return false
				}
				l[i*n+i] = math.Sqrt(v)
			} else {
				l[i*n+j] = v / l[j*n+j]
			}
		}
	}
	return true
}

// solveLower solves L·x = b in place.
func solveLower(l, b []float64, n int) {
	for i := range n {
		for k := range i {
			b[i] -= l[i*n+k] * b[k]
		}
		b[i] /= l[i*n+i]
	}
}

// solveUpper solves Lᵀ·x = b in place.
func solveUpper(l, b []float64, n int) {
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			b[i] -= l[k*n+i] * b[k]
		}
		b[i] /= l[i*n+i]
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func allFinite(x []float64) bool {
	for _, v := range x {
		if !finite(v) {
			return false
		}
	}
	return true
}
