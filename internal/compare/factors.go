package compare

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/regions"
)

// What is 0 on planes alone is a formula of their signs, so that it is one guard with
// others on these planes:
//
//	a polynomial of degree two that is a product  ─▶ its factors have one sign
//	a function of one latent                      ─▶ where the latent is between its roots

// factors is the claim id > 0 of a product of two factors.
func (m *Maker) factors(id ir.ID) (x claim, ok bool) {
	q, ok := m.st.Quadratic(id)
	if !ok {
		return x, false
	}
	by, a, b, ok := q.Factors()
	if !ok {
		return x, false
	}
	factor := func(row []float64) ir.ID {
		c := ir.Combination{V: ir.Rounded{V: row[0], Err: ir.FactorUlps * math.Abs(row[0])}}
		for _, k := range q.Ascending() {
			c.Add(ir.Rounded{V: row[k], Err: ir.FactorUlps * math.Abs(row[k])}, q.Variables[k-1])
		}
		return m.st.Node(c)
	}
	return oneSign(factor(a), factor(b), math.Copysign(1, by)), true
}

// onLine is the claim id > 0 of a function of one latent that has roots.
func (m *Maker) onLine(id ir.ID) (on claim, ok bool) {
	steps, err := m.st.Steps(id)
	if err != nil {
		return on, false
	}
	latent := -1
	for _, x := range steps {
		if x.Kind == regions.Coordinate {
			if latent >= 0 {
				return on, false
			}
			latent = x.A
		}
	}
	curve := regions.NewCurve(steps)
	if latent < m.program.Params() || curve.WhyNot(0) != "" {
		return on, false
	}
	if _, found := m.st.Pole(id); found {
		return on, false
	}
	b := curve.Bind(1)
	holds := func(x float64) bool {
		b.In[0] = []float64{x}
		return b.Values()[0] > 0
	}
	holds(0)
	roots := slices.DeleteFunc(slices.Clone(b.Solve(0)), math.IsNaN)
	inside, edges := m.st.InsideOnLine(id)
	roots = slices.DeleteFunc(roots, func(x float64) bool {
		return slices.ContainsFunc(edges, func(e float64) bool { return math.Abs(x-e) <= leastRoot+ir.FactorUlps*math.Abs(e) })
	})
	breaks := slices.Concat(roots, edges)
	slices.Sort(breaks)
	breaks = slices.Compact(breaks)
	return is(m.positiveBetween(latent, breaks, func(x float64) ir.Truth {
		if !inside(x) {
			return ir.Open
		}
		return ir.TruthOf(holds(x))
	})), true
}

// positiveBetween is the guard that a latent is in the intervals between breaks in which at is always. Where it is open, the guard is
// what it is in the interval below, or in the first one that is not.
func (m *Maker) positiveBetween(latent int, breaks []float64, at func(x float64) ir.Truth) Guard {
	truths := make([]ir.Truth, len(breaks)+1)
	for k := range truths {
		x := 0.0
		switch {
		case len(breaks) == 0:
		case k == 0:
			x = breaks[0] - 1 - math.Abs(breaks[0])
		case k == len(breaks):
			x = breaks[k-1] + 1 + math.Abs(breaks[k-1])
		default:
			x = breaks[k-1] + (breaks[k]-breaks[k-1])/2
		}
		truths[k] = at(x)
	}
	beyond := func(x float64) Guard {
		return m.halfSpace(regions.Hyperplane{Index: []int{latent}, Coef: []float64{1}, Const: -x}, regions.Rounding{Const: ir.FactorUlps * math.Abs(x)}, nil)
	}
	last := slices.IndexFunc(truths, func(t ir.Truth) bool { return t != ir.Open })
	if last < 0 {
		return m.constant(false)
	}
	g := m.constant(truths[last] == ir.Always)
	for k := last + 1; k < len(truths); k++ {
		switch {
		case truths[k] == ir.Open || truths[k] == truths[last]:
			continue
		case truths[k] == ir.Always:
			g = m.Or(g, beyond(breaks[k-1]))
		default:
			g = m.And(g, m.Not(beyond(breaks[k-1])))
		}
		last = k
	}
	return g
}

const leastRoot = 1e-290 // rounding puts roots that are 0 no further away
