//go:build long

// The expected cost by quadrature, and the best numbers, to compare with.

package main

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distuv"
)

// exact is the expected cost, by a Gauss–Legendre rule over the demand before noon of which something is left.
func exact(stock, trigger, first, second float64) float64 {
	n := distuv.UnitNormal
	after := func(left float64) float64 { // the expected cost after noon
		z := (left - second) / sd
		return gone*(1-n.CDF(z)) + over*((left-second)*n.CDF(z)+sd*n.Prob(z))
	}
	lo, hi := first-9*sd, min(stock-trigger, first+9*sd)
	comes := 1 - n.CDF((stock-trigger-first)/sd)
	cost := comes * (courier + after(second+spare))
	if hi > lo {
		cost += quad.Fixed(func(d float64) float64 { return n.Prob((d-first)/sd) / sd * after(stock-d) }, lo, hi, 60, quad.Legendre{}, 0)
	}
	return cost
}

// best are the numbers with the least expected cost for a forecast.
func best(first, second float64) (stock, trigger, cost float64) {
	cost = math.Inf(1)
	for _, start := range [][]float64{{first + second + 5, second}, {first + 8, 7}, {first + second + 5, 0}} {
		r, err := optimize.Minimize(optimize.Problem{Func: func(x []float64) float64 { return exact(x[0], x[1], first, second) }}, start, nil, &optimize.NelderMead{})
		if err == nil && r.F < cost {
			stock, trigger, cost = r.X[0], r.X[1], r.F
		}
	}
	return stock, trigger, cost
}

// loss is the exact mean cost of answers to forecasts.
func loss(forecasts, answers []float64) (mean float64) {
	for k := 0; k < len(forecasts); k += 2 {
		mean += exact(answers[k], answers[k+1], forecasts[k], forecasts[k+1])
	}
	return 2 * mean / float64(len(forecasts))
}
