package cells

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/truncnorm"
)

// levels is a change of level in a long series, with noise of 1, at a latent time with a normal prior.
func levels(t *testing.T, y []float64) *graph.Density {
	n := len(y)
	m := graph.NewModel()
	when := m.Sample("when", graph.Normal(float64(n)/2, float64(n)))
	before, after := m.Sample("before", graph.Normal(0, 2)), m.Sample("after", graph.Normal(0, 2))
	m.Plate(n, func(p *graph.Plate) {
		at := make([]float64, n)
		for i := range at {
			at[i] = float64(i)
		}
		p.Observe("y", graph.Normal(graph.If(graph.Greater(p.Data(at), when), after, before), 1), y)
	})
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// logNormalEvidence is the log evidence of n numbers with the given sum and sum of squares, with noise of 1 around a
// level with prior N(0, 4).
func logNormalEvidence(n, sum, squares float64) float64 {
	return -0.5 * (n*math.Log(2*math.Pi) + math.Log1p(4*n) + squares - 4*sum*sum/(1+4*n))
}

// A compact density has the posterior of the whole one, whether the change is in the middle of the series, near its
// end, small, nowhere, or at one of two times far apart, between which the noise decides: the evidence, and the
// probability of each group of intervals.
func TestCompactKeepsThePosterior(t *testing.T) {
	long.Skip(t)
	const n = 6000
	series := func(level func(i int) float64) []float64 {
		rng := rand.New(rand.NewPCG(5, 6))
		y := make([]float64, n)
		for i := range y {
			y[i] = level(i) + rng.NormFloat64()
		}
		return y
	}
	step := func(at int, size float64) func(int) float64 {
		return func(i int) float64 {
			if i >= at {
				return size
			}
			return 0
		}
	}
	for name, level := range map[string]func(i int) float64{
		"middle": step(2500, 1), "end": step(n-9, 3), "small": step(4000, 0.15), "none": step(n, 0),
		"two": func(i int) float64 { return step(1000, 0.7)(i) + step(5000, 0.7)(i) },
	} {
		t.Run(name, func(t *testing.T) {
			y := series(level)
			d := levels(t, y)
			e, err := Compact(context.Background(), d, nil)
			require.NoError(t, err)
			w := e.Engine().Switches()[0]
			assert.LessOrEqual(t, len(w.Planes), mostGroups)
			assert.Less(t, e.Terms(), 2*len(w.Planes)+20)

			mass := func(lo, hi float64) float64 { return truncnorm.LogMass((lo-n/2)/n, (hi-n/2)/n) }
			total, squares := floats.Sum(y), floats.Dot(y, y)
			exact := make([]float64, n+1) // of j numbers before the change
			sum, square := 0.0, 0.0
			for j := range exact {
				lo, hi := math.Inf(-1), math.Inf(1)
				if j > 0 {
					lo = float64(j - 1)
					sum, square = sum+y[j-1], square+y[j-1]*y[j-1]
				}
				if j < n {
					hi = float64(j)
				}
				k := float64(j)
				exact[j] = mass(lo, hi) + logNormalEvidence(k, sum, square) + logNormalEvidence(n-k, total-sum, squares-square)
			}
			evidence := floats.LogSumExp(exact)

			cut := make([]float64, len(w.Planes))
			w.Thresholds(1).Fill(cut, make([]float64, 3))
			start, _ := e.PriorStart()
			mode, err := NewModeFinder(e, nil)
			require.NoError(t, err)
			var logs, want []float64
			signs := e.Arrangement().Signs(start)
			for k := range len(cut) + 1 {
				lo, hi := math.Inf(-1), math.Inf(1)
				first, end := 0, n+1
				if k > 0 {
					lo = cut[k-1]
					first = int(lo) + 1
				}
				if k < len(cut) {
					hi = cut[k]
					end = int(hi) + 1
				}
				for i, l := range w.Planes {
					signs = signs.Force(l, (i < k) != w.Down)
				}
				precision, top, err := mode.extend(context.Background(), append([]float64(nil), start...), signs)
				require.NoError(t, err)
				require.NotNil(t, precision)
				logs = append(logs, top+mass(lo, hi))
				want = append(want, floats.LogSumExp(exact[first:end]))
			}
			assert.InDelta(t, evidence, floats.LogSumExp(logs), 2e-3)
			for k := range logs {
				assert.InDelta(t, math.Exp(want[k]-evidence), math.Exp(logs[k]-evidence), 1e-3)
			}
		})
	}
}

// A density that has no sums stays as it is.
func TestCompactLeaves(t *testing.T) {
	m := graph.NewModel()
	a := m.Sample("a", graph.Normal(0, 1))
	x := make([]float64, 500)
	for i := range x {
		x[i] = math.Sqrt(float64(i))
	}
	m.Plate(len(x), func(p *graph.Plate) { p.Observe("y", graph.Normal(graph.Exp(graph.Mul(a, p.Data(x))), 1), x) })
	d, err := m.Compile()
	require.NoError(t, err)
	e, err := Compact(context.Background(), d, nil)
	require.NoError(t, err)
	assert.Same(t, d, e)
}
