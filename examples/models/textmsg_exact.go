package models

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/examples/models/exact"
)

// TextMsgExact is the posterior of [TextMsg]. The thresholds cut the switch point's line into intervals, and in each of them
// the two rates are independent:
//
//	p(data) = Σ_k P(z in interval k) ∫ p(x0) Π_{before} Poisson(exp x0) dx0 ∫ p(x1) Π_{after} Poisson(exp x1) dx1
//
// The integrals are trapezoidal sums.
func TextMsgExact() exact.Posterior { return textMsgExact(0.005) }

func textMsgExact(step float64) exact.Posterior {
	days, counts := TextMsgData()
	n := len(days)
	bounds := []float64{math.Inf(-1)}
	for _, day := range days {
		bounds = append(bounds, TextMsgThreshold(day))
	}
	bounds = append(bounds, math.Inf(1))

	type cell struct{ z, x0, x1 [2]float64 } // means and variances
	cells, logs := make([]cell, n+1), make([]float64, n+1)
	for k := range cells { // the first k thresholds lie below z: on their days the rate is exp x0
		prob, mean, variance := exact.Truncated(0, 1, bounds[k], bounds[k+1])
		cells[k].z = [2]float64{mean, variance}
		var before, after float64
		before, cells[k].x0 = textMsgRate(counts[:k], step)
		after, cells[k].x1 = textMsgRate(counts[k:], step)
		logs[k] = math.Log(prob) + before + after
	}
	p := exact.Posterior{LogEvidence: floats.LogSumExp(logs), Guards: make([]float64, n)}
	moments := make([]exact.Mixture, 3)
	for k, c := range cells {
		weight := math.Exp(logs[k] - p.LogEvidence)
		floats.AddConst(weight, p.Guards[:k])
		for i, of := range [][2]float64{c.x0, c.x1, c.z} {
			moments[i].Add(weight, of[0], of[1])
		}
	}
	p.Latents = exact.All(moments)
	return p
}

// textMsgRate is the log evidence of counts with one rate exp x, and mean and variance of x.
func textMsgRate(counts []float64, step float64) (logp float64, x [2]float64) {
	mean, sd := math.Log(TextMsgMean())-math.Ln2/2, math.Sqrt(math.Ln2)
	var sum, constant float64
	for _, c := range counts {
		sum, constant = sum+c, constant-logFactorial(c)
	}
	var logs, at []float64
	for u := mean - 10*sd; u < mean+10*sd; u += step {
		at = append(at, u)
		logs = append(logs, logNormal(u, mean, sd)+sum*u-float64(len(counts))*math.Exp(u)+math.Log(step))
	}
	logp = floats.LogSumExp(logs)
	var m exact.Mixture
	for i, u := range at {
		m.Add(math.Exp(logs[i]-logp), u, 0)
	}
	moments := m.Moments()
	return logp + constant, [2]float64{moments.Mean, moments.SD * moments.SD}
}
