package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/internal/programs"
	"github.com/facetvi/facet/regions"
)

// A pointOn is a point of a hyperplane, with the signs of the others.
type pointOn struct {
	z []float64
	s regions.Signs
}

func (p pointOn) Latent(i int) float64 { return p.z[i] }
func (p pointOn) Positive(l int) bool  { return p.s.Positive(l) }

// A local jump is what log r with the sign forced to + is above log r with it forced to −.
func TestLocalJumps(t *testing.T) {
	var seen tally
	rapid.Check(t, func(t *rapid.T) {
		_, d, rng := programs.Compiled(t, programs.Limits{Depth: 1})
		jumps, err := d.Engine().LocalJumps()
		require.NoError(t, err)
		at, arr := jumps.Bind(), d.Arrangement()
		known, left := map[int]bool{}, false
		for l := range arr.Len() {
			if known[l] = rng.IntN(4) > 0; !known[l] {
				left = left || jumps.Jumps(l)
			}
		}
		beside, err := d.Engine().JumpsBeside(known)
		require.NoError(t, err)
		require.Equal(t, left, beside)
		z := make([]float64, d.Dim())
		for l, h := range arr.Planes() {
			if arr.Curve(l) != nil {
				continue
			}
			for i := range z {
				z[i] = rng.NormFloat64()
			}
			last := len(h.Index) - 1
			z[h.Index[last]] -= h.At(z) / h.Coef[last]
			s := arr.Signs(z)
			plus, err := d.LogProbAt(z, s.Force(l, true))
			require.NoError(t, err)
			minus, err := d.LogProbAt(z, s.Force(l, false))
			require.NoError(t, err)
			if seen.skip(math.IsNaN(plus-minus) || math.IsInf(plus-minus, 0)) {
				continue
			}
			require.InDelta(t, plus-minus, at.At(l, pointOn{z, s}), 1e-9*(1+math.Abs(plus)+math.Abs(minus)), "plane %d", l)
			require.True(t, jumps.Jumps(l) || math.Abs(plus-minus) < 1e-9*(1+math.Abs(plus)))
		}
	})
	seen.check(t, 0.02)
}
