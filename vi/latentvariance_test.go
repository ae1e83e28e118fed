package vi

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// Under a standard normal prior the gradients are −z and −z·ε + 1/s, with
// variances s² and, at mean 0, 2s².
func TestVarianceByLatent(t *testing.T) {
	m := graph.NewModel()
	sd := []float64{0.3, 2, 1}
	for i := range sd {
		m.Sample(fmt.Sprintf("z%d", i), graph.Normal(0, 1))
	}
	d := mustCompile(t, m)
	q := NewMeanField([]float64{0, 0, 0}, sd)
	for _, samples := range []int{1, 4} {
		const draws = 20000
		v, err := VarianceByLatent(d, q, Reparam{}, GradientSettings{Draws: draws, Samples: samples, Seed: *seed})
		require.NoError(t, err)
		require.Equal(t, samples, v.Samples)
		require.Equal(t, "reparam", v.Estimator)
		for k, i := range []int{1, 2, 0} { // the largest variance first
			l, s := v.Latents[k], sd[i]
			require.Equal(t, fmt.Sprintf("z%d", i), l.Name)
			n := float64(samples)
			require.Less(t, math.Abs(l.VarMu-s*s/n), 5*s*s/n*math.Sqrt(2.0/draws))
			slope := slopeOf(q.Rho[i])
			want := 2 * s * s * slope * slope / n
			require.Less(t, math.Abs(l.VarRho-want), 5*want*math.Sqrt((12/n+2)/draws)) // ε² has excess kurtosis 12
			require.Less(t, math.Abs(l.Mu.Mean), 5*l.Mu.SE)
			require.Less(t, math.Abs(l.Rho.Mean-(1/s-s)*slope), 5*l.Rho.SE)
		}
	}
}

// The parts of Gradient's average.
func TestVarianceByLatentIsGradients(t *testing.T) {
	spec, d := paperSpec(t, "temperature")
	q := FromTheta(spec.ThetaInit)
	for _, e := range []Estimator{Boundary{}, SingleGuard(), Reparam{}, Score{}} {
		s := GradientSettings{Draws: 200, Seed: *seed}
		g, err := Gradient(d, q, e, s)
		require.NoError(t, err)
		v, err := VarianceByLatent(d, q, e, s)
		require.NoError(t, err)
		sum := 0.0
		for _, l := range v.Latents {
			sum += l.VarMu + l.VarRho
		}
		require.InEpsilon(t, g.AvgVar, sum/float64(2*d.Dim()), 1e-9, e.Name())
	}
	_, err := VarianceByLatent(d, q, Boundary{}, GradientSettings{Draws: 1})
	require.Error(t, err)

	v, err := VarianceByLatent(d, q, nil, GradientSettings{Draws: 32})
	require.NoError(t, err)
	require.Equal(t, "boundary", v.Estimator, "no estimator is the default one")
	meter, err := NewGradientMeter(d, nil, 2, 1)
	require.NoError(t, err)
	require.Equal(t, 2, meter.draws)
}

func TestLatentVariancesString(t *testing.T) {
	v := LatentVariances{Estimator: "boundary", Samples: 16, Latents: []LatentVariance{
		{"threshold", Estimate{1.25, 0.03}, Estimate{-3, 0.01}, 0.9, 0.1},
		{"σ", Estimate{0.5, 0.001}, Estimate{0, 0}, 0.001, 0},
	}}
	require.Equal(t, `gradient by boundary, samples an estimate: 16
latent            by μ  variance       by ρ  variance  share
threshold  1.25 ± 0.03       0.9  -3 ± 0.01       0.1  99.9%
σ          0.5 ± 0.001     0.001          0         0   0.1%
`, v.String())
}
