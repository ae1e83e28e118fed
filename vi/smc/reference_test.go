package smc_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/trials"
	"github.com/facetvi/facet/vi/smc"
)

// valuesOf are the draws of what a reference is of.
func valuesOf(d *graph.Density, r smc.Result, ref trials.Reference) []float64 {
	x := values(d, r, ref.Latent)
	for k, v := range x {
		if ref.Log {
			x[k] = math.Log(v)
		}
	}
	return x
}

// Means and standard deviations of all latents of real models are those of long runs of other samplers, within the errors of both.
func TestReferences(t *testing.T) {
	for _, name := range []string{"schools", "ranking", "schools centred", "bacteria", "nile", "student"}[:long.Or(2, 6)] {
		x := trials.Named(name)
		d := density(t, x.Build)
		r, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1})
		require.NoError(t, err)
		refs, err := x.References(d)
		require.NoError(t, err)
		for _, ref := range refs {
			v := valuesOf(d, r, ref)
			mean := r.Mean(v)
			require.InDelta(t, ref.Mean, mean.Value, 5*math.Hypot(mean.SE, ref.MeanSE), "%s: %s", x.Name, ref.Latent)
			sd := stat.StdDev(v, nil)
			for k, x := range v {
				v[k] = (x - mean.Value) * (x - mean.Value)
			}
			require.InDelta(t, ref.SD, sd, 5*math.Hypot(r.Mean(v).SE/(2*sd), ref.SDSE), "%s: %s", x.Name, ref.Latent)
			require.Less(t, mean.SE, 0.05*ref.SD)
		}
		require.Less(t, slices.Max(r.RHat), 1.02, x.Name)
	}
}

// What a run of each model costs, and how far it is from references: means in posterior standard deviations, and standard
// deviations as parts of these. All models are run with -tags long.
func BenchmarkModels(b *testing.B) {
	for _, x := range slices.Concat(trials.Ordinary, trials.Hard)[:long.Or(3, len(trials.Ordinary)+len(trials.Hard))] {
		b.Run(x.Name, func(b *testing.B) {
			d := density(b, x.Build)
			refs, err := x.References(d)
			require.NoError(b, err)
			cpu, bulk, seed := 0.0, math.Inf(1), uint64(0)
			var off trials.Off
			for b.Loop() {
				seed++
				from := cputime.Seconds()
				r, err := smc.Run(context.Background(), d, smc.Settings{Seed: seed})
				require.NoError(b, err)
				cpu += cputime.Seconds() - from
				for _, ref := range refs {
					off.Add(ref, stat.Mean(valuesOf(d, r, ref), nil), stat.StdDev(valuesOf(d, r, ref), nil))
				}
				bulk = min(bulk, slices.Min(r.Bulk))
				b.ReportMetric(r.Step, "step")
				b.ReportMetric(float64(r.Gradients), "gradients")
				b.ReportMetric(float64(len(r.Temperatures)), "temperatures")
				b.ReportMetric(r.LogEvidence.Value, "evidence")
				b.ReportMetric(slices.Max(r.RHat), "rhat")
			}
			b.Log(off)
			b.ReportMetric(cpu/float64(b.N), "CPU-s")
			b.ReportMetric(off.Mean, "mean-off")
			b.ReportMetric(off.SD, "sd-off")
			b.ReportMetric(bulk, "effective")
		})
	}
}

// walled are trials with many walls.
func walled() []string {
	return []string{"ranking", "utilities", "epil", "nile by switches"}[:long.Or(1, 4)]
}

// The step at the same acceptance with walls, and where paths pay nothing there.
func BenchmarkWalls(b *testing.B) {
	for _, name := range walled() {
		b.Run(name, func(b *testing.B) {
			d := density(b, trials.Named(name).Build)
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
