package stagnant

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/examples/models/exact"
)

// Given the change and tau the levels and slopes are normal, and integrated out in closed form. The integral over log tau is a
// trapezoidal sum; that over the change is a rule of Gauss and Legendre from flow to flow for the kink, and exact for the jump,
// which knows of the change only between which flows it is.

// ExactKink is the posterior of Kink(Flow, Height).
func ExactKink() exact.Posterior { return kink(Flow, Height, 20, step) }

// ExactJump is the posterior of Jump(Flow, Height).
func ExactJump() exact.Posterior { return jump(Flow, Height, step) }

// step is that of log tau.
const step = 0.05

// A node is a place of the change, with its variance there and how much of the prior it stands for.
type node struct {
	at, variance, part float64
	log                []float64 // log evidence, by tau
	mean, sd           [][]float64
}

func kink(flow, height []float64, points int, step float64) exact.Posterior {
	var nodes []node
	ends := intervals(flow)
	for k := 1; k < len(ends); k++ {
		x, w := make([]float64, points), make([]float64, points)
		quad.Legendre{}.FixedLocations(x, w, ends[k-1], ends[k])
		for j := range x {
			nodes = append(nodes, node{at: x[j], part: w[j] / (last - first)})
		}
	}
	return integrate(flow, height, nodes, step, 3, func(x, change float64) []float64 {
		return []float64{1, min(x-change, 0), max(x-change, 0)}
	})
}

func jump(flow, height []float64, step float64) exact.Posterior {
	var nodes []node
	ends := intervals(flow)
	for k := 1; k < len(ends); k++ {
		width := ends[k] - ends[k-1]
		nodes = append(nodes, node{at: (ends[k] + ends[k-1]) / 2, variance: width * width / 12, part: width / (last - first)})
	}
	return integrate(flow, height, nodes, step, 4, func(x, change float64) []float64 {
		if x < change {
			return []float64{1, x, 0, 0}
		}
		return []float64{0, 0, 1, x}
	})
}

// intervals are the flows where the change may be, and the ends of its prior.
func intervals(flow []float64) []float64 {
	ends := []float64{first, last}
	for _, x := range flow {
		if x > first && x < last {
			ends = append(ends, x)
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// integrate is the posterior of change, tau and n coefficients of a linear regression whose rows depend on the change.
func integrate(flow, height []float64, nodes []node, step float64, n int, row func(x, change float64) []float64) exact.Posterior {
	var taus, logs []float64          // taus are logarithms
	for u := 3.0; u < 11; u += step { // tau is 2185 with a standard deviation of 619
		taus = append(taus, u)
	}
	for k := range nodes {
		x := mat.NewDense(len(flow), n, nil)
		for i, f := range flow {
			x.SetRow(i, row(f, nodes[k].at))
		}
		for _, u := range taus {
			log, mean, sd := regression(x, height, math.Exp(u))
			log += math.Log(nodes[k].part*step) + logPrior(u)
			nodes[k].log, nodes[k].mean, nodes[k].sd = append(nodes[k].log, log), append(nodes[k].mean, mean), append(nodes[k].sd, sd)
			logs = append(logs, log)
		}
	}
	p := exact.Posterior{LogEvidence: floats.LogSumExp(logs), Guards: make([]float64, len(flow))}
	moments := make([]exact.Mixture, 2+n)
	for _, at := range nodes {
		for l, u := range taus {
			w := math.Exp(at.log[l] - p.LogEvidence)
			moments[0].Add(w, at.at, at.variance)
			moments[1].Add(w, math.Exp(u), 0)
			for j := range n {
				moments[2+j].Add(w, at.mean[l][j], at.sd[l][j]*at.sd[l][j])
			}
			for i, f := range flow {
				if f < at.at {
					p.Guards[i] += w
				}
			}
		}
	}
	p.Latents = exact.All(moments)
	return p
}

// regression is the log evidence of y ~ Normal(x·c, 1/√tau) with c ~ Normal(0, wide), and the posterior of c.
func regression(x *mat.Dense, y []float64, tau float64) (log float64, mean, sd []float64) {
	rows, n := x.Dims()
	var precision mat.SymDense
	precision.SymOuterK(tau, x.T())
	for j := range n {
		precision.SetSym(j, j, precision.At(j, j)+1/(wide*wide))
	}
	var b, c mat.VecDense
	b.MulVec(x.T(), mat.NewVecDense(rows, y))
	b.ScaleVec(tau, &b)
	var chol mat.Cholesky
	if !chol.Factorize(&precision) {
		panic("stagnant: a precision matrix that is not positive definite")
	}
	var cov mat.SymDense
	if err := chol.SolveVecTo(&c, &b); err != nil {
		panic(err)
	}
	if err := chol.InverseTo(&cov); err != nil {
		panic(err)
	}
	for j := range n {
		mean, sd = append(mean, c.AtVec(j)), append(sd, math.Sqrt(cov.At(j, j)))
	}
	log = 0.5*float64(rows)*math.Log(tau/(2*math.Pi)) - 0.5*tau*floats.Dot(y, y) + 0.5*mat.Dot(&b, &c) - 0.5*chol.LogDet() - float64(n)*math.Log(wide)
	return log, mean, sd
}

// logPrior is the log density of log tau.
func logPrior(logTau float64) float64 {
	g, _ := math.Lgamma(vague)
	return vague*math.Log(vague) - g + vague*(logTau-math.Exp(logTau))
}
