package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tail of Student's t far out, where t² overflows, is known in closed form with one and two degrees of freedom: 1/(π|t|) and 1/(2t²). It falls as
// |t|^−ν, and its derivative by ν is what differences say.
func TestStudentFarOut(t *testing.T) {
	for _, x := range []float64{-1e5, -9.9e9, -1.01e10, -1e15, -1e200, -1e300} {
		require.InEpsilon(t, -math.Log(-math.Pi*x), logStudentCDF(x, 1), 1e-10, x)
		require.InEpsilon(t, -math.Ln2-2*math.Log(-x), logStudentCDF(x, 2), 1e-10, x)
		for _, nu := range []float64{0.5, 1, 3, 19} {
			const h = 1e-5
			y := logStudentCDF(x, nu)
			require.InEpsilon(t, -nu, x*logStudentCDFSlopeT(x, nu, y), 1e-8, "%v, %v", x, nu)
			byNu := (logStudentCDF(x, nu+h) - logStudentCDF(x, nu-h)) / (2 * h)
			require.InEpsilon(t, byNu, logStudentCDFSlopeNu(x, nu, y), 1e-6, "%v, %v", x, nu)
			require.InDelta(t, 0, logStudentCDF(-x, nu), math.Exp(y)*1.01, "%v, %v", x, nu)
		}
	}
}
