package climb

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/vi/mc"
)

// Adam is the optimiser of Kingma and Ba (ICLR 2015), as an ascent. Its fields
// are its whole state: save them, and a run goes on bit for bit. The zero value
// of every field works; a zero Beta1, Beta2 or Epsilon means 0.9, 0.999, 1e-8.
type Adam struct {
	StepSize              float64 // 0.001 if 0
	Beta1, Beta2, Epsilon float64
	T                     int        // steps taken
	M, V                  mc.Numbers // running means of the gradient and its square
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
	b1, b2 := orDefault(a.Beta1, 0.9), orDefault(a.Beta2, 0.999)
	eps := orDefault(a.Epsilon, 1e-8)
	a.T++
	left1, left2 := 1-power(b1, a.T), 1-power(b2, a.T)
	rate, unbias := orDefault(a.StepSize, 0.001)/left1, 1/math.Sqrt(left2)
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
		m[i] = b1*m[i] + (1-b1)*x
		v[i] = b2*v[i] + (1-b2)*x*x
		if m[i]*m[i] < forgotten*forgotten*v[i] {
			m[i], v[i] = left1*x, left2*x*x
		}
		step[i] = rate * m[i] / (math.Sqrt(v[i])*unbias + eps)
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

// check reports an optimiser that cannot step n parameters.
func (a *Adam) check(n int) error {
	for _, c := range []struct {
		name string
		x    float64
		ok   bool
	}{
		{"StepSize", a.StepSize, a.StepSize >= 0 && finite(a.StepSize)},
		{"Beta1", a.Beta1, a.Beta1 >= 0 && a.Beta1 < 1},
		{"Beta2", a.Beta2, a.Beta2 >= 0 && a.Beta2 < 1},
		{"Epsilon", a.Epsilon, a.Epsilon >= 0 && finite(a.Epsilon)},
		{"Clip", a.Clip, a.Clip >= 0 && finite(a.Clip)},
	} {
		if !c.ok {
			return fmt.Errorf("Climb.Optimizer.%s = %v is out of range", c.name, c.x)
		}
	}
	switch {
	case a.T < 0:
		return fmt.Errorf("Climb.Optimizer.T = %d must not be negative", a.T)
	case (a.M != nil || a.V != nil) && (len(a.M) != n || len(a.V) != n):
		return fmt.Errorf("Climb.Optimizer is of another fit: it has %d and %d running means for %d parameters", len(a.M), len(a.V), n)
	}
	for i := range a.M {
		if !finite(a.M[i]) || !(a.V[i] >= 0) {
			return fmt.Errorf("Climb.Optimizer: running means %v and %v of parameter %d", a.M[i], a.V[i], i)
		}
	}
	return nil
}

func orDefault(x, d float64) float64 {
	if x == 0 {
		return d
	}
	return x
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
