package family

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExpMinus(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	require.Equal(t, 1.0, expMinus(0))
	for k := range 1_000_000 {
		x := mostExponent * rng.Float64()
		if k%2 == 0 {
			x *= math.Exp(-20 * rng.Float64())
		}
		require.InEpsilon(t, math.Exp(-x), expMinus(x), 1e-15, "%v", x)
	}
}
