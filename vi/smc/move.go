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
	arr   interface{ SignBatch(dst, z []float64, n int) }
	ex    *graph.Executor // ∇ log r: log r itself is needed at the end of a trajectory only
	value *graph.Executor // log r
	res   *residuals.Batch
	walls *walls

	p, v, room, away, pull []float64 // latents × n; pull is ∇ log q0
	energy, logQ, tmp      []float64 // by column
	broken                 []float64
	which                  []int
	other                  []float64 // residuals of states

	column    column
	gradients int       // of one point each
	complete  Completer // or nil
	u         []float64 // and its uniform numbers
}

func newMover(d *graph.Density, shared *path, n int, complete func(n int) Completer) (*mover, error) {
	m := &mover{path: shared, n: n, arr: d.Arrangement(), which: make([]int, n)}
	var err error
	if m.ex, err = d.Executor(n, graph.Compute{Grad: true}); err != nil {
		return nil, err
	}
	if m.value, err = d.Executor(n, graph.Compute{Out: true}); err != nil {
		return nil, err
	}
	if m.res, err = d.Residuals(n); err != nil {
		return nil, err
	}
	if m.walls, err = newWalls(d, n); err != nil {
		return nil, err
	}
	for _, x := range []*[]float64{&m.p, &m.v, &m.room, &m.away, &m.pull, &m.other} {
		*x = make([]float64, d.Dim()*n)
	}
	for _, x := range []*[]float64{&m.energy, &m.logQ, &m.tmp, &m.broken} {
		*x = make([]float64, n)
	}
	if complete != nil {
		m.complete = complete(n)
		m.u = make([]float64, n*m.complete.Uniforms())
	}
	return m, nil
}

// evaluate computes log r and log q0 of s from its points.
func (m *mover) evaluate(s *states) error {
	copy(m.value.Z, s.z)
	m.arr.SignBatch(m.value.Signs, m.value.Z, m.n)
	if err := m.value.Run(); err != nil {
		return err
	}
	copy(s.logR, m.value.Out)
	m.toStart(s.logQ, s.z)
	m.count(s.broken)
	return nil
}

// count counts the requirements that do not hold at the points of value.
func (m *mover) count(broken []float64) {
	if m.required == nil {
		return
	}
	m.column.signs, m.column.n = m.value.Signs, m.n
	for i := range broken {
		m.column.i, broken[i] = i, 0
		for k := range m.required.Len() {
			if !m.required.Holds(k, &m.column) {
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
	m.arr.SignBatch(x.Signs, x.Z, n)
	if err := m.force(); err != nil {
		return 0, err
	}
	for i := 0; i < len(m.v); i += n {
		parallel.Normals(m.v[i:][:n], rng)
	}
	clear(m.energy)
	m.addDots(m.energy, 0.5, m.v, m.v)
	for i := range m.energy {
		m.energy[i] -= m.logPath(s.logR[i], m.logQ[i], s.broken[i])
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
	copy(m.value.Z, x.Z)
	copy(m.value.Signs, x.Signs)
	if err := m.value.Run(); err != nil {
		return 0, err
	}
	m.count(m.broken)
	for i, e := range m.energy {
		m.tmp[i] = e + m.logPath(m.value.Out[i], m.logQ[i], m.broken[i])
	}
	m.gradients += n * (steps + 1)
	return m.accept(s, m.tmp, rng), nil
}

// accept moves column i of s to that of value with probability min(1, exp(gain_i)), and returns its mean.
func (m *mover) accept(s *states, gains []float64, rng *rand.Rand) (accepted float64) {
	for i, gain := range gains {
		if gain >= 0 || rng.Float64() < math.Exp(gain) {
			for at := i; at < len(s.z); at += m.n {
				s.z[at] = m.value.Z[at]
			}
			s.logR[i], s.logQ[i], s.broken[i] = m.value.Out[i], m.logQ[i], m.broken[i]
		}
		if gain > -700 {
			accepted += min(1, math.Exp(gain))
		}
	}
	return accepted / float64(m.n)
}

// completed makes l.complete the state of l, with what is summed out. Of move k each particle takes the k-th of a sequence of numbers that fill (0, 1)
// evenly, as multiples of the golden ratio do, so that over the moves of a particle the latents that are summed out have next to no noise of their own.
func (m *mover) completed(l *island, k int, rng *rand.Rand) {
	if l.phase == nil {
		l.complete, l.phase = newStates(len(m.start.mean), m.n), make([]float64, len(m.u))
		for i := range l.phase {
			l.phase[i] = rng.Float64()
		}
	}
	for i, x := range l.phase {
		_, m.u[i] = math.Modf(x + float64(k)*math.Phi)
	}
	l.complete.set(&l.now)
	m.complete.Draw(m.tmp, l.complete.z, m.u)
}

// force computes the gradients of log r and log q0, and log q0.
func (m *mover) force() error {
	if m.beta < 1 {
		m.toStart(m.logQ, m.ex.Z)
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
	r := m.res
	copy(r.Z, s.z)
	if kind != anew {
		copy(r.Z, m.pool[rng.IntN(len(m.pool))].z)
		r.Invert()
		copy(m.other, r.E)
		copy(r.Z, s.z)
	}
	r.Invert()
	r.LogScale(m.energy)
	for i := range m.energy {
		m.energy[i] += m.logPath(s.logR[i], s.logQ[i], s.broken[i])
	}
	for c := range m.which {
		m.which[c] = m.pick(rng)
	}
	if kind == anew {
		r.Renew(m.which, m.tmp, rng)
		vec.Add(m.energy, m.energy, m.tmp)
	} else {
		m.difference(kind, rng)
		r.Follow()
	}
	copy(m.value.Z, r.Z)
	copy(m.value.Signs, r.Signs)
	if err := m.value.Run(); err != nil {
		return err
	}
	if m.beta < 1 {
		m.toStart(m.logQ, r.Z)
	}
	m.count(m.broken)
	r.LogScale(m.tmp)
	for i, e := range m.energy {
		m.tmp[i] += m.logPath(m.value.Out[i], m.logQ[i], m.broken[i]) - e
	}
	m.accept(s, m.tmp, rng)
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
	for c := range m.which {
		a, b := m.other[rng.IntN(n):], m.other[rng.IntN(n):]
		if kind == across {
			for i := 0; i < len(e); i += n {
				e[i+c] += multiple * (b[i] - a[i])
			}
			continue
		}
		i, j := m.which[c]*n, m.pick(rng)*n
		e[i+c] += multiple * (b[i] - a[i])
		if i != j && rng.IntN(2) == 0 {
			e[j+c] += multiple * (b[j] - a[j])
		}
	}
}
