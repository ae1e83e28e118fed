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
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// What a posterior can be asked, it can be asked in every family.
func TestEveryFamilyCanBeAsked(t *testing.T) {
	long.Skip(t) // TestEveryFamilyAnswers asks less
	for _, f := range allFamilies {
		t.Run(f.Name(), func(t *testing.T) {
			_, d := paperSpec(t, "temperature")
			fit, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Family: f, Steps: 500}})
			require.NoError(t, err)
			require.Equal(t, f, fit.Q.Family())

			s := fit.Summary()
			require.Len(t, s.Latents, d.Dim())
			require.NotEmpty(t, s.Guards)
			require.False(t, math.IsNaN(s.ELBO.Value))

			draws := drawsOf(t, fit, 50, 1)
			var file bytes.Buffer
			require.NoError(t, draws.WriteCSV(&file))
			rows, err := csv.NewReader(strings.NewReader(withoutComments(file.String()))).ReadAll()
			require.NoError(t, err)
			require.Len(t, rows, 51)
			require.Equal(t, []string{"lp__", "lp_approx__"}, rows[0][:2])
			logQ, err := strconv.ParseFloat(rows[1][1], 64)
			require.NoError(t, err)
			pool, err := fit.Sample()
			require.NoError(t, err)
			require.InDelta(t, pool.Proposal().LogProb(draws.Values[0]), logQ, 1e-9*math.Abs(logQ), "its latents are not transformed")
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

			sides, err := fit.Sides()
			require.NoError(t, err)
			require.Len(t, sides, d.Arrangement().Len())
			on := d.Named("on")
			path, err := fit.MostProbablePath(on)
			require.NoError(t, err)
			require.Len(t, path.Holds, len(on))
			top, err := fit.TopRegions(3)
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

// A normal posterior that is asked in every family answers what is known in closed form: the evidence, moments, the probability of
// a comparison, and of another one given the first. Of Q itself only a full rank has it.
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
	// With s = b + c: Cov(a, y) = 1.8, Cov(s, y) = 5.13, Var(s) = 6.81, Cov(a, s) = 1.6.
	meanA, sdA := 1.8*1.3/variance, math.Sqrt(1-1.8*1.8/variance)
	slope := (1.6 - 1.8*5.13/variance) / (sdA * sdA)
	left := math.Sqrt(6.81 - 5.13*5.13/variance - slope*slope*sdA*sdA) // of s, given a
	exactUp := distuv.UnitNormal.CDF((meanA - 0.2) / sdA)
	exactGiven := quad.Fixed(func(x float64) float64 {
		return distuv.Normal{Mu: meanA, Sigma: sdA}.Prob(x) * distuv.UnitNormal.CDF((5.13*1.3/variance+slope*(x-meanA)-1)/left)
	}, 0.2, 8, 200, nil, 0) / exactUp
	for _, f := range allFamilies {
		t.Run(f.Name(), func(t *testing.T) {
			p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Family: f, Stop: Automatic}})
			require.NoError(t, err)
			if v, err := p.Verdict(); err == nil && v.Trust == TrustNothing { // weights so uneven that it takes more draws
				s, err := p.draw(context.Background(), 8*evidenceDraws)
				require.NoError(t, err)
				p.findings.note(s)
			}
			e, err := p.LogEvidence()
			require.NoError(t, err)
			vitest.Estimate(t, "log evidence", evidence, e, 0.25)
			elbo, err := p.ELBO(20000, 1)
			require.NoError(t, err)
			switch has := elbo.Value > evidence-5*elbo.SE-1e-6; f.(type) {
			case family.FullRank:
				require.True(t, has)
			case family.MeanField, family.Structured, family.Softplus:
				require.False(t, has, "it does not have the posterior")
			}
			mean, err := p.Mean("a")
			require.NoError(t, err)
			vitest.Estimate(t, "mean of a", meanA, mean, 0.2)
			sd, err := p.SD("a")
			require.NoError(t, err)
			vitest.Estimate(t, "sd of a", sdA, sd, 0.2)
			prob, err := p.Prob(up)
			require.NoError(t, err)
			vitest.Estimate(t, "up", exactUp, prob, 0.2)
			given, err := p.ProbGiven(sum, up)
			require.NoError(t, err)
			vitest.Estimate(t, "sum given up", exactGiven, given, 0.2)
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
