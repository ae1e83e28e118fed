package vec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGauss(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 1))
		const edge = 37.416573867739416 // the least x with x²/2 = 700
		special := []float64{0, math.Copysign(0, -1), edge, math.Nextafter(edge, 0), 40, -1e9, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, 1e-9}
		x := append(special, make([]float64, 1_000_000)...)
		for k := len(special); k < len(x); k++ {
			x[k] = math.Copysign(math.Sqrt(2*mostExponent*rng.Float64()), rng.Float64()-0.5)
			if k%2 == 0 {
				x[k] *= math.Exp(-20 * rng.Float64())
			}
		}
		got := make([]float64, len(x))
		Gauss(got, x, 3)
		require.Equal(t, 3.0, got[0])
		for k, x := range x {
			half, want := 0.5*x*x, 0.0
			if half < mostExponent {
				want = 3 * math.Exp(-half)
				require.InEpsilon(t, want, got[k], 1e-15, "%v", x)
				continue
			}
			require.Zero(t, got[k], "%v", x)
		}
	})
}
