package vi

import "math"

// Adam is the optimiser of Kingma and Ba (ICLR 2015), as an ascent. Its fields
// are its whole state: save them, and a run goes on bit for bit. The zero value
// of every field works; a zero Beta1, Beta2 or Epsilon means 0.9, 0.999, 1e-8.
type Adam struct {
	StepSize              float64 // 0.001 if 0
	Beta1, Beta2, Epsilon float64
	T                     int       // steps taken
	M, V                  []float64 // running means of the gradient and its square
}

// Step moves theta uphill along the gradient g, in place. It panics unless g
// has the length of theta.
func (a *Adam) Step(theta, g []float64) {
	if len(g) != len(theta) {
		panic("vi: gradient and parameters of different length")
	}
	if a.M == nil {
		a.M, a.V = make([]float64, len(theta)), make([]float64, len(theta))
	}
	b1, b2 := orDefault(a.Beta1, 0.9), orDefault(a.Beta2, 0.999)
	eps := orDefault(a.Epsilon, 1e-8)
	a.T++
	rate := orDefault(a.StepSize, 0.001) / (1 - power(b1, a.T))
	unbias := 1 / math.Sqrt(1-power(b2, a.T))
	m, v := a.M[:len(g)], a.V[:len(g)]
	for i, x := range g {
		m[i] = b1*m[i] + (1-b1)*x
		v[i] = b2*v[i] + (1-b2)*x*x
		theta[i] += rate * m[i] / (math.Sqrt(v[i])*unbias + eps)
	}
}

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
	c.M, c.V = append([]float64(nil), a.M...), append([]float64(nil), a.V...)
	return &c
}

func orDefault(x, d float64) float64 {
	if x == 0 {
		return d
	}
	return x
}
