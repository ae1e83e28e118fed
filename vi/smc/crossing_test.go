package smc_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/smc"
)

// What a point pays for a wall that it meets, beside a gradient of log r at a point: ns/wall is what a drift through walls takes
// longer than one that meets none, by wall.
func BenchmarkCrossing(b *testing.B) {
	for _, x := range trials {
		if !slices.Contains([]string{"ranking", "utilities", "epil", "nile by switches"}[:long.Or(1, 4)], x.name) {
			continue
		}
		b.Run(x.name, func(b *testing.B) {
			d := density(b, x.build)
			r, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1, Effective: 1, MostMoves: 20})
			require.NoError(b, err)
			c, err := smc.NewCrossing(d, r.Z, 64)
			require.NoError(b, err)
			var through, free, gradient time.Duration
			met := 0
			for b.Loop() {
				from := time.Now()
				met += c.Drift(1)
				there := time.Now()
				require.Zero(b, c.Drift(1e-12))
				back := time.Now()
				require.NoError(b, c.Gradient())
				through, free, gradient = through+there.Sub(from), free+back.Sub(there), gradient+time.Since(back)
			}
			wall, point := float64(through-free)/float64(met), float64(gradient)/float64(64*b.N)
			b.ReportMetric(float64(met)/float64(64*b.N), "walls/point")
			b.ReportMetric(wall, "ns/wall")
			b.ReportMetric(point, "ns/gradient")
			b.ReportMetric(wall/point, "of-gradient")
		})
	}
}
