package ir

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/kernel"
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
	for name, make := range map[string]func(i int) Node{
		"whole numbers": func(i int) Node { return Node{Kind: Const, V: float64(i)} },
		"hundredths":    func(i int) Node { return Node{Kind: Const, V: float64(i) / 100} },
		"powers of two": func(i int) Node { return Node{Kind: Const, V: math.Ldexp(1+float64(i/2000)/1024, i%2000-1000)} },
		"latents":       func(i int) Node { return Node{Kind: Latent, A: ID(i)} },
		"functions":     func(i int) Node { return Node{Kind: Unary, Fn: kernel.Function(1 + i%8), A: ID(i / 8 * 16)} },
		"products":      func(i int) Node { return Node{Kind: Binary, Fn: kernel.Mul, A: ID(i), B: ID(i + 1)} },
		"a grid":        func(i int) Node { return Node{Kind: Binary, Fn: kernel.Mul, A: ID(i / 512), B: ID(i % 512)} },
		"selects":       func(i int) Node { return Node{Kind: Select, A: ID(i), B: 7, C: ID(i + 5)} },
		"multiples":     func(i int) Node { return Node{Kind: Sum, Terms: []Term{{ID(i / 100), coef(i)}}} },
		"differences": func(i int) Node {
			return Node{Kind: Sum, Terms: []Term{{ID(i), 1}, {ID(i + 1), -1}}}
		},
		"residuals": func(i int) Node {
			return Node{Kind: Sum, V: -coef(i), Terms: []Term{{ID(i / 100), -1}, {ID(i/100 + 3), 0.5}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewStore()
			for i := range n {
				require.EqualValues(t, i, s.Intern(make(i)))
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

func hashOf(s *Store, id ID) uint32 {
	n := s.At(id)
	return n.Hash()
}

// Equal expressions are one node, also where the table grows between them, and
// different ones are not: signs of zero aside, all that same compares counts.
func TestInternFindsEqualNodes(t *testing.T) {
	s := NewStore()
	terms := []Term{{3, 1}, {4, 2}}
	list := []Node{
		{Kind: Const, V: 1}, {Kind: Const}, {Kind: Latent}, {Kind: Latent, A: 1},
		{Kind: Sum, Terms: terms}, {Kind: Sum, V: 1, Terms: terms}, {Kind: Sum, Terms: terms[:1]},
		{Kind: Sum, Terms: []Term{{3, 2}, {4, 1}}}, {Kind: Sum, Terms: []Term{{4, 1}, {3, 2}}},
		{Kind: Unary, Fn: kernel.Exp, A: 1}, {Kind: Unary, Fn: kernel.Log, A: 1},
		{Kind: Binary, Fn: kernel.Mul, A: 1, B: 2}, {Kind: Binary, Fn: kernel.Mul, A: 2, B: 1}, {Kind: Select, A: 1, B: 2},
	}
	ids := map[ID]bool{}
	for _, n := range list {
		_, known := s.Find(n)
		require.False(t, known)
		ids[s.Intern(n)] = true
	}
	require.Len(t, ids, len(list))
	for i := range 5000 {
		s.Constant(float64(i + 2))
	}
	for i, n := range list {
		if n.V == 0 {
			n.V = math.Copysign(0, -1)
		}
		id, known := s.Find(n)
		require.True(t, known)
		require.EqualValues(t, i, id)
		require.EqualValues(t, i, s.Intern(n))
	}
}
