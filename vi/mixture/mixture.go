package mixture

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
)

// Cells are the mixtures q = Σ π_k·q_k of members of other families, one for each
// cell: a set of regions between which the density falls off a cliff. Their parts
// are fitted one by one: see [New].
type Cells struct{}

// Name implements family.Family.
func (Cells) Name() string { return "cells" }

// StepSize implements family.Family: it is that of normals.
func (Cells) StepSize() float64 { return family.FullRank{}.StepSize() }

// New implements family.Family: it is an error.
func (Cells) New(family.Program) (family.Q, error) {
	return nil, errors.New("cells: their number and their families are not known before they are fitted one by one")
}

// Compose implements family.Composer.
func (Cells) Compose(_ family.Program, logWeight []float64, parts []family.Q) (family.Q, error) {
	if n := len(parts); n == 0 || len(logWeight) != n {
		return nil, fmt.Errorf("%d cells with %d weights", n, len(logWeight))
	}
	return New(logWeight, parts), nil
}

// A Mixture is q = Σ π_k·q_k. Its θ is the logarithms of the weights π, but for a
// constant, and then the θ of each part.
type Mixture struct {
	theta  []float64
	weight []float64 // π
	log    []float64 // log π
	parts  []family.Q
	boxes  *boxes
	// base is, of a mixture that Defensive made of a base, each part's weight in that divided by π; or nil.
	base []float64
	// completion is what all parts have in common; or nil.
	completion Completion
}

// New returns the mixture of copies of parts, whose weights are
// proportional to exp(logWeight). It panics unless there is a part, a weight for
// each, and parts have the same number of latents.
func New(logWeight []float64, parts []family.Q) *Mixture {
	if len(parts) == 0 || len(logWeight) != len(parts) {
		panic("mixture: a mixture of no parts, or with another number of weights")
	}
	size := len(parts)
	for _, q := range parts {
		size += len(q.Theta())
	}
	m := &Mixture{
		theta: append(make([]float64, 0, size), logWeight...), weight: make([]float64, len(parts)), log: make([]float64, len(parts)),
		parts: make([]family.Q, 0, len(parts)),
	}
	for _, q := range parts {
		if q.Dim() != parts[0].Dim() {
			panic("mixture: a part of a mixture that has another number of latents")
		}
		m.parts = append(m.parts, q.Clone())
		m.theta = append(m.theta, q.Theta()...)
	}
	m.read()
	m.boxes, m.completion = &boxes{of: m.parts}, completion(m.parts)
	m.Resize(1)
	return m
}

// Resize implements family.Sampled: parts get as many of the draws as they have weight.
func (m *Mixture) Resize(share float64) {
	for k, q := range m.parts {
		if q, ok := q.(family.Sampled); ok {
			q.Resize(share * m.weight[k])
		}
	}
}

// read takes the weights from θ.
func (m *Mixture) read() {
	logs := m.theta[:len(m.parts)]
	sum := floats.LogSumExp(logs)
	for k, x := range logs {
		m.weight[k] = math.Exp(x - sum)
		m.log[k] = math.Log(m.weight[k])
	}
}

// eachPart calls f with the parts and, for each, where its parameters are in θ.
func (m *Mixture) eachPart(f func(q family.Q, from, to int)) {
	from := len(m.parts)
	for _, q := range m.parts {
		to := from + len(q.Theta())
		f(q, from, to)
		from = to
	}
}

// Len is the number of parts.
func (m *Mixture) Len() int { return len(m.parts) }

// Weight is π_k.
func (m *Mixture) Weight(k int) float64 { return m.weight[k] }

// Part is part k, which must not be changed.
func (m *Mixture) Part(k int) family.Q { return m.parts[k] }

// Decompose implements family.Composite.
func (m *Mixture) Decompose() (logWeight []float64, parts []family.Q) {
	return m.theta[:len(m.parts)], m.parts
}

// Exact reports whether Law is exact.
func (m *Mixture) Exact(h regions.Hyperplane) bool {
	return !slices.ContainsFunc(m.parts, func(q family.Q) bool { return !family.Exact(q, h) })
}

// Family implements family.Q.
func (m *Mixture) Family() family.Family { return Cells{} }

// Dim implements family.Q.
func (m *Mixture) Dim() int { return m.parts[0].Dim() }

// Theta implements family.Q.
func (m *Mixture) Theta() []float64 { return m.theta }

// Set implements family.Q.
func (m *Mixture) Set(theta []float64) {
	if len(theta) != len(m.theta) {
		panic("mixture: parameters of another length")
	}
	copy(m.theta, theta)
	m.eachPart(func(q family.Q, from, to int) { q.Set(theta[from:to]) })
	m.read()
}

// collect takes θ from the parts.
func (m *Mixture) collect() {
	m.eachPart(func(q family.Q, from, to int) { copy(m.theta[from:to], q.Theta()) })
}

// Place implements family.Q: all parts are placed there.
func (m *Mixture) Place(mean, sd []float64) {
	for _, q := range m.parts {
		q.Place(mean, sd)
	}
	m.collect()
}

// Correlate implements family.Q, for each part.
func (m *Mixture) Correlate(precision mat.Symmetric) {
	for _, q := range m.parts {
		q.Correlate(precision)
	}
	m.collect()
}

// Clone implements family.Q.
func (m *Mixture) Clone() family.Q {
	c := &Mixture{theta: slices.Clone(m.theta), weight: slices.Clone(m.weight), log: slices.Clone(m.log), boxes: m.boxes, completion: m.completion, base: m.base}
	for _, q := range m.parts {
		c.parts = append(c.parts, q.Clone())
	}
	return c
}

// Param implements family.Q: "π of cell 2", and "cell 2 μ" of its latents.
func (m *Mixture) Param(k int) (p family.Param) {
	if k < len(m.parts) {
		return family.Param{Latent: -1, Symbol: fmt.Sprintf("π of cell %d", k), On: -1}
	}
	cell := 0
	for k -= len(m.parts); k >= len(m.parts[cell].Theta()); cell++ {
		k -= len(m.parts[cell].Theta())
	}
	p = m.parts[cell].Param(k)
	p.Symbol = "cell " + strconv.Itoa(cell) + " " + p.Symbol
	return p
}

// Fault implements family.Q.
func (m *Mixture) Fault() int {
	for k := range m.parts {
		if x := m.theta[k]; math.IsNaN(x) || math.IsInf(x, 0) {
			return k
		}
	}
	fault := -1
	m.eachPart(func(q family.Q, from, _ int) {
		if k := q.Fault(); k >= 0 && fault < 0 {
			fault = from + k
		}
	})
	return fault
}

// Units implements family.Q: 1 for the logarithms of weights.
func (m *Mixture) Units(dst []float64) {
	for k := range m.parts {
		dst[k] = 1
	}
	m.eachPart(func(q family.Q, from, to int) { q.Units(dst[from:to]) })
}

// Move implements family.Q.
func (m *Mixture) Move(step []float64) {
	floats.Add(m.theta[:len(m.parts)], step[:len(m.parts)])
	m.eachPart(func(q family.Q, from, to int) { q.Move(step[from:to]) })
	m.collect()
	m.read()
}

// Mean implements family.Q.
func (m *Mixture) Mean(i int) (mean float64) {
	for k, q := range m.parts {
		mean += m.weight[k] * q.Mean(i)
	}
	return mean
}

// SD implements family.Q.
func (m *Mixture) SD(i int) float64 {
	mean, variance := m.Mean(i), 0.0
	for k, q := range m.parts {
		off, sd := q.Mean(i)-mean, q.SD(i)
		variance += m.weight[k] * (sd*sd + off*off)
	}
	return math.Sqrt(variance)
}

// Law implements family.Q: that of all parts.
func (m *Mixture) Law(h regions.Hyperplane) (l family.Law) {
	for k, q := range m.parts {
		for _, p := range q.Law(h) {
			p.Weight *= m.weight[k]
			l = append(l, p)
		}
	}
	return l
}

// Rand implements family.Q.
func (m *Mixture) Rand(dst []float64, rng *rand.Rand) {
	if rng == nil {
		panic("mixture: a nil source of random numbers")
	}
	m.parts[family.Pick(m.weight, rng.Float64())].Rand(dst, rng)
}

// MoverTo implements family.Q: the draw is of another part, by the parts' probabilities of
// the side, and moved there by that.
func (m *Mixture) MoverTo(h regions.Hyperplane, positive bool) family.Mover {
	move, share, total := make([]family.Mover, len(m.parts)), make([]float64, len(m.parts)), 0.0
	for k, q := range m.parts {
		share[k] = m.weight[k] * q.Law(h).OnSide(positive)
		if total += share[k]; share[k] == 0 {
			continue
		}
		if move[k] = q.MoverTo(h, positive); move[k] == nil {
			return nil
		}
	}
	if total == 0 {
		return nil
	}
	floats.Scale(1/total, share)
	return func(z []float64, rng *rand.Rand) (logQ, weight float64) {
		was, k := m.LogProb(z), family.Pick(share, rng.Float64())
		m.parts[k].Rand(z, rng)
		_, weight = move[k](z, rng)
		return m.LogProb(z) - was, m.weight[k] * weight / share[k]
	}
}

// Tilted is the mixture of what family.Tilted makes of the parts.
func (m *Mixture) Tilted() family.Q {
	parts := make([]family.Q, len(m.parts))
	for k, q := range m.parts {
		parts[k] = family.Tilted(q)
	}
	return New(m.theta[:len(m.parts)], parts)
}
