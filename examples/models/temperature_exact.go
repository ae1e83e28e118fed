package models

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/facetvi/facet/examples/models/exact"
)

// TemperatureExact is the posterior of [Temperature], by a forward and a backward recursion over the room's temperature and the
// controller's state q, which are a Markov chain. A noise of 0.001 never carries the state from one side of 0.5 to the other: that
// is 500 of its standard deviations. So q_i follows from q_{i−1} and θ_{i−1}, and the state of the chain is
//
//	(θ_i, q_i):   q_i = next(θ_{i−1}, q_{i−1}),   θ_i | θ_{i−1}, q_i normal
//
// whose integrals over θ are sums over the nodes of Gauss–Legendre rules, in panels that end at 18 and 22, where next jumps.
// It panics if there are fewer than two observations.
func TemperatureExact(obs []float64) exact.Posterior { return temperatureExact(obs, 0.5) }

func temperatureExact(obs []float64, panel float64) exact.Posterior {
	if len(obs) < 2 {
		panic("models: exact posterior of temperature with fewer than two observations")
	}
	r := newRoomGrid(obs, panel)
	first := r.first()
	forward, logp := r.forward(first)
	backward := r.backward()

	steps := len(obs) - 1
	p := exact.Posterior{LogEvidence: logp, Guards: make([]float64, steps)}
	m := temperature{obs}
	moments := make([]exact.Mixture, m.Dim())
	for i := range steps {
		var weight [2]float64
		total := 0.0
		for q := range 2 {
			total += floats.Dot(forward[i][q], backward[i][q])
		}
		for q := range 2 {
			for k, x := range r.at {
				w := forward[i][q][k] * backward[i][q][k] / total
				weight[q] += w
				moments[m.room(i+1)].Add(w, x, 0)
				if i == 0 { // θ_0 is linear in θ_1
					moments[0].Add(w, first.mean+first.gain*(x-first.next), first.variance)
				}
			}
		}
		p.Guards[i] = weight[1]
		moments[m.noise(i+1)].Add(weight[0], 0, 0.001*0.001)
		moments[m.noise(i+1)].Add(weight[1], 1, 0.001*0.001)
	}
	p.Latents = exact.All(moments)
	return p
}

// roomGrid are the nodes of a quadrature over the room's temperature, and the chain's kernels on them.
type roomGrid struct {
	obs, at, weight []float64
	kernel          [2][][]float64 // by q_i: density of θ_i at node k given θ_{i−1} at node j, times the weight of j
}

// roomDrift is the mean and sd of θ_i given θ_{i−1} and q_i.
func roomDrift(before float64, q int) (mean, sd float64) {
	if q == 1 {
		return before + (32-before-21)/15, 0.44
	}
	return before + (32-before)/15, 0.4
}

// roomNext is q_i given θ_{i−1} and q_{i−1}.
func roomNext(before float64, q int) int {
	switch {
	case before < 18:
		return 0
	case before > 22:
		return 1
	}
	return q
}

func newRoomGrid(obs []float64, panel float64) *roomGrid {
	const lo, hi, nodes = 12, 28, 8
	r := &roomGrid{obs: obs}
	x, w := make([]float64, nodes), make([]float64, nodes)
	for left := float64(lo); left < hi; left += panel {
		quad.Legendre{}.FixedLocations(x, w, left, left+panel)
		r.at, r.weight = append(r.at, x...), append(r.weight, w...)
	}
	for q := range 2 {
		for _, after := range r.at {
			row := make([]float64, len(r.at))
			for j, before := range r.at {
				mean, sd := roomDrift(before, q)
				row[j] = r.weight[j] * math.Exp(logNormal(after, mean, sd))
			}
			r.kernel[q] = append(r.kernel[q], row)
		}
	}
	return r
}

// seen multiplies density by that of observation i.
func (r *roomGrid) seen(density []float64, i int) {
	for k, x := range r.at {
		density[k] *= math.Exp(logNormal(r.obs[i], x, 1))
	}
}

// roomStart is the first step in closed form: θ_0, which is within 2000 standard deviations of 18 and 22, so that q_1 = 0.
type roomStart struct {
	logp           float64 // of obs_0
	mean, variance float64 // of θ_0 given obs_0 and θ_1 at its mean
	next, sd       float64 // of θ_1 given obs_0
	gain           float64 // of E[θ_0 | θ_1] in θ_1
}

func (r *roomGrid) first() roomStart {
	const prior = 0.001 * 0.001
	gain := prior / (prior + 1)
	s := roomStart{logp: logNormal(r.obs[0], 20, math.Sqrt(prior+1)), mean: 20 + gain*(r.obs[0]-20)}
	variance := prior * (1 - gain)
	mean, sd := roomDrift(s.mean, 0)
	const slope = 14.0 / 15
	s.next, s.sd = mean, math.Sqrt(slope*slope*variance+sd*sd)
	s.gain = slope * variance / (s.sd * s.sd)
	s.variance = variance - s.gain*slope*variance
	return s
}

// forward are the densities of θ_i and q_i given obs_0, …, obs_i, for i from 1, and the log evidence.
func (r *roomGrid) forward(first roomStart) (f [][2][]float64, logp float64) {
	logp = first.logp
	n := len(r.at)
	for i := 1; i < len(r.obs); i++ {
		now := [2][]float64{make([]float64, n), make([]float64, n)}
		if i == 1 {
			for k, x := range r.at {
				now[0][k] = math.Exp(logNormal(x, first.next, first.sd))
			}
		} else {
			by := [2][]float64{make([]float64, n), make([]float64, n)} // densities of θ_{i−1}, by q_i
			for q, before := range f[len(f)-1] {
				for j, x := range r.at {
					by[roomNext(x, q)][j] += before[j]
				}
			}
			for q := range 2 {
				for k := range now[q] {
					now[q][k] = floats.Dot(r.kernel[q][k], by[q])
				}
			}
		}
		total := 0.0
		for q := range 2 {
			r.seen(now[q], i)
			total += floats.Dot(now[q], r.weight)
		}
		for q := range 2 {
			floats.Scale(1/total, now[q])
		}
		logp += math.Log(total)
		f = append(f, now)
	}
	return f, logp
}

// backward are the densities of obs_{i+1}, … given θ_i and q_i, times the nodes' weights, up to a factor for each i, for i from 1.
func (r *roomGrid) backward() [][2][]float64 {
	n, steps := len(r.at), len(r.obs)-1
	b := make([][2][]float64, steps)
	later := [2][]float64{make([]float64, n), make([]float64, n)} // by q_i: that of obs_{i+1}, … at θ_i, without weight
	for q := range later {
		floats.AddConst(1, later[q])
	}
	for i := steps; i >= 1; i-- {
		largest := 0.0
		for q := range 2 {
			b[i-1][q] = floats.MulTo(make([]float64, n), later[q], r.weight)
			largest = max(largest, floats.Max(later[q]))
		}
		// One step back: through obs_i, and θ_i given θ_{i−1} by q_i.
		var by [2][]float64
		for q := range 2 {
			now := floats.ScaleTo(make([]float64, n), 1/largest, b[i-1][q])
			r.seen(now, i)
			by[q] = make([]float64, n)
			for k, v := range now {
				floats.AddScaled(by[q], v, r.kernel[q][k])
			}
			floats.Div(by[q], r.weight) // a kernel's row has the weights of θ_{i−1}
		}
		for q := range 2 {
			for j, x := range r.at {
				later[q][j] = by[roomNext(x, q)][j]
			}
		}
	}
	return b
}
