package cells

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/internal/newton"
	"github.com/facetvi/facet/vi/internal/sumout"
)

// How the mode of a region is looked for.
const (
	modeLatents     = 300 // beyond that, a Hessian costs more than its answer is worth
	modeSteps       = 40  // at most
	modeInside      = 0.9 // how far a step may go towards the region's boundary,
	holding         = 1e9 // and the curvature across it, in units of the largest one, that keeps further steps beside it
	differenceWidth = 0.2 // of differences of values, in standard deviations
	leastCliff      = 3   // nats beyond a guard that a normal keeps clear of
)

// A ModeFinder climbs inside one region, where log r is smooth. At the guards beyond which log r falls
// off a cliff of D nats it meets a barrier: it climbs log r(z) + Σ log |Φ_l(z)|. A
// normal keeps t = √(2·log D) standard deviations clear of a cliff, where q's
// density there times D is about 1. So the precision at the mode has t²/Φ² in the
// direction of Φ: where log r = −z²/2 for z > 0, the normal at 1 with standard
// deviation 1/√(1 + t²), which is the best one. It does not move parameters.
//
// With switches summed out it climbs in the other latents, from values alone: its differences are a part of a standard
// deviation wide, which smooths what is left of jumps. In the precision matrices that it returns parameters and switches
// have the prior's scale.
type ModeFinder struct {
	newton.Climb
	d      *graph.Density
	x      *graph.Executor // 2·len(rest) + 1 samples: the point, and two beside it for each latent; nil if sum is not
	sum    *sumout.Sum     // of switches; nil if there are none
	prober *graph.Executor // of cliffs; nil before the first search
	rest   []int           // latents that move
	still  []int           // with switches summed out: those that guards alone compare, which are as their priors, at their centres
	centre []float64       // of the priors of all latents,
	prior  []float64       // their scales,
	scale  []float64       // and those of rest
	z      []float64
	cliffs []cliff
	walls  []regions.Side
	held   []held
	stiff  float64 // the curvature of held walls
}

// A held wall is one that steps were about to cross, with the curvature across it that keeps them beside it.
type held struct {
	regions.Side
	curvature float64
}

// NewModeFinder returns nil if the density has too many latents that are not summed out.
func NewModeFinder(d *graph.Density, switches []derive.SwitchLatent) (m *ModeFinder, err error) {
	return newModeFinder(d, switches, len(switches) > 0)
}

// newModeFinder lets latents that guards alone compare, stay where they are, if still says so.
func newModeFinder(d *graph.Density, switches []derive.SwitchLatent, still bool) (m *ModeFinder, err error) {
	m = &ModeFinder{d: d, z: make([]float64, d.Dim())}
	m.centre, m.prior = d.PriorStart()
	compared := make([]bool, d.Dim())
	if still {
		compared = d.Engine().Compared()
	}
	for i := d.Params(); i < d.Dim(); i++ {
		switch {
		case sumout.Among(switches, i):
		case compared[i]:
			m.still = append(m.still, i)
		default:
			m.rest, m.scale = append(m.rest, i), append(m.scale, m.prior[i])
		}
	}
	n := len(m.rest)
	if n > modeLatents {
		return nil, nil
	}
	if m.Climb = newton.New(n, newton.Interval); len(switches) > 0 {
		m.Apart = differenceWidth
		m.sum, err = sumout.New(d, switches, min(quick, 1+n+n*n))
		return m, err
	}
	m.x, err = d.Executor(2*n+1, graph.Compute{Out: true, Grad: true, Region: true})
	return m, err
}

// Find moves z to the mode of its region, or as near to it as the boundary lets
// it, and returns the precision matrix there, −∂²log r/∂z², and log r. It returns nil, and
// leaves z where it is, if that is not positive definite.
func (m *ModeFinder) Find(ctx context.Context, z []float64) (precision *mat.SymDense, top float64, err error) {
	signs := m.d.Arrangement().Signs(z)
	if err := m.findCliffs(ctx, z, signs); err != nil {
		return nil, 0, err
	}
	var walls []regions.Side
	for l := range m.d.Arrangement().Len() {
		walls = append(walls, regions.Side{Plane: l, Positive: signs.Positive(l)})
	}
	if err := m.ascend(ctx, z, signs, walls); err != nil || !finite(m.Value) {
		return nil, 0, err
	}
	if m.State == newton.Arrived {
		copy(m.U, m.Trial)
		m.Value += m.Gain
	}
	m.place(m.U)
	for _, c := range m.cliffs {
		h := m.tangent(c.plane)
		phi := h.At(m.z)
		m.Value -= math.Log(math.Abs(phi))
		m.addCurvature(m.H, h, (2*math.Log(c.fall)-1)/(phi*phi))
	}
	if !m.Solve(0) {
		return nil, 0, nil
	}
	copy(z, m.z)
	return m.precision(), m.Value, nil
}

// extend moves z to the mode of what log r with the given signs is everywhere, and
// returns the precision matrix there, nil if there is none, and the log of the
// integral of the normal that is like it there.
func (m *ModeFinder) extend(ctx context.Context, z []float64, signs regions.Signs) (precision *mat.SymDense, top float64, err error) {
	m.cliffs = nil
	for _, i := range m.still {
		z[i] = m.centre[i]
	}
	if err := m.ascend(ctx, z, signs, nil); err != nil || m.State != newton.Arrived {
		return nil, 0, err
	}
	if m.sum != nil { // with the last widths
		value, err := m.expand(signs)
		if err != nil || !finite(value) {
			return nil, 0, err
		}
		if m.Accept(value); !m.Solve(0) {
			return nil, 0, nil
		}
		m.Settle()
	}
	m.place(m.Trial)
	copy(z, m.z)
	return m.precision(), m.logEvidence(), nil
}

// logEvidence is the log of the integral of the normal that log r is like at the mode.
func (m *ModeFinder) logEvidence() float64 {
	log := m.LogNormal()
	for _, s := range m.scale {
		log += math.Log(s)
	}
	for _, i := range m.still {
		log += math.Log(m.prior[i]) + 0.5*math.Log(2*math.Pi)
	}
	return log
}

// place puts z at u.
func (m *ModeFinder) place(u []float64) {
	for k, i := range m.rest {
		m.z[i] = u[k] * m.scale[k]
	}
}

// ascend climbs from z by log r with the given signs, inside walls, and along those that are in the way. These are held in the end, but H is
// that of log r and barriers alone.
func (m *ModeFinder) ascend(ctx context.Context, z []float64, signs regions.Signs, walls []regions.Side) error {
	m.walls, m.held = walls, m.held[:0]
	defer func() {
		m.place(m.U)
		for _, w := range m.held {
			m.addCurvature(m.H, m.tangent(w.Plane), -w.curvature)
		}
	}()
	copy(m.z, z)
	for k, i := range m.rest {
		m.Trial[k] = z[i] / m.scale[k]
	}
	for m.Begin(); m.State < newton.Arrived; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if m.Tries > modeSteps {
			m.Settle()
			break
		}
		value, err := m.expand(signs)
		if err != nil {
			return err
		}
		if m.Advance(value); len(walls) > 0 && m.State != newton.Failed {
			m.slide()
		}
	}
	return nil
}

// slide takes as much of the step to Trial as stays inside the walls. Further steps go along one that was in the way, until they have arrived and
// log r rises away from it.
func (m *ModeFinder) slide() {
	if m.State == newton.Arrived && m.release() {
		if !m.Solve(m.Damping) {
			m.State = newton.Failed
			return
		}
		m.Look(newton.Climbing)
	}
	part, side := m.reach()
	if part == 1 {
		return
	}
	m.Shorten(part)
	if m.hold(side) {
		m.State = newton.Climbing
	}
}

// hold keeps further steps beside a wall. It reports false for one that does that already, for a cliff, whose barrier does it, and for a curve
// that is flat here, as a circle is at its centre.
func (m *ModeFinder) hold(side regions.Side) bool {
	if slices.ContainsFunc(m.held, func(h held) bool { return h.Side == side }) ||
		slices.ContainsFunc(m.cliffs, func(c cliff) bool { return c.plane == side.Plane }) {
		return false
	}
	m.place(m.U)
	n := len(m.rest)
	if len(m.held) == 0 {
		m.stiff = holding
		for k := range n {
			m.stiff = max(m.stiff, holding*math.Abs(m.H[k*n+k]))
		}
	}
	h, square := m.tangent(side.Plane), 0.0
	for k, i := range h.Index {
		if i -= m.d.Params(); i >= 0 {
			square = max(square, h.Coef[k]*h.Coef[k]*m.scale[i]*m.scale[i])
		}
	}
	if square == 0 {
		return false
	}
	m.held = append(m.held, held{side, m.stiff / square})
	m.addCurvature(m.H, h, m.stiff/square)
	return true
}

// release lets go of walls that log r falls towards: there what is left of the step across leads away from them. It reports whether there is one.
func (m *ModeFinder) release() bool {
	m.place(m.U)
	n := len(m.held)
	m.held = slices.DeleteFunc(m.held, func(w held) bool {
		h := m.tangent(w.Plane)
		if across := m.along(h, m.Step); across != 0 && across > 0 != w.Positive {
			return false
		}
		m.addCurvature(m.H, h, -w.curvature)
		return true
	})
	return len(m.held) < n
}

// along is the product of a plane's normal and a vector in u.
func (m *ModeFinder) along(h regions.Hyperplane, v []float64) (sum float64) {
	for k, i := range h.Index {
		if i -= m.d.Params(); i >= 0 {
			sum += h.Coef[k] * m.scale[i] * v[i]
		}
	}
	return sum
}

// expand computes log r and its derivatives at trial.
func (m *ModeFinder) expand(signs regions.Signs) (value float64, err error) {
	m.place(m.Trial)
	if m.sum != nil {
		return m.differences(signs)
	}
	m.x.Spread(m.z)
	m.x.Force(signs)
	m.Put(m.x, 0, m.rest, m.scale)
	if err := m.x.Run(); err != nil {
		return 0, err
	}
	m.Read(m.x, 0, m.rest, m.scale)
	for _, w := range m.held {
		m.addCurvature(m.NextH, m.tangent(w.Plane), w.curvature)
	}
	return m.x.Out[0] + m.addBarrier(), nil
}

// differences computes log r with switches summed out, and its derivatives from values.
func (m *ModeFinder) differences(signs regions.Signs) (value float64, err error) {
	n, w := len(m.rest), m.Width
	points := [][]float64{m.Trial}
	step := func(by float64, at ...int) { // by so many widths
		p := slices.Clone(m.Trial)
		for _, j := range at {
			p[j] += by * w[j]
		}
		points = append(points, p)
	}
	for j := range n {
		step(1, j)
		step(-1, j)
	}
	for j := range n {
		for k := range j {
			step(1, j, k)
			step(-1, j, k)
		}
	}
	v, err := m.values(points, signs)
	if err != nil {
		return 0, err
	}
	value = v[0]
	pair := v[1+2*n:]
	for j := range n {
		up, down := v[1+2*j], v[2+2*j]
		m.NextG[j] = (up - down) / (2 * w[j])
		m.NextH[j*n+j] = (2*value - up - down) / (w[j] * w[j])
		for k := range j {
			both := pair[0] + pair[1] - up - down - v[1+2*k] - v[2+2*k] + 2*value
			m.NextH[j*n+k] = -both / (2 * w[j] * w[k])
			m.NextH[k*n+j] = m.NextH[j*n+k]
			pair = pair[2:]
		}
	}
	return value, nil
}

// values are log r with switches summed out at points, signs forced.
func (m *ModeFinder) values(points [][]float64, signs regions.Signs) (all []float64, err error) {
	n := m.sum.N
	for batch := range slices.Chunk(points, n) {
		m.sum.X.Spread(m.z)
		for c, p := range batch {
			for k, i := range m.rest {
				m.sum.X.Z[i*n+c] = p[k] * m.scale[k]
			}
		}
		if err := m.sum.Run(&signs); err != nil {
			return nil, err
		}
		all = append(all, m.sum.Out[:len(batch)]...)
	}
	return all, nil
}

// tangent is Φ of plane l, or what is like it at z.
func (m *ModeFinder) tangent(l int) regions.Hyperplane {
	arr := m.d.Arrangement()
	if arr.Curve(l) == nil {
		return arr.Plane(l)
	}
	return arr.Tangent(l, m.z)
}

// addBarrier adds the barrier's derivatives at z to those at trial, and returns its value.
func (m *ModeFinder) addBarrier() (value float64) {
	for _, c := range m.cliffs {
		h := m.tangent(c.plane)
		phi := h.At(m.z)
		value += math.Log(math.Abs(phi))
		for k, i := range h.Index {
			if i -= m.d.Params(); i >= 0 {
				m.NextG[i] += h.Coef[k] * m.scale[i] / phi
			}
		}
		m.addCurvature(m.NextH, h, 1/(phi*phi))
	}
	return value
}

// addCurvature adds c·aaᵀ to a negative Hessian, for the normal a of h in u.
func (m *ModeFinder) addCurvature(to []float64, h regions.Hyperplane, c float64) {
	first, n := m.d.Params(), len(m.rest)
	for k, i := range h.Index {
		for l, j := range h.Index {
			if i, j := i-first, j-first; i >= 0 && j >= 0 {
				to[i*n+j] += c * h.Coef[k] * m.scale[i] * h.Coef[l] * m.scale[j]
			}
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
// far as their signs tell at z.
func (m *ModeFinder) findCliffs(ctx context.Context, z []float64, signs regions.Signs) (err error) {
	m.cliffs = m.cliffs[:0]
	planes := m.d.Arrangement().Len()
	if m.prober == nil {
		if m.prober, err = m.d.Executor(min(probes, 1+planes), graph.Compute{Out: true}); err != nil {
			return err
		}
	}
	x := m.prober
	for first := 0; first < planes; first += x.N - 1 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x.Spread(z)
		x.Force(signs)
		n := min(x.N-1, planes-first)
		for k := range n {
			x.Signs[(first+k)*x.N+1+k] = 1 - x.Signs[(first+k)*x.N+1+k]
		}
		if err := x.Run(); err != nil {
			return err
		}
		for k := range n {
			if fall := x.Out[0] - x.Out[1+k]; !(fall < leastCliff) {
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

// edge moves z, which is inside walls, to where log r with the given signs is highest there, and returns the normal that has log r's slope and,
// where that is enough, its curvature: its mean, its precision, and the log of its integral. Mean is nil if there is none.
func (m *ModeFinder) edge(ctx context.Context, z []float64, signs regions.Signs, walls []regions.Side) (mean []float64, precision *mat.SymDense, top float64, err error) {
	m.cliffs = nil
	if err := m.ascend(ctx, z, signs, walls); err != nil || !finite(m.Value) {
		return nil, nil, 0, err
	}
	m.place(m.U)
	copy(z, m.z)
	for added, next := 0.0, newton.Damping; ; added, next = next, 10*next { // where log r is convex across walls
		if m.Solve(0) && 2*m.Gain <= mostSlope*mostSlope {
			m.Look(newton.Arrived)
			m.place(m.Trial)
			return slices.Clone(m.z), m.precision(), m.logEvidence(), nil
		}
		if next > holding || len(m.held) == 0 {
			return nil, nil, 0, nil
		}
		for _, w := range m.held {
			m.addCurvature(m.H, m.tangent(w.Plane), (next-added)*w.curvature/holding)
		}
	}
}

// reach is how much of the step stays inside the walls, and which is in the way of the rest.
func (m *ModeFinder) reach() (most float64, side regions.Side) {
	most = 1.0
	arr := m.d.Arrangement()
	m.place(m.U)
	for _, w := range m.walls {
		h := m.tangent(w.Plane)
		if by := m.along(h, m.Step); w.Positive == (by < 0) && by != 0 {
			if part := max(0, modeInside*-h.At(m.z)/by); part < most {
				most, side = part, w
			}
		}
	}
	for _, w := range m.walls { // a tangent says where a curve is only nearby
		for arr.Curve(w.Plane) != nil && most > 1e-9 {
			for k, i := range m.rest {
				m.z[i] = (m.U[k] + most*m.Step[k]) * m.scale[k]
			}
			if arr.At(w.Plane, m.z) > 0 == w.Positive {
				break
			}
			most, side = most/2, w
		}
	}
	return most, side
}

// precision is −∂²log r/∂z² of all latents: those that do not move have their prior's.
func (m *ModeFinder) precision() *mat.SymDense {
	p, n := mat.NewSymDense(len(m.z), nil), len(m.rest)
	for i, s := range m.prior {
		p.SetSym(i, i, 1/(s*s))
	}
	for j, i := range m.rest {
		for k, l := range m.rest[:j+1] {
			p.SetSym(i, l, m.H[j*n+k]/(m.scale[j]*m.scale[k]))
		}
	}
	return p
}
