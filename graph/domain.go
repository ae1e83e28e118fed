package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/graph/internal/kernel"
	"github.com/facetvi/facet/regions"
)

// A comparison does not hold where what it compares has no value: log(x) > y is
// x > 0 and log(x) − y > 0, for log(x) − y has no zero at x = 0 by which it would be
// known that the guard changes there. Beyond the edge the functions in a guard keep the
// value that they have on it, so that rounding decides nothing. On the edge itself Φ need have
// none, as b·log b − a for b = 0: there its sign is that of its limit (see regions.Edge).

// domain are the guards that hold where id has a value, as far as that is not everywhere.
func (m *Model) domain(id nodeID) (gs []Guard) {
	edges := m.st.domain(id)
	if len(edges) == 0 {
		return nil
	}
	implied := m.st.implied(id)
	for _, d := range edges {
		switch {
		case m.err != nil:
			return nil
		case d.of == implied && !d.below:
			continue
		case m.ofParameters(d.positive): // which have values where the program begins, and a fit that leaves them is told
			continue
		}
		gs = append(gs, m.positiveThere(d.positive))
		if m.err != nil {
			m.err = fmt.Errorf("%w; it is where %s begins to have a value", m.err, m.format(d.of, 4))
		}
	}
	return gs
}

// ofParameters reports whether a number depends on parameters and on no latent.
func (m *Model) ofParameters(id nodeID) bool {
	of := m.latentsOf(id)
	return len(of) > 0 && slices.Max(of) < m.params
}

// implied is a part of id that has a value wherever the guard id > 0 becomes one that
// holds: log(x) in log(x) > t, which is x > eᵗ, and in log(x) > log(y), which is x > y.
// It is −1 if there is none.
func (s *store) implied(id nodeID) nodeID {
	c := s.combination(id)
	if len(c.terms) == 2 && c.terms[0].coef < 0 {
		c.terms = []term{c.terms[1], c.terms[0]}
	}
	if len(c.terms) == 0 || len(c.terms) > 2 || c.terms[0].coef < 0 {
		return -1
	}
	x := c.terms[0]
	n := s.at(x.atom)
	if n.kind != kUnary || !isLimited(n.fn) || !n.fn.Increasing() {
		return -1
	}
	if len(c.terms) == 2 {
		if y := c.terms[1]; c.v.v != 0 || y.coef != -x.coef || !s.isUnary(y.atom, n.fn) {
			return -1
		}
		return x.atom
	}
	if root, _ := n.fn.Inverse(-c.v.v / x.coef); math.IsNaN(root[0]) {
		return -1
	}
	return x.atom
}

// An edge says that of has a value where another number is positive.
type edge struct {
	of, positive nodeID
	below        bool // a number
}

// domain lists where the parts of id have values, unless that is everywhere.
func (s *store) domain(id nodeID) (edges []edge) {
	for id := range s.under(id) {
		if s.like(id).kind == kSum {
			continue
		}
		switch n := s.at(id); {
		case n.kind == kUnary:
			lo, hi := domainOf(n.fn)
			for k, end := range [2]float64{lo, hi} {
				if math.IsInf(end, 0) {
					continue
				}
				sign := float64(1 - 2*k)
				if u := s.sum(sign, n.a, -sign*end, s.constant(1)); !s.notNegative(u) {
					edges = append(edges, edge{id, u, k == 1})
				}
			}
		case s.isRoot(id) && !s.notNegative(n.a):
			edges = append(edges, edge{id, n.a, false})
		}
	}
	return edges
}

// domainOf are the numbers between which f has values.
func domainOf(f kernel.Function) (lo, hi float64) {
	switch f {
	case kernel.Log, kernel.Sqrt, kernel.Lgamma:
		return 0, math.Inf(1)
	case kernel.Log1p:
		return -1, math.Inf(1)
	case kernel.NormalQuantile:
		return 0, 1
	}
	return math.Inf(-1), math.Inf(1)
}

// isLimited reports whether f has not values everywhere.
func isLimited(f kernel.Function) bool {
	lo, _ := domainOf(f)
	return !math.IsInf(lo, 0)
}

// isRoot reports whether id is a power whose exponent need not be whole.
func (s *store) isRoot(id nodeID) bool {
	n := s.at(id)
	if n.kind != kBinary || n.fn != kernel.Pow {
		return false
	}
	p, number := s.isConst(n.b)
	return !number || p != math.Trunc(p)
}

// notNegative reports whether id is ≥ 0 wherever it has a value, as far as that is known.
func (s *store) notNegative(id nodeID) bool {
	steps, err := s.steps(id)
	if err != nil {
		return false
	}
	negative, _, _ := regions.SignsOf(steps)
	return !negative
}

// inDomain is a function that has on the other side of an end of its domain the value there.
type inDomain struct {
	regions.Function
	lo, hi float64
}

func (f inDomain) Domain() (lo, hi float64) { return f.lo, f.hi }
func (f inDomain) Value(x float64) float64  { return f.Function.Value(min(max(x, f.lo), f.hi)) }

func (f inDomain) Slope(x, y float64) float64 {
	if x < f.lo || x > f.hi {
		return 0
	}
	return f.Function.Slope(x, y)
}

// limited is f, inDomain if it needs that.
func limited(f kernel.Function) regions.Function {
	if lo, hi := domainOf(f); isLimited(f) {
		return inDomain{f, lo, hi}
	}
	return f
}

// base is the identity where a power has a value, and 0 beyond.
type base struct{}

func (base) Domain() (lo, hi float64)                         { return 0, math.Inf(1) }
func (base) String() string                                   { return "base" }
func (base) Value(x float64) float64                          { return max(x, 0) }
func (base) Inverse(y float64) (roots [2]float64, number int) { return [2]float64{y}, 1 }
func (base) Increasing() bool                                 { return true }
func (base) Positive() bool                                   { return true }

func (base) Slope(x, _ float64) float64 {
	if x < 0 {
		return 0
	}
	return 1
}
