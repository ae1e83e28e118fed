package smc_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/vi/smc"
)

func TestTry(t *testing.T) {
	for _, x := range trials {
		if want := os.Getenv("MODEL"); want != "" && want != x.name {
			continue
		}
		m := graph.NewModel()
		x.build(t, m)
		d, err := m.Compile()
		require.NoError(t, err)
		t0 := cputime.Seconds()
		r, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1, Progress: func(p smc.Progress) {
			if p.Moves%10 == 0 {
				fmt.Printf("   β %.5f moves %d eff %.0f acc %.2f step %.3f %v\n", p.Beta, p.Moves, p.Effective, p.Acceptance, p.Step, cputime.Seconds()-t0)
			}
		}})
		require.NoError(t, err)
		fmt.Printf("%s: dim %d guards %d, %v, evidence %v draws %d temps %d grads %d crossings %d acc %.2f step %.3f\n", x.name, d.Dim(), d.Arrangement().Len(), cputime.Seconds()-t0, r.LogEvidence, len(r.Z), len(r.Temperatures), r.Gradients, r.Crossings, r.Acceptance, r.Step)
		fmt.Printf("   rhat %.4f bulk %.0f tail %.0f guards %.0f\n", slices.Max(r.RHat), slices.Min(r.Bulk), slices.Min(r.Tail), slices.MinFunc(append(r.Guards, math.NaN()), func(a, b float64) int {
			if a < b || math.IsNaN(b) {
				return -1
			}
			return 1
		}))
		for i, name := range d.Latents() {
			var v []float64
			for _, z := range r.Z {
				v = append(v, d.ConstrainOne(i, z[i]))
			}
			mean, sd := stat.MeanStdDev(v, nil)
			for _, ref := range x.references {
				if ref.latent == name {
					fmt.Printf("  %s %.4f ± %.4f   JAGS %.4f ± %.4f   off by %.3f sd (±%.3f), sd %.3f\n", name, mean, sd, ref.mean, ref.sd, (mean-ref.mean)/ref.sd, ref.se/ref.sd, sd/ref.sd)
				}
			}
			if len(x.references) == 0 && i < 8 {
				fmt.Printf("  %s %.4f ± %.4f\n", name, mean, sd)
			}
		}
		_ = math.Pi
	}
}
