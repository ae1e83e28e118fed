package nile

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/models/exact"
)

// An Answer is the exact posterior.
type Answer struct {
	exact.Posterior
	// Shift are the probabilities of a shift, by the last year before it.
	Shift []float64
	// Twice is the probability that both shifts are of more than one unit, 10 km³.
	Twice float64
	// First and Last are the mean levels in the first and the last year, in units of the model.
	First, Last float64
}

// Exact is the posterior of Model(Flow, 2), by going through the years of both shifts. Given these and the noise's scale the
// levels are integrated out in closed form; the integral over the scale is a trapezoidal sum in its logarithm.
func Exact() Answer { return enumerate(Flow, step) }

// LogEvidence is log p(data) of Model(Flow, shifts), by the same enumeration.
func LogEvidence(shifts int) float64 {
	if shifts == 2 {
		return Exact().LogEvidence
	}
	return fewer(Flow, shifts, step)
}

// step is that of the logarithm of the noise's scale.
const step = 0.04

// fewer is the log evidence of no or one shift.
func fewer(flow []float64, shifts int, step float64) float64 {
	n := len(flow)
	var logs []float64
	eachScale(flow, step, func(_, prior float64, all [][]stretch) {
		if shifts == 0 {
			logs = append(logs, prior+all[0][n].log)
			return
		}
		for i := 1; i < n; i++ {
			logs = append(logs, prior-math.Log(float64(n-1))+all[0][i].log+all[i][n].log)
		}
	})
	return floats.LogSumExp(logs)
}

// priorMean and priorVariance are those of a level.
const priorMean, priorVariance = 9.0, 2.0 * 2.0

// A stretch is a range of years with one level: its log evidence given the noise, and the level's posterior.
type stretch struct {
	log   float64
	level distuv.Normal
}

// stretches are all of them given the noise's scale s: years i to j−1 are at [i][j].
func stretches(flow []float64, s float64) [][]stretch {
	n, v := len(flow), s*s
	all := make([][]stretch, n+1)
	for i := range all {
		all[i] = make([]stretch, n+1)
		var sum, square float64
		for j := i; j <= n; j++ {
			variance := 1 / (1/priorVariance + float64(j-i)/v)
			all[i][j] = stretch{
				log: -0.5*(float64(j-i)*math.Log(2*math.Pi*v)+square/v) + 0.5*math.Log(variance/priorVariance) +
					0.5*variance*sum*sum/(v*v),
				level: distuv.Normal{Mu: priorMean + variance*sum/v, Sigma: math.Sqrt(variance)},
			}
			if j < n {
				d := flow[j]/Unit - priorMean
				sum, square = sum+d, square+d*d
			}
		}
	}
	return all
}

// eachScale goes through the scales of the noise, with the log weight of each.
func eachScale(flow []float64, step float64, f func(s, prior float64, all [][]stretch)) {
	for u := math.Log(0.7); u < math.Log(3.2); u += step {
		s := math.Exp(u)
		f(s, math.Log(2*step)+u+distuv.Normal{Sigma: 2}.LogProb(s), stretches(flow, s))
	}
}

// eachPair goes through the scales of the noise and the numbers of years before the earlier and before the later shift.
func eachPair(flow []float64, step float64, f func(s float64, i, j int, log float64, before, middle, after distuv.Normal)) {
	n := len(flow)
	eachScale(flow, step, func(s, prior float64, all [][]stretch) {
		for i := 1; i < n; i++ {
			for j := i; j < n; j++ {
				a, b, c := all[0][i], all[i][j], all[j][n]
				log := prior - 2*math.Log(float64(n-1)) + a.log + b.log + c.log
				if j > i {
					log += math.Ln2 // either may be the earlier
				}
				f(s, i, j, log, a.level, b.level, c.level)
			}
		}
	})
}

func enumerate(flow []float64, step float64) Answer {
	var logs []float64
	eachPair(flow, step, func(_ float64, _, _ int, log float64, _, _, _ distuv.Normal) { logs = append(logs, log) })
	n := len(flow)
	a := Answer{Posterior: exact.Posterior{LogEvidence: floats.LogSumExp(logs)}, Shift: make([]float64, n)}
	ahead := make([]float64, n)
	moments := make([]exact.Mixture, 6)
	eachPair(flow, step, func(s float64, i, j int, log float64, before, middle, after distuv.Normal) {
		p := math.Exp(log - a.LogEvidence)
		if p < 1e-16 {
			return
		}
		a.First, a.Last = a.First+p*before.Mu, a.Last+p*after.Mu
		a.Shift[i-1] += p
		if j > i {
			a.Shift[j-1] += p
			if p > 1e-9 {
				a.Twice += p * twice(before, middle, after)
			}
		}
		for _, years := range []int{i, j} { // the first may be the earlier or the later one
			floats.AddConst(p/2, ahead[:years])
			moments[0].Add(p/2, FirstYear+float64(years)-0.5, 1.0/12)
		}
		for k, level := range []distuv.Normal{before, middle, after} {
			moments[2+k].Add(p, level.Mu, level.Variance())
		}
		moments[5].Add(p, s, 0)
	})
	moments[1] = moments[0]
	a.Guards = append(append(a.Guards, ahead...), ahead...)
	a.Latents = exact.All(moments)
	return a
}

// twice is the probability that both shifts are of more than 1.
func twice(before, middle, after distuv.Normal) float64 {
	return quad.Fixed(func(t float64) float64 {
		m := middle.Mu + math.Sqrt2*middle.Sigma*t
		return (before.CDF(m-1) + before.Survival(m+1)) * (after.CDF(m-1) + after.Survival(m+1)) / math.SqrtPi
	}, math.Inf(-1), math.Inf(1), 12, quad.Hermite{}, 1)
}
