package kernel

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Expand's derivatives are those of differences of values, of functions of one and two numbers; those of
// numbers that do not vary are 0.
func TestExpand(t *testing.T) {
	for _, c := range []struct {
		f Function
		x []float64
	}{
		{Exp, []float64{0.7}}, {Log, []float64{0.01}}, {Log1p, []float64{-0.9}}, {Softplus, []float64{-3}}, {Sigmoid, []float64{0}},
		{Square, []float64{-2}}, {Recip, []float64{0.2}}, {Lgamma, []float64{2.5}}, {LogNormalCDF, []float64{-4}}, {Sqrt, []float64{3}},
		{Mul, []float64{2, -3}}, {MulData, []float64{2, -3}}, {Div, []float64{2, -3}}, {Pow, []float64{1.5, 2.5}}, {LogAddExp, []float64{0.3, 1}},
		{StudentTail, []float64{1.2, 4}},
	} {
		n := len(c.x)
		varies := make([]bool, n)
		for skip := -1; skip < n; skip++ {
			for i := range varies {
				varies[i] = i != skip
			}
			slope, curvature := make([]float64, n), make([]float64, n*n)
			assert.Equal(t, c.f.valueAt(c.x), c.f.Expand(c.x, varies, slope, curvature), c.f)
			at := func(i int, a float64, j int, b float64) float64 {
				x := append([]float64(nil), c.x...)
				x[i] += a
				x[j] += b
				return c.f.valueAt(x)
			}
			for i := range n {
				h := 1e-4 * (0.01 + abs(c.x[i]))
				want := (at(i, h, i, 0) - at(i, -h, i, 0)) / (2 * h)
				if i == skip {
					want = 0
				}
				assert.InDelta(t, want, slope[i], 1e-5*(1+abs(want)), "%v by %d", c.f, i)
				for j := range n {
					e := 1e-4 * (0.01 + abs(c.x[j]))
					want := (at(i, h, j, e) - at(i, h, j, -e) - at(i, -h, j, e) + at(i, -h, j, -e)) / (4 * h * e)
					if i == skip || j == skip {
						want = 0
					}
					assert.InDelta(t, want, curvature[i*n+j], 2e-3*(1+abs(want)), "%v by %d and %d", c.f, i, j)
				}
			}
		}
	}
}

func abs(x float64) float64 { return max(x, -x) }
