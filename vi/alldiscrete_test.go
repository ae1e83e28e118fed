package vi_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
)

// Where all latents are summed out, the posterior and the evidence are exact: of two coins that are not both heads.
func TestNothingLeftToDraw(t *testing.T) {
	m := graph.NewModel()
	a, b := m.Sample("a", graph.Bernoulli(0.5)), m.Sample("b", graph.Bernoulli(0.5))
	heads := m.Name("heads", graph.Equal(a, 1))
	m.Factor(graph.If(graph.And(heads, graph.Equal(b, 1)), -1e9, 0))
	d, err := m.Compile()
	require.NoError(t, err)
	f, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1})
	require.NoError(t, err)
	evidence, err := f.LogEvidence()
	require.NoError(t, err)
	require.InDelta(t, math.Log(0.75), evidence.Value, 1e-12)
	require.Less(t, evidence.SE, 1e-12)
	values, masses, err := f.Masses("a")
	require.NoError(t, err)
	require.Equal(t, []float64{0, 1}, values)
	for k, want := range []float64{2. / 3, 1. / 3} {
		require.InDelta(t, want, masses[k].Value, 1e-12)
		require.Less(t, masses[k].SE, 1e-8)
	}
	p, err := f.Prob(heads)
	require.NoError(t, err)
	require.InDelta(t, 1./3, p.Value, 1e-12)
	verdict, err := f.Verdict()
	require.NoError(t, err)
	require.Equal(t, vi.TrustFit, verdict.Trust, verdict)
	require.Len(t, f.Cells(), 1) // else they overlap
	require.InDelta(t, 1, f.Cells()[0].Weight, 1e-12)
}

// flips is a mean by n fair coins, each of which lets it go on from the coins before or begin again; and log p(data), by enumeration.
func flips(n int) (m *graph.Model, logEvidence float64) {
	const y = 1.0
	m = graph.NewModel()
	mean := graph.Add(0.3, 0)
	coins := m.SampleN("coin", n, graph.Bernoulli(0.5))
	for i, coin := range coins {
		mean = graph.If(graph.Equal(coin, 1), graph.Add(mean, 0.1*float64(i)), 0.05*float64(i))
	}
	m.Observe("y", graph.Normal(mean, 1), y)
	total := 0.0
	for path := range 1 << n {
		mean := 0.3
		for i := range n {
			if path>>i&1 == 1 {
				mean += 0.1 * float64(i)
			} else {
				mean = 0.05 * float64(i)
			}
		}
		total += math.Exp(-0.5*(y-mean)*(y-mean)) / math.Sqrt(2*math.Pi)
	}
	return m, math.Log(total / float64(int(1)<<n))
}

// Coins that meet in one term are summed exactly while their table is small, and estimated rightly beyond.
func TestFlips(t *testing.T) {
	long.Skip(t)
	took := map[int]float64{}
	for n, exact := range map[int]bool{8: true, 10: true, 12: true, 13: false, 14: false} {
		m, want := flips(n)
		d, err := m.Compile()
		require.NoError(t, err)
		began := cputime.Seconds()
		f, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1})
		require.NoError(t, err)
		took[n] = cputime.Seconds() - began
		t.Logf("%d flips: %.2f CPU seconds", n, took[n])
		got, err := f.LogEvidence()
		require.NoError(t, err)
		if exact {
			require.InDelta(t, want, got.Value, 1e-10, n)
			require.Less(t, got.SE, 1e-10)
			continue
		}
		require.Less(t, got.SE, 0.02)
		require.Less(t, math.Abs(got.Value-want), 5*got.SE, n)
	}
	require.Less(t, took[12], 20*took[13]+0.2) // it is about as long; where each table was summed again it took 160 times as long
}

// BenchmarkFlips fits coins that meet, up to the limit of tables and beyond.
func BenchmarkFlips(b *testing.B) {
	for _, n := range []int{8, 10, 12, 13} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			m, _ := flips(n)
			d, err := m.Compile()
			require.NoError(b, err)
			for b.Loop() {
				_, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1})
				require.NoError(b, err)
			}
		})
	}
}
