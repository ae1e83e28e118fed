package graph

import (
	"math"
	"strings"

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

// LogPriors are the log densities at z of the latents' priors, by latent on the program's own scale, each given the latents that its
// prior depends on. Those of parameters are 0. It allocates if dst is nil, and otherwise panics unless len(dst) is Dim().
func (d *Density) LogPriors(dst, z []float64) []float64 {
	dst = sized(dst, d.Dim(), "latents")
	ev := d.evaluate(z)
	defer ev.release()
	clear(dst)
	i := d.m.params
	for _, t := range d.m.terms {
		name, ofPrior := strings.CutPrefix(t.what, priorOf(""))
		switch {
		case t.prior:
			if k := d.m.latents[i].discrete; k == nil {
				dst[i] = ev.value(t.id)
				if d.Transformed(i) {
					dst[i] -= math.Log(math.Abs(d.ConstrainSlope(i, z[i])))
				}
			} else if onlyNumbers(k.dist.params) {
				dst[i], _ = k.dist.logProb(Expr{v: d.ConstrainOne(i, z[i])}).IsConst()
			}
			i++
		case ofPrior: // of a discrete latent whose prior depends on others
			k, _ := d.Latent(name)
			dst[k] = ev.value(t.id) - math.Log(float64(len(d.m.latents[k].discrete.values)))
		}
	}
	return dst
}
