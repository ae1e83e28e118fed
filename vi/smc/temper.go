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

// learn finds the coordinates of trajectories, and makes the covariance of velocities that of the weighted states of all pools in them, of which at most so many
// are effective.
func (r *sampler) learn(weights []float64, most float64) {
	points := r.points(len(weights))
	sum, squares := floats.Sum(weights), floats.Dot(weights, weights)
	floats.Scale(float64(len(weights))/sum, weights)
	if r.path.coordinates = nil; r.noncentring != nil && r.recentre(weights) {
		r.path.coordinates = r.noncentring
		r.noncentring.points(points)
	}
	q := newNormal(points, weights, min(sum*sum/squares, most), 1, r.elimination)
	r.covariance = q.power(1, same, same)
	r.path.root = q.power(-0.5, inverse, one)
	r.mass = r.walls.newMass(r.covariance)
}

// recentre finds the coordinates of trajectories, by some of the weighted states of all pools, and reports whether they are others than the program's. Errors of
// gradients come again with the next move.
func (r *sampler) recentre(weights []float64) bool {
	points := make([][]weighed, len(r.islands))
	err := r.round(func(m *mover, l *island, _ *rand.Rand) error {
		for j := range min(degreeStates, len(l.pool)) {
			k := (j+1)*len(l.pool)/min(degreeStates, len(l.pool)) - 1
			p := weighed{z: l.pool[k].z, weights: make([]float64, m.n)}
			for i := range p.weights {
				p.weights[i] = weights[(l.number*m.n+i)*len(l.pool)+k]
			}
			if err := m.gradientsAt(&p); err != nil {
				return err
			}
			points[l.number] = append(points[l.number], p)
		}
		return nil
	})
	return err == nil && r.noncentring.learn(slices.Concat(points...))
}

// points are the n states of all pools.
func (r *sampler) points(n int) *mat.Dense {
	points, row := mat.NewDense(n, r.d.Dim(), nil), 0
	for _, l := range r.islands {
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
