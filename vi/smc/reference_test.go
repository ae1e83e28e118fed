package smc_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/smc"
)

// Means and standard deviations of real models are those of long runs of JAGS.
func TestReferences(t *testing.T) {
	for _, x := range trials {
		if !slices.Contains([]string{"schools", "ranking", "schools centred", "bacteria", "nile"}[:long.Or(2, 5)], x.name) {
			continue
		}
		d := density(t, x.build)
		r, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1})
		require.NoError(t, err)
		for _, ref := range x.references {
			v := values(d, r, ref.latent)
			mean := r.Mean(v)
			require.InDelta(t, ref.mean, mean.Value, 5*math.Hypot(mean.SE, ref.se), "%s: %s", x.name, ref.latent)
			require.InEpsilon(t, ref.sd, stat.StdDev(v, nil), 0.1, "%s: %s", x.name, ref.latent)
			require.Less(t, mean.SE, 0.05*ref.sd)
		}
		require.Less(t, slices.Max(r.RHat), 1.02, x.name)
	}
}

// What a run of each model costs, and how far its means are from references, in posterior standard deviations. All
// models are run with -long.
func BenchmarkModels(b *testing.B) {
	for _, x := range trials[:long.Or(3, len(trials))] {
		b.Run(x.name, func(b *testing.B) {
			d := density(b, x.build)
			cpu, worst, bulk, seed := 0.0, 0.0, math.Inf(1), uint64(0)
			for b.Loop() {
				seed++
				from := cputime.Seconds()
				r, err := smc.Run(context.Background(), d, smc.Settings{Seed: seed})
				require.NoError(b, err)
				cpu += cputime.Seconds() - from
				for _, ref := range x.references {
					worst = max(worst, math.Abs(stat.Mean(values(d, r, ref.latent), nil)-ref.mean)/ref.sd)
				}
				bulk = min(bulk, slices.Min(r.Bulk))
				b.ReportMetric(r.Step, "step")
				b.ReportMetric(float64(r.Gradients), "gradients")
				b.ReportMetric(float64(len(r.Temperatures)), "temperatures")
				b.ReportMetric(r.LogEvidence.Value, "evidence")
				b.ReportMetric(slices.Max(r.RHat), "rhat")
			}
			b.ReportMetric(cpu/float64(b.N), "CPU-s")
			b.ReportMetric(worst, "off-sd")
			b.ReportMetric(bulk, "effective")
		})
	}
}

// The step at the same acceptance with walls, and where paths pay nothing there.
func BenchmarkWalls(b *testing.B) {
	for _, x := range trials {
		if !slices.Contains([]string{"ranking", "utilities", "epil", "nile by switches"}[:long.Or(1, 4)], x.name) {
			continue
		}
		b.Run(x.name, func(b *testing.B) {
			d := density(b, x.build)
			for b.Loop() {
				s := smc.Settings{Seed: 1, Effective: 1, MostMoves: 60}
				with, err := smc.Run(context.Background(), d, s)
				require.NoError(b, err)
				without, err := smc.Run(context.Background(), d, s.Free())
				require.NoError(b, err)
				b.ReportMetric(with.Step, "step")
				b.ReportMetric(without.Step, "step-free")
			}
		})
	}
}
