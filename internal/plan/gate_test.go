package plan_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// A branch that is not taken leaves a gradient of 0 exactly, though it is a sum
// of several: the branch is NaN here, and a rest of rounding would show. The
// weights are whole, fractions, and so large that they would swallow others.
func TestUntakenBranchesLeaveNothing(t *testing.T) {
	for _, w := range [][]float64{{1, 2, 3}, {0.1, 0.2, 0.3}, {1, 0.1, 3, 0.2}, {1e17, 1, 3}, {0x1p52, 0x1p52, 1}} {
		m := graph.NewModel()
		z := m.Sample("z", graph.Normal(0, 1))
		onUpper := graph.Greater(z, 0)
		x, y := graph.Log(graph.Neg(z)), graph.Log(z)
		slope := 0.0
		for i, a := range w {
			m.Factor(graph.Mul(a, graph.If(onUpper, i, x)))                      // NaN where z > 0
			m.Factor(graph.Mul(a, graph.If(onUpper, y, i)))                      // NaN where z < 0
			m.Factor(graph.Mul(0.1, graph.If(graph.Less(z, 3), z, x)))           // another user of what is gated
			m.Factor(graph.Mul(a, graph.If(graph.Less(z, 3), -i, graph.Exp(z)))) // and one on the other side
			slope += a
		}
		d, err := m.Compile()
		require.NoError(t, err)
		for _, n := range []int{1, 2, 16, 17} {
			t.Run(fmt.Sprintf("weights %v, %d samples", w, n), func(t *testing.T) {
				ex, err := d.Executor(n, graph.Compute{Grad: true})
				require.NoError(t, err)
				for i := range n {
					ex.Z[i] = []float64{2, -2}[i%2]
				}
				d.Arrangement().SignBatch(ex.Signs, ex.Z, n)
				require.NoError(t, ex.Run())
				for i, z := range ex.Z {
					want := -z + slope/z + 0.1*float64(len(w))
					require.InEpsilon(t, want, ex.Grad[i], 1e-14, "at %v", z)
				}
			})
		}
	}
}
