package cells

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// How the mode of a region is looked for.
const (
	modeLatents  = 300  // beyond that, a Hessian costs more than its answer is worth
	modeSteps    = 20   // at most
	modeGain     = 1e-3 // nats that are worth another step
	modeRounding = 1e-9 // nats that may be less than log r's rounding error
	modeInside   = 0.9  // how far a step may go towards the region's boundary
	modeDamping  = 1e-3 // of the first step, in units of the prior's precision
	modeInterval = 1e-4 // of central differences, in standard deviations
	leastCliff   = 3    // nats beyond a guard that a normal keeps clear of
)

// A ModeFinder climbs inside one region, where log r is smooth, by Newton's method
// with damping (Levenberg and Marquardt). At the guards beyond which log r falls
// off a cliff of D nats it meets a barrier: it climbs log r(z) + Σ log |Φ_l(z)|. A
// normal keeps t = √(2·log D) standard deviations clear of a cliff, where q's
// density there times D is about 1. So the precision at the mode has t²/Φ² in the
// direction of Φ: where log r = −z²/2 for z > 0, the normal at 1 with standard
// deviation 1/√(1 + t²), which is the best one. Its coordinates are u = z/scale. It
// does not move parameters.
type ModeFinder struct {
	d      *graph.Density
	x      *graph.Executor // 2·Dim + 1 samples: the point, and two beside it for each latent
	scale  []float64       // of the prior
	u      []float64
	g      []float64     // ∂log r/∂u
	neg    *mat.SymDense // −∂²log r/∂u²
	width  []float64     // of the differences
	cliffs []cliff
	walls  bool // climb stays inside the region
}

// NewModeFinder returns nil if the density has too many latents.
func NewModeFinder(d *graph.Density) (*ModeFinder, error) {
	n := d.Dim()
	if n > modeLatents {
		return nil, nil
	}
	x, err := d.Executor(2*n+1, graph.Compute{Out: true, Grad: true})
	if err != nil {
		return nil, err
	}
	m := &ModeFinder{d: d, x: x, neg: mat.NewSymDense(n, nil)}
	_, m.scale = d.PriorStart()
	m.u, m.g, m.width = make([]float64, n), make([]float64, n), make([]float64, n)
	return m, nil
}

// Find moves z to the mode of its region, or as near to it as the boundary lets
// it, and returns the precision matrix there, −∂²log r/∂z², and log r. It returns nil, and
// leaves z where it is, if that is not positive definite.
func (m *ModeFinder) Find(ctx context.Context, z []float64) (precision *mat.SymDense, top float64, err error) {
	signs := m.d.Arrangement().Signs(z)
	m.place(z)
	if err := m.findCliffs(ctx, signs); err != nil {
		return nil, 0, err
	}
	m.walls = true
	value, ok, err := m.climb(ctx, signs)
	if err != nil || !ok {
		return nil, 0, err
	}
	for _, c := range m.cliffs {
		h := m.tangent(c.plane)
		phi := m.phi(h)
		value -= math.Log(math.Abs(phi))
		m.addCurvature(h, (2*math.Log(c.fall)-1)/(phi*phi))
	}
	m.hold()
	return m.precision(z), value, nil
}

// place puts u at z.
func (m *ModeFinder) place(z []float64) {
	for i, s := range m.scale {
		m.u[i], m.width[i] = z[i]/s, modeInterval
	}
}

// extend moves z to the mode of what log r with the given signs is everywhere, and
// returns the precision matrix there, nil if there is none, and the log of the
// integral of the normal that is like it there.
func (m *ModeFinder) extend(ctx context.Context, z []float64, signs regions.Signs) (precision *mat.SymDense, top float64, err error) {
	m.place(z)
	m.cliffs, m.walls = nil, false
	value, ok, err := m.climb(ctx, signs)
	if err != nil || !ok {
		return nil, 0, err
	}
	precision = m.precision(z)
	if precision == nil {
		return nil, 0, nil
	}
	var c mat.Cholesky
	c.Factorize(m.neg)
	top = value + 0.5*(float64(len(z)-m.d.Params())*math.Log(2*math.Pi)-c.LogDet())
	for _, s := range m.scale[m.d.Params():] {
		top += math.Log(s)
	}
	return precision, top, nil
}

// climb moves u uphill.
func (m *ModeFinder) climb(ctx context.Context, signs regions.Signs) (value float64, ok bool, err error) {
	value, err = m.expand(signs)
	if err != nil || !finite(value) {
		return 0, false, err
	}
	damping := modeDamping
	for step := 0; step < modeSteps && damping < 1e12; step++ {
		if ctx.Err() != nil {
			return 0, false, ctx.Err()
		}
		delta, _, ok := m.newton(damping)
		if !ok {
			damping *= 10
			continue
		}
		gain := floats.Dot(m.g, delta) / 2
		if gain < modeRounding {
			break
		}
		if m.walls {
			floats.Scale(m.reach(signs, delta), delta)
		}
		was := append([]float64(nil), m.u...)
		floats.Add(m.u, delta)
		v, err := m.expand(signs)
		switch {
		case err != nil:
			return 0, false, err
		case !(v > value): // further down, or not finite
			copy(m.u, was)
			if _, err := m.expand(signs); err != nil {
				return 0, false, err
			}
			damping *= 10
			if gain < modeGain {
				step = modeSteps
			}
			continue
		}
		improved := v - value
		value, damping = v, damping/10
		if improved < modeGain {
			break
		}
	}
	return value, true, nil
}

// expand computes log r, its gradient and its Hessian at u.
func (m *ModeFinder) expand(signs regions.Signs) (value float64, err error) {
	n, w := len(m.u), m.x.N
	m.x.Spread(m.at(nil, 0))
	m.x.Force(signs)
	for i, u := range m.u {
		row := m.x.Z[i*w:][:w]
		row[2*i+1] = (u + m.width[i]) * m.scale[i]
		row[2*i+2] = (u - m.width[i]) * m.scale[i]
	}
	if err := m.x.Run(); err != nil {
		return 0, err
	}
	at := func(i, k int) float64 { return m.x.Grad[i*w+k] * m.scale[i] }
	for i := range n {
		m.g[i] = at(i, 0)
		for j := range i + 1 {
			ij := (at(i, 2*j+2) - at(i, 2*j+1)) / (2 * m.width[j])
			ji := (at(j, 2*i+2) - at(j, 2*i+1)) / (2 * m.width[i])
			m.neg.SetSym(i, j, (ij+ji)/2)
		}
	}
	value = m.x.Out[0] + m.addBarrier()
	m.hold()
	for i := range n {
		if p := m.neg.At(i, i); p > 1 {
			m.width[i] = modeInterval / math.Sqrt(p)
		}
	}
	return value, nil
}

// hold keeps parameters where they are: their part of −∂²log r/∂u² is the identity.
func (m *ModeFinder) hold() {
	for i := range m.d.Params() {
		m.g[i] = 0
		for j := range m.u {
			m.neg.SetSym(i, j, 0)
		}
		m.neg.SetSym(i, i, 1)
	}
}

// tangent is Φ of plane l, or what is like it at u.
func (m *ModeFinder) tangent(l int) regions.Hyperplane {
	arr := m.d.Arrangement()
	if arr.Curve(l) == nil {
		return arr.Plane(l)
	}
	return arr.Tangent(l, m.at(nil, 0))
}

// at is u + by·step as a point.
func (m *ModeFinder) at(step []float64, by float64) []float64 {
	z := make([]float64, len(m.u))
	for i, u := range m.u {
		if by != 0 {
			u += by * step[i]
		}
		z[i] = u * m.scale[i]
	}
	return z
}

// phi is Φ at u.
func (m *ModeFinder) phi(h regions.Hyperplane) float64 {
	phi := h.Const
	for k, i := range h.Index {
		phi += h.Coef[k] * m.scale[i] * m.u[i]
	}
	return phi
}

// addBarrier adds the barrier's derivatives, and returns its value.
func (m *ModeFinder) addBarrier() (value float64) {
	for _, c := range m.cliffs {
		h := m.tangent(c.plane)
		phi := m.phi(h)
		value += math.Log(math.Abs(phi))
		for k, i := range h.Index {
			m.g[i] += h.Coef[k] * m.scale[i] / phi
		}
		m.addCurvature(h, 1/(phi*phi))
	}
	return value
}

// addCurvature adds c·aaᵀ to −∂²log r/∂u², for the normal a of h in u.
func (m *ModeFinder) addCurvature(h regions.Hyperplane, c float64) {
	for k, i := range h.Index {
		for l, j := range h.Index[:k+1] {
			m.neg.SetSym(i, j, m.neg.At(i, j)+c*h.Coef[k]*m.scale[i]*h.Coef[l]*m.scale[j])
		}
	}
}

// A cliff is a guard beyond which log r is lower by fall, in nats; rounded, for the
// last bits of log r depend on the units of the data.
type cliff struct {
	plane int
	fall  float64
}

// findCliffs lists the guards beyond which log r falls by more than leastCliff, as
// far as their signs tell at u.
func (m *ModeFinder) findCliffs(ctx context.Context, signs regions.Signs) error {
	arr, w := m.d.Arrangement(), m.x.N
	m.cliffs = m.cliffs[:0]
	m.x.Spread(m.at(nil, 0))
	for first := 0; first < arr.Len(); first += w - 1 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		m.x.Force(signs)
		for k := 0; k < w-1 && first+k < arr.Len(); k++ {
			sign := &m.x.Signs[(first+k)*w+1+k]
			*sign = 1 - *sign
		}
		if err := m.x.Run(); err != nil {
			return err
		}
		for k := 0; k < w-1 && first+k < arr.Len(); k++ {
			if fall := m.x.Out[0] - m.x.Out[1+k]; !(fall < leastCliff) {
				m.cliffs = append(m.cliffs, cliff{first + k, rounded(min(fall, mostFall))})
			}
		}
	}
	return nil
}

// mostFall is what an infinite fall counts as: rounded, the largest number would be infinite.
const mostFall = math.MaxFloat64 / 2

// rounded is x to 24 bits.
func rounded(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	return math.Ldexp(math.Round(fraction*(1<<24)), exponent-24)
}

// mostSlope is how many of its standard deviations the mode of a normal that is like log r at an edge may be beyond it. Then its
// density falls all but exponentially.
const mostSlope = 30

// edge moves z, which is in the region, to where log r is highest there, and returns the normal that has log r's slope and, where
// that is enough, its curvature: its mean, its precision, and the log of its integral. Mean is nil if there is none.
func (m *ModeFinder) edge(ctx context.Context, z []float64, signs regions.Signs) (mean []float64, precision *mat.SymDense, top float64, err error) {
	m.place(z)
	m.cliffs, m.walls = nil, true
	value, ok, err := m.climb(ctx, signs)
	if err != nil || !ok {
		return nil, nil, 0, err
	}
	for damping := 0.0; damping < 1e6; damping = max(modeDamping, 10*damping) {
		step, c, ok := m.newton(damping)
		if !ok || floats.Dot(m.g, step) > mostSlope*mostSlope {
			continue
		}
		n := len(z)
		var damped mat.SymDense
		c.ToSym(&damped)
		mean, precision = make([]float64, n), mat.NewSymDense(n, nil)
		top = value + floats.Dot(m.g, step)/2 + 0.5*(float64(n-m.d.Params())*math.Log(2*math.Pi)-c.LogDet())
		for i, s := range m.scale {
			z[i], mean[i] = m.u[i]*s, (m.u[i]+step[i])*s
			if i >= m.d.Params() {
				top += math.Log(s)
			}
			for j := range i + 1 {
				precision.SetSym(i, j, damped.At(i, j)/(s*m.scale[j]))
			}
		}
		return mean, precision, top, nil
	}
	return nil, nil, 0, nil
}

// newton is the damped Newton step, if the damped Hessian is positive definite, and its factorisation.
func (m *ModeFinder) newton(damping float64) (step []float64, c *mat.Cholesky, ok bool) {
	n := len(m.u)
	damped := mat.NewSymDense(n, nil)
	damped.CopySym(m.neg)
	for i := range n {
		p := m.neg.At(i, i)
		if !finite(p) {
			return nil, nil, false
		}
		damped.SetSym(i, i, p+damping*max(1, math.Abs(p)))
	}
	c = new(mat.Cholesky)
	if !c.Factorize(damped) {
		return nil, nil, false
	}
	var v mat.VecDense
	if c.SolveVecTo(&v, mat.NewVecDense(n, m.g)) != nil || floats.HasNaN(v.RawVector().Data) {
		return nil, nil, false
	}
	return v.RawVector().Data, c, true
}

// reach is how much of a step stays inside the region.
func (m *ModeFinder) reach(signs regions.Signs, step []float64) float64 {
	most := 1.0
	arr := m.d.Arrangement()
	for l := range arr.Len() {
		h := m.tangent(l)
		phi, by := m.phi(h), 0.0
		for k, i := range h.Index {
			by += h.Coef[k] * m.scale[i] * step[i]
		}
		if signs.Positive(l) == (by < 0) && by != 0 {
			most = min(most, max(0, modeInside*-phi/by))
		}
	}
	for l := range arr.Len() { // a tangent says where a curve is only nearby
		for arr.Curve(l) != nil && most > 1e-9 && arr.At(l, m.at(step, most)) > 0 != signs.Positive(l) {
			most /= 2
		}
	}
	return most
}

// precision writes the point to z and returns −∂²log r/∂z².
func (m *ModeFinder) precision(z []float64) *mat.SymDense {
	var c mat.Cholesky
	if !c.Factorize(m.neg) {
		return nil
	}
	p := mat.NewSymDense(len(z), nil)
	for i := range z {
		z[i] = m.u[i] * m.scale[i]
		for j := range i + 1 {
			p.SetSym(i, j, m.neg.At(i, j)/(m.scale[i]*m.scale[j]))
		}
	}
	return p
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
