package graph

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// LogLikelihoods are the log densities at z of the elements of Data, one by one and in that order: of a step of a chain, given
// the steps before it. Together they are what the observations add to log r. Those that the program does not make at z, in an If
// block that z does not enter, are NaN, and so are missing ones. It allocates if dst is nil, and otherwise panics unless len(dst) is the number of
// observations.
func (d *Density) LogLikelihoods(dst, z []float64) []float64 {
	dst = sized(dst, len(d.made().m.obs), "observations")
	ev := d.evaluate(z)
	defer ev.release()
	terms, k := d.terms, 0
	for i := 0; i < len(dst); k++ {
		o := &d.m.obs[i]
		switch made := ev.holds(o.where); {
		case !terms[k].observes():
			continue
		case o.hidden != nil:
			steps := dst[i:][:o.hidden.steps]
			o.hidden.predictive(ev, d.missing, steps)
			if !made {
				floats.AddConst(math.NaN(), steps)
			}
			i += len(steps)
			continue
		case made:
			dst[i] = ev.value(terms[k].id)
		default:
			dst[i] = math.NaN()
		}
		i++
	}
	for i := range dst {
		if d.isMissing(i) {
			dst[i] = math.NaN()
		}
	}
	return dst
}

// predictive stores the log density of each step's observation given those before, by the forward algorithm.
func (c *Hidden) predictive(ev *evaluator, missing []bool, dst []float64) {
	x := c.values(ev, missing)
	k, square := c.states, c.states*c.states
	moves := x[k : len(x)-k*c.steps]
	now, before, row := make([]float64, k), make([]float64, k), make([]float64, k)
	for t := range dst {
		for to := range now {
			if t == 0 {
				now[to] = x[to]
				continue
			}
			set := moves[min(t, len(moves)/square)*square-square:]
			for from := range row {
				row[from] = before[from] + set[from*k+to]
			}
			now[to] = floats.LogSumExp(row)
		}
		for s := range now {
			now[s] += x[len(x)-k*(c.steps-t)+s]
		}
		dst[t] = floats.LogSumExp(now)
		floats.AddConst(-dst[t], now)
		now, before = before, now
	}
}
