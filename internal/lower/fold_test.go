package lower

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// findFold takes the sum that is there, with or without the constant, as it is
// or negated, and the value stays the same.
func TestFindFold(t *testing.T) {
	for _, v := range []float64{0, math.Copysign(0, -1), 2.5, math.Inf(1)} {
		for _, c := range []float64{v, 0, 7} {
			for _, sign := range []float64{1, -1} {
				s := ir.NewStore()
				x, y := s.Leaf(ir.Latent, 0), s.Leaf(ir.Latent, 1)
				other := s.Unary(kernel.Exp, x)
				have := s.AffineSum(sign*c, []ir.Term{{Atom: x, Coef: sign * 2}, {Atom: y, Coef: sign * -3}})
				terms := []ir.Term{{Atom: x, Coef: 2}, {Atom: y, Coef: -3}, {Atom: other, Coef: 4}}
				affine, rest := parted(&ir.Lookup{Nodes: &s.Nodes}, terms, nil, nil)
				require.Equal(t, []ir.Term{{Atom: other, Coef: 4}}, rest)
				got, found := findFold(s, v, affine)
				require.Equal(t, c != 7, found, "v %v, c %v, sign %v", v, c, sign)
				require.Equal(t, []ir.Term{{Atom: x, Coef: 2}, {Atom: y, Coef: -3}}, affine)
				if !found {
					got = newFold(s, v, affine)
				}
				require.Equal(t, found, got.atom == have)
				atom := s.At(got.atom)
				require.Equal(t, v, got.left+got.coef*atom.V)
				require.Equal(t, []ir.Term{{Atom: x, Coef: 2 * got.coef}, {Atom: y, Coef: -3 * got.coef}}, atom.Terms)
				require.Equal(t, []ir.Term{{Atom: x, Coef: 2}, {Atom: y, Coef: -3}, {Atom: other, Coef: 4}}, terms, "the terms of a node never change")
			}
		}
	}
}
