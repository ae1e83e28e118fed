package vi

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
)

// tree is a regression tree of depth 2 on three features, with latent thresholds and leaves.
func tree(rows int) *graph.Model {
	rng, m := parallel.NewRand(2), graph.NewModel()
	cut, leaf := m.SampleN("cut", 3, graph.Uniform(0, 1)), m.SampleN("leaf", 4, graph.Normal(0, 3))
	noise := m.Sample("noise", graph.HalfNormal(2))
	for range rows {
		x := []float64{rng.Float64(), rng.Float64(), rng.Float64()}
		y := rng.NormFloat64()
		switch {
		case x[0] > 0.6 && x[2] > 0.3:
			y += 3
		case x[0] > 0.6:
			y++
		case x[1] > 0.5:
			y--
		}
		right := graph.If(graph.Greater(x[2], cut[2]), leaf[3], leaf[2])
		left := graph.If(graph.Greater(x[1], cut[1]), leaf[1], leaf[0])
		m.Observe("y", graph.Normal(graph.If(graph.Greater(x[0], cut[0]), right, left), noise), y)
	}
	return m
}

// A fork is by one of two variables, at a threshold between two of its values.
type fork struct {
	by    int
	log   float64 // of its prior
	above func(x [2]float64) bool
}

// Two trees explain a table of two by two cells: by the one variable and then the other, or the other way round. Both are found, from any seed, and have
// the masses that the enumeration of all splits gives.
func TestTreeOfTwoRoots(t *testing.T) {
	const rows, noise, wide = 120, 0.7, 3.0
	rng, m := parallel.NewRand(5), graph.NewModel()
	by, at := m.SampleN("by", 3, graph.Bernoulli(0.5)), m.SampleN("at", 3, graph.Uniform(0, 1))
	leaf := m.SampleN("leaf", 4, graph.Normal(0, wide))
	var x [][2]float64
	var y []float64
	for k := range rows {
		x = append(x, [2]float64{rng.Float64(), rng.Float64()})
		y = append(y, noise*rng.NormFloat64())
		switch a, b := x[k][0] > 0.4, x[k][1] > 0.6; {
		case a && b:
			y[k] += 2
		case a:
			y[k]--
		case b:
			y[k] -= 1.2
		}
		var above [3]graph.Guard
		for j := range above {
			above[j] = graph.Or(graph.And(graph.Equal(by[j], 1), graph.Less(at[j], x[k][1])), graph.And(graph.Equal(by[j], 0), graph.Less(at[j], x[k][0])))
		}
		mean := graph.If(above[0], graph.If(above[2], leaf[3], leaf[2]), graph.If(above[1], leaf[1], leaf[0]))
		m.Observe("y", graph.Normal(mean, noise), y[k])
	}
	var splits []fork
	for v := range 2 {
		cuts := []float64{0, 1}
		for _, x := range x {
			cuts = append(cuts, x[v])
		}
		slices.Sort(cuts)
		for k := range len(cuts) - 1 {
			splits = append(splits, fork{v, math.Log((cuts[k+1] - cuts[k]) / 2), func(x [2]float64) bool { return x[v] >= cuts[k+1] }})
		}
	}
	// a leaf's evidence: of n values with sums s and squares q, by the mean of the posterior of its level
	evidence := func(n, s, q float64) (log, mean float64) {
		v, w := noise*noise, wide*wide
		mean = s / (n + v/w)
		return -n/2*math.Log(2*math.Pi*v) - 0.5*math.Log1p(n*w/v) - 0.5/v*(q-s*mean), mean
	}
	branch := func(in func(x [2]float64) bool) (total, low float64) { // and the mean of the level below the split
		var logs, lows []float64
		for _, c := range splits {
			var n, s, q [2]float64
			for k, x := range x {
				if j := 0; in(x) {
					if c.above(x) {
						j = 1
					}
					n[j], s[j], q[j] = n[j]+1, s[j]+y[k], q[j]+y[k]*y[k]
				}
			}
			below, mean := evidence(n[0], s[0], q[0])
			rest, _ := evidence(n[1], s[1], q[1])
			logs, lows = append(logs, c.log+below+rest), append(lows, mean)
		}
		total = floats.LogSumExp(logs)
		for k, l := range logs {
			low += math.Exp(l-total) * lows[k]
		}
		return total, low
	}
	var logs, lows []float64
	for _, c := range splits {
		left, low := branch(func(x [2]float64) bool { return !c.above(x) })
		right, _ := branch(c.above)
		logs, lows = append(logs, c.log+left+right), append(lows, low)
	}
	exact, second, lowest := floats.LogSumExp(logs), 0.0, 0.0
	for k, l := range logs {
		second += math.Exp(l-exact) * float64(splits[k].by)
		lowest += math.Exp(l-exact) * lows[k]
	}
	require.Greater(t, min(second, 1-second), 0.05) // both roots count
	d := mustCompile(t, m)
	for seed := range uint64(long.Few(1, 3)) {
		p, err := Fit(context.Background(), d, Settings{Seed: seed + 1})
		require.NoError(t, err)
		v, err := p.Verdict()
		require.NoError(t, err)
		require.Equal(t, TrustFit, v.Trust, "%v", v)
		e, err := p.LogEvidence()
		require.NoError(t, err)
		require.InDelta(t, exact, e.Value, 0.01+4*e.SE)
		of, err := p.Mean("by[0]")
		require.NoError(t, err)
		require.InDelta(t, second, of.Value, 0.005+4*of.SE)
		low, err := p.Mean("leaf[0]")
		require.NoError(t, err)
		require.InDelta(t, lowest, low.Value, 0.01+4*low.SE)
	}
}

// BenchmarkTree is the CPU seconds of a default fit.
func BenchmarkTree(b *testing.B) {
	d, err := tree(506).Compile()
	require.NoError(b, err)
	began := cputime.Seconds()
	for i := range b.N {
		_, err := Fit(context.Background(), d, Settings{Seed: uint64(i + 1)})
		require.NoError(b, err)
	}
	b.ReportMetric((cputime.Seconds()-began)/float64(b.N), "CPU-s/op")
}
