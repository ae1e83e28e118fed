package graph

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph/internal/kernel"
	"github.com/facetvi/facet/internal/long"
)

// The table of expressions spreads what programs write: numbers in sequence,
// sums of neighbours, the same function of everything. A search takes as many
// steps as with random hashes, or fewer: (1 + 1/(1 − load))/2 on average, by Knuth.
func TestHashesOfRegularExpressions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds, and has one goroutine")
	}
	n := long.Or(1<<15, 1<<17)
	coef := func(i int) float64 { return float64(i%100) / 100 }
	for name, make := range map[string]func(i int) node{
		"whole numbers": func(i int) node { return node{kind: kConst, v: float64(i)} },
		"hundredths":    func(i int) node { return node{kind: kConst, v: float64(i) / 100} },
		"powers of two": func(i int) node { return node{kind: kConst, v: math.Ldexp(1+float64(i/2000)/1024, i%2000-1000)} },
		"latents":       func(i int) node { return node{kind: kLatent, a: nodeID(i)} },
		"functions":     func(i int) node { return node{kind: kUnary, fn: kernel.Function(1 + i%8), a: nodeID(i / 8 * 16)} },
		"products":      func(i int) node { return node{kind: kBinary, fn: kernel.Mul, a: nodeID(i), b: nodeID(i + 1)} },
		"a grid":        func(i int) node { return node{kind: kBinary, fn: kernel.Mul, a: nodeID(i / 512), b: nodeID(i % 512)} },
		"selects":       func(i int) node { return node{kind: kSelect, a: nodeID(i), b: 7, c: nodeID(i + 5)} },
		"multiples":     func(i int) node { return node{kind: kSum, terms: []term{{nodeID(i / 100), coef(i)}}} },
		"differences": func(i int) node {
			return node{kind: kSum, terms: []term{{nodeID(i), 1}, {nodeID(i + 1), -1}}}
		},
		"residuals": func(i int) node {
			return node{kind: kSum, v: -coef(i), terms: []term{{nodeID(i / 100), -1}, {nodeID(i/100 + 3), 0.5}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore()
			for i := range n {
				require.EqualValues(t, i, s.intern(make(i)))
			}
			steps, longest, mask := 0, 0, len(s.table)-1
			for at, x := range s.table {
				if x.node != 0 {
					d := (at-int(hashOf(s, x.node-1)))&mask + 1
					steps, longest = steps+d, max(longest, d)
				}
			}
			load := float64(n) / float64(len(s.table))
			require.LessOrEqual(t, float64(steps)/float64(n), (1+1/(1-load))/2+0.03)
			require.Less(t, longest, 100)
		})
	}
}

func hashOf(s *store, id nodeID) uint32 {
	n := s.at(id)
	return n.hash()
}

// Equal expressions are one node, also where the table grows between them, and
// different ones are not: signs of zero aside, all that same compares counts.
func TestInternFindsEqualNodes(t *testing.T) {
	s := newStore()
	terms := []term{{3, 1}, {4, 2}}
	list := []node{
		{kind: kConst, v: 1}, {kind: kConst}, {kind: kLatent}, {kind: kLatent, a: 1},
		{kind: kSum, terms: terms}, {kind: kSum, v: 1, terms: terms}, {kind: kSum, terms: terms[:1]},
		{kind: kSum, terms: []term{{3, 2}, {4, 1}}}, {kind: kSum, terms: []term{{4, 1}, {3, 2}}},
		{kind: kUnary, fn: kernel.Exp, a: 1}, {kind: kUnary, fn: kernel.Log, a: 1},
		{kind: kBinary, fn: kernel.Mul, a: 1, b: 2}, {kind: kBinary, fn: kernel.Mul, a: 2, b: 1}, {kind: kSelect, a: 1, b: 2},
	}
	ids := map[nodeID]bool{}
	for _, n := range list {
		_, known := s.find(n)
		require.False(t, known)
		ids[s.intern(n)] = true
	}
	require.Len(t, ids, len(list))
	for i := range 5000 {
		s.constant(float64(i + 2))
	}
	for i, n := range list {
		if n.v == 0 {
			n.v = math.Copysign(0, -1)
		}
		id, known := s.find(n)
		require.True(t, known)
		require.EqualValues(t, i, id)
		require.EqualValues(t, i, s.intern(n))
	}
}
