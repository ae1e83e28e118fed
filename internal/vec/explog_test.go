package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/long"
)

var specials = []float64{
	0, math.Copysign(0, -1), 1, -1, 5e-324, 1e-320, leastNormal, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1e-9, -1e-300,
	leastExponent, mostExponent, 708, 710, -745.1332191019411, -745.1332191019412, -708.3964185322641, math.Sqrt2, math.Sqrt2 / 2,
}

// transcendental has the loops, what they are to be, and numbers of their domains.
var transcendental = []struct {
	name string
	loop func(dst, x []float64)
	want func(x float64) float64
	draw func(rng *rand.Rand) float64
}{
	{"exp", Exp, math.Exp, func(rng *rand.Rand) float64 { return 1458*rng.Float64() - 750 }},
	{"exp near 0", Exp, math.Exp, func(rng *rand.Rand) float64 { return rng.NormFloat64() }},
	{"log", Log, math.Log, func(rng *rand.Rand) float64 { return math.Exp(1500*rng.Float64() - 750) }},
	{"log near 1", Log, math.Log, func(rng *rand.Rand) float64 { return 1 + math.Exp(-40*rng.Float64())*(rng.Float64()-0.5) }},
	{"log1p", Log1p, math.Log1p, func(rng *rand.Rand) float64 { return math.Exp(-750 * rng.Float64()) }},
	{"log1p of large numbers", Log1p, math.Log1p, func(rng *rand.Rand) float64 { return math.Exp(709 * rng.Float64()) }},
	{"log1p near 1", Log1p, math.Log1p, (*rand.Rand).Float64},
	{"Gauss", func(dst, x []float64) { Gauss(dst, x, 3) }, func(x float64) float64 { return 3 * math.Exp(-0.5*x*x) }, func(rng *rand.Rand) float64 { return 37 * rng.Float64() }},
}

// Both paths give the same bits, which are right to rounding.
func TestTranscendental(t *testing.T) {
	for _, f := range transcendental {
		rng := rand.New(rand.NewPCG(1, 1))
		var x []float64
		if f.name == "exp" || f.name == "log" {
			for _, v := range specials {
				for range 1 + rng.IntN(6) {
					x = append(x, v)
				}
			}
		}
		for range long.Or(15_001, 60_001) {
			x = append(x, f.draw(rng))
		}
		var first []float64
		onBothPaths(t, func(t *testing.T) {
			got := make([]float64, len(x))
			f.loop(got, x)
			for k, x := range x {
				want := f.want(x)
				if math.IsNaN(want) {
					require.True(t, math.IsNaN(got[k]), "%s of %v", f.name, x)
					continue
				}
				if math.IsInf(want, 0) || math.Abs(want) < leastNormal {
					require.InDelta(t, want, got[k], 1e-323, "%s of %v", f.name, x)
					continue
				}
				require.LessOrEqual(t, math.Abs(got[k]-want), 1e-15*math.Abs(want), "%s of %v", f.name, x)
			}
			if first == nil {
				first = got
			}
			for k := range got {
				require.True(t, math.Float64bits(got[k]) == math.Float64bits(first[k]) || math.IsNaN(got[k]) && math.IsNaN(first[k]), "%s of %v on the other path", f.name, x[k])
			}
		})
	}
}

// BenchmarkTranscendental reports the time of one number, beside that of package math.
func BenchmarkTranscendental(b *testing.B) {
	for _, f := range transcendental {
		rng := rand.New(rand.NewPCG(1, 1))
		x, dst := make([]float64, 1024), make([]float64, 1024)
		for k := range x {
			x[k] = f.draw(rng)
		}
		run := func(name string, do func()) {
			b.Run(fmt.Sprintf("%s/%s", f.name, name), func(b *testing.B) {
				for b.Loop() {
					do()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(x)), "ns/number")
			})
		}
		run("loop", func() { f.loop(dst, x) })
		run("math", func() {
			for k, v := range x {
				dst[k] = f.want(v)
			}
		})
	}
}
