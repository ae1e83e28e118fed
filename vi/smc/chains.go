package smc

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Chains are the states of all particles after moves at β = 1, and half-way of some: all of them as sums, and every so
// many as they are.
type chains struct {
	moves       int
	n           int       // states of each particle
	sum, square []float64 // of each latent of each particle
	kept        [][]states
	stride      int
	draws       [][]float64 // of the first of those that are kept
	listed      int         // these
}

// mostNumbers are in the states that are kept, but for leastKept of each particle.
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
	if (len(c.kept)+1)*len(islands)*dim > mostNumbers && len(c.kept) >= leastKept {
		for k := 0; k < len(c.kept)/2; k++ {
			c.kept[k] = c.kept[2*k+1]
		}
		c.kept = c.kept[:len(c.kept)/2]
		c.draws, c.listed = nil, 0
		c.stride *= 2
		if c.n%c.stride != 0 {
			return
		}
	}
	var all []states
	for _, l := range islands {
		from := of(l)
		if l.phase != nil {
			from = &l.complete
		}
		s := newStates(dim/len(l.now.logR), len(l.now.logR))
		s.set(from)
		all = append(all, s)
	}
	c.kept = append(c.kept, all)
}

// rows are the states that are kept as draws, and the island of each.
func (c *chains) rows(dim int) (draws [][]float64, island []int) {
	n := len(c.kept) * len(c.sum) / dim
	c.draws, island = slices.Grow(c.draws, n-len(c.draws)), make([]int, 0, n)
	for _, all := range c.kept[c.listed:] {
		for _, s := range all {
			n := len(s.logR)
			numbers := make([]float64, len(s.z))
			for j := range dim {
				for i, x := range s.z[j*n:][:n] {
					numbers[i*dim+j] = x
				}
			}
			for i := range n {
				c.draws = append(c.draws, numbers[i*dim:][:dim:dim])
			}
		}
	}
	c.listed = len(c.kept)
	for _, all := range c.kept {
		for k, s := range all {
			for range s.logR {
				island = append(island, k)
			}
		}
	}
	return c.draws, island
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
