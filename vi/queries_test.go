package vi

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a posterior can be asked, it can be asked in every family.
func TestEveryFamilyCanBeAsked(t *testing.T) {
	for _, f := range allFamilies {
		t.Run(f.Name(), func(t *testing.T) {
			_, d := paperSpec(t, "temperature")
			fit, err := Fit(context.Background(), d, Settings{Family: f, Steps: 500, Seed: *seed})
			require.NoError(t, err)
			require.Equal(t, f, fit.Q.Family())

			s := fit.Summary()
			require.Len(t, s.Latents, d.Dim())
			require.NotEmpty(t, s.Guards)
			require.False(t, math.IsNaN(s.ELBO.Mean))

			imp, err := fit.Importance(2000, 1)
			require.NoError(t, err)
			require.False(t, math.IsNaN(imp.K))
			require.GreaterOrEqual(t, imp.LogEvidence.Mean, imp.ELBO.Mean)
			require.Contains(t, imp.String(), "k-hat")

			draws := fit.Draws(50, 1)
			var file bytes.Buffer
			require.NoError(t, draws.WriteCSV(&file))
			rows, err := csv.NewReader(strings.NewReader(withoutComments(file.String()))).ReadAll()
			require.NoError(t, err)
			require.Len(t, rows, 51)
			require.Equal(t, []string{"lp__", "lp_approx__"}, rows[0][:2])
			logQ, err := strconv.ParseFloat(rows[1][1], 64)
			require.NoError(t, err)
			require.InDelta(t, fit.Q.LogProb(draws.Values[0]), logQ, 1e-9*math.Abs(logQ), "its latents are not transformed")
			require.NoError(t, draws.WriteNPZ(&file))
			require.Equal(t, 50, draws.Tensor().Shape()[0])
			_, err = fit.Predict(10, 1)
			require.NoError(t, err)

			for i, side := range fit.Sides() { // a comparison's probability is exact: that of its normal law
				law := fit.Q.Law(d.Arrangement().Plane(i))
				require.Len(t, law, 1)
				require.InDelta(t, 0.5*math.Erfc(-law[0].Mean/law[0].SD/math.Sqrt2), side.Prob, 1e-12)
			}
			on := d.Named("on")
			path, err := fit.MostProbablePath(on, 1000, 1)
			require.NoError(t, err)
			require.Len(t, path.Holds, len(on))
			top, err := fit.TopRegions(3, 1000, 1)
			require.NoError(t, err)
			require.NotEmpty(t, top)

			_, err = fit.SharesByGuard(1000, 1)
			require.NoError(t, err)
			bias, err := fit.CheckBias(BiasSettings{Samples: 4096})
			require.NoError(t, err)
			require.True(t, bias.Biased)
		})
	}
}

func withoutComments(s string) string {
	var kept []string
	for _, line := range strings.Split(s, "\n") {
		if !strings.HasPrefix(line, "#") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
