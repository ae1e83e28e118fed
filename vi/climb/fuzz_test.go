package climb

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzOptimizer reads states of Adam. One that a fit accepts takes finite steps, and
// is written as it was.
func FuzzOptimizer(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte, g float64) {
		var a, back Adam
		if json.Unmarshal(data, &a) != nil || a.check(2) != nil {
			return
		}
		text, err := json.Marshal(a)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, a, back)
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return
		}
		step := make([]float64, 2)
		for range 3 {
			a.Direction(step, []float64{g, -g})
			for _, x := range step {
				require.False(t, math.IsNaN(x), "%s, gradient %v", text, g)
			}
		}
	})
}
