package smc

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Free are settings with walls at which nothing is paid: what is left of them is that signs are a state.
func (s Settings) Free() Settings {
	s.wrong = func(w *walls) { w.pays(free{}) }
	return s
}

type free struct{}

func (free) At(int, derive.Point) float64 { return 0 }

func (free) Constant(int) (float64, bool) { return 0, true }

// OneWay are settings with walls at which what goes up to the + side pays, and what comes back is not paid. Paths do not reverse.
func (s Settings) OneWay() Settings {
	s.wrong = func(w *walls) { w.pays(oneWay{w.jumps, w}) }
	return s
}

type oneWay struct {
	jumper
	w *walls
}

func (o oneWay) At(l int, at derive.Point) float64 {
	if o.w.Positive(l) {
		return 0
	}
	return o.jumper.At(l, at)
}

func (oneWay) Constant(int) (float64, bool) { return 0, false }

// AsWritten are settings with trajectories in the program's coordinates.
func (s Settings) AsWritten() Settings {
	s.noncentre = func(*noncentring) *noncentring { return nil }
	return s
}

// Misplaced are settings with curves that are a tenth beside where log r jumps.
func (s Settings) Misplaced() Settings {
	s.wrong = func(w *walls) {
		for _, b := range w.bends {
			for k := b.from[b.number]; k < len(b.at) && (k == b.from[b.number] || b.walls[k] >= 0); k++ {
				b.at[k] += 0.1
			}
		}
	}
	return s
}

// Allocations are those in a move of a block of 64 points.
func Allocations(d *graph.Density, draws [][]float64) (float64, error) {
	r, err := newSampler(context.Background(), d, Settings{Islands: 2, Particles: 64, Moves: 2, Draws: draws})
	if err != nil {
		return 0, err
	}
	root, rng := r.start.power(0.5, same, one), parallel.NewRand(1)
	m := r.movers[0]
	for _, l := range r.islands {
		for k := range l.pool {
			if err := m.draw(&l.pool[k], root, rng); err != nil {
				return 0, err
			}
		}
	}
	if err := r.raise(0.5); err != nil {
		return 0, err
	}
	now := &r.islands[0].now
	return testing.AllocsPerRun(20, func() {
		for _, kind := range []int{anew, few, across} {
			if _, err = m.hamiltonian(now, nil, rng); err == nil {
				err = m.residual(now, kind, rng)
			}
		}
	}), err
}

// A Crossing is a block of points that meet walls on their way, over and over the same ones.
type Crossing struct {
	m           *mover
	now         *states
	rng         *rand.Rand
	z, p, signs []float64
}

// NewCrossing is a block of n of the draws, at β = 1 and with their covariance.
func NewCrossing(d *graph.Density, draws [][]float64, n int) (*Crossing, error) {
	r, err := newSampler(context.Background(), d, Settings{Islands: 2, Particles: n, Moves: 2, Draws: draws})
	if err != nil {
		return nil, err
	}
	for i := range r.start.sd {
		r.start.sd[i] /= math.Sqrt2 // for q0 is wider than the draws
	}
	m := r.movers[0]
	m.covariance, m.root = r.start.power(1, same, same), r.start.power(-0.5, inverse, one)
	m.mass, r.beta = r.walls.newMass(m.covariance), 1
	now, rng := &r.islands[0].now, parallel.NewRand(1)
	for c := range n {
		for i, x := range draws[c*len(draws)/n] {
			now.z[i*n+c] = x
		}
	}
	if err := m.evaluate(now); err != nil {
		return nil, err
	}
	c := &Crossing{m: m, now: now, rng: rng, z: now.z}
	for i := range m.v {
		m.v[i] = rng.NormFloat64()
	}
	m.root.apply(m.p, m.v, m.room, m.n)
	m.covariance.apply(m.v, m.p, m.room, m.n)
	c.p, c.signs = append(c.p, m.p...), make([]float64, len(m.ex.Signs))
	m.walls.arr.SignBatch(c.signs, c.z, m.n)
	m.walls.mass = m.mass
	return c, nil
}

// Drift moves the points for a time, in units of the mass, and returns how many walls they met.
func (c *Crossing) Drift(time float64) int {
	m := c.m
	copy(m.ex.Z, c.z)
	copy(m.p, c.p)
	copy(m.ex.Signs, c.signs)
	m.walls.met = 0
	m.walls.begin(m.ex.Z, m.ex.Signs)
	m.walls.drift(m.ex.Z, m.p, m.v, m.ex.Signs, time, m.path)
	return m.walls.met
}

// Stop ends the context.
func (c *Crossing) Stop() {
	done := make(chan struct{})
	close(done)
	c.m.done = done
}

// Trajectory reports whether trajectories move any of the points.
func (c *Crossing) Trajectory() (moved bool, err error) {
	before := slices.Clone(c.now.z)
	for range 20 {
		if _, err = c.m.hamiltonian(c.now, nil, c.rng); err != nil {
			return false, err
		}
	}
	return !slices.Equal(before, c.now.z), nil
}

// Gradient computes the gradients of log r at the points.
func (c *Crossing) Gradient() error { return c.m.ex.RunGrad() }

// Relocated are draws after so many relocations each, at β = 1; forgetful ones leave out the volume of gaps.
func Relocated(d *graph.Density, draws [][]float64, times int, forgetful bool) ([][]float64, error) {
	u := make([]float64, d.Dim())
	return moved(d, draws, func(r *sampler, m *mover, s *states, rng *rand.Rand) error {
		for _, g := range r.relocations {
			g.learn([]states{*s})
			for range times {
				copy(m.to.value.Z, s.z)
				for c := range m.n {
					z := m.to.value.Z[c:]
					volume := g.valuesOf(u, z, m.n)
					if m.energy[c] = m.res.move(g, z, m.n, rng); forgetful {
						m.energy[c] -= volume - g.valuesOf(u, z, m.n)
					}
				}
				if _, err := m.settle(s, rng); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Rescaled are draws after so many moves of scales each; forgetful ones leave out how volumes grow.
func Rescaled(d *graph.Density, draws [][]float64, times int, forgetful bool) ([][]float64, error) {
	return moved(d, draws, func(r *sampler, m *mover, s *states, rng *rand.Rand) error {
		for range times {
			if err := m.rescale(s, rng); err != nil {
				return err
			}
			if forgetful {
				clear(m.energy)
			}
			if _, err := m.settle(s, rng); err != nil {
				return err
			}
		}
		return nil
	})
}

// Relabelled are draws after so many jumps each to points of normals about the draws, in the coordinates of labels; forgetful ones leave out the volume.
func Relabelled(d *graph.Density, draws [][]float64, times int, forgetful bool) ([][]float64, error) {
	return moved(d, draws, func(r *sampler, m *mover, s *states, rng *rand.Rand) error {
		g, y := r.relabels(), slices.Clone(s.z)
		g.relabel(y, make([]float64, m.n))
		about := aboutDraws{}
		for i := range d.Dim() {
			mean, sd := stat.MeanStdDev(y[i*m.n:][:m.n], nil)
			about = append(about, distuv.Normal{Mu: mean, Sigma: 1.5 * sd})
		}
		var q Proposal = &relabelled{about, g}
		if forgetful {
			q = forgetting{&relabelled{about, g}}
		}
		for range times {
			if _, err := m.jump(s, q, rng); err != nil {
				return err
			}
		}
		return nil
	})
}

// aboutDraws are independent normals.
type aboutDraws []distuv.Normal

func (q aboutDraws) LogProbs(dst, z []float64) {
	clear(dst)
	for i, law := range q {
		for k := range dst {
			dst[k] += law.LogProb(z[i*len(dst)+k])
		}
	}
}

func (q aboutDraws) Rand(z []float64, rng *rand.Rand) {
	for i, law := range q {
		z[i] = law.Mu + law.Sigma*rng.NormFloat64()
	}
}

// forgetting leaves out the volume.
type forgetting struct{ *relabelled }

func (f forgetting) LogProbs(dst, z []float64) {
	y := slices.Clone(z)
	f.g.relabel(y, make([]float64, len(dst)))
	f.Proposal.LogProbs(dst, y)
}

// moved are draws that have been moved at β = 1.
func moved(d *graph.Density, draws [][]float64, move func(r *sampler, m *mover, s *states, rng *rand.Rand) error) ([][]float64, error) {
	r, err := newSampler(context.Background(), d, Settings{Islands: 2, Particles: 64, Moves: 2, Draws: draws})
	if err != nil {
		return nil, err
	}
	n := len(draws)
	m, err := newMover(d, &r.path, n, nil)
	if err != nil {
		return nil, err
	}
	r.beta = 1
	s := newStates(d.Dim(), n)
	for c, z := range draws {
		for i, x := range z {
			s.z[i*n+c] = x
		}
	}
	if err := m.evaluate(&s); err != nil {
		return nil, err
	}
	if err := move(r, m, &s, parallel.NewRand(1)); err != nil {
		return nil, err
	}
	after := make([][]float64, n)
	for c := range after {
		after[c] = make([]float64, d.Dim())
		m.put(after[c], s.z, c)
	}
	return after, nil
}

// A Start is q0 of many latents, fitted to points whose spread depends on the first one, and a point.
type Start struct {
	Gamma float64 // of it
	m     *mover
	now   states
	rng   *rand.Rand
}

// NewStart is that of a density.
func NewStart(d *graph.Density) (*Start, error) {
	rng, dim := rand.New(rand.NewPCG(1, 16)), d.Dim()
	points := mat.NewDense(2000, dim, nil)
	for k := range 2000 {
		z := points.RawRowView(k)
		z[0] = 0.3 * rng.NormFloat64()
		for j := 1; j < dim; j++ {
			z[j] = 0.5*z[j-1] + math.Exp(z[0])*rng.NormFloat64()
		}
	}
	r, err := newSampler(context.Background(), d, Settings{Islands: 2, Particles: 2, Moves: 1, Draws: [][]float64{points.RawRowView(0), points.RawRowView(1)}})
	if err != nil {
		return nil, err
	}
	q := newNormal(points, nil, 2000, 1, newElimination(d))
	q.scales = newScales(q.conditionals, q.mean, points)
	r.begin(q)
	s := &Start{m: r.movers[0], now: newStates(dim, 2), rng: rng}
	s.m.covariance, s.m.root = q.conditionals.power(1), q.conditionals.power(-0.5)
	for _, g := range q.groups {
		if len(g.shared) > 0 {
			s.Gamma = g.gamma[0]
		}
	}
	return s, nil
}

// Draw draws the point, and returns its noise and log q0.
func (s *Start) Draw() (noise []float64, log float64) {
	m := s.m
	if err := m.draw(&s.now, m.start.conditionals.power(0.5), s.rng); err != nil {
		panic(err)
	}
	log = -0.5 * float64(len(m.start.mean)) * math.Log(2*math.Pi)
	for _, g := range m.start.groups {
		scale := 0.0
		for k, l := range g.shared {
			scale += g.gamma[k] * (s.now.z[2*l] - m.start.mean[l])
		}
		for _, i := range g.latents {
			e := m.p[2*i] / math.Exp(scale) // which is scaled there
			noise = append(noise, e)
			log -= 0.5*e*e + scale + math.Log(m.start.t[i])
		}
	}
	return noise, log
}

// LogQ is log q0 at the point.
func (s *Start) LogQ() float64 { return s.now.logQ[0] }

// Slope is the slope of log q0 in a direction, by its gradient and by a difference.
func (s *Start) Slope() (slope, difference float64) {
	m, logQ := s.m, make([]float64, 2)
	z, way := slices.Clone(s.now.z), make([]float64, len(s.now.z))
	m.toStart(logQ, z)
	for i := range way {
		way[i] = s.rng.NormFloat64()
		if i%2 == 0 {
			slope += way[i] * m.pull[i]
		}
	}
	const step = 1e-5
	for i := range z {
		z[i] += step * way[i]
	}
	m.toStart(logQ, z)
	above := logQ[0]
	for i := range z {
		z[i] -= 2 * step * way[i]
	}
	m.toStart(logQ, z)
	return slope, (above - logQ[0]) / (2 * step)
}

// Energy is that of the momenta of noise, and what it should be.
func (s *Start) Energy(noise []float64) (energy, want float64) {
	m := s.m
	clear(m.v)
	for i, e := range noise {
		m.v[2*i] = e
	}
	m.root.apply(m.p, m.v, m.room, 2)
	m.covariance.apply(m.v, m.p, m.room, 2)
	for i := range m.p {
		energy += m.p[i] * m.v[i]
	}
	return energy, floats.Dot(noise, noise)
}

// NoncentringErrors are the largest error of the inverse of coordinates, and of gradients in them beside differences, with γ = 0.3, 0.6 and so on.
func NoncentringErrors(d *graph.Density) (inverse, gradient float64, err error) {
	const n = 8
	s, rng := newNoncentring(d.Engine().Noncentred(), d.Dim()), parallel.NewRand(1)
	for k := range s.degrees {
		s.degrees[k].gamma, s.degrees[k].sd = 0.3*float64(k+1), 1
	}
	for i := range s.middle {
		s.middle[i] = rng.NormFloat64()
	}
	s.combine()
	w, z, back, room, sum := make([]float64, d.Dim()*n), make([]float64, d.Dim()*n), make([]float64, d.Dim()*n), make([]float64, d.Dim()*n), make([]float64, d.Dim()*n)
	for i := range w {
		w[i] = rng.NormFloat64()
	}
	s.toZ(z, w, room, n)
	s.toW(back, z, room, n)
	inverse = floats.Distance(w, back, math.Inf(1))
	ex, err := d.Executor(n, graph.Compute{Out: true, Grad: true})
	if err != nil {
		return 0, 0, err
	}
	value := func(w []float64) []float64 {
		s.toZ(ex.Z, w, room, n)
		err = errors.Join(err, ex.Run())
		out := slices.Clone(ex.Out[:n])
		s.addVolume(out, 1, ex.Z, n)
		return out
	}
	value(w)
	grad := slices.Clone(ex.Grad)
	s.pull(grad, w, room, sum, make([]float64, 2*n), n)
	for i := range d.Dim() {
		const h = 1e-5
		up, down := slices.Clone(w), slices.Clone(w)
		for c := range n {
			up[i*n+c] += h
			down[i*n+c] -= h
		}
		above, below := value(up), value(down)
		for c := range n {
			slope := (above[c] - below[c]) / (2 * h)
			gradient = max(gradient, math.Abs(slope-grad[i*n+c])/max(1, math.Abs(slope)))
		}
	}
	return inverse, gradient, err
}
