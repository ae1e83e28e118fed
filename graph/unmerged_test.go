package graph_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// standardErrors is the largest |mean − want| in standard errors. A component
// without variance must agree to rounding. The test is inconclusive if 5 standard
// errors exceed detect in any component.
func standardErrors(t *testing.T, s vi.GradientStats, want []float64, detect float64) float64 {
	t.Helper()
	worst := 0.0
	for i, w := range want {
		require.Less(t, 5*s.SE[i], detect, "inconclusive: component %d", i)
		if d := math.Abs(s.Mean[i] - w); d > 1e-9*(1+math.Abs(w)) {
			worst = math.Max(worst, d/s.SE[i])
		}
	}
	return worst
}

// boundaryPart estimates BouContr of temperature by all guards. A jump has a
// part that is linear in the next noise, of mean 0 and 1000 times what is to be
// seen here; so the noises come in groups of four, in which the even ones and the
// odd ones take both signs, and that part cancels. Latents of d before those of
// q stay at 0.
func boundaryPart(t *testing.T, d *graph.Density, q vi.MeanField, groups int) vi.GradientStats {
	t.Helper()
	const four = 4
	jumps, err := boundary.NewJumps(d, boundary.OnPlane)
	require.NoError(t, err)
	batch, err := jumps.Bind(d, four, boundary.Settings{})
	require.NoError(t, err)
	ex := batch.Samples()
	dim, s := len(q.Mu), q.Scale(nil)
	first := d.Dim() - dim
	batch.Locate(slices.Concat(make([]float64, first), q.Mu), slices.Concat(slices.Repeat([]float64{1e-100}, first), s))
	eps, gMu, gScale := make([]float64, d.Dim()*four), make([]float64, d.Dim()), make([]float64, d.Dim())
	rng := rand.New(rand.NewPCG(*seed, 0))
	part := make([][]float64, 2*dim)
	for range groups {
		for i := range dim {
			e := rng.NormFloat64()
			row := (first + i) * four
			for k := range four {
				eps[row+k] = e
				if odd := i%4 == 1; i%2 == 1 && (odd && k%2 == 1 || !odd && k >= 2) { // noise_i is latent 2i − 1
					eps[row+k] = -e
				}
				ex.Z[row+k] = q.Mu[i] + s[i]*eps[row+k]
			}
		}
		d.Arrangement().SignBatch(ex.Signs, ex.Z, four)
		clear(gMu)
		clear(gScale)
		require.NoError(t, batch.Run(eps, rng))
		batch.AddGradient(gMu, gScale)
		for i := range dim {
			slope := -math.Expm1(-s[i]) // of softplus, where its value is s
			part[2*i] = append(part[2*i], gMu[first+i]/four)
			part[2*i+1] = append(part[2*i+1], gScale[first+i]/four*slope)
		}
	}
	var out vi.GradientStats
	for _, p := range part {
		mean, sd := stat.MeanStdDev(p, nil)
		out.Mean, out.SE = append(out.Mean, mean), append(out.SE, stat.StdErr(sd, float64(groups)))
	}
	return out
}

// Where the state and the noise scale of temperature branch on the same test,
// flipping one guard at a time is biased: the test that accepts merged guards
// rejects that, and it is exactly as biased as the authors' program.
func TestUnmergedGuardsAreRejected(t *testing.T) {
	spec, err := models.ByName("temperature")
	require.NoError(t, err)
	obs, exact := spec.Golden.Observations, spec.Golden.Exact
	q := vi.FromTheta(spec.ThetaInit)
	bias := 0.0
	for i, b := range exact.BouContr {
		bias = math.Max(bias, math.Abs(exact.BouContrUnmerged[i]-b))
	}
	require.Greater(t, bias, 500.0)

	m, apart := graph.NewModel(), graph.NewModel()
	temperature(m, obs, graph.Expr{})
	temperature(apart, obs, apart.Sample("zero", graph.Normal(0, 1)))
	compiled, err := m.Compile()
	require.NoError(t, err)
	separate, err := apart.Compile()
	require.NoError(t, err)
	require.Equal(t, spec.Golden.Ifs, separate.Arrangement().Len())
	const groups = 20000
	merged, unmerged := boundaryPart(t, compiled, q, groups), boundaryPart(t, separate, q, groups)

	detect := 0.1 * bias
	require.Less(t, standardErrors(t, merged, exact.BouContr, detect), 5.0, "merged")
	require.Less(t, standardErrors(t, unmerged, exact.BouContrUnmerged, detect), 5.0, "unmerged")
	require.Greater(t, standardErrors(t, unmerged, exact.BouContr, detect), 5.0, "unmerged guards must be rejected")
	t.Logf("bias %.0f, largest standard error %.2g, rejected at %.0f standard errors", bias,
		slices.Max(unmerged.SE), standardErrors(t, unmerged, exact.BouContr, detect))
}

// temperature is the program of models.Temperature, written into a model that
// exists. The scale's guards look at noise + zero: if zero is a latent they are
// hyperplanes of their own, which coincide with the state's where it is 0.
func temperature(m *graph.Model, obs []float64, zero graph.Expr) {
	theta := m.Sample("theta0", graph.Normal(20, 0.001))
	m.Observe("obs", graph.Normal(theta, 1), obs[0])
	var q graph.Expr
	for i := 1; i < len(obs); i++ {
		mean := graph.If(graph.Less(theta, 18), 0, graph.If(graph.Greater(theta, 22), 1, q))
		noise := m.Sample(fmt.Sprintf("q%d-noise", i), graph.Normal(mean, 0.001))
		q = graph.If(graph.Greater(noise, 0.5), 1, 0)
		scale := graph.If(graph.Greater(graph.Add(noise, zero), 0.5), 0.22, 0.2)
		drift := graph.Div(graph.Sub(32, graph.Add(theta, graph.Mul(21, q))), 15)
		theta = m.Sample(fmt.Sprintf("theta%d", i), graph.Normal(graph.Add(theta, drift), graph.Mul(2, scale)))
		m.Observe("obs", graph.Normal(theta, 1), obs[i])
	}
}
