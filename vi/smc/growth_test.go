package smc_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/smc"
)

// walk is a random walk of n levels, with jumps in its noise.
func walk(n int) func(m *graph.Model) {
	return func(m *graph.Model) {
		rng := rand.New(rand.NewPCG(1, 7))
		sl, so := m.Sample("sl", graph.HalfNormal(1)), m.Sample("so", graph.HalfNormal(1))
		at := 0.0
		var level graph.Expr
		for k := range n - 2 {
			if k == 0 {
				level = m.Sample("level[0]", graph.Normal(0, 1))
			} else {
				level = m.Sample(fmt.Sprintf("level[%d]", k), graph.Normal(level, sl))
			}
			at += 0.3 * rng.NormFloat64()
			y := at + 0.5*rng.NormFloat64()
			if k%20 == 19 {
				y += 4
			}
			m.Observe("y", graph.StudentsT(level, so, 4), y)
		}
	}
}

// groups is a regression of n rows in 50 groups.
func groups(n int) func(m *graph.Model) {
	return func(m *graph.Model) {
		rng := rand.New(rand.NewPCG(1, 8))
		slope, tau, sigma := m.Sample("slope", graph.Normal(0, 1)), m.Sample("tau", graph.HalfNormal(1)), m.Sample("sigma", graph.HalfNormal(1))
		u := m.SampleN("u", 50, graph.Normal(0, tau))
		for k := range n {
			x := rng.NormFloat64()
			y := 0.5*x + float64(k%50)/50 + rng.NormFloat64()
			m.Observe("y", graph.StudentsT(graph.Add(u[k%50], graph.Mul(slope, x)), sigma, 4), y)
		}
	}
}

// cost reports what a run from seeds 1, 2 and so on costs: CPU seconds on average, gradients, and the memory of the process that it takes at most.
func cost(b *testing.B, build func(m *graph.Model)) {
	from := cputime.Seconds()
	d := density(b, build)
	b.ReportMetric(cputime.Seconds()-from, "compile-s")
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	from = cputime.Seconds()
	for seed := uint64(1); b.Loop(); seed++ {
		r, err := smc.Run(context.Background(), d, smc.Settings{Seed: seed})
		require.NoError(b, err)
		b.ReportMetric(float64(r.Gradients), "gradients")
		b.ReportMetric(float64(len(r.Temperatures)), "temperatures")
		b.ReportMetric(slices.Min(r.Bulk), "effective")
		b.ReportMetric(slices.Max(r.RHat), "rhat")
		b.ReportMetric(r.Step, "step")
	}
	cpu := (cputime.Seconds() - from) / float64(b.N)
	runtime.ReadMemStats(&after)
	b.ReportMetric(cpu, "CPU-s")
	b.ReportMetric(float64(after.Sys)/1e6, "MB") // the process, all sizes before it too
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1e6/float64(b.N), "MB-made")
}

// A run of more and more latents: a random walk with Student noise. All sizes with -tags long; peak memory is that of the
// process, so run one size at a time by -bench Latents/1000.
func BenchmarkLatents(b *testing.B) {
	for _, n := range long.Brief([]int{25}, long.Or([]int{125}, []int{125, 250, 500, 1000})) {
		b.Run(fmt.Sprint(n), func(b *testing.B) { cost(b, walk(n)) })
	}
}

// A run of more and more rows: a regression with effects of 50 groups.
func BenchmarkRows(b *testing.B) {
	for _, n := range long.Brief([]int{100}, long.Or([]int{1000}, []int{1000, 10_000, 100_000})) {
		b.Run(fmt.Sprint(n), func(b *testing.B) { cost(b, groups(n)) })
	}
}
