package smc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/trials"
	"github.com/facetvi/facet/vi/smc"
)

// What a point pays for a wall that it meets, beside a gradient of log r at a point: ns/wall is what a drift through walls takes
// longer than one that meets none, by wall.
func BenchmarkCrossing(b *testing.B) {
	for _, name := range walled() {
		b.Run(name, func(b *testing.B) {
			d := density(b, trials.Named(name).Build)
			r, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1, Effective: 1, MostMoves: 20})
			require.NoError(b, err)
			c, err := smc.NewCrossing(d, r.Z, 64)
			require.NoError(b, err)
			var through, free, gradient float64 // CPU seconds
			met := 0
			for b.Loop() {
				from := cputime.Seconds()
				met += c.Drift(1)
				there := cputime.Seconds()
				require.Zero(b, c.Drift(1e-12))
				back := cputime.Seconds()
				require.NoError(b, c.Gradient())
				through, free, gradient = through+there-from, free+back-there, gradient+cputime.Seconds()-back
			}
			wall, point := 1e9*(through-free)/float64(met), 1e9*gradient/float64(64*b.N)
			b.ReportMetric(float64(met)/float64(64*b.N), "walls/point")
			b.ReportMetric(wall, "ns/wall")
			b.ReportMetric(point, "ns/gradient")
			b.ReportMetric(wall/point, "of-gradient")
		})
	}
}
