// Package newton climbs to maxima by Newton's method, many side by side.
package newton

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
)

// How climbs go.
const (
	Damping  = 1e-3 // of the first step after one that failed, in units of the prior's precision
	Interval = 1e-4 // of differences of gradients, in standard deviations
	Gain     = 1e-5 // nats that are worth another step

	leastDamping = Damping / 10
	mostDamping  = 1e12
	few          = 16   // numbers of which a sum takes less time than a call
	rounding     = 1e-3 // nats that a step that failed was to gain, below which rounding, or an edge, is in the way
)

// A Climb goes to a maximum of a function by Newton's method, damped as that of Levenberg and Marquardt. Its coordinates u are latents in
// units of the prior's scale. Its owner computes the function and its derivatives at Trial and calls Advance, until State is Arrived or
// Failed. So many climbs can go side by side.
type Climb struct {
	U, Trial    []float64 // where it is, and where it looks next: when it has arrived, the maximum
	G, NextG    []float64 // gradients at U and Trial
	H, NextH    []float64 // minus the Hessians there, n × n
	Root, Step  []float64 // the Cholesky factor of H with damping, lower triangular, and the Newton step from U
	Width       []float64 // of differences at Trial
	Apart       float64   // of it, in standard deviations
	Value, Gain float64   // the function at U, and what the step to Trial should add
	Damping     float64
	Tries       int
	State       State
}

// A State is that of a Climb.
type State uint8

// A Climb has begun before the first value is known.
const (
	Begun State = iota
	Climbing
	Arrived
	Failed
)

// New returns a climb in n coordinates whose differences are so many standard deviations wide.
func New(n int, apart float64) Climb {
	v := make([]float64, 6*n+3*n*n)
	vector := func(n int) (w []float64) {
		w, v = v[:n:n], v[n:]
		return w
	}
	return Climb{
		U: vector(n), Trial: vector(n), G: vector(n), NextG: vector(n), Step: vector(n), Width: vector(n),
		H: vector(n * n), NextH: vector(n * n), Root: vector(n * n), Apart: apart,
	}
}

// Begin begins at Trial.
func (c *Climb) Begin() {
	c.State, c.Value, c.Damping, c.Tries = Begun, math.Inf(-1), 0, 0
	for i := range c.Width {
		c.Width[i] = c.Apart
	}
}

// Advance decides where to look next, given the function at Trial, and NextG and NextH.
func (c *Climb) Advance(value float64) {
	c.Tries++
	switch {
	case value >= c.Value && finite(value) && allFinite(c.NextG) && allFinite(c.NextH):
		c.Accept(value)
		if c.Solve(0) && c.Gain < Gain {
			c.Look(Arrived)
			return
		}
	case c.State == Begun:
		c.State = Failed
		return
	case c.Gain < rounding:
		c.Settle()
		return
	default:
		c.Damping = max(Damping, 10*c.Damping)
	}
	for !c.Solve(c.Damping) {
		if c.Damping = max(Damping, 10*c.Damping); c.Damping > mostDamping {
			c.State = Failed
			return
		}
	}
	c.Look(Climbing)
}

// Accept goes to Trial.
func (c *Climb) Accept(value float64) {
	c.U, c.Trial, c.G, c.NextG, c.H, c.NextH = c.Trial, c.U, c.NextG, c.G, c.NextH, c.H
	c.Value = value
	if c.Damping /= 10; c.Damping < leastDamping {
		c.Damping = 0
	}
	for i, n := 0, len(c.U); i < n; i++ {
		c.Width[i] = c.Apart / math.Sqrt(max(1, c.H[i*n+i]))
	}
}

// Look puts Trial where the step goes.
func (c *Climb) Look(state State) {
	for i, s := range c.Step {
		c.Trial[i] = c.U[i] + s
	}
	c.State = state
}

// Settle ends the climb at U.
func (c *Climb) Settle() {
	if c.State = Failed; c.Solve(0) {
		copy(c.Trial, c.U)
		c.Gain, c.State = 0, Arrived
	}
}

// Shorten makes the step to Trial a part of what it is. Where that gains next to nothing, the climb has Arrived.
func (c *Climb) Shorten(part float64) {
	c.Gain *= part * (2 - part)
	for i, s := range c.Step {
		c.Trial[i] = c.U[i] + part*s
	}
	if c.Gain < Gain {
		c.State = Arrived
	}
}

// Solve finds the Newton step and its gain. It reports false where the damping does not make H positive definite.
func (c *Climb) Solve(damping float64) bool {
	if !Cholesky(c.Root, c.H, len(c.U), damping) {
		return false
	}
	c.Gain = Step(c.Step, c.Root, c.G)
	return true
}

// LogNormal is the log of the integral, over u, of the normal that the function is like at its maximum.
func (c *Climb) LogNormal() (log float64) {
	n := len(c.U)
	log = c.Value + c.Gain + 0.5*float64(n)*math.Log(2*math.Pi)
	for i := range n {
		log -= math.Log(c.Root[i*n+i])
	}
	return log
}

// Put fills 2n + 1 columns of x from first on with Trial, and points beside it in each coordinate, which is a latent by its scale.
func (c *Climb) Put(x *graph.Executor, first int, latents []int, scale []float64) {
	for k, i := range latents {
		row := x.Z[i*x.N+first:][:2*len(latents)+1]
		for e := range row {
			row[e] = c.Trial[k] * scale[k]
		}
		row[1+2*k] = (c.Trial[k] + c.Width[k]) * scale[k]
		row[2+2*k] = (c.Trial[k] - c.Width[k]) * scale[k]
	}
}

// Read finds NextG and NextH from the gradients in the columns that put has filled.
func (c *Climb) Read(x *graph.Executor, first int, latents []int, scale []float64) {
	n := len(latents)
	at := func(i, column int) float64 { return x.Grad[latents[i]*x.N+first+column] * scale[i] }
	for i := range n {
		c.NextG[i] = at(i, 0)
		for j := range i + 1 {
			ij := (at(i, 2*j+2) - at(i, 2*j+1)) / (2 * c.Width[j])
			ji := (at(j, 2*i+2) - at(j, 2*i+1)) / (2 * c.Width[i])
			c.NextH[i*n+j] = (ij + ji) / 2
			c.NextH[j*n+i] = c.NextH[i*n+j]
		}
	}
}

// Step writes the Newton step to step, given the factor of minus the Hessian and the gradient, and returns what it gains.
func Step(step, root, g []float64) (gain float64) {
	copy(step, g)
	SolveLower(root, step, len(g))
	SolveUpper(root, step, len(g))
	for i, s := range step {
		gain += s * g[i] / 2
	}
	return gain
}

// Cholesky writes the lower factor of h + damping·max(1, |diagonal|) to l, and reports whether that is
// positive definite.
func Cholesky(l, h []float64, n int, damping float64) bool {
	for i := range n {
		for j := range i + 1 {
			v := h[i*n+j]
			if i == j {
				v += damping * max(1, math.Abs(v))
			}
			k := 0
			if j > few {
				v -= floats.Dot(l[i*n:][:j], l[j*n:][:j])
				k = j
			}
			for ; k < j; k++ {
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

// SolveLower solves L·x = b in place.
func SolveLower(l, b []float64, n int) {
	for i := range n {
		for k := range i {
			b[i] -= l[i*n+k] * b[k]
		}
		b[i] /= l[i*n+i]
	}
}

// SolveUpper solves Lᵀ·x = b in place.
func SolveUpper(l, b []float64, n int) {
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
