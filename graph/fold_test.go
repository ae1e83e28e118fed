package graph

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph/internal/kernel"
)

// findFold takes the sum that is there, with or without the constant, as it is
// or negated, and the value stays the same.
func TestFindFold(t *testing.T) {
	for _, v := range []float64{0, math.Copysign(0, -1), 2.5, math.Inf(1)} {
		for _, c := range []float64{v, 0, 7} {
			for _, sign := range []float64{1, -1} {
				s := newStore()
				x, y := s.leaf(kLatent, 0), s.leaf(kLatent, 1)
				other := s.unary(kernel.Exp, x)
				have := s.affineSum(sign*c, []term{{x, sign * 2}, {y, sign * -3}})
				terms := []term{{x, 2}, {y, -3}, {other, 4}}
				affine, rest := parted(&lookup{x: &s.nodes}, terms, nil, nil)
				require.Equal(t, []term{{other, 4}}, rest)
				got, found := findFold(s, v, affine)
				require.Equal(t, c != 7, found, "v %v, c %v, sign %v", v, c, sign)
				require.Equal(t, []term{{x, 2}, {y, -3}}, affine)
				if !found {
					got = newFold(s, v, affine)
				}
				require.Equal(t, found, got.atom == have)
				atom := s.at(got.atom)
				require.Equal(t, v, got.left+got.coef*atom.v)
				require.Equal(t, []term{{x, 2 * got.coef}, {y, -3 * got.coef}}, atom.terms)
				require.Equal(t, []term{{x, 2}, {y, -3}, {other, 4}}, terms, "the terms of a node never change")
			}
		}
	}
}
