package cells

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of the cells of a tree that are looked at in the order of their masses, the last quarter has a small part of what is left: a seventh
// where they fall as k^−1.5.
func TestBeyond(t *testing.T) {
	const n = 3000
	for _, a := range []float64{1.2, 1.5, 2, 3} {
		var third, fourth, after float64
		for k := 1; k < 50*n; k++ {
			p := math.Pow(float64(k), -a)
			switch {
			case k > n:
				after += p
			case k > n*3/4:
				fourth += p
			case k > n/2:
				third += p
			}
		}
		after += math.Pow(50*n, 1-a) / (a - 1)
		require.InEpsilon(t, after, beyond(third, fourth), 0.01, "a = %v", a)
	}
	require.True(t, math.IsInf(beyond(1, 1), 1)) // they do not fall
	require.True(t, math.IsInf(beyond(0, 1), 1))
	require.Less(t, beyond(1, 1e-9), 1e-9)
	require.Zero(t, beyond(1, 0))
	require.Zero(t, beyond(0, 0))

	f := &Search{Tried: n, Leads: 1, s: Settings{Most: n}}
	for k := 1; k <= n; k++ {
		f.Cells = append(f.Cells, &Cell{order: k - 1})
		f.Cells[k-1].LogEvidence.Value = -1.5 * math.Log(float64(k))
	}
	require.InEpsilon(t, 2/math.Sqrt(n)/math.Exp(f.total()), f.Unfinished(), 0.02)
	f.s.Most++ // it ended as no lead promised more
	require.Less(t, f.Unfinished(), 0.3*2/math.Sqrt(n)/math.Exp(f.total()))
	f.Leads = 0
	require.Zero(t, f.Unfinished())
}
