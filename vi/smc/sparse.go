package smc

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/ir"
)

// An elimination is an order of the latents in which each depends on few of those after it, given all of them. Latents are neighbours
// if a term of log r has both; the one with the fewest neighbours is eliminated, after which these are neighbours of each other
// (Rue and Held, Gaussian Markov Random Fields, 2005, chapter 2). Of a chain:
//
//	z₁ ── z₂ ── z₃ ── z₄          z₄ | z₃      z₃ | z₂      z₂ | z₁      z₁
type elimination struct {
	order []int32   // first the one that is eliminated first
	later [][]int32 // by latent: its neighbours then
}

// How many neighbours a latent may have. Of more, it depends on those with the highest correlations.
const (
	mostJoint   = 64 // latents of a term
	mostLater   = 12
	mostOffered = 64 // of which these are
	leastLeft   = 1e-8
)

// newElimination is that of d, or nil where terms have many latents.
func newElimination(d *graph.Density) *elimination {
	var terms [][]ir.ID
	for _, t := range d.Engine().List {
		terms = append(terms, []ir.ID{t.ID})
	}
	near, left := make([]map[int32]bool, d.Dim()), make([]int32, d.Dim())
	for i := range near {
		near[i], left[i] = map[int32]bool{}, int32(i)
	}
	join := func(i, j int32) {
		if i != j {
			near[i][j], near[j][i] = true, true
		}
	}
	for _, set := range d.Engine().Nodes.Latents(terms) {
		if len(set) > mostJoint {
			return nil
		}
		for k, i := range set {
			for _, j := range set[:k] {
				join(int32(i), int32(j))
			}
		}
	}
	e := &elimination{later: make([][]int32, d.Dim())}
	for len(left) > 0 {
		at := 0
		for k, i := range left {
			if len(near[i]) <= len(near[left[at]]) { // the last one, for then the order is mostly descending
				at = k
			}
		}
		i := left[at]
		left = slices.Delete(left, at, at+1)
		later := slices.Sorted(maps.Keys(near[i]))
		for k, j := range later {
			delete(near[j], i)
			for _, l := range later[:min(k, mostLater)] {
				if len(later) <= mostLater {
					join(j, l)
				}
			}
		}
		e.order, e.later[i] = append(e.order, i), later[:min(mostOffered, len(later))]
	}
	return e
}

// Conditionals are those of a normal whose latents are linear functions of later ones, and noise, z − μ = B·(z − μ) + T·ε:
//
//	z_i − μ_i = Σ_j b_ij·(z_j − μ_j) + t_i·ε_i
type conditionals struct {
	*elimination
	b [][]float64
	t []float64
}

// fit returns the conditionals of points in columns with mean 0 and length 1 each, of which about n are effective, times sd. Correlations are
// shrunk as if as many points without any had been seen as there are latents in the regression.
func (e *elimination) fit(columns [][]float64, sd []float64, n float64) *conditionals {
	c := &conditionals{&elimination{e.order, make([][]int32, len(sd))}, make([][]float64, len(sd)), make([]float64, len(sd))}
	for i, later := range e.later {
		later = slices.Clone(later)
		if len(later) > mostLater {
			with := make(map[int32]float64, len(later))
			for _, j := range later {
				with[j] = math.Abs(floats.Dot(columns[i], columns[j]))
			}
			slices.SortStableFunc(later, func(a, b int32) int { return cmp.Compare(with[b], with[a]) })
			later = later[:mostLater]
		}
		b, left := regression(columns, i, later, n/(n+float64(len(later)+1)))
		for k, j := range later {
			b[k] *= sd[i] / sd[j]
		}
		c.later[i], c.b[i], c.t[i] = later, b, sd[i]*math.Sqrt(max(left, leastLeft))
	}
	return c
}

// regression is that of column i on others, with so much of the correlations, and the part of the variance that it leaves.
func regression(columns [][]float64, i int, on []int32, keep float64) (b []float64, left float64) {
	k := len(on)
	if k == 0 {
		return nil, 1
	}
	among, with := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
	for r, j := range on {
		with.SetVec(r, keep*floats.Dot(columns[i], columns[j]))
		for s, l := range on[:r] {
			among.SetSym(r, s, keep*floats.Dot(columns[j], columns[l]))
		}
		among.SetSym(r, r, 1)
	}
	var root mat.Cholesky
	x := mat.NewVecDense(k, nil)
	if !root.Factorize(among) || root.SolveVecTo(x, with) != nil {
		return make([]float64, k), 1
	}
	return x.RawVector().Data, 1 - mat.Dot(x, with)
}

// power is C for s = 1, for s = ½ a root of it, and for s = −½ the transpose of its inverse.
func (c *conditionals) power(s float64) *linear {
	m, n := &linear{first: newProduct(), second: newProduct()}, int32(len(c.t))
	earlier, weight := make([][]int32, n), make([][]float64, n) // those that depend on a latent
	for i, later := range c.later {
		for k, j := range later {
			earlier[j], weight[j] = append(earlier[j], int32(i)), append(weight[j], c.b[i][k])
		}
	}
	for i, t := range c.t {
		i := int32(i)
		switch s {
		case 1: // (I−B)⁻¹·T²·(I−B)⁻ᵀ
			m.first.add(n+i, 1)
			for k, j := range earlier[i] {
				m.first.add(j, weight[i][k])
			}
			m.first.end()
			m.second.add(n+i, t*t)
		case 0.5: // (I−B)⁻¹·T
			m.second.add(n+i, t)
		case -0.5: // (I−B)ᵀ·T⁻¹
			m.second.add(i, 1/t)
			for k, j := range earlier[i] {
				m.second.add(j, -weight[i][k]/c.t[j])
			}
		}
		if s > 0 {
			for k, j := range c.later[i] {
				m.second.add(j, c.b[i][k])
			}
		}
		m.second.end()
	}
	if s > 0 {
		m.first.order, m.second.order = c.order, slices.Clone(c.order)
		slices.Reverse(m.second.order)
	}
	return m
}

// white is T⁻¹·(I−B).
func (c *conditionals) white() *linear {
	m := &linear{second: newProduct()}
	for i, t := range c.t {
		m.second.add(int32(i), 1/t)
		for k, j := range c.later[i] {
			m.second.add(j, -c.b[i][k]/t)
		}
		m.second.end()
	}
	return m
}

// noise is ε_i of z for a mean.
func (c *conditionals) noise(mean, z []float64, i int32) float64 {
	e := z[i] - mean[i]
	for k, j := range c.later[i] {
		e -= c.b[i][k] * (z[j] - mean[j])
	}
	return e / c.t[i]
}
