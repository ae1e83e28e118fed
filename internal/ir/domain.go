package ir

import (
	"fmt"
	"math"

	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/regions"
)

// Implied is a part of id that has a value wherever the guard id > 0 becomes one that
// holds: log(x) in log(x) > t, which is x > eᵗ, and in log(x) > log(y), which is x > y.
// It is −1 if there is none.
func (s *Store) Implied(id ID) ID {
	c := s.Combination(id)
	if len(c.Terms) == 2 && c.Terms[0].Coef < 0 {
		c.Terms = []Term{c.Terms[1], c.Terms[0]}
	}
	if len(c.Terms) == 0 || len(c.Terms) > 2 || c.Terms[0].Coef < 0 {
		return -1
	}
	x := c.Terms[0]
	n := s.At(x.Atom)
	if n.Kind != Unary || !isLimited(n.Fn) || !n.Fn.Increasing() {
		return -1
	}
	if len(c.Terms) == 2 {
		if y := c.Terms[1]; c.V.V != 0 || y.Coef != -x.Coef || !s.IsUnary(y.Atom, n.Fn) {
			return -1
		}
		return x.Atom
	}
	if root, _ := n.Fn.Inverse(-c.V.V / x.Coef); math.IsNaN(root[0]) {
		return -1
	}
	return x.Atom
}

// An Edge says that of has a value where another number is positive.
type Edge struct {
	Of, Positive ID
	Below        bool // a number
}

// Domain lists where the parts of id have values, unless that is everywhere.
func (s *Store) Domain(id ID) (edges []Edge) {
	for id := range s.Under(id) {
		if s.Like(id).Kind == Sum {
			continue
		}
		switch n := s.At(id); {
		case n.Kind == Unary:
			lo, hi := domainOf(n.Fn)
			for k, end := range [2]float64{lo, hi} {
				if math.IsInf(end, 0) {
					continue
				}
				sign := float64(1 - 2*k)
				if u := s.Sum(sign, n.A, -sign*end, s.Constant(1)); !s.notNegative(u) {
					edges = append(edges, Edge{id, u, k == 1})
				}
			}
		case s.isRoot(id) && !s.notNegative(n.A):
			edges = append(edges, Edge{id, n.A, false})
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
func (s *Store) isRoot(id ID) bool {
	n := s.At(id)
	if n.Kind != Binary || n.Fn != kernel.Pow {
		return false
	}
	p, number := s.IsConst(n.B)
	return !number || p != math.Trunc(p)
}

// notNegative reports whether id is ≥ 0 wherever it has a value, as far as that is known.
func (s *Store) notNegative(id ID) bool {
	steps, err := s.Steps(id)
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

// IsInfinite reports whether a number in id is infinite or NaN.
func (s *Store) IsInfinite(id ID) bool {
	if s.Like(id).Affine {
		return !IsFinite(s.ConstantPart(id))
	}
	for id := range s.Under(id) {
		if n := s.Like(id); (n.Kind == Const || n.Kind == Sum) && !IsFinite(s.ConstantPart(id)) {
			return true
		}
	}
	return false
}

// InfiniteInside reports whether a number that is infinite or NaN is in a part of id that is no summand.
func (s *Store) InfiniteInside(id ID) (is bool) {
	s.Operands(id, func(o ID) { is = is || s.IsInfinite(o) })
	return is
}

// Limited are the parts of id that have no value for some numbers.
func (s *Store) Limited(id ID) (parts []ID) {
	for id := range s.Under(id) {
		if n := s.Like(id); n.Kind == Unary && isLimited(n.Fn) || s.isRoot(id) {
			parts = append(parts, id)
		}
	}
	return parts
}

// Steps are the node as a list of operations on the latents' coordinates.
func (s *Store) Steps(id ID) (steps []regions.Step, err error) {
	at := map[ID]int{}
	var visit func(id ID) int
	visit = func(id ID) int {
		if k, known := at[id]; known {
			return k
		}
		var x regions.Step
		switch n := s.At(id); {
		case n.Kind == Const:
			x = regions.Step{Kind: regions.Affine, Const: n.V}
		case n.Kind == Latent:
			x = regions.Step{Kind: regions.Coordinate, A: int(n.A)}
		case n.Kind == Sum:
			x = regions.Step{Kind: regions.Affine, Const: n.V}
			for _, t := range n.Terms {
				x.Terms = append(x.Terms, regions.Term{Of: visit(t.Atom), Coef: t.Coef})
			}
		case n.Kind == Unary:
			x = regions.Step{Kind: regions.Apply, F: limited(n.Fn), A: visit(n.A)}
		case s.isRoot(id):
			steps = append(steps, regions.Step{Kind: regions.Apply, F: base{}, A: visit(n.A)})
			a := len(steps) - 1
			x = regions.Step{Kind: regions.Power, A: a, B: visit(n.B)}
		case n.Kind == Binary && stepKinds[n.Fn] != 0:
			x = regions.Step{Kind: stepKinds[n.Fn], A: visit(n.A), B: visit(n.B)}
		case n.Kind == Binary:
			x = regions.Step{Kind: regions.Call, Call: n.Fn, Args: []int{visit(n.A), visit(n.B)}}
		case n.Kind == Ternary:
			x = regions.Step{Kind: regions.Call, Call: n.Fn, Args: []int{visit(n.A), visit(n.B), visit(n.C)}}
		default:
			err = fmt.Errorf("a guard cannot compare %v", n.Fn)
		}
		at[id] = len(steps)
		steps = append(steps, x)
		return at[id]
	}
	visit(id)
	return steps, err
}

var stepKinds = map[kernel.Function]regions.StepKind{kernel.Mul: regions.Times, kernel.Div: regions.Over, kernel.Pow: regions.Power}
