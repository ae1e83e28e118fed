package lower

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/ir"
)

// A split by one of two guards is one row, and so is its complement, whichever way its parts are ordered; what others use keeps a row of its own.
func TestChoices(t *testing.T) {
	for _, swapped := range []bool{false, true} {
		for _, shared := range []bool{false, true} {
			s := ir.NewStore()
			by, yes, no := s.Leaf(ir.Sign, 0), s.Leaf(ir.Sign, 1), s.Leaf(ir.Sign, 2)
			and := func(a, b ir.ID) ir.ID {
				if swapped {
					a, b = b, a
				}
				return s.And(a, b)
			}
			part := and(by, yes)
			split := s.Not(and(s.Not(part), s.Not(and(s.Not(by), no))))
			neither := and(s.Not(and(by, s.Not(yes))), s.Not(and(s.Not(by), s.Not(no))))
			outs := []ir.Output{{Terms: []ir.Term{{Atom: split, Coef: 1}}}, {Terms: []ir.Term{{Atom: neither, Coef: 1}}}}
			if shared {
				outs = append(outs, ir.Output{Terms: []ir.Term{{Atom: part, Coef: 1}}})
			}
			b := newBatch(s, outs, Sizes{Signs: 3})
			require.Equal(t, map[ir.ID]choice{split: {by, yes, no}, neither: {by, yes, no}}, b.choices)
			rows := []ir.ID{split, neither}
			if shared {
				rows = append(rows, part)
			}
			require.ElementsMatch(t, rows, b.Forms[fFormula].Rows)
		}
	}
}

// A choice that is part of a conjunction alone has a row, and so has a conjunction that it chooses.
func TestChoicesWithin(t *testing.T) {
	s := ir.NewStore()
	by, no, beside := s.Leaf(ir.Sign, 0), s.Leaf(ir.Sign, 1), s.Leaf(ir.Sign, 2)
	yes := s.And(s.Leaf(ir.Sign, 3), s.Leaf(ir.Sign, 4))
	neither := s.And(s.Not(s.And(by, s.Not(yes))), s.Not(s.And(s.Not(by), s.Not(no))))
	all := s.And(neither, beside)
	b := newBatch(s, []ir.Output{{Terms: []ir.Term{{Atom: all, Coef: 1}}}}, Sizes{Signs: 5})
	require.Equal(t, map[ir.ID]choice{neither: {by, yes, no}}, b.choices)
	require.ElementsMatch(t, []ir.ID{yes, neither, all}, b.Forms[fFormula].Rows)

	split := s.Not(s.And(s.Not(s.And(by, yes)), s.Not(s.And(s.Not(by), no))))
	b = newBatch(s, []ir.Output{{Terms: []ir.Term{{Atom: split, Coef: 1}}}}, Sizes{Signs: 5})
	require.Equal(t, map[ir.ID]choice{split: {by, yes, no}}, b.choices)
	require.ElementsMatch(t, []ir.ID{yes, split}, b.Forms[fFormula].Rows)
}
