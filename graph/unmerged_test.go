//go:build long

package graph_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// standardErrors is the largest |mean − want| in standard errors. A component
// without variance must agree to rounding. The test is inconclusive if 5 standard
// errors exceed detect in any component.
func standardErrors(t *testing.T, s []mc.Estimate, want []float64, detect float64) float64 {
	t.Helper()
	worst := 0.0
	for i, w := range want {
		require.Less(t, 5*s[i].SE, detect, "inconclusive: component %d", i)
		if d := math.Abs(s[i].Value - w); d > 1e-9*(1+math.Abs(w)) {
			worst = math.Max(worst, d/s[i].SE)
		}
	}
	return worst
}

// boundaryPart estimates BouContr of temperature by all guards. A jump has a
// part that is linear in the next noise, of mean 0 and 1000 times what is to be
// seen here; so the noises come in groups of four, in which the even ones and the
// odd ones take both signs, and that part cancels. Latents of d before those of
// q stay at 0, so that every guard fixes one latent i: with t its ε there, the
// term is φ(t)/s_i·Δ·a_i for μ_i, and t times that for s_i.
func boundaryPart(t *testing.T, d *graph.Density, q *family.Normal, groups int) []mc.Estimate {
	t.Helper()
	const four = 4
	first := d.Dim() - q.Dim()
	at, scale := make([]float64, d.Dim()), slices.Repeat([]float64{1e-100}, d.Dim())
	for i := range q.Dim() {
		at[first+i], scale[first+i] = q.Mean(i), q.SD(i)
	}
	sampler := family.Independent(at, scale).Bind(four)
	jumps, err := boundary.NewJumps(d, boundary.OnPlane)
	require.NoError(t, err)
	surface := sampler.Surface(jumps.Pieces(), jumps.Latents())
	batch, err := jumps.Bind(d, four, surface, boundary.Settings{})
	require.NoError(t, err)
	batch.Locate()
	ex := batch.Samples()
	part, g := make([]mc.Moments, 2*q.Dim()), make([]float64, 2*q.Dim())
	rng := rand.New(rand.NewPCG(*seed, 0))
	for range groups {
		for i := range q.Dim() {
			e := rng.NormFloat64()
			for k := range four {
				sign := 1.0
				if odd := i%4 == 1; i%2 == 1 && (odd && k%2 == 1 || !odd && k >= 2) { // noise_i is latent 2i − 1
					sign = -1
				}
				ex.Z[(first+i)*four+k] = q.Mean(i) + sign*q.SD(i)*e
			}
		}
		d.Arrangement().SignBatch(ex.Signs, ex.Z, four)
		require.NoError(t, batch.Run(rng))
		clear(g)
		for k, h := range jumps.Pieces() {
			var total float64
			if totals := batch.Sums(); totals != nil {
				total = totals[k]
			} else {
				total = floats.Sum(batch.Jumps(k))
			}
			last := len(h.Index) - 1
			i := h.Index[last] - first
			s := q.SD(i)
			on := (-h.Const/h.Coef[last] - q.Mean(i)) / s
			term := distuv.UnitNormal.Prob(on) / s * total / four * math.Copysign(1, h.Coef[last])
			if term != 0 {
				g[2*i] += term
				g[2*i+1] += term * on * -math.Expm1(-s) // the slope of softplus where its value is s
			}
		}
		for k, x := range g {
			part[k].Add(x)
		}
	}
	out := make([]mc.Estimate, len(part))
	for k := range part {
		out[k] = part[k].Estimate()
	}
	return out
}

// Where the state and the noise scale of temperature branch on the same test,
// flipping one guard at a time is biased: the test that accepts merged guards
// rejects that, and it is exactly as biased as the authors' program.
func TestUnmergedGuardsAreRejected(t *testing.T) {
	skipShort(t)
	spec, err := models.ByName("temperature")
	require.NoError(t, err)
	obs, exact := spec.Golden.Observations, spec.Golden.Exact
	q := family.Softplus{}.At(spec.ThetaInit)
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
	t.Logf("bias %.0f, rejected at %.0f standard errors", bias, standardErrors(t, unmerged, exact.BouContr, detect))
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
