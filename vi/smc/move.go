package smc

import (
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/internal/residuals"
	"github.com/facetvi/facet/internal/vec"
)

// States are points side by side, latents × n, with log r, log q0, and how many requirements do not
// hold.
type states struct {
	z, logR, logQ, broken []float64
}

func newStates(dim, n int) states {
	return states{make([]float64, dim*n), make([]float64, n), make([]float64, n), make([]float64, n)}
}

// set makes s a copy of o.
func (s *states) set(o *states) {
	copy(s.z, o.z)
	copy(s.logR, o.logR)
	copy(s.logQ, o.logQ)
	copy(s.broken, o.broken)
}

// take makes column i a copy of column j of o.
func (s *states) take(i int, o *states, j int) {
	n := len(s.logR)
	for r := 0; r < len(s.z); r += n {
		s.z[r+i] = o.z[r+j]
	}
	s.logR[i], s.logQ[i], s.broken[i] = o.logR[j], o.logQ[j], o.broken[j]
}

// A path is what all workers share: the distribution π ∝ q0^(1−β)·r^β, and how to move in it. Where the program has
// requirements there is a path before, β = 0 and π ∝ q0·exp(−price·number of those that do not hold), until all hold.
type path struct {
	start     *normal // q0
	precision *linear
	constant  float64 // log q0 at its mean
	beta      float64
	required  *derive.Requirements // nil without any
	price     float64

	covariance, root *linear // of velocities: C·p, and momenta from standard normals
	mass             *mass
	step             float64
	long             float64         // by how many times trajectories are longer
	pool             []states        // of an earlier temperature, for differences
	hubs             []int           // a latent for each prior of another and each guard that depends on it
	done             <-chan struct{} // of the context
}

// stopped reports whether the context has ended: trajectories end then, and move nothing.
func (p *path) stopped() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// logPath is log π.
func (p *path) logPath(logR, logQ, broken float64) float64 {
	switch {
	case p.beta == 1:
		return logR
	case p.beta == 0 && broken > 0:
		return logQ - p.price*broken
	case p.beta == 0:
		return logQ
	}
	return p.beta*logR + (1-p.beta)*logQ
}

// A mover moves blocks of n points. It is for one goroutine.
type mover struct {
	*path
	n     int
	ex    *graph.Executor // ∇ log r: log r itself is needed at the end of a trajectory only
	to    candidates
	res   renewal
	walls *walls

	p, v, room, away, pull []float64 // latents × n; pull is ∇ log q0
	energy, tmp            []float64 // by column
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

// A renewal is what moves of residuals are made with.
type renewal struct {
	*residuals.Batch
	which []int     // latent, by column
	other []float64 // residuals of states
}

// A completion draws what is summed out.
type completion struct {
	Completer           // or nil
	u         []float64 // its uniform numbers
}

func newMover(d *graph.Density, shared *path, n int, complete func(n int) Completer) (*mover, error) {
	m := &mover{path: shared, n: n}
	var err error
	if m.ex, err = d.Executor(n, graph.Compute{Grad: true}); err != nil {
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
	m.res.which = make([]int, n)
	for _, x := range []*[]float64{&m.p, &m.v, &m.room, &m.away, &m.pull, &m.res.other} {
		*x = make([]float64, d.Dim()*n)
	}
	for _, x := range []*[]float64{&m.energy, &m.tmp, &m.to.logQ, &m.to.broken} {
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
	m.to.count(s.broken, m.required)
	return nil
}

// count counts the requirements that do not hold.
func (c *candidates) count(broken []float64, required *derive.Requirements) {
	if required == nil {
		return
	}
	c.column.signs, c.column.n = c.value.Signs, len(broken)
	for i := range broken {
		c.column.i, broken[i] = i, 0
		for k := range required.Len() {
			if !required.Holds(k, &c.column) {
				broken[i]++
			}
		}
	}
}

// A column is one of the signs of a batch.
type column struct {
	signs []float64
	n, i  int
}

// Positive is the sign of plane l.
func (c *column) Positive(l int) bool { return c.signs[l*c.n+c.i] == 1 }

// toStart computes log q0 at z, and its gradient in pull.
func (m *mover) toStart(logQ, z []float64) {
	n := m.n
	for i, mean := range m.start.mean {
		vec.Affine(m.away[i*n:][:n], z[i*n:][:n], -1, mean)
	}
	m.precision.apply(m.pull, m.away, m.room, n)
	vec.Fill(logQ, m.constant)
	m.addDots(logQ, -0.5, m.away, m.pull)
}

// addDots adds a multiple of the products of the columns of x and y to dst.
func (m *mover) addDots(dst []float64, a float64, x, y []float64) {
	for i := 0; i < len(x); i += m.n {
		vec.Mul(m.tmp, x[i:][:m.n], y[i:][:m.n])
		vec.AddScaled(dst, a, m.tmp)
	}
}

// draw fills s with draws from q0.
func (m *mover) draw(s *states, root *linear, rng *rand.Rand) error {
	for i := 0; i < len(m.p); i += m.n {
		parallel.Normals(m.p[i:][:m.n], rng)
	}
	root.apply(s.z, m.p, m.room, m.n)
	for i, mean := range m.start.mean {
		row := s.z[i*m.n:][:m.n]
		vec.Affine(row, row, 1, mean)
	}
	return m.evaluate(s)
}

const (
	mostSteps  = 64
	trajectory = math.Pi / 2 // its mean length, in units of the mass
)

// hamiltonian moves the points of s along trajectories of random length, and returns the mean
// probability of acceptance.
func (m *mover) hamiltonian(s *states, rng *rand.Rand) (accepted float64, err error) {
	n, x := m.n, m.ex
	step := m.step * (0.8 + 0.4*rng.Float64())
	steps := int(min(max(1, math.Round(2*trajectory*m.long*rng.Float64()/step)), mostSteps))
	copy(x.Z, s.z)
	m.walls.arr.SignBatch(x.Signs, x.Z, n)
	if err := m.force(); err != nil {
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
	m.root.apply(m.p, m.v, m.room, n)
	m.walls.mass = m.mass
	m.walls.begin(x.Z)
	m.kick(step / 2)
	for k := range steps {
		m.covariance.apply(m.v, m.p, m.room, n)
		m.walls.drift(x.Z, m.p, m.v, x.Signs, step, m.path)
		if m.stopped() {
			return 0, nil
		}
		if err := m.force(); err != nil {
			return 0, err
		}
		if k == steps-1 {
			step /= 2
		}
		m.kick(step)
	}
	m.covariance.apply(m.v, m.p, m.room, n)
	m.addDots(m.energy, -0.5, m.p, m.v)
	copy(m.to.value.Z, x.Z)
	copy(m.to.value.Signs, x.Signs)
	if err := m.to.value.Run(); err != nil {
		return 0, err
	}
	m.to.count(m.to.broken, m.required)
	for i, e := range m.energy {
		m.tmp[i] = e + m.logPath(m.to.value.Out[i], m.to.logQ[i], m.to.broken[i])
	}
	m.gradients += n * (steps + 1)
	return m.to.accept(s, m.tmp, rng), nil
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

// completed makes l.complete the state of l, with what is summed out. Of move k each particle takes the k-th of a sequence of numbers that fill (0, 1)
// evenly, as multiples of the golden ratio do, so that over the moves of a particle the latents that are summed out have next to no noise of their own.
func (m *mover) completed(l *island, k int, rng *rand.Rand) {
	if l.phase == nil {
		l.complete, l.phase = newStates(len(m.start.mean), m.n), make([]float64, len(m.complete.u))
		for i := range l.phase {
			l.phase[i] = rng.Float64()
		}
	}
	for i, x := range l.phase {
		_, m.complete.u[i] = math.Modf(x + float64(k)*math.Phi)
	}
	l.complete.set(&l.now)
	m.complete.Draw(m.tmp, l.complete.z, m.complete.u)
}

// force computes the gradients of log r and log q0, and log q0.
func (m *mover) force() error {
	if m.beta < 1 {
		m.toStart(m.to.logQ, m.ex.Z)
	}
	return m.ex.Run()
}

// kick moves the momenta for a time.
func (m *mover) kick(time float64) {
	if m.beta > 0 {
		vec.AddScaled(m.p, time*m.beta, m.ex.Grad)
	}
	if m.beta < 1 {
		vec.AddScaled(m.p, time*(1-m.beta), m.pull)
	}
}

// The kinds of moves of residuals.
const (
	anew   = iota // one from the prior
	few           // one or two by a multiple of the difference of two states
	across        // all by that
)

// residual moves the points of s in the residuals that the priors leave of the latents, with
// all that follows in the program; see scout.
func (m *mover) residual(s *states, kind int, rng *rand.Rand) error {
	r := &m.res
	copy(r.Z, s.z)
	if kind != anew {
		copy(r.Z, m.pool[rng.IntN(len(m.pool))].z)
		r.Invert()
		copy(m.res.other, r.E)
		copy(r.Z, s.z)
	}
	r.Invert()
	r.LogScale(m.energy)
	for i := range m.energy {
		m.energy[i] += m.logPath(s.logR[i], s.logQ[i], s.broken[i])
	}
	for c := range m.res.which {
		m.res.which[c] = m.pick(rng)
	}
	if kind == anew {
		r.Renew(m.res.which, m.tmp, rng)
		vec.Add(m.energy, m.energy, m.tmp)
	} else {
		m.difference(kind, rng)
		r.Follow()
	}
	copy(m.to.value.Z, r.Z)
	copy(m.to.value.Signs, r.Signs)
	if err := m.to.value.Run(); err != nil {
		return err
	}
	if m.beta < 1 {
		m.toStart(m.to.logQ, r.Z)
	}
	m.to.count(m.to.broken, m.required)
	r.LogScale(m.tmp)
	for i, e := range m.energy {
		m.tmp[i] += m.logPath(m.to.value.Out[i], m.to.logQ[i], m.to.broken[i]) - e
	}
	m.to.accept(s, m.tmp, rng)
	return nil
}

// pick is a random latent, mostly one by how many priors of others and guards depend on it. Those are moved with all that
// depends on them, which is where trajectories are slow.
func (m *mover) pick(rng *rand.Rand) int {
	if k := len(m.hubs); k > 0 && rng.IntN(4) > 0 {
		return m.hubs[rng.IntN(k)]
	}
	return rng.IntN(len(m.start.mean))
}

// difference adds to the residuals of each point a multiple of the difference of two states.
func (m *mover) difference(kind int, rng *rand.Rand) {
	n, e := m.n, m.res.E
	multiple := []float64{1, 0.3}[rng.IntN(2)]
	for c := range m.res.which {
		a, b := m.res.other[rng.IntN(n):], m.res.other[rng.IntN(n):]
		if kind == across {
			for i := 0; i < len(e); i += n {
				e[i+c] += multiple * (b[i] - a[i])
			}
			continue
		}
		i, j := m.res.which[c]*n, m.pick(rng)*n
		e[i+c] += multiple * (b[i] - a[i])
		if i != j && rng.IntN(2) == 0 {
			e[j+c] += multiple * (b[j] - a[j])
		}
	}
}
