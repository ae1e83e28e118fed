package climb

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/vi/mc"
)

// Adam is the optimiser of Kingma and Ba (ICLR 2015), as an ascent, with their β and ε. Its fields
// are its whole state: save them, and a run goes on bit for bit.
type Adam struct {
	StepSize float64
	T        int        // steps taken
	M, V     mc.Numbers // running means of the gradient and its square
	// Clip, if not 0, cuts a gradient to Clip times the root of its running mean
	// square: one sample beside a cliff would be remembered for a thousand steps.
	Clip float64 `json:",omitempty"`
}

// Step moves theta uphill along the gradient g, in place. It panics unless g
// has the length of theta.
func (a *Adam) Step(theta, g []float64) {
	step := make([]float64, len(g))
	a.Direction(step, g)
	floats.Add(theta, step)
}

// The limits of a gradient's size: beyond largest its square would overflow, and
// where its running mean has fallen below forgotten times the root of the running
// mean square, the latter is of a past that would freeze the parameter.
const (
	largest   = 1e150
	forgotten = 1e-12
	clipFrom  = 10 // steps until a mean square says something
)

// β₁, β₂ and ε.
const (
	beta1   float64 = 0.9
	beta2   float64 = 0.999
	epsilon float64 = 1e-8
)

// Direction writes the step that follows the gradient g to step. A parameter
// whose gradient falls by twelve orders of magnitude, as beside a hard constraint,
// starts its running means afresh. It panics unless step has the length of g.
func (a *Adam) Direction(step, g []float64) {
	if len(g) != len(step) {
		panic("vi: gradient and step of different length")
	}
	if a.M == nil {
		a.M, a.V = make([]float64, len(g)), make([]float64, len(g))
	}
	a.T++
	left1, left2 := 1-power(beta1, a.T), 1-power(beta2, a.T)
	rate, unbias := a.StepSize/left1, 1/math.Sqrt(left2)
	most := math.Inf(1)
	if a.Clip > 0 {
		most = a.Clip * a.Clip / left2
	}
	m, v, step := a.M[:len(g)], a.V[:len(g)], step[:len(g)]
	for i, x := range g {
		if a.T > clipFrom && x*x > most*v[i] {
			x = math.Copysign(math.Sqrt(most*v[i]), x)
		}
		if x > largest || x < -largest {
			x = math.Copysign(largest, x)
		}
		m[i] = beta1*m[i] + (1-beta1)*x
		v[i] = beta2*v[i] + (1-beta2)*x*x
		if m[i]*m[i] < forgotten*forgotten*v[i] {
			m[i], v[i] = left1*x, left2*x*x
		}
		step[i] = rate * m[i] / (math.Sqrt(v[i])*unbias + epsilon)
	}
}

// forget makes the next gradient of parameter k start its running means afresh.
func (a *Adam) forget(k int) { a.M[k], a.V[k] = 0, math.MaxFloat64 }

// isSlow reports whether the steps of parameter k are below the given part of the step size.
func (a *Adam) isSlow(k int, part float64) bool { return math.Abs(a.M[k]) < part*math.Sqrt(a.V[k]) }

// power is xⁿ for 0 ≤ x < 1, by repeated squaring, or 0 where that is below
// 1e-30: there 1 − xⁿ is 1.
func power(x float64, n int) float64 {
	if float64(n)*(1-x) > 70 { // xⁿ ≤ exp(−n(1 − x))
		return 0
	}
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y *= x
		}
		x *= x
	}
	return y
}

// Clone is a copy that shares nothing.
func (a *Adam) Clone() *Adam {
	c := *a
	c.M, c.V = slices.Clone(a.M), slices.Clone(a.V)
	return &c
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
