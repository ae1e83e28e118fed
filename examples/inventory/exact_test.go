//go:build long

// The expected cost by dynamic programming, and a search on a grid, to compare with.

package main

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// exact is the expected cost of a policy: from[k](x) is the cost from review t on with stock x, ordered k reviews ago, for all x
// between s and the most there can be, by a Gauss–Legendre rule.
func exact(low, high float64) float64 {
	const points, far = 48, 6
	top := high + far*sd // demand can be negative, with probability 0.0004
	x, w := make([]float64, points), make([]float64, points)
	quad.Legendre{}.FixedLocations(x, w, low, top)
	x = append(x, high)
	n := distuv.UnitNormal
	// cost of one period, and the probability to be below s after it, by stock
	cost, below := make([]float64, len(x)), make([]float64, len(x))
	moves := make([][]float64, len(x))
	for i, stock := range x {
		z := (stock - mean) / sd
		stays := (stock-mean)*n.CDF(z) + sd*n.Prob(z) // E[left⁺]
		cost[i] = holding*stays + lost*(stays-(stock-mean))
		below[i] = n.CDF((low - stock + mean) / sd)
		for k := range points {
			moves[i] = append(moves[i], w[k]*n.Prob((stock-mean-x[k])/sd)/sd)
		}
	}
	var from [latest][]float64 // of the review after, by how long ago the order was
	for k := range from {
		from[k] = make([]float64, len(x))
	}
	for t := reviews - 1; t >= 0; t-- {
		var now [latest][]float64
		for k := range now {
			now[k] = append(now[k], cost...)
			if t == reviews-1 {
				continue
			}
			again := order + from[0][points]
			for i := range x {
				if k == latest-1 {
					now[k][i] += again
					continue
				}
				now[k][i] += below[i] * again
				for j, p := range moves[i] {
					now[k][i] += p * from[k+1][j]
				}
			}
		}
		from = now
	}
	return from[0][points]
}

// search finds the best policy of a grid of whole numbers.
func search() (s, S float64) {
	cost := math.Inf(1)
	for step := 8.0; step >= 1; step /= 2 { // around the best of a coarser one
		s0, S0 := s, S
		for low := max(2, s0-4*step); low <= 98; low += step {
			for high := max(102, S0-4*step); high < 398; high += step {
				if s0 > 0 && (low > s0+4*step || high > S0+4*step) {
					break
				}
				if c := exact(low, high); c < cost {
					s, S, cost = low, high, c
				}
			}
		}
	}
	return s, S
}
