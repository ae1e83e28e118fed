package smc

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A relabelled is a proposal in other coordinates: values themselves, not gaps, and with all that belongs to them not in their own order, but in that of
// their labels. The wide one of three components, whose mean may be that of any other, is in one place there; in order it is in three, which end where
// it passes another.
//
//	x_0 < x_1 < x_2         y_1  y_0  y_2
//	σ_1 < σ_0 < σ_2   ◀─▶   σ_1  σ_0  σ_2
//
// Log gaps have the volume Π gap_k in these; shares keep theirs. Points whose labels are in no order are none: where they are drawn the old one stays.
type relabelled struct {
	Proposal
	g *relocation
}

// labels are the latents whose order is that of the labels: of the first vector of which one belongs to each value. There may be none.
func (g *relocation) labels() []int {
	for _, p := range g.partners {
		if len(p.latents) == len(g.values) {
			return p.latents
		}
	}
	return nil
}

// relabel moves points z, latents × n, to the coordinates of labels, and adds the logarithms of the volumes to logs.
func (g *relocation) relabel(z, logs []float64) {
	labels, n, u := g.labels(), len(logs), make([]float64, len(g.values))
	to := newOrdering(len(u))
	for c := range logs {
		at := z[c:]
		logs[c] += g.valuesOf(u, at, n)
		to.sort(func(i int) float64 { return at[labels[i]*n] })
		to.move(g, at, n)
		for i, from := range to.order {
			at[g.values[i]*n] = u[from]
		}
	}
}

// LogProbs is that of the points' labels, and of the volume.
func (r *relabelled) LogProbs(dst, z []float64) {
	y, logs := slices.Clone(z), make([]float64, len(dst))
	r.g.relabel(y, logs)
	r.Proposal.LogProbs(dst, y)
	for c, l := range logs {
		dst[c] += l
	}
}

// Rand draws labelled values and puts them in order.
func (r *relabelled) Rand(z []float64, rng *rand.Rand) {
	y, labels := slices.Clone(z), r.g.labels()
	r.Proposal.Rand(y, rng)
	if !slices.IsSortedFunc(labels, func(a, b int) int { return cmp.Compare(y[a], y[b]) }) {
		return
	}
	copy(z, y)
	to := newOrdering(len(labels))
	to.sort(func(i int) float64 { return y[r.g.values[i]] })
	to.move(r.g, z, 1)
	below := 0.0
	for i, from := range to.order {
		x := y[r.g.values[from]]
		if z[r.g.values[i]] = x; i > 0 {
			z[r.g.values[i]] = math.Log(x - below)
		}
		below = x
	}
}

// An ordering is an order of values, and scratch.
type ordering struct {
	order      []int
	row, theta []float64
}

func newOrdering(n int) ordering {
	return ordering{make([]int, n), make([]float64, n), make([]float64, n)}
}

func (a *ordering) sort(by func(i int) float64) {
	for i := range a.order {
		a.order[i] = i
	}
	slices.SortFunc(a.order, func(i, j int) int { return cmp.Compare(by(i), by(j)) })
}

// move puts what belongs to the values of the column with which z begins, not these themselves, in the order.
func (a *ordering) move(g *relocation, z []float64, n int) {
	for _, p := range g.partners {
		if len(p.latents) != len(a.order) {
			continue
		}
		for i, l := range p.latents {
			a.row[i] = z[l*n]
		}
		for i, from := range a.order {
			z[p.latents[i]*n] = a.row[from]
		}
	}
	if g.shares != nil {
		g.sharesOf(a.theta, z, n)
		g.putShares(z, n, a.theta, a.order)
	}
}
