package family

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/truncnorm"
)

// How a tilt is looked for.
const (
	tiltSteps = 60
	tiltGain  = 0.8  // a step that leaves more of the distance to the saddle point is too long
	tiltEnd   = 1e-2 // of a conditional standard deviation
)

// Tilted is q with the means of a confined normal's conditionals moved so that its draws are nearer to
// the whole normal on the same sides. A draw of that has the weight Π_i (Φ(β_i) − Φ(α_i)), by the latents before each; moved
// by δ_i standard deviations the logarithm of the weight is
//
//	ψ(t, δ) = Σ_i δ_i²/2 − t_i·δ_i + log(Φ(β_i − δ_i) − Φ(α_i − δ_i)),   t_i = (z_i − m_i)/s_i,
//
// and δ is where min over δ of max over z of ψ is (Botev, J. R. Stat. Soc. B 79, 2017).
//
// Of what has no method of this name it is q itself.
func Tilted(q Q) Q {
	if q, ok := q.(interface{ Tilted() Q }); ok {
		return q.Tilted()
	}
	return q
}

// Tilted is the function of this name. At the saddle point t_i is the mean of its conditional, and δ_i = ∂/∂t_i of the logarithms of the masses after it.
func (q *confined) Tilted() Q {
	n := q.Dim()
	delta, z, far, damping := make([]float64, n), make([]float64, n), math.Inf(1), 0.5
	for step := 0; step < tiltSteps && !(far < tiltEnd); step++ {
		last, pulls := far, q.pulls(q.means(delta, z))
		if far = floats.Distance(pulls, delta, math.Inf(1)); far > tiltGain*last {
			damping /= 2
		}
		for i, want := range pulls {
			delta[i] += damping * (want - delta[i])
		}
	}
	if !(far < tiltEnd) {
		return q // the steps did not arrive
	}
	c := q.Clone().(*confined)
	shift := make([]float64, n)
	g := q.normal.edges
	for i := range shift {
		shift[i] = q.normal.s[i] * delta[i]
		for e := g.from[i]; e < g.from[i+1]; e++ {
			shift[i] += q.normal.b[e] * shift[g.parent[e]]
		}
		c.normal.theta[2*i] += shift[i]
	}
	c.normal.read()
	return c
}

// An ending is a confined latent's interval, and what its mass's logarithm gains by its ends.
type ending struct {
	floor, ceiling int
	byLo, byHi     float64
}

// means sets z to where each latent is at the mean of its conditional, moved by delta, given those before.
func (q *confined) means(delta, z []float64) []ending {
	ends := make([]ending, len(z))
	for i := range z {
		m, s, t := q.normal.conditional(i, z), q.normal.s[i], delta[i]
		if r := q.truncations[i]; r != nil {
			alpha, beta, floor, ceiling := q.within(r, m, z)
			alpha, beta = alpha-t, beta-t
			if !truncnorm.IsWhole(alpha, beta) {
				byLo, byHi := truncnorm.AtEnds(alpha, beta)
				ends[i] = ending{floor, ceiling, -byLo, byHi}
				t += truncnorm.Mean(alpha, beta)
			}
		}
		z[i] = m + s*t
	}
	return ends
}

// pulls are, by latent, the slope by t_i of the logarithms of the masses of those after it.
func (q *confined) pulls(ends []ending) []float64 {
	n, g := len(ends), q.normal.edges
	pull, by := make([]float64, n), make([]float64, n) // by is the slope by z_i
	for i := n - 1; i >= 0; i-- {
		s := q.normal.s[i]
		pull[i] = by[i] * s
		passed := by[i]
		if e := ends[i]; e != (ending{}) {
			passed -= (e.byLo + e.byHi) / s
			r := q.truncations[i]
			if e.floor >= 0 && e.byLo != 0 {
				b := &r.floors[e.floor]
				for l, slope := range b.slope {
					by[b.Index[l]] += slope * e.byLo / s
				}
			}
			if e.ceiling >= 0 && e.byHi != 0 {
				b := &r.ceilings[e.ceiling]
				for l, slope := range b.slope {
					by[b.Index[l]] += slope * e.byHi / s
				}
			}
		}
		for e := g.from[i]; e < g.from[i+1]; e++ {
			by[g.parent[e]] += passed * q.normal.b[e]
		}
	}
	return pull
}
