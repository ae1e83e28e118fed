package smc

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/internal/residuals"
	"github.com/facetvi/facet/internal/vec"
)

// A mover moves blocks of n points. It is for one goroutine.
type mover struct {
	*path
	*metric   // of the island
	n         int
	ex        *graph.Executor // ∇ log r, and where a trajectory may end log r
	to        candidates
	res       renewal
	walls     *walls
	distances *derive.Distances // or nil
	was       []float64         // what they were

	p, v, room, away, pull []float64 // latents × n; pull is ∇ log q0, or ∇ log π in the coordinates of trajectories
	w, factors             []float64 // these coordinates, and their factors
	energy, gain, tmp      []float64 // by column
	gradients              int       // of one point each
	complete               completion
}

// Candidates are the points of value, to which a move may go: log r is its output.
type candidates struct {
	value  *graph.Executor
	logQ   []float64
	broken []float64 // how many requirements do not hold
	column column
}

// A renewal is what moves of residuals are made with, and relocations.
type renewal struct {
	*residuals.Batch
	which []int     // latent, by column
	other []float64 // residuals of states
	relocated
}

// A completion draws what is summed out.
type completion struct {
	Completer           // or nil
	u         []float64 // its uniform numbers
}

func newMover(d *graph.Density, shared *path, n int, complete func(n int) Completer) (*mover, error) {
	m := &mover{path: shared, metric: shared.metrics[0], n: n, res: renewal{relocated: newRelocated(shared.relocations)}}
	var err error
	if m.ex, err = d.Executor(n, graph.Compute{Out: true, Grad: true}); err != nil {
		return nil, err
	}
	if m.to.value, err = d.Executor(n, graph.Compute{Out: true}); err != nil {
		return nil, err
	}
	if m.res.Batch, err = d.Residuals(n); err != nil {
		return nil, err
	}
	if m.walls, err = newWalls(d, n); err != nil {
		return nil, err
	}
	if len(shared.rescaling.List) > 0 {
		if m.distances, err = shared.rescaling.Bind(d.Engine(), n); err != nil {
			return nil, err
		}
	}
	m.res.which = make([]int, n)
	for _, x := range []*[]float64{&m.p, &m.v, &m.room, &m.away, &m.pull, &m.w, &m.factors, &m.res.other} {
		*x = make([]float64, d.Dim()*n)
	}
	for _, x := range []*[]float64{&m.energy, &m.gain, &m.tmp, &m.to.logQ, &m.to.broken} {
		*x = make([]float64, n)
	}
	if complete != nil {
		m.complete.Completer = complete(n)
		m.complete.u = make([]float64, n*m.complete.Uniforms())
	}
	return m, nil
}

// evaluate computes log r and log q0 of s from its points.
func (m *mover) evaluate(s *states) error {
	copy(m.to.value.Z, s.z)
	m.walls.arr.SignBatch(m.to.value.Signs, m.to.value.Z, m.n)
	if err := m.to.value.Run(); err != nil {
		return err
	}
	copy(s.logR, m.to.value.Out)
	m.toStart(s.logQ, s.z)
	m.to.count(s.broken, m.path)
	return nil
}

// draw fills s with draws from q0.
func (m *mover) draw(s *states, root *linear, rng *rand.Rand) error {
	for i := 0; i < len(m.p); i += m.n {
		parallel.Normals(m.p[i:][:m.n], rng)
	}
	root.apply(s.z, m.p, m.room, m.n)
	if m.start.scales != nil {
		m.start.scale(m.p, s.z, m.tmp)
		root.apply(s.z, m.p, m.room, m.n)
	}
	for i, mean := range m.start.mean {
		row := s.z[i*m.n:][:m.n]
		vec.Affine(row, row, 1, mean)
	}
	return m.evaluate(s)
}

// toStart computes log q0 at z, and its gradient in pull. It uses v.
func (m *mover) toStart(logQ, z []float64) {
	n := m.n
	for i, mean := range m.start.mean {
		vec.Affine(m.away[i*n:][:n], z[i*n:][:n], -1, mean)
	}
	vec.Fill(logQ, m.start.constant)
	if m.start.scales != nil {
		m.start.slope(logQ, m.pull, m.away, m.room, m.v, m.tmp)
		return
	}
	m.start.precision.apply(m.pull, m.away, m.room, n)
	m.addDots(logQ, -0.5, m.away, m.pull)
}

// addDots adds a multiple of the products of the columns of x and y to dst.
func (m *mover) addDots(dst []float64, a float64, x, y []float64) {
	for i := 0; i < len(x); i += m.n {
		vec.Mul(m.tmp, x[i:][:m.n], y[i:][:m.n])
		vec.AddScaled(dst, a, m.tmp)
	}
}

// count counts the requirements that do not hold, and while it is a path to where they hold adds how far from that the points are.
func (c *candidates) count(broken []float64, p *path) {
	if p.required == nil {
		return
	}
	c.column.candidates, c.column.n, c.column.guide = c, len(broken), p.guide
	for i := range broken {
		c.column.i, broken[i] = i, 0
		c.column.known = false
		for k := range p.required.Len() {
			if !p.required.Holds(k, &c.column) {
				if broken[i]++; p.guide != nil {
					broken[i] += p.required.Away(k, &c.column)
				}
			}
		}
	}
}

// A column is one of the points of a batch.
type column struct {
	*candidates
	*guide
	n, i  int
	point []float64
	known bool // point
}

// Positive is the sign of plane l.
func (c *column) Positive(l int) bool { return c.value.Signs[l*c.n+c.i] == 1 }

// Away is the distance from plane l.
func (c *column) Away(l int) float64 {
	if !c.known {
		c.point, c.known = c.point[:0], true
		for at := c.i; at < len(c.value.Z); at += c.n {
			c.point = append(c.point, c.value.Z[at])
		}
	}
	return c.guide.away(l, c.point)
}

// accept moves column i of s to that of value with probability min(1, exp(gain_i)), and returns its mean.
func (c *candidates) accept(s *states, gains []float64, rng *rand.Rand) (accepted float64) {
	for i, gain := range gains {
		if gain >= 0 || rng.Float64() < math.Exp(gain) {
			for at := i; at < len(s.z); at += len(gains) {
				s.z[at] = c.value.Z[at]
			}
			s.logR[i], s.logQ[i], s.broken[i] = c.value.Out[i], c.logQ[i], c.broken[i]
		}
		if gain > -700 {
			accepted += min(1, math.Exp(gain))
		}
	}
	return accepted / float64(len(gains))
}

const (
	mostSteps   = 64
	trajectory  = math.Pi / 2 // its mean length, in units of the mass
	rescaled    = 1.5         // the sd of the logarithm by which a scale of one latent is multiplied
	fewRescaled = 16          // latents that move with a scale: with few observations it may have a neck
)

// hamiltonian moves the points of s along trajectories of random length, and returns the mean probability of acceptance. Where their ways were half
// done they may end, too: half, if not nil, becomes where the points of s are then, which have the same distribution.
func (m *mover) hamiltonian(s, half *states, rng *rand.Rand) (accepted float64, err error) {
	n, x := m.n, m.ex
	step := m.step * (0.8 + 0.4*rng.Float64())
	steps := int(min(max(1, math.Round(2*trajectory*m.long*rng.Float64()/step)), mostSteps))
	copy(x.Z, s.z)
	m.walls.arr.SignBatch(x.Signs, x.Z, n)
	if m.coordinates != nil {
		m.coordinates.toW(m.w, x.Z, m.factors, n)
	}
	if half != nil {
		half.set(s)
	}
	if err := m.force(false); err != nil {
		return 0, err
	}
	for i := 0; i < len(m.v); i += n {
		parallel.Normals(m.v[i:][:n], rng)
	}
	clear(m.energy)
	m.addDots(m.energy, 0.5, m.v, m.v)
	for i := range m.energy {
		m.energy[i] -= m.logPath(s.logR[i], m.to.logQ[i], s.broken[i])
	}
	m.addVolume(m.energy, -1)
	m.root.apply(m.p, m.v, m.room, n)
	m.walls.mass = m.mass
	m.walls.begin(x.Z, x.Signs)
	m.kick(step / 2)
	for k := range steps {
		m.covariance.apply(m.v, m.p, m.room, n)
		m.drift(step)
		if m.stopped() {
			return 0, nil
		}
		last, halfway := k == steps-1, half != nil && k == steps/2-1
		if err := m.force(last || halfway); err != nil {
			return 0, err
		}
		if !last && !halfway {
			m.kick(step)
			continue
		}
		if m.kick(step / 2); halfway {
			m.arrive(half, rng)
			m.kick(step / 2)
		}
	}
	m.gradients += n * (steps + 1)
	return m.arrive(s, rng), nil
}

// arrive moves the points of s, where the trajectories began, to where these are now or not, and returns the mean probability of it.
func (m *mover) arrive(s *states, rng *rand.Rand) (accepted float64) {
	m.covariance.apply(m.v, m.p, m.room, m.n)
	copy(m.gain, m.energy)
	m.addDots(m.gain, -0.5, m.p, m.v)
	was := m.to.value
	m.to.value = m.ex
	m.to.count(m.to.broken, m.path)
	for i := range m.gain {
		m.gain[i] += m.logPath(m.to.value.Out[i], m.to.logQ[i], m.to.broken[i])
	}
	m.addVolume(m.gain, 1)
	accepted = m.to.accept(s, m.gain, rng)
	m.to.value = was
	return accepted
}

// drift moves the points along their velocities for a time.
func (m *mover) drift(time float64) {
	if m.coordinates == nil {
		m.walls.drift(m.ex.Z, m.p, m.v, m.ex.Signs, time, m.path)
		return
	}
	vec.AddScaled(m.w, time, m.v)
	m.coordinates.toZ(m.ex.Z, m.w, m.factors, m.n)
	m.walls.side(m.ex.Z, m.ex.Signs)
}

// addVolume adds a multiple of the logarithm of how volumes grow from the coordinates of trajectories to the program's.
func (m *mover) addVolume(dst []float64, a float64) {
	if m.coordinates != nil {
		m.coordinates.addVolume(dst, a, m.ex.Z, m.n)
	}
}

// force computes the gradients of log r and log q0, log q0, and log r itself or not; in other coordinates than the program's, the gradient of log π in them.
func (m *mover) force(value bool) error {
	err := m.gradient(value)
	if m.coordinates != nil {
		m.pathGradient()
		m.coordinates.pull(m.pull, m.w, m.factors, m.room, m.away, m.n)
	}
	return err
}

func (m *mover) gradient(value bool) error {
	if m.beta < 1 {
		m.toStart(m.to.logQ, m.ex.Z)
	}
	if value {
		return m.ex.Run()
	}
	return m.ex.RunGrad()
}

// pathGradient makes m.pull the gradient of log π.
func (m *mover) pathGradient() {
	if m.beta == 1 {
		copy(m.pull, m.ex.Grad)
		return
	}
	vec.Affine(m.pull, m.pull, 1-m.beta, 0)
	vec.AddScaled(m.pull, m.beta, m.ex.Grad)
}

// gradientsAt computes the gradients of log π at points.
func (m *mover) gradientsAt(p *weighed) error {
	copy(m.ex.Z, p.z)
	m.walls.arr.SignBatch(m.ex.Signs, m.ex.Z, m.n)
	err := m.gradient(false)
	m.pathGradient()
	p.grad = slices.Clone(m.pull)
	m.gradients += m.n
	return err
}

// kick moves the momenta for a time.
func (m *mover) kick(time float64) {
	if m.coordinates != nil {
		vec.AddScaled(m.p, time, m.pull)
		return
	}
	if m.beta > 0 {
		vec.AddScaled(m.p, time*m.beta, m.ex.Grad)
	}
	if m.beta < 1 {
		vec.AddScaled(m.p, time*(1-m.beta), m.pull)
	}
}

// jump proposes a point of q for each of s, and returns the mean probability of acceptance.
func (m *mover) jump(s *states, q Proposal, rng *rand.Rand) (accepted float64, err error) {
	q.LogProbs(m.energy, s.z)
	z := make([]float64, len(m.start.mean))
	for c := range m.n {
		m.put(z, s.z, c)
		q.Rand(z, rng)
		for i, x := range z {
			m.to.value.Z[i*m.n+c] = x
		}
	}
	q.LogProbs(m.tmp, m.to.value.Z)
	vec.AddScaled(m.energy, -1, m.tmp)
	return m.settle(s, rng)
}

// relocate relocates values of each vector so many times, and returns the mean probability that one is accepted.
func (m *mover) relocate(s *states, times int, rng *rand.Rand) (accepted float64, err error) {
	for _, g := range m.relocations {
		for range times {
			copy(m.to.value.Z, s.z)
			for c := range m.n {
				m.energy[c] = m.res.move(g, m.to.value.Z[c:], m.n, rng)
			}
			a, err := m.settle(s, rng)
			if err != nil {
				return 0, err
			}
			accepted += a / float64(times*len(m.relocations))
		}
	}
	return accepted, nil
}

// rescale proposes for each point of s one where a positive latent is multiplied, and others move with it; see [derive.Scale]. So a scale goes into the
// neck of a funnel, and out of it, at once: that of noise that is not centred, and that of observations which have a latent each. m.energy are the
// logarithms of how volumes grow.
func (m *mover) rescale(s *states, rng *rand.Rand) error {
	z, x, n := m.to.value.Z, m.distances.X, m.n
	copy(z, s.z)
	copy(x.Z, s.z)
	m.walls.arr.SignBatch(x.Signs, x.Z, n)
	if err := x.Run(); err != nil {
		return err
	}
	was := x.Out
	if m.rescaling.Several {
		was = append(m.was[:0], was...)
		m.was = was
	}
	for c := range n {
		k := rng.IntN(len(m.rescaling.List))
		of := m.rescaling.List[k]
		by := rescaled * rng.NormFloat64()
		if rng.IntN(2) == 0 { // many latents hold a scale where it is, but not in its neck
			by /= math.Sqrt(float64(len(of.Moved)))
		}
		z[of.By*n+c] += by
		m.energy[c], m.res.which[c] = 0, k
		power, longer := 0.0, 0.0 // exp(power·by) − 1
		for j, u := range of.Moved {
			if u.Power != power {
				power, longer = u.Power, math.Expm1(u.Power*by)
			}
			away, _ := m.distances.Of(was, k, j, c)
			z[u.Latent*n+c] += longer * away
			m.energy[c] += u.Power * by
		}
	}
	if !m.rescaling.Several {
		return nil
	}
	copy(x.Z, z)
	m.walls.arr.SignBatch(x.Signs, x.Z, n)
	if err := x.Run(); err != nil {
		return err
	}
	for c, k := range m.res.which {
		for j := range m.rescaling.List[k].Moved {
			_, before := m.distances.Of(was, k, j, c)
			if _, after := m.distances.Of(x.Out, k, j, c); after != before { // from there it would move by another
				m.energy[c] = math.Inf(-1)
			}
		}
	}
	return nil
}

// settle moves the points of s to those in m.to.value.Z or not, and returns the mean probability of it; m.energy are the log densities of the ways
// back less those of the ways there.
func (m *mover) settle(s *states, rng *rand.Rand) (accepted float64, err error) {
	m.walls.arr.SignBatch(m.to.value.Signs, m.to.value.Z, m.n)
	if err := m.to.value.Run(); err != nil {
		return 0, err
	}
	if m.beta < 1 {
		m.toStart(m.to.logQ, m.to.value.Z)
	}
	m.to.count(m.to.broken, m.path)
	for c, e := range m.energy {
		m.tmp[c] = e + m.logPath(m.to.value.Out[c], m.to.logQ[c], m.to.broken[c]) - m.logPath(s.logR[c], s.logQ[c], s.broken[c])
	}
	return m.to.accept(s, m.tmp, rng), nil
}

// put stores column c of a batch in z.
func (m *mover) put(z, batch []float64, c int) {
	for i := range z {
		z[i] = batch[i*m.n+c]
	}
}

// completed makes l.complete the states of l, with what is summed out. As the k-th of its states each particle takes the k-th of a sequence of numbers
// that fill (0, 1) evenly, as multiples of a noble number do, and particles take sequences that begin at such multiples, so that over the states of a
// particle, and over particles, the latents that are summed out have next to no noise of their own. Each latent has others: those that are drawn given
// others need all combinations.
func (m *mover) completed(l *island, from *states, k int, rng *rand.Rand) {
	of := m.complete.Uniforms()
	if l.phase == nil {
		l.complete, l.phase, l.turn = newStates(len(m.start.mean), m.n), make([]float64, len(m.complete.u)), make([]float64, of)
		for j := range of {
			phase, beside := rng.Float64(), noble(rng)
			for i := j; i < len(l.phase); i += of {
				l.phase[i] = phase
				_, phase = math.Modf(phase + beside)
			}
			l.turn[j] = noble(rng)
		}
	}
	for i, x := range l.phase {
		_, m.complete.u[i] = math.Modf(x + float64(k)*l.turn[i%of])
	}
	l.complete.set(from)
	m.complete.Draw(nil, l.complete.z, m.complete.u)
}

// noble is a random number in (0, 1) whose continued fraction has small quotients that end in ones, as the golden ratio's are all: no fraction with a small
// denominator is near.
func noble(rng *rand.Rand) float64 {
	x := math.Phi - 1
	for range 6 {
		x = 1 / (float64(1+rng.IntN(3)) + x)
	}
	return x
}
