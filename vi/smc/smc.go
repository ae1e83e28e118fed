package smc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/scout"
)

// Run samples the posterior of d. If ctx ends it, it returns what is there, with an error.
func Run(ctx context.Context, d *graph.Density, s Settings) (Result, error) {
	r, err := run(ctx, d, s)
	if err != nil {
		err = fmt.Errorf("smc: %w", err)
	}
	return r, err
}

func run(ctx context.Context, d *graph.Density, s Settings) (Result, error) {
	if ctx == nil || d == nil {
		return Result{}, errors.New("a nil context or density")
	}
	if d.Params() > 0 {
		return Result{}, fmt.Errorf("%d parameters without a prior", d.Params())
	}
	s, err := s.checked()
	if err != nil {
		return Result{}, err
	}
	required, err := d.Engine().Requirements()
	if err != nil {
		return Result{}, err
	}
	states := float64(s.Islands) * float64(s.Particles) * float64(2*s.Moves+1)
	if err := memory.Check("the particles", 8*float64(d.Dim())*states); err != nil {
		return Result{}, err
	}
	if s.Draws == nil {
		found, err := scout.Run(ctx, d, scout.Settings{Islands: 4, Particles: 128, Seed: parallel.Mix(s.Seed, 1), Over: s.Over})
		if errors.Is(err, scout.ErrNowhere) && required != nil { // which the prior hardly ever meets
			err, found.Z = nil, priorDraws(d, s.Seed)
		}
		if err != nil {
			return Result{}, err
		}
		s.Draws = found.Z
	}
	r, err := newSampler(ctx, d, s)
	if err != nil {
		return Result{}, err
	}
	r.required = required
	return r.run()
}

// An island is particles that exchange nothing with those of others.
type island struct {
	number     int
	now        states
	pool, next []states // after each move at the last temperature, and at this one
	recent     []states // after each of the last moves at β = 1
	evidence   float64  // its logarithm
	weights    []float64
	acceptance float64 // of the last move
	complete   states  // the last state that is kept, with what is summed out
	phase      []float64
}

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
	sum   float64 // over the moves since the last report
	moves int
	end   mc.Moments // at β = 1
}

func newSampler(ctx context.Context, d *graph.Density, s Settings) (*sampler, error) {
	r := &sampler{ctx: ctx, d: d, s: s, rng: parallel.NewRand(parallel.Mix(s.Seed, 2))}
	dim := d.Dim()
	points := mat.NewDense(len(s.Draws), dim, nil)
	for k, z := range s.Draws {
		points.SetRow(k, z)
	}
	r.start = newNormal(points, nil, float64(min(len(s.Draws), 1000)), 2)
	r.precision = r.start.power(-1, inverse, inverse)
	r.constant = -0.5*r.start.logDet() - 0.5*float64(dim)*math.Log(2*math.Pi)
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
	for _, of := range d.Parents() {
		r.hubs = append(r.hubs, of...)
	}
	for _, l := range slices.Concat(r.walls.plane, r.walls.others) {
		r.hubs = append(r.hubs, d.Arrangement().Latents(l)...)
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
		func(m *mover, b int, rng *rand.Rand) error { return r.work(m, r.islands[b], rng) })
	return r, err
}

// round does work for all islands.
func (r *sampler) round(work func(m *mover, l *island, rng *rand.Rand) error) error {
	r.work = work
	return r.team.Round()
}

// over reports whether the run is to end.
func (r *sampler) over() bool { return r.ctx.Err() != nil || r.s.Over != nil && r.s.Over() }

func (r *sampler) run() (Result, error) {
	root := r.start.power(0.5, same, one)
	for k := range r.s.Moves {
		err := r.round(func(m *mover, l *island, rng *rand.Rand) error { return m.draw(&l.pool[k], root, rng) })
		if err != nil {
			return Result{}, err
		}
	}
	if r.required != nil {
		if err := r.satisfy(); err != nil {
			return Result{}, err
		}
	}
	for r.beta < 1 && !r.over() {
		beta, err := r.nextBeta()
		if err != nil {
			return Result{}, err
		}
		if err := r.raise(beta); err != nil {
			return Result{}, err
		}
		if err := r.temper(); err != nil {
			return Result{}, err
		}
	}
	if r.beta == 1 && !r.over() {
		if err := r.finish(); err != nil {
			return Result{}, err
		}
	}
	return r.result()
}

func (r *sampler) report(moves int, effective, goal float64) {
	if r.s.Progress != nil {
		r.s.Progress(Progress{Beta: r.beta, Moves: moves, Effective: effective, Goal: goal, Acceptance: r.accepted.sum / float64(r.accepted.moves), Step: r.step})
	}
	r.accepted.sum, r.accepted.moves = 0, 0
}

// goal is the mean acceptance that the step is chosen for.
const goal = 0.8

// move moves all particles along a trajectory each, and by residuals.
func (r *sampler) move() error {
	other := anew
	if r.last == nil && r.accepted.moves%2 == 1 { // at β = 1 across pays less than it costs
		other = across
	}
	err := r.round(func(m *mover, l *island, rng *rand.Rand) (err error) {
		if l.acceptance, err = m.hamiltonian(&l.now, rng); err != nil {
			return err
		}
		if err = m.residual(&l.now, few, rng); err != nil {
			return err
		}
		return m.residual(&l.now, other, rng)
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
	r.accepted.moves++
	r.step = min(r.step*math.Exp(0.7*(mean-goal)), 2)
	return nil
}
