package boundary_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
)

// Where a jump is a conjunction of many signs, of either side of hyperplanes and of a curve, it is that of the whole density.
func TestConjunction(t *testing.T) {
	const steps, n = 10, 7
	m := graph.NewModel()
	at, inside := m.Sample("start", graph.Normal(0, 1)), graph.Greater(1, 0)
	for s := range steps {
		at = graph.Add(at, m.Sample(fmt.Sprint("e", s), graph.Normal(0, 1)))
		inside = graph.And(inside, graph.And(graph.Greater(at, -3), graph.Less(at, 3)))
	}
	curved := graph.Less(graph.Exp(at), graph.Add(2, m.Sample("w", graph.Normal(0, 1))))
	m.Factor(graph.If(graph.And(inside, curved), 2, graph.Mul(0.1, at)))
	d, err := m.Compile()
	require.NoError(t, err)
	jumps, err := boundary.NewJumps(d, axes)
	require.NoError(t, err)
	require.Less(t, jumps.Program().Nodes(), 60)
	b, err := jumps.Bind(d, n, axisLines(jumps, d.Dim()), boundary.Settings{})
	require.NoError(t, err)
	b.Locate()
	rng, z := rand.New(rand.NewPCG(1, 2)), b.Samples().Z
	inner, outer := 0, 0
	for range 40 {
		for i := range z {
			z[i] = 0.7 * rng.NormFloat64()
		}
		b.Sign()
		require.NoError(t, b.Run(nil))
		for k, p := range jumps.Pieces() {
			if p.Curve != nil {
				continue
			}
			v := make([]float64, d.Dim())
			v[p.Index[0]] = 1 / p.Coef[0]
			for s := range n {
				own := make([]float64, d.Dim())
				for i := range own {
					own[i] = z[i*n+s]
				}
				want, size := jump(t, d, p.Plane, onto(p.Hyperplane, own, v))
				require.InDelta(t, want, b.Jumps(k)[s], 1e-10*size, "%v", p.Hyperplane)
				if want != 0 {
					inner++
				} else {
					outer++
				}
			}
		}
	}
	require.Greater(t, inner, 50)
	require.Greater(t, outer, 50)
}
