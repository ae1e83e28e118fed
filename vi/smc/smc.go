package smc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/scout"
)

// Settings say where a run starts and how much work it does. The zero value works.
type Settings struct {
	// Draws are points in unconstrained coordinates, of which q0 is made: the normal with their mean
	// and twice their covariance. They need not be fair, but where the posterior
	// is they should be. Without any, a short scout finds some.
	Draws     [][]float64
	Islands   int // groups of particles without exchange between them, at least 2; default 8
	Particles int // in an island; default 64
	Moves     int // of each particle at each temperature; default 4
	Effective int // draws that are to be effective for the mean of each latent; default 2000
	MostMoves int // of each particle at the end; default 3000. A run that will not have done by then ends after a fifth of it
	// Enough, if not nil, is asked now and then, in place of Effective, by how many times there have to be more draws, with what there is but
	// for diagnostics. At 1 or less the run ends.
	Enough func(Result) float64
	Seed   uint64 // fixes the result, whatever the number of processors is
	// Complete, if not nil, returns what draws latents that are summed out of the density, given the others, in batches of n
	// points. Draws have theirs; in the density nothing depends on them.
	Complete func(n int) Completer
	// Near, if not nil, returns a distribution near draws, or nil: at β = 1 moves also propose points of it.
	Near func(draws [][]float64) (Proposal, error)
	// Over, if not nil, is asked whether to end with what is there.
	Over func() bool
	// Progress is told how far the run is, after each temperature, and after each
	// move at the end.
	Progress func(Progress)

	wrong func(w *walls) // breaks walls, in tests
}

// A Proposal is a distribution of some latents. It is used by several goroutines.
type Proposal interface {
	LogProb(z []float64) float64
	Rand(z []float64, rng *rand.Rand) // leaves the other latents as they are
}

// A Completer is that of package family.
type Completer interface {
	Uniforms() int
	Draw(log, z, u []float64)
}

// Progress is how far a run is.
type Progress struct {
	Beta       float64 // the inverse temperature
	Moves      int     // at β = 1
	Effective  float64 // draws so far, of the latent that has the fewest
	Goal       float64 // how many these are to be
	Acceptance float64 // of the moves since the last report
	Step       float64 // of leapfrog, in units of the mass
}

// A Result is a sample of the posterior, and what is known of its quality.
type Result struct {
	// Z are draws in unconstrained coordinates, all with the same weight, and Island the island that each is from.
	Z      [][]float64
	Island []int
	// LogEvidence is the logarithm of the mean of the islands' evidences, with its jackknife
	// standard error. Where moves are slow on the way, as in funnels and among many walls, it tends to be too
	// low, by more than the error says; the draws, which are moved on at β = 1, are not concerned, and a bridge to them knows it better.
	LogEvidence mc.Estimate
	Islands     []float64 // the logarithms of their evidences
	Beta        float64   // 1, or where the run was ended
	Chains      int       // particles: draw k is of particle k mod Chains
	Effective   float64   // independent draws that would know the mean of the latent that is known the least as well
	Diagnostics
}

// ErrNowhere is the error of a model whose log density is finite at none of the first draws.
var ErrNowhere = errors.New("log r is finite at none of the first draws")

// checked is s with defaults.
func (s Settings) checked() (Settings, error) {
	s.Islands, s.Particles, s.Moves = cmp.Or(s.Islands, 8), cmp.Or(s.Particles, 64), cmp.Or(s.Moves, 4)
	s.Effective, s.MostMoves = cmp.Or(s.Effective, 2000), cmp.Or(s.MostMoves, 3000)
	switch {
	case s.Islands < 2:
		return s, fmt.Errorf("%d islands: at least 2", s.Islands)
	case s.Particles < 2 || s.Moves < 1 || s.Effective < 1 || s.MostMoves < 2:
		return s, fmt.Errorf("%d particles, %d moves, %d draws, %d moves at the end: at least 2, 1, 1 and 2", s.Particles, s.Moves, s.Effective, s.MostMoves)
	}
	return s, nil
}

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

// priorDraws are those of the prior that have a value.
func priorDraws(d *graph.Density, seed uint64) (draws [][]float64) {
	rng := parallel.NewRand(parallel.Mix(seed, 3))
	for range 2000 {
		if z := d.PriorDraw(nil, rng); !math.IsInf(floats.Sum(z), 0) && !math.IsNaN(floats.Sum(z)) {
			draws = append(draws, z)
		}
	}
	return draws
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
	accepted     float64 // sum over the moves since the last report
	moved        int
	acceptance   mc.Moments // at β = 1
	last         *chains
	near         nearby
	pace         pace
	learned      int // moves of which the covariance of velocities is
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

// rises are log r − log q0 of the states of a pool, those of a particle side by side: what the
// weights of the next temperature are made of.
func rises(dst []float64, pool []states) []float64 {
	dst = dst[:0]
	for i := range pool[0].logR {
		for _, s := range pool {
			v := s.logR[i] - s.logQ[i]
			if math.IsNaN(v) {
				v = math.Inf(-1)
			}
			dst = append(dst, v)
		}
	}
	return dst
}

// temper moves the particles at one temperature, and makes their states the pools.
func (r *sampler) temper() error {
	for k := range r.s.Moves {
		if err := r.move(); err != nil {
			return err
		}
		for _, l := range r.islands {
			l.next[k].set(&l.now)
		}
	}
	for _, l := range r.islands {
		l.pool, l.next = l.next, l.pool
	}
	r.report(0, 0, 0)
	return nil
}

func (r *sampler) report(moves int, effective, goal float64) {
	if r.s.Progress != nil {
		r.s.Progress(Progress{Beta: r.beta, Moves: moves, Effective: effective, Goal: goal, Acceptance: r.accepted / float64(r.moved), Step: r.step})
	}
	r.accepted, r.moved = 0, 0
}

// How much of the states stays effective from one temperature to the next, and while requirements are being met,
// where moves get less far.
const (
	effectiveShare = 0.25
	requiredShare  = 0.8
	leastRise      = 1.001 // of β, whatever is effective, so that a run ends
	leastBeta      = 1e-30
	passes         = 4 // there
)

// nextBeta is the largest β for which enough states stay effective.
func (r *sampler) nextBeta() (float64, error) {
	var all []float64
	for _, l := range r.islands {
		l.weights = rises(l.weights, l.pool)
		all = append(all, l.weights...)
	}
	if k := floats.MaxIdx(all); math.IsInf(all[k], 1) {
		return 0, errors.New("smc: log r is +Inf at a draw: the density has no maximum, or a number is too large")
	}
	rise := largest(all, 1-r.beta, effectiveShare)
	if rise == 1-r.beta {
		return 1, nil
	}
	return min(1, max(r.beta+rise, leastRise*r.beta, leastBeta)), nil
}

// largest is the largest t up to most for which a share of the weights exp(t·logs) is effective.
func largest(logs []float64, most, share float64) float64 {
	top := floats.Max(logs)
	good := func(t float64) bool {
		sum, squares := 0.0, 0.0
		for _, v := range logs {
			w := math.Exp(t * (v - top))
			sum, squares = sum+w, squares+w*w
		}
		return sum*sum >= share*squares*float64(len(logs))
	}
	if math.IsInf(top, -1) || good(most) {
		return most
	}
	low, high := 0.0, most
	for range 60 {
		if middle := (low + high) / 2; good(middle) {
			low = middle
		} else {
			high = middle
		}
		if high < 1.01*low {
			break
		}
	}
	return low
}

// raise goes to β.
func (r *sampler) raise(beta float64) error {
	for _, l := range r.islands {
		l.weights = rises(l.weights, l.pool)
		for i, v := range l.weights {
			if l.weights[i] = (beta - r.beta) * v; math.IsNaN(l.weights[i]) {
				l.weights[i] = v
			}
		}
	}
	if err := r.weigh(); err != nil {
		return err
	}
	r.beta = beta
	r.temperatures = append(r.temperatures, beta)
	return nil
}

// mostPrice is beyond what is to be paid for a requirement where some points meet all.
const mostPrice = 1 << 10

// satisfy raises the price of requirements until all hold.
func (r *sampler) satisfy() error {
	for !math.IsInf(r.price, 1) && !r.over() {
		var all []float64
		met := 0.0
		for _, l := range r.islands {
			for _, s := range l.pool {
				for _, v := range s.broken {
					all = append(all, -v)
					if v == 0 {
						met++
					}
				}
			}
		}
		price := r.price + largest(all, 1+r.price, requiredShare)
		switch {
		case met >= requiredShare*float64(len(all)):
			price = math.Inf(1)
		case price > mostPrice:
			return r.contradiction()
		}
		for _, l := range r.islands {
			l.weights = l.weights[:0]
			for i := range l.now.logR {
				for _, s := range l.pool {
					w := 0.0
					if s.broken[i] > 0 {
						w = -(price - r.price) * s.broken[i]
					}
					l.weights = append(l.weights, w)
				}
			}
		}
		if err := r.weigh(); err != nil {
			return err
		}
		r.price = price
		for range passes {
			if err := r.temper(); err != nil {
				return err
			}
		}
	}
	return nil
}

// contradiction is the error of requirements that no point meets, with those that are not met where the most are.
func (r *sampler) contradiction() error {
	least, best := math.Inf(1), []float64(nil)
	for _, l := range r.islands {
		for i, v := range l.now.broken {
			if v < least {
				least, best = v, best[:0]
				for k := i; k < len(l.now.z); k += r.s.Particles {
					best = append(best, l.now.z[k])
				}
			}
		}
	}
	signs := r.d.Arrangement().Signs(best)
	var places []string
	for k := range r.required.Len() {
		if !r.required.Holds(k, signs) {
			places = append(places, r.required.Place(k))
		}
	}
	return fmt.Errorf("no point was found that meets all %d requirements: where the most hold, those of %s do not", r.required.Len(), strings.Join(places, ", "))
}

// weigh makes new states of the pools by the islands' logarithms of weights, with evidences and the covariance of
// velocities.
func (r *sampler) weigh() error {
	top := math.Inf(-1)
	for _, l := range r.islands {
		top = max(top, floats.Max(l.weights))
	}
	if math.IsInf(top, -1) {
		return ErrNowhere
	}
	var all []float64
	for _, l := range r.islands {
		for i, v := range l.weights {
			l.weights[i] = math.Exp(v - top)
		}
		all = append(all, l.weights...)
		l.evidence += top + math.Log(floats.Sum(l.weights)/float64(len(l.weights)))
	}
	r.learn(all, float64(2*r.s.Particles*r.s.Islands))
	r.pool = r.pool[:0]
	for _, l := range r.islands {
		l.resample(r.rng.Float64())
		r.pool = append(r.pool, l.pool...)
	}
	return nil
}

// learn makes the covariance of velocities that of the weighted states of all pools, of which at most so many are effective.
func (r *sampler) learn(weights []float64, most float64) {
	n, dim := r.s.Particles, r.d.Dim()
	points := mat.NewDense(len(weights), dim, nil)
	row := 0
	for _, l := range r.islands {
		for i := range n {
			for _, s := range l.pool {
				to := points.RawRowView(row)
				for k := range to {
					to[k] = s.z[k*n+i]
				}
				row++
			}
		}
	}
	sum, squares := floats.Sum(weights), floats.Dot(weights, weights)
	floats.Scale(float64(len(weights))/sum, weights)
	q := newNormal(points, weights, min(sum*sum/squares, most), 1)
	r.covariance = q.power(1, same, same)
	r.path.root = q.power(-0.5, inverse, one)
	r.mass = r.walls.newMass(r.covariance)
}

// resample draws the particles from the pool by systematic resampling, which u in (0, 1) fixes. An
// island whose weights are all 0 stays where it is.
func (l *island) resample(u float64) {
	sum, last := 0.0, 0
	for j, w := range l.weights {
		if sum += w; w > 0 {
			last = j
		}
	}
	n := len(l.now.logR)
	step := sum / float64(n)
	above, j := -step*u, -1 // above: from the end of state j's weight to the draw
	for i := range n {
		for above += step; above > 0 && j < last; {
			j++
			above -= l.weights[j]
		}
		from := max(j, 0)
		l.now.take(i, &l.pool[from%len(l.pool)], from/len(l.pool))
	}
}

// goal is the mean acceptance that the step is chosen for.
const goal = 0.8

// move moves all particles along a trajectory each, and by residuals.
func (r *sampler) move() error {
	other := []int{anew, across}[r.moved%2]
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
	if r.accepted += mean; r.last != nil {
		r.acceptance.Add(mean)
	}
	r.moved++
	r.step = min(r.step*math.Exp(0.7*(mean-goal)), 2)
	return nil
}
