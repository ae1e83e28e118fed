package check

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
)

// Under a standard normal prior and at mean 0 the gradients in units of s are, with
// the path of log q, (1 − s²)·ε and (1 − s²)·ε².
func TestVarianceByParam(t *testing.T) {
	m := graph.NewModel()
	sd := []float64{0.3, 2, 1.5}
	for i := range sd {
		m.Sample(fmt.Sprintf("z%d", i), graph.Normal(0, 1))
	}
	d := vitest.Compile(t, m)
	for _, samples := range []int{1, 4} {
		const draws = 20000
		v, err := VarianceByParam(d, family.Independent(make([]float64, 3), sd), gradient.Reparam{}, GradientSettings{Draws: draws, Samples: samples, Seed: *seed})
		require.NoError(t, err)
		require.Equal(t, samples, v.Samples)
		require.Equal(t, "reparam", v.Estimator)
		n := float64(samples)
		byName := map[string]ParamVariance{}
		for k, p := range v.Params {
			if k > 0 {
				require.LessOrEqual(t, p.Variance, v.Params[k-1].Variance)
			}
			byName[p.Name] = p
		}
		require.Len(t, byName, 6)
		for i, s := range sd {
			name, scale := fmt.Sprintf("z%d", i), (1-s*s)*(1-s*s)
			mu, width := byName[name+" μ"], byName[name+" s"]
			require.Equal(t, i, mu.Latent)
			require.Equal(t, i, width.Latent)
			require.Less(t, math.Abs(mu.Variance-scale/n), 5*scale/n*math.Sqrt(2.0/draws))
			want := 2 * scale / n
			require.Less(t, math.Abs(width.Variance-want), 5*want*math.Sqrt((12/n+2)/draws)) // ε² has excess kurtosis 12
			require.Less(t, math.Abs(mu.Gradient.Value), 5*mu.Gradient.SE)
			require.Less(t, math.Abs(width.Gradient.Value-(1-s*s)), 5*width.Gradient.SE)
		}
	}
}

// The same in the paper's chart, by ρ and without units.
func TestVarianceByParamOfThePaper(t *testing.T) {
	m := graph.NewModel()
	m.Sample("z", graph.Normal(0, 1))
	d, s := vitest.Compile(t, m), 2.0
	const draws = 20000
	v, err := VarianceByParam(d, softplus([]float64{0}, []float64{s}), gradient.Reparam{}, GradientSettings{Draws: draws, Seed: *seed})
	require.NoError(t, err)
	rho, mu := v.Params[0], v.Params[1] // the largest variance first
	require.Equal(t, "z μ", mu.Name)
	require.Equal(t, "z ρ", rho.Name)
	require.Less(t, math.Abs(mu.Variance-s*s), 5*s*s*math.Sqrt(2.0/draws))
	want := 2 * s * s * slope(s) * slope(s)
	require.Less(t, math.Abs(rho.Variance-want), 5*want*math.Sqrt(14.0/draws))
	require.Less(t, math.Abs(mu.Gradient.Value), 5*mu.Gradient.SE)
	require.Less(t, math.Abs(rho.Gradient.Value-(1/s-s)*slope(s)), 5*rho.Gradient.SE)
}

// The parts of Gradient's average.
func TestVarianceByParamIsGradients(t *testing.T) {
	spec, d := vitest.Paper(t, "temperature")
	q := family.Softplus{}.At(spec.ThetaInit)
	for _, e := range meterEstimators {
		s := GradientSettings{Draws: 200, Seed: *seed}
		g, err := Gradient(d, q, e, s)
		require.NoError(t, err)
		v, err := VarianceByParam(d, q, e, s)
		require.NoError(t, err)
		sum := 0.0
		for _, p := range v.Params {
			sum += p.Variance
		}
		require.InEpsilon(t, g.AvgVar, sum/float64(2*d.Dim()), 1e-9, e.Name())
	}
	_, err := VarianceByParam(d, q, gradient.Boundary{}, GradientSettings{Draws: 1})
	require.Error(t, err)

	v, err := VarianceByParam(d, q, nil, GradientSettings{Draws: 32})
	require.NoError(t, err)
	require.Equal(t, "boundary", v.Estimator, "no estimator is the default one")
	meter, err := NewGradientMeter(d, q, nil, 2, 1)
	require.NoError(t, err)
	require.Equal(t, 2, meter.draws)
}

func TestParamVariancesString(t *testing.T) {
	v := ParamVariances{Estimator: "boundary", Samples: 16, Params: []ParamVariance{
		{"threshold μ", 0, mc.Estimate{Value: 1.25, SE: 0.03}, 0.9},
		{"threshold s", 0, mc.Estimate{Value: -3, SE: 0.01}, 0.1},
		{"σ μ", 1, mc.Estimate{Value: 0.5, SE: 0.001}, 0.001},
	}}
	require.Equal(t, `gradient by boundary, samples an estimate: 16
parameter       gradient  variance  share
threshold μ  1.25 ± 0.03       0.9  89.9%
threshold s    -3 ± 0.01       0.1  10.0%
σ μ          0.5 ± 0.001     0.001   0.1%
`, v.String())
	for range paramsShown {
		v.Params = append(v.Params, v.Params[2])
	}
	require.Contains(t, v.String(), "\n3 more parameters\n")
}
