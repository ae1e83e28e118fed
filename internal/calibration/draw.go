package calibration

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// rounded is x as somebody would write it down, with three digits after the
// point.
func rounded(x float64) float64 { return math.Round(1000*x) / 1000 }

func poissonDraw(rng *rand.Rand, lambda float64) float64 {
	return distuv.Poisson{Lambda: lambda, Src: rng}.Rand()
}
