package family

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/internal/truncnorm"
)

var inf = math.Inf(1)

// laws are free and truncated pieces, on either side and on both, in both tails,
// alone and together.
func laws() map[string]Law {
	return map[string]Law{
		"free":     free(0.7, 1.3),
		"above":    {{1, 0.7, 1.3, 0.2, inf}},
		"below":    {{1, 0.7, 1.3, -inf, 1.5}},
		"inside":   {{1, -0.3, 2, -1, 2.5}},
		"far up":   {{1, -60, 2, 0, inf}}, // 30 standard deviations from its mean
		"far down": {{1, 60, 2, -inf, 0}},
		"narrow":   {{1, 0, 1, 3, 3.001}},
		"mixture":  {{0.2, -4, 0.5, -inf, inf}, {0.5, 1, 2, 0, 3}, {0.3, 30, 2, 20, 25}},
	}
}

// integral is ∫ f(x)·density(x) dx from low to high: by panels of each piece.
func (l Law) integral(low, high float64, f func(x float64) float64) (sum float64) {
	for _, p := range l {
		near := min(max(0, (p.Lo-p.Mean)/p.SD), (p.Hi-p.Mean)/p.SD) // the mode
		width := 1 / max(1, math.Abs(near))
		for k := -70; k < 70; k++ {
			a, b := p.Mean+p.SD*(near+width*float64(k)), p.Mean+p.SD*(near+width*float64(k+1))
			a, b = max(a, low, p.Lo), min(b, high, p.Hi)
			if a < b {
				one := Law{{p.Weight, p.Mean, p.SD, p.Lo, p.Hi}}
				sum += quad.Fixed(func(x float64) float64 { return f(x) * one.Density(x) }, a, b, 20, nil, 0)
			}
		}
	}
	return sum
}

func one(float64) float64 { return 1 }

// What a law says is what its density says.
func TestLaw(t *testing.T) {
	for name, l := range laws() {
		t.Run(name, func(t *testing.T) {
			require.InDelta(t, 1, l.integral(-inf, inf, one), 1e-12)
			mean := l.integral(-inf, inf, func(x float64) float64 { return x })
			sd := math.Sqrt(l.integral(-inf, inf, func(x float64) float64 { return (x - mean) * (x - mean) }))
			require.InDelta(t, mean, l.Mean(), 1e-11*(1+math.Abs(mean)))
			require.InEpsilon(t, sd, l.SD(), 1e-10)
			gotMean, gotSD := l.Expect(func(x float64) float64 { return x })
			require.InDelta(t, mean, gotMean, 1e-11*(1+math.Abs(mean)))
			require.InEpsilon(t, sd, gotSD, 1e-9)
			many := make(Law, 0, 200*len(l))
			for range 200 {
				for _, p := range l {
					p.Weight /= 200
					many = append(many, p)
				}
			}
			gotMean, _ = many.Expect(math.Sin)
			want, _ := l.Expect(math.Sin)
			require.InDelta(t, want, gotMean, 1e-6)
			require.InDelta(t, l.Quantile(0.3), many.Quantile(0.3), 1e-13*(1+math.Abs(mean)))
			wave := func(x float64) float64 { return math.Sin(x / sd) }
			gotMean, _ = l.Expect(wave)
			require.InDelta(t, l.integral(-inf, inf, wave), gotMean, 1e-11)
			for _, p := range []float64{1e-15, 1e-9, 0.01, 0.2, 0.5, 0.77, 0.999, 1 - 1e-9} {
				x := l.Quantile(p)
				below, above := l.integral(-inf, x, one), l.integral(x, inf, one)
				rounding := 0.0 // of x, in probability
				for _, piece := range l {
					rounding += 1e-15 * (math.Abs(x) + math.Abs(piece.Mean)) * l.Density(x)
				}
				require.InDelta(t, below, l.CDF(x), 1e-11*below+rounding, "at %v", p)
				require.InDelta(t, above, l.Above(x), 1e-11*above+rounding, "at %v", p)
				require.InDelta(t, p, below, 1e-11*p+rounding, "at %v", p)
				require.InDelta(t, 1-p, above, 1e-11*(1-p)+rounding, "at %v", p)
				require.InDelta(t, l.integral(x, x+sd, one), l.Between(x, x+sd), 1e-11)
			}
			for _, p := range l {
				require.Zero(t, l[:1].Density(l[0].Lo-1), "outside")
				require.LessOrEqual(t, p.Lo, Law{p}.Quantile(0))
				require.GreaterOrEqual(t, p.Hi, Law{p}.Quantile(1))
			}
		})
	}
}

// Both tails keep their digits.
func TestLawTails(t *testing.T) {
	l := free(0, 1)
	require.InEpsilon(t, distuv.UnitNormal.CDF(-30), l.Above(30), 1e-13)
	require.InEpsilon(t, distuv.UnitNormal.CDF(-30), l.CDF(-30), 1e-13)
	require.InEpsilon(t, distuv.UnitNormal.CDF(-7)-distuv.UnitNormal.CDF(-8), l.Between(7, 8), 1e-13)
	require.Equal(t, l.Between(-8, -7), l.Between(7, 8))
	cell := Law{{1, 0, 1, 0, inf}}
	require.Equal(t, 1.0, cell.Above(0))
	require.Equal(t, 0.0, cell.CDF(0))
	require.InEpsilon(t, 2*distuv.UnitNormal.CDF(-30), cell.Above(30), 1e-12)
	// an exponential function of a truncated normal: E[exp(x)] = e^½·P(ε > −1)/P(ε > 0)
	mean, sd := cell.Expect(math.Exp)
	want := math.Exp(0.5) * distuv.UnitNormal.CDF(1) * 2
	require.InEpsilon(t, want, mean, 1e-12)
	require.InEpsilon(t, math.Sqrt(math.Exp(2)*distuv.UnitNormal.CDF(2)*2-want*want), sd, 1e-12)
}

// Quantile is the x with P(Φ ≤ x) = p. It panics unless 0 ≤ p ≤ 1.
func (l Law) Quantile(p float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range l {
		q := x.quantile(p)
		low, high = min(low, q), max(high, q)
	}
	x := low + (high-low)/2 // it lies between those of the pieces
	for low < x && x < high {
		off := l.CDF(x) - p
		if p > 0.5 {
			off = (1 - p) - l.Above(x)
		}
		if off < 0 {
			low = x
		} else {
			high = x
		}
		next := x - off/l.Density(x) // Newton's method
		switch {
		case math.Abs(next-x) <= 4e-16*math.Abs(x):
			return next
		case !(low < next && next < high):
			next = low + (high-low)/2
		}
		x = next
	}
	return high
}

func (p Piece) quantile(prob float64) float64 {
	if p.free() {
		return p.Mean + p.SD*distuv.UnitNormal.Quantile(prob)
	}
	lo, hi := p.ends()
	return min(max(p.Lo, p.Mean+p.SD*truncnorm.Quantile(prob, lo, hi)), p.Hi)
}
