package smc

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

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
	for _, g := range r.relocations {
		g.learn(r.path.pool)
	}
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
	r.widen()
	r.report(0, 0, 0)
	if r.s.Reached == nil {
		return nil
	}
	return r.s.Reached(r.reached())
}

// mostReached is how many draws of a temperature are told, about.
const mostReached = 1024

// reached are draws of the temperature, as many of each pool.
func (r *sampler) reached() (draws [][]float64) {
	n := r.s.Particles
	per := min(n, mostReached/(r.s.Islands*r.s.Moves)+1)
	for _, l := range r.islands {
		for _, s := range l.pool {
			for i := range per {
				draws = append(draws, s.point(i*n/per))
			}
		}
	}
	return draws
}

// How much of the states stays effective from one temperature to the next, and while requirements are being met,
// where moves get less far.
const (
	effectiveShare = 0.25
	requiredShare  = 0.8
	manyShare      = 0.5   // of each island's states, where latents are many
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
	if r.elimination != nil {
		for _, l := range r.islands {
			rise = min(rise, largest(l.weights, 1-r.beta, manyShare))
		}
	}
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
	r.beta = beta
	if err := r.weigh(); err != nil {
		return err
	}
	r.temperatures = append(r.temperatures, beta)
	return nil
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
	for _, l := range r.islands {
		l.resample(r.rng.Float64())
	}
	r.pool = r.pools()
	return nil
}

// mostLeverage is how many latents there may be for each state where one metric, of all states, is that of all islands. Of d latents, a state with a share w of
// the weights has a part in the covariance by which its own velocity is 1 + w·d times as large as the covariance without it would make it, towards the
// middle. So it comes to where log π is higher than at any state of π, and evidence grows by that. With more latents an island has a metric of the others' states.
const mostLeverage = 0.125

// learn finds metrics by weighted states of pools, of which at most so many are effective.
func (r *sampler) learn(weights []float64, most float64) {
	per := len(weights) / len(r.islands)
	for turn, m := range r.metrics {
		var from []*island
		var of []float64
		for k, l := range r.islands {
			if len(r.metrics) == 1 || k%len(r.metrics) != turn {
				from, of = append(from, l), append(of, weights[k*per:][:per]...)
			}
		}
		m.learn(r, from, of, most*float64(len(from))/float64(len(r.islands)))
	}
}

// learn finds the coordinates of trajectories, and makes the covariance of velocities that of the weighted states of pools in them.
func (m *metric) learn(r *sampler, from []*island, weights []float64, most float64) {
	points := r.points(from)
	sum, squares := floats.Sum(weights), floats.Dot(weights, weights)
	floats.Scale(float64(len(weights))/sum, weights)
	if m.coordinates = nil; m.noncentring != nil && r.recentre(m.noncentring, from, weights) {
		m.coordinates = m.noncentring
		m.noncentring.points(points)
	}
	q := newNormal(points, weights, min(sum*sum/squares, most), 1, r.elimination)
	m.covariance, m.root = q.power(1, same, same), q.power(-0.5, inverse, one)
	m.mass = r.walls.newMass(m.covariance)
}

// recentre finds the coordinates of trajectories, by some of the weighted states of pools, and reports whether they are others than the program's. Errors of
// gradients come again with the next move.
func (r *sampler) recentre(s *noncentring, from []*island, weights []float64) bool {
	points := make([][]weighed, len(from))
	err := r.round(func(m *mover, l *island, _ *rand.Rand) error {
		at := slices.Index(from, l)
		if at < 0 {
			return nil
		}
		for j := range min(degreeStates, len(l.pool)) {
			k := (j+1)*len(l.pool)/min(degreeStates, len(l.pool)) - 1
			p := weighed{z: l.pool[k].z, weights: make([]float64, m.n)}
			for i := range p.weights {
				p.weights[i] = weights[(at*m.n+i)*len(l.pool)+k]
			}
			if err := m.gradientsAt(&p); err != nil {
				return err
			}
			points[at] = append(points[at], p)
		}
		return nil
	})
	return err == nil && s.learn(slices.Concat(points...))
}

// points are the states of pools.
func (r *sampler) points(from []*island) *mat.Dense {
	points, row := mat.NewDense(len(from)*r.s.Particles*len(from[0].pool), r.d.Dim(), nil), 0
	for _, l := range from {
		for i := range r.s.Particles {
			for _, s := range l.pool {
				to := points.RawRowView(row)
				for k := range to {
					to[k] = s.z[k*r.s.Particles+i]
				}
				row++
			}
		}
	}
	return points
}
