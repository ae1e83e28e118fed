//go:build long

package vi_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// posteriorDB is a data set of posteriordb.
type posteriorDB struct {
	Y, U, V []float64
	Alpha   [][]float64
}

func posteriorDBData(t *testing.T, name string) (d posteriorDB) {
	raw, err := os.ReadFile(filepath.Join("testdata", "posteriordb", name+".json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &d))
	return d
}

// Posteriors of posteriordb with states and classes that are summed out: the default fit's means are within .05 posterior standard
// deviations of those of its reference draws, and standard deviations within a twentieth. See testdata/posteriordb.
func TestPosteriorDB(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	type moments struct{ mean, sd float64 }
	none := graph.Expr{}
	for name, c := range map[string]struct {
		program func(m *graph.Model)
		want    map[string]moments
	}{
		"hmm_example": {func(m *graph.Model) {
			first := []graph.Expr{m.Sample("theta1[1]", graph.Uniform(0, 1)), m.Sample("theta2[1]", graph.Uniform(0, 1))}
			mu := []graph.Expr{m.Sample("mu[1]", positiveNormal(3)), m.Sample("mu[2]", positiveNormal(10))}
			m.Require(graph.Less(mu[0], mu[1]))
			m.ObserveHMM("y", graph.HMM{
				Initial:    graph.Numbers(0.5, 0.5),
				Transition: [][]graph.Expr{{first[0], graph.Sub(1, first[0])}, {first[1], graph.Sub(1, first[1])}},
				Emission:   func(_ int, s []int) graph.Dist { return graph.Normal(mu[s[0]], 1) },
			}, posteriorDBData(t, "hmm_example").Y)
		}, map[string]moments{
			"theta1[1]": {0.66665, 0.10123}, "theta2[1]": {0.07313, 0.02844}, "mu[1]": {3.02152, 0.22445}, "mu[2]": {8.82728, 0.11058},
		}},
		"hmm_drive_0": {func(m *graph.Model) {
			data := posteriorDBData(t, "bball_drive_event_0")
			var transition [][]graph.Expr
			for k, name := range []string{"theta1[1]", "theta2[1]"} {
				p := m.Sample(name, graph.Beta(data.Alpha[k][0], data.Alpha[k][1]))
				transition = append(transition, []graph.Expr{graph.Log(p), graph.Log(graph.Sub(1, p))})
			}
			phi := []graph.Expr{m.Sample("phi[1]", positiveNormal(0)), m.Sample("phi[2]", positiveNormal(3))}
			lambda := []graph.Expr{m.Sample("lambda[1]", positiveNormal(0)), m.Sample("lambda[2]", positiveNormal(3))}
			m.Require(graph.Less(phi[0], phi[1]))
			m.Require(graph.Less(lambda[0], lambda[1]))
			var emission [][]graph.Expr
			for i := range data.U {
				var row []graph.Expr
				for k := range phi {
					row = append(row, graph.Sub(graph.Add(graph.Log(phi[k]), graph.Log(lambda[k])),
						graph.Add(graph.Mul(phi[k], data.U[i]), graph.Mul(lambda[k], data.V[i]))))
				}
				emission = append(emission, row)
			}
			m.Factor(graph.ForwardSum([]graph.Expr{none, none}, emission, transition))
		}, map[string]moments{
			"theta1[1]": {0.99091, 0.0052}, "theta2[1]": {0.03526, 0.02007}, "phi[1]": {1.79201, 0.10039}, "phi[2]": {6.74188, 0.60349},
			"lambda[1]": {0.02836, 0.00157}, "lambda[2]": {0.07596, 0.01006},
		}},
		"low_dim_gauss_mix": {func(m *graph.Model) {
			mu := m.SampleVector("mu", graph.Ordered(2, graph.Normal(0, 2)))
			sigma := m.SampleN("sigma", 2, graph.HalfNormal(2))
			theta := m.Sample("theta", graph.Beta(5, 5))
			law := graph.Mixture([]graph.Expr{theta, graph.Sub(1, theta)}, graph.Normal(mu[0], sigma[0]), graph.Normal(mu[1], sigma[1]))
			ys := posteriorDBData(t, "low_dim_gauss_mix").Y
			m.Plate(len(ys), func(p *graph.Plate) { p.Observe("y", law, ys) })
		}, map[string]moments{
			"mu_least": {-2.73351, 0.04205}, "sigma[0]": {1.02807, 0.03144}, "sigma[1]": {1.02382, 0.04048}, "theta": {0.62155, 0.01548},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			m := graph.NewModel()
			c.program(m)
			fit, err := vi.Fit(context.Background(), vitest.Compile(t, m), vi.Settings{Seed: 1})
			require.NoError(t, err)
			verdict, err := fit.Verdict()
			require.NoError(t, err)
			require.Equal(t, vi.TrustFit, verdict.Trust, verdict)
			for latent, want := range c.want {
				mean, err := fit.Mean(latent)
				require.NoError(t, err)
				sd, err := fit.SD(latent)
				require.NoError(t, err)
				t.Logf("%s: %.4f ± %.4f, reference %.4f ± %.4f: off by %.3f sd", latent, mean.Value, sd.Value, want.mean, want.sd, (mean.Value-want.mean)/want.sd)
				require.InDelta(t, want.mean, mean.Value, 0.05*want.sd, latent)
				require.InDelta(t, want.sd, sd.Value, 0.05*want.sd, latent)
			}
		})
	}
}

// positiveNormal is a normal distribution of standard deviation 1, cut at 0.
func positiveNormal(mean float64) graph.Dist {
	return graph.Truncated(graph.Normal(mean, 1), 0, math.Inf(1))
}
