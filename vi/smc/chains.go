package smc

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Chains are the states of all particles after moves at β = 1, and half-way of some: all of them as sums, and every so
// many as draws.
type chains struct {
	moves       int
	n           int       // states of each particle
	sum, square []float64 // of each latent of each particle
	stride      int
	draws       [][]float64
	logR        []float64
	island      []int // of each draw
}

// mostNumbers are in the draws, but for leastKept of each particle.
const (
	mostNumbers = 1 << 24
	leastKept   = 32
)

// add adds the states of islands.
func (c *chains) add(islands []*island, of func(l *island) *states) {
	dim := len(islands[0].now.z)
	if c.sum == nil {
		c.sum, c.square, c.stride = make([]float64, dim*len(islands)), make([]float64, dim*len(islands)), 1
	}
	for k, l := range islands {
		sum, square := c.sum[k*dim:][:dim], c.square[k*dim:][:dim]
		for i, x := range of(l).z {
			sum[i] += x
			square[i] += x * x
		}
	}
	if c.n++; c.n%c.stride != 0 {
		return
	}
	if per := len(islands) * len(islands[0].now.logR); (len(c.draws)+per)*len(c.sum) > mostNumbers*per && len(c.draws) >= leastKept*per {
		c.halve(per)
		if c.stride *= 2; c.n%c.stride != 0 {
			return
		}
	}
	for k, l := range islands {
		from := of(l)
		if l.phase != nil {
			from = &l.complete
		}
		c.draws = append(c.draws, from.points()...)
		c.logR = append(c.logR, from.logR...)
		for range from.logR {
			c.island = append(c.island, k)
		}
	}
}

// halve leaves every second of what was added, of so many draws each.
func (c *chains) halve(per int) {
	half := len(c.draws) / (2 * per) * per
	draws, logR := make([][]float64, 0, half), make([]float64, 0, half)
	for k := per; k < 2*half; k += 2 * per {
		draws, logR = append(draws, c.draws[k:][:per]...), append(logR, c.logR[k:][:per]...)
	}
	c.draws, c.logR, c.island = draws, logR, c.island[:half]
}

// effective is how many draws are effective for the mean of the latent that has the fewest: all
// particles' variance over that of the mean, by the variance of the means of single particles.
func (c *chains) effective(dim, islands, particles int) float64 {
	least, n := math.Inf(1), float64(c.n)
	total := float64(islands * particles)
	for r := range dim {
		mean, square, means := 0.0, 0.0, 0.0
		for k := range islands {
			at := (k*dim + r) * particles
			for i := range particles {
				m := c.sum[at+i] / n
				mean += m
				means += m * m
				square += c.square[at+i] / n
			}
		}
		mean /= total
		between, variance := means/total-mean*mean, square/total-mean*mean
		if variance > 1e-24*mean*mean {
			least = min(least, total*variance/max(between, 1e-300))
		}
	}
	return least
}

// since are the sums of the moves after those of before.
func (c *chains) since(before *chains) *chains {
	d := &chains{moves: c.moves - before.moves, n: c.n - before.n, sum: slices.Clone(c.sum), square: slices.Clone(c.square)}
	floats.Sub(d.sum, before.sum)
	floats.Sub(d.square, before.square)
	return d
}
