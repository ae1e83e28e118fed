package smc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/trials"
	"github.com/facetvi/facet/vi/smc"
)

// What a point pays for a wall that it meets, beside a gradient of log r at a point: ns/wall is what a step through walls takes
// longer than a drift that meets none, by wall; of-gradient is that by the gradient of a point among 64, and of-gradient-alone by that of an
// executor of one point. Walls of breaks are curves.
func BenchmarkCrossing(b *testing.B) {
	for _, name := range append(walled(), "breaks") {
		b.Run(name, func(b *testing.B) {
			d := density(b, trials.Named(name).Build)
			r, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1, Effective: 1, MostMoves: 20})
			require.NoError(b, err)
			c, err := smc.NewCrossing(d, r.Z, 64)
			require.NoError(b, err)
			one, err := d.Executor(1, graph.Compute{Grad: true})
			require.NoError(b, err)
			copy(one.Z, r.Z[0])
			d.Arrangement().SignBatch(one.Signs, one.Z, 1)
			var through, free, gradient, alone float64 // CPU seconds
			met := 0
			for b.Loop() {
				from := cputime.Seconds()
				met += c.Drift(r.Step)
				there := cputime.Seconds()
				require.Zero(b, c.Drift(1e-12))
				back := cputime.Seconds()
				require.NoError(b, c.Gradient())
				then := cputime.Seconds()
				for range 8 {
					require.NoError(b, one.Run())
				}
				through, free = through+there-from, free+back-there
				gradient, alone = gradient+then-back, alone+cputime.Seconds()-then
			}
			wall, point := 1e9*(through-free)/float64(met), 1e9*gradient/float64(64*b.N)
			b.ReportMetric(float64(met)/float64(64*b.N), "walls/point")
			b.ReportMetric(wall, "ns/wall")
			b.ReportMetric(point, "ns/gradient")
			b.ReportMetric(wall/point, "of-gradient")
			b.ReportMetric(wall*float64(8*b.N)/(1e9*alone), "of-gradient-alone")
		})
	}
}
