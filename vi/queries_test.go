package vi

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
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
			require.False(t, math.IsNaN(s.ELBO.Value))

			imp, err := fit.Importance(2000, 1)
			require.NoError(t, err)
			require.False(t, math.IsNaN(imp.K))
			require.GreaterOrEqual(t, imp.LogEvidence.Value, imp.ELBO.Value)
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
			for k, z := range draws.Values {
				for i, x := range z {
					got, err := strconv.ParseFloat(rows[1+k][2+i], 64)
					require.NoError(t, err)
					require.Equal(t, x, got, rows[0][2+i])
				}
			}
			file.Reset()
			require.NoError(t, draws.WriteNPZ(&file))
			archive, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(archive.File), d.Dim())
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

// A normal posterior is asked in every family what is known in closed form: the evidence by importance weights;
// of the fit itself the probability of a comparison, which is exact, and of another one given the first, which
// is estimated, with its error, where latents depend on each other.
func TestEveryFamilyAnswers(t *testing.T) {
	m := graph.NewModel()
	a := m.Sample("a", graph.Normal(0, 1))
	b := m.Sample("b", graph.Normal(graph.Mul(0.8, a), 1))
	c := m.Sample("c", graph.Normal(b, 0.5))
	m.Observe("y", graph.Normal(graph.Add(a, c), 1), 1.3)
	up, sum := m.Name("up", graph.Greater(a, 0.2)), m.Name("sum", graph.Greater(graph.Add(b, c), 1))
	d := mustCompile(t, m)
	const variance = 1.8*1.8 + 1 + 0.25 + 1 // of y, of which a is 1 + 0.8, b 1 and c 0.5
	evidence := -0.5 * (1.3*1.3/variance + math.Log(2*math.Pi*variance))
	for _, f := range allFamilies {
		t.Run(f.Name(), func(t *testing.T) {
			p, err := Fit(context.Background(), d, Settings{Family: f, Seed: *seed, Stop: Automatic})
			require.NoError(t, err)
			imp, err := p.Importance(20000, 1)
			require.NoError(t, err)
			require.Less(t, imp.LogEvidence.SE, 0.05, "inconclusive")
			require.InDelta(t, evidence, imp.LogEvidence.Value, 5*imp.LogEvidence.SE+1e-9)
			switch has := imp.ELBO.Value > evidence-5*imp.ELBO.SE-1e-6; f.(type) {
			case family.FullRank:
				require.True(t, has)
			case family.MeanField, family.Structured, family.Softplus:
				require.False(t, has, "it does not have the posterior")
			}

			const n = 40000
			first, both := 0.0, 0.0
			for _, z := range p.Draws(n, 7).Values {
				if z[0] > 0.2 {
					first++
					if z[1]+z[2] > 1 {
						both++
					}
				}
			}
			prob, err := p.Prob(up)
			require.NoError(t, err)
			require.InDelta(t, first/n, prob, 5*math.Sqrt(prob*(1-prob)/n))
			given, err := p.ProbGiven(sum, up)
			require.NoError(t, err)
			se := math.Sqrt(given.Value * (1 - given.Value) / first)
			require.InDelta(t, both/first, given.Value, 5*math.Hypot(se, given.SE))
			linked := f != family.Family(family.MeanField{}) && f != family.Family(family.Softplus{})
			require.Equal(t, linked, given.SE > 0)
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
