package lynx

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/models/exact"
)

// An Answer is the exact posterior.
type Answer struct {
	exact.Posterior
	// Intervals are those of the threshold between neighbouring numbers, within which it has its prior's density.
	Intervals []Interval
}

// An Interval of the threshold has the posterior probability Prob.
type Interval struct{ Lo, Hi, Prob float64 }

// prior is the threshold's.
var prior = distuv.Normal{Mu: 3, Sigma: 0.5}

// Below is the posterior probability that the threshold is below c.
func (a Answer) Below(c float64) (p float64) {
	for _, in := range a.Intervals {
		switch {
		case in.Hi <= c:
			p += in.Prob
		case in.Lo < c:
			p += in.Prob * (prior.CDF(c) - prior.CDF(in.Lo)) / (prior.CDF(in.Hi) - prior.CDF(in.Lo))
		}
	}
	return p
}

// Exact is the posterior of Model(Logs(Trapped)), by going through the intervals of the threshold: the data are the same for all
// thresholds between two neighbouring numbers. Given the noise's scale the coefficients of a side are integrated out in
// closed form; the integral over the scale is a trapezoidal sum in its logarithm.
func Exact() Answer { return enumerate(Logs(Trapped), 0.05) }

// OneLogEvidence is log p(data) of One(Logs(Trapped)).
func OneLogEvidence() float64 { return one(Logs(Trapped), 0.05) }

func one(x []float64, step float64) float64 {
	return yearsOf(x, func(float64) bool { return true }, Centre["all"]).integrate(step).log
}

func enumerate(x []float64, step float64) Answer {
	lags := slices.Compact(slices.Sorted(slices.Values(x[:len(x)-2])))
	bounds := append(append([]float64{math.Inf(-1)}, lags...), math.Inf(1))
	n := len(bounds) - 1
	type cell struct {
		threshold [2]float64 // mean and variance
		low, high side
	}
	a, cells, logs := Answer{}, make([]cell, n), make([]float64, n)
	for k := range cells {
		lo, hi := bounds[k], bounds[k+1]
		p, mean, variance := exact.Truncated(prior.Mu, prior.Sigma, lo, hi)
		c := cell{threshold: [2]float64{mean, variance}}
		c.low = yearsOf(x, func(lag float64) bool { return lag <= lo }, Centre["low"]).integrate(step)
		c.high = yearsOf(x, func(lag float64) bool { return lag >= hi }, Centre["high"]).integrate(step)
		cells[k], logs[k] = c, math.Log(p)+c.low.log+c.high.log
	}
	a.LogEvidence = floats.LogSumExp(logs)
	moments := make([]exact.Mixture, 9)
	for k, c := range cells {
		p := math.Exp(logs[k] - a.LogEvidence)
		a.Intervals = append(a.Intervals, Interval{bounds[k], bounds[k+1], p})
		moments[0].Add(p, c.threshold[0], c.threshold[1])
		for i := range 4 {
			moments[1+i].Add(p, c.low.of[i].Mean, c.low.of[i].SD*c.low.of[i].SD)
			moments[5+i].Add(p, c.high.of[i].Mean, c.high.of[i].SD*c.high.of[i].SD)
		}
	}
	a.Latents = exact.All(moments)
	for _, lag := range x[:len(x)-2] {
		a.Guards = append(a.Guards, a.Below(lag))
	}
	return a
}

// A side is what the years on one side of a threshold say: their log evidence, and the posterior moments of base, momentum,
// pull and noise.
type side struct {
	log float64
	of  []exact.Moments
}

// years are those on one side of a threshold, as a regression of the growth on
// 1, the growth before and the distance from the centre, by its sums.
type years struct {
	xx *mat.SymDense
	xy *mat.VecDense
	yy float64
	n  float64
}

func yearsOf(x []float64, in func(lag float64) bool, centre float64) years {
	y := years{xx: mat.NewSymDense(3, nil), xy: mat.NewVecDense(3, nil)}
	for t := 2; t < len(x); t++ {
		if in(x[t-2]) {
			v, growth := mat.NewVecDense(3, []float64{1, x[t-1] - x[t-2], x[t-2] - centre}), x[t]-x[t-1]
			y.xx.SymRankOne(y.xx, 1, v)
			y.xy.AddScaledVec(y.xy, growth, v)
			y.yy, y.n = y.yy+growth*growth, y.n+1
		}
	}
	return y
}

// given is the log evidence given the noise's scale s, and the posterior mean and covariance of the coefficients, whose priors
// are standard normal.
func (y years) given(s float64) (logp float64, mean mat.VecDense, cov mat.SymDense) {
	v := s * s
	a := mat.NewSymDense(3, nil)
	a.ScaleSym(1/v, y.xx)
	for i := range 3 {
		a.SetSym(i, i, a.At(i, i)+1)
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		panic("lynx: the normal equations are singular")
	}
	if err := chol.SolveVecTo(&mean, y.xy); err != nil {
		panic(err)
	}
	if err := chol.InverseTo(&cov); err != nil {
		panic(err)
	}
	mean.ScaleVec(1/v, &mean)
	logp = -0.5*(y.n*math.Log(2*math.Pi*v)+y.yy/v+chol.LogDet()) + 0.5*mat.Dot(&mean, y.xy)/v
	return logp, mean, cov
}

// integrate integrates the noise's scale out.
func (y years) integrate(step float64) side {
	type node struct {
		s    float64
		mean mat.VecDense
		cov  mat.SymDense
	}
	var nodes []node
	var logs []float64
	for u := math.Log(1e-5); u < math.Log(4); u += step {
		s := math.Exp(u)
		logp, mean, cov := y.given(s)
		nodes = append(nodes, node{s, mean, cov})
		logs = append(logs, logp+math.Log(2*step)+u+distuv.Normal{Sigma: 0.5}.LogProb(s))
	}
	r := side{log: floats.LogSumExp(logs)}
	moments := make([]exact.Mixture, 4)
	for k, n := range nodes {
		p := math.Exp(logs[k] - r.log)
		for i := range 3 {
			moments[i].Add(p, n.mean.AtVec(i), n.cov.At(i, i))
		}
		moments[3].Add(p, n.s, 0)
	}
	r.of = exact.All(moments)
	return r
}
