package smc

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/scout"
	"gonum.org/v1/gonum/mat"
)

// A sampler is a run.
type sampler struct {
	path
	ctx     context.Context
	d       *graph.Density
	s       Settings
	islands []*island
	team    *parallel.Pool[*mover]
	movers  []*mover
	work    func(m *mover, l *island, rng *rand.Rand) error // of the next round
	walls   *walls                                          // for masses
	rng     *rand.Rand

	temperatures []float64
	accepted     acceptance
	last         *chains // at β = 1
	near         nearby
	pace         pace
}

// An acceptance is that of moves.
type acceptance struct {
	sum         float64 // over the moves since the last report
	moves       int
	end         mc.Moments // at β = 1
	relocations mc.Moments // at β = 1, of each island
}

// A nearby is the distribution q, or nil.
type nearby struct {
	q         Proposal
	accepted  float64     // mean acceptance of the last move
	from      int         // moves that its draws were of
	effective float64     // draws at the last look
	wide      [][]float64 // draws of which q0 is, and states of lower temperatures, which q is near, too
}

// A pace is that of moves since a length of trajectories was chosen.
type pace struct {
	from      chains
	gradients int
	settled   bool
	rate      float64 // effective draws of a gradient with the length before; 0 for the first
	learned   int     // moves of which the covariance of velocities is
}

func newSampler(ctx context.Context, d *graph.Density, s Settings) (*sampler, error) {
	r := &sampler{ctx: ctx, d: d, s: s, rng: parallel.NewRand(parallel.Mix(s.Seed, 2))}
	dim := d.Dim()
	points := mat.NewDense(len(s.Draws), dim, nil)
	for k, z := range s.Draws {
		points.SetRow(k, z)
	}
	r.begin(newNormal(points, nil, float64(min(len(s.Draws), 1000)), 2, nil))
	r.long = 1
	r.step = 0.5 / math.Pow(float64(dim), 0.25)
	for k := range s.Islands {
		l := &island{number: k, now: newStates(dim, s.Particles)}
		for range s.Moves {
			l.pool, l.next = append(l.pool, newStates(dim, s.Particles)), append(l.next, newStates(dim, s.Particles))
		}
		r.islands = append(r.islands, l)
	}
	var err error
	if r.walls, err = newWalls(d, 1); err != nil {
		return nil, err
	}
	if n := min(seenDraws, len(s.Draws)); s.Near != nil {
		for k := range n {
			r.near.wide = append(r.near.wide, s.Draws[k*len(s.Draws)/n])
		}
	}
	if err := r.structure(); err != nil {
		return nil, err
	}
	r.path.done = r.ctx.Done()
	cut := parallel.Blocks{N: s.Islands * s.Particles, Size: s.Particles}
	r.team, err = parallel.NewPool(cut, parallel.Processors(s.Islands), s.Seed,
		func(n int) (*mover, error) {
			m, err := newMover(d, &r.path, n, s.Complete)
			if err == nil && s.wrong != nil {
				s.wrong(m.walls)
			}
			r.movers = append(r.movers, m)
			return m, err
		},
		func(*mover) {},
		func(m *mover, b int, rng *rand.Rand) error {
			m.metric = r.metrics[b%len(r.metrics)]
			return r.work(m, r.islands[b], rng)
		})
	return r, err
}

// structure finds what the program says of which latents belong together.
func (r *sampler) structure() (err error) {
	r.metrics = []*metric{{}}
	if r.s.Islands > 1 && float64(r.d.Dim()) > mostLeverage*float64(r.s.Islands*r.s.Particles*r.s.Moves) {
		r.metrics = append(r.metrics, &metric{})
	}
	for _, m := range r.metrics {
		if len(r.walls.levels.walls) > 0 { // along a trajectory they would be curves
			break
		}
		if m.noncentring = newNoncentring(r.d.Engine().Noncentred(), r.d.Dim()); m.noncentring != nil && r.s.noncentre != nil {
			m.noncentring = r.s.noncentre(m.noncentring)
		}
	}
	for _, of := range r.d.Parents() {
		r.hubs = append(r.hubs, of...)
	}
	for _, l := range slices.Concat(r.walls.levels.walls, r.walls.others) {
		if l >= 0 {
			r.hubs = append(r.hubs, r.d.Arrangement().Latents(l)...)
		}
	}
	r.path.relocations = relocationsOf(r.d, parallel.Mix(r.s.Seed, 3))
	if r.path.rescaling, err = r.d.Engine().Scales(); err != nil {
		return err
	}
	for _, x := range r.path.rescaling.List {
		if r.rescales = max(r.rescales, besides/2); len(x.Moved) <= fewRescaled {
			r.rescales = besides
		}
	}
	return nil
}

// begin makes q0 a normal.
func (r *sampler) begin(q0 *normal) {
	if r.start = q0; q0.scales == nil {
		q0.precision = q0.power(-1, inverse, inverse)
	}
	q0.constant = -0.5*q0.logDet() - 0.5*float64(len(q0.mean))*math.Log(2*math.Pi)
}

// round does work for all islands.
func (r *sampler) round(work func(m *mover, l *island, rng *rand.Rand) error) error {
	r.work = work
	return r.team.Round()
}

// over reports whether the run is to end.
func (r *sampler) over() bool { return r.ctx.Err() != nil || r.s.Over != nil && r.s.Over() }

// goal is the mean acceptance that the step is chosen for.
const goal = 0.8

// move moves all particles along a trajectory each, and by residuals.
func (r *sampler) move() error {
	other := anew
	if r.last == nil && r.accepted.moves%2 == 1 { // at β = 1 across pays less than it costs
		other = across
	}
	err := r.round(func(m *mover, l *island, rng *rand.Rand) (err error) {
		var half *states
		if r.halfway() {
			if half = &l.half; half.z == nil {
				*half = newStates(r.d.Dim(), r.s.Particles)
			}
		}
		if l.acceptance, err = m.hamiltonian(&l.now, half, rng); err != nil {
			return err
		}
		if err = m.residual(&l.now, few, rng); err != nil {
			return err
		}
		if err = m.residual(&l.now, other, rng); err != nil {
			return err
		}
		for range r.rescales {
			if err = m.rescale(&l.now, rng); err != nil {
				return err
			}
			if _, err = m.settle(&l.now, rng); err != nil {
				return err
			}
		}
		l.relocated, err = m.relocate(&l.now, besides, rng)
		return err
	})
	if err != nil {
		return err
	}
	mean := 0.0
	for _, l := range r.islands {
		mean += l.acceptance / float64(len(r.islands))
	}
	if r.accepted.sum += mean; r.last != nil {
		r.accepted.end.Add(mean)
	}
	if r.beta == 1 {
		for _, l := range r.islands {
			r.accepted.relocations.Add(l.relocated)
		}
	}
	r.accepted.moves++
	r.step = min(r.step*math.Exp(0.7*(mean-goal)), 2)
	return nil
}

func (r *sampler) report(moves int, effective, goal float64) {
	if r.s.Progress != nil {
		r.s.Progress(Progress{Beta: r.beta, Moves: moves, Effective: effective, Goal: goal, Acceptance: r.accepted.sum / float64(r.accepted.moves), Step: r.step})
	}
	r.accepted.sum, r.accepted.moves = 0, 0
}

// found is the result without diagnostics of the draws.
func (r *sampler) found() Result {
	out := Result{Beta: r.beta, Z: r.last.draws, Island: r.last.island}
	for _, l := range r.islands {
		out.Islands = append(out.Islands, l.evidence)
	}
	out.LogEvidence = scout.Combine(out.Islands)
	out.Chains, out.Temperatures = r.s.Islands*r.s.Particles, r.temperatures
	out.Effective = r.last.effective(r.d.Dim(), r.s.Islands, r.s.Particles)
	out.Acceptance, out.Step = r.accepted.end.Mean, r.step
	if r.near.q != nil {
		out.Jumps = r.near.accepted
	}
	out.Gradients = r.gradients()
	for _, m := range r.movers {
		out.Crossings += m.walls.crossings
	}
	return out
}

// gradients are those of all movers.
func (r *sampler) gradients() (n int) {
	for _, m := range r.movers {
		n += m.gradients
	}
	return n
}

// pools are those of all islands.
func (r *sampler) pools() (all []states) {
	for _, l := range r.islands {
		all = append(all, l.pool...)
	}
	return all
}

// even are equal weights of the states of all pools.
func (r *sampler) even() []float64 {
	return slices.Repeat([]float64{1}, r.s.Islands*r.s.Particles*len(r.islands[0].pool))
}
