package vi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

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

// A decision tree of depth 2 on 506 rows has an answer with its verdict in some seconds: BenchmarkTree says in how many.
func TestTree(t *testing.T) {
	long.Skip(t)
	var p *Posterior
	var took [2]float64
	for k, rows := range []int{60, 506} {
		d, began := mustCompile(t, tree(rows)), cputime.Seconds()
		var err error
		p, err = Fit(context.Background(), d, Settings{Seed: *seed})
		require.NoError(t, err)
		took[k] = cputime.Seconds() - began
	}
	t.Logf("CPU seconds of 60 and 506 rows: %.2f", took)
	require.Less(t, took[1], 30*took[0]) // it is 1 to 3 times as long
	v, err := p.Verdict()
	require.NoError(t, err)
	require.NotEmpty(t, v.Reasons)
	for _, latent := range p.Density.Latents() {
		sd, err := p.SD(latent)
		require.NoError(t, err)
		require.False(t, math.IsNaN(sd.Value) || sd.Value <= 0, latent)
	}
	t.Log(v)
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
