package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// compilePaper compiles the paper's models and the proposition's.
func compilePaper(t *testing.T) map[string]paperModel {
	t.Helper()
	all := map[string]paperModel{}
	for _, spec := range models.All() {
		d, err := spec.Model().Compile()
		require.NoError(t, err, spec.Name)
		all[spec.Name] = paperModel{spec, d}
	}
	return all
}

type paperModel struct {
	models.Spec
	d *graph.Density
}

// forced answers the oracle's questions by a sign vector of the arrangement.
func (p paperModel) forced(t *testing.T, s regions.Signs) models.Side {
	type question struct {
		latent    int
		threshold float64
	}
	side := map[question]bool{}
	for _, g := range p.Oracle.Guards() {
		found := false
		for l, h := range p.d.Arrangement().Planes() {
			if len(h.Index) == 1 && h.Index[0] == g.Latent && math.Abs(-h.Const/h.Coef[0]-g.Threshold) <= 1e-12*(1+math.Abs(g.Threshold)) {
				side[question{g.Latent, g.Threshold}] = s.Positive(l)
				found = true
			}
		}
		require.True(t, found, "oracle guard %+v has no plane", g)
	}
	return func(latent int, threshold float64) bool {
		v, ok := side[question{latent, threshold}]
		require.True(t, ok, "the oracle asked for latent %d > %v", latent, threshold)
		return v
	}
}

// randomPoint is a point near θ's, and an arbitrary sign vector.
func (p paperModel) randomPoint(rng *rand.Rand) ([]float64, regions.Signs) {
	z := make([]float64, p.d.Dim())
	for i := range z {
		z[i] = p.ThetaInit[2*i] + 0.5*rng.NormFloat64()
	}
	positive := make([]bool, p.d.Arrangement().Len())
	for l := range positive {
		positive[l] = rng.IntN(2) == 1
	}
	return z, regions.NewSigns(positive)
}

func TestPaperLayout(t *testing.T) {
	for name, p := range compilePaper(t) {
		require.Equal(t, p.Latents, p.d.Latents(), name)
		require.Equal(t, len(p.Oracle.Guards()), p.d.Arrangement().Len(), name)
		if p.Golden != nil {
			require.NotEmpty(t, p.d.Guards(), name)
		}
	}
}

// Log r with forced signs is that of an evaluator that shares no code, and its
// gradient is that of central differences.
func TestPaperValuesAndGradients(t *testing.T) {
	for name, p := range compilePaper(t) {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			for range 20 {
				z, s := p.randomPoint(rng)
				want := p.Oracle.LogDensity(z, p.forced(t, s))
				got, err := p.d.LogProbAt(z, s)
				require.NoError(t, err)
				require.InEpsilon(t, want, got, 1e-10)

				grad, err := p.d.GradAt(z, s)
				require.NoError(t, err)
				f := func(z []float64) float64 { return p.Oracle.LogDensity(z, p.forced(t, s)) }
				diff := fd.Gradient(nil, f, z, &fd.Settings{Formula: fd.Central, Step: 1e-4})
				for i := range grad {
					scale := math.Max(math.Abs(diff[i]), 1e-4*math.Abs(want))
					require.InDelta(t, diff[i], grad[i], 1e-6*scale+1e-7, "latent %s", p.d.Latents()[i])
				}
			}
		})
	}
}

// The plan and Gorgonia's TapeMachine run the same graph to the same numbers,
// for batches of every width.
func TestPaperPlanAgreesWithTape(t *testing.T) {
	for name, p := range compilePaper(t) {
		for _, n := range []int{1, 2, 5} {
			plan, err := p.d.Executor(n, graph.Compute{Out: true, Grad: true})
			require.NoError(t, err)
			tape, err := p.d.Executor(n, graph.Compute{Out: true, Grad: true, Tape: true})
			require.NoError(t, err)
			rng := rand.New(rand.NewPCG(3, 4))
			for range 3 {
				for b := range n {
					z, s := p.randomPoint(rng)
					signs := s.Floats(nil)
					for i := range z {
						plan.Z[i*n+b], tape.Z[i*n+b] = z[i], z[i]
					}
					for l := range signs {
						plan.Signs[l*n+b], tape.Signs[l*n+b] = signs[l], signs[l]
					}
				}
				require.NoError(t, plan.Run())
				require.NoError(t, tape.Run())
				require.InEpsilonSlice(t, tape.Out, plan.Out, 1e-12, name)
				for i := range tape.Grad {
					require.InDelta(t, tape.Grad[i], plan.Grad[i], 1e-12*(1+math.Abs(tape.Grad[i])), name)
				}
			}
		}
	}
}
