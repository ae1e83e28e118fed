package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// A parameter is a coordinate without prior and Jacobian, the first one wherever it is made; its start and its scale are those of
// PriorStart, and draws leave it there.
func TestParam(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(1, 2))
	doubled := graph.Mul(2, x) // made before the parameters
	cut := m.Param("cut", -3)
	scale := m.Param("scale", 2, graph.Positive())
	share := m.Param("share", 0.25, graph.Between(0, 1), graph.Scale(0.1))
	y := m.Sample("y", graph.Normal(share, scale))
	m.Observe("d", graph.Normal(graph.If(graph.Greater(doubled, cut), y, cut), scale), 0.7)
	d, err := m.Compile()
	require.NoError(t, err)
	require.Equal(t, []string{"cut", "scale", "share", "x", "y"}, d.Latents())
	require.Equal(t, 3, d.Params())

	at := func(cut, scale, share, x, y float64) float64 {
		mean := cut
		if 2*x > cut {
			mean = y
		}
		return distuv.Normal{Mu: 1, Sigma: 2}.LogProb(x) + distuv.Normal{Mu: share, Sigma: scale}.LogProb(y) +
			distuv.Normal{Mu: mean, Sigma: scale}.LogProb(0.7)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		z := []float64{rng.NormFloat64() - 1, 0.5 * rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		v := d.Constrain(z)
		require.InDelta(t, math.Exp(z[1]), v[1], 1e-14)
		require.InDelta(t, 1/(1+math.Exp(-z[2])), v[2], 1e-14)
		got, err := d.LogProb(z)
		require.NoError(t, err)
		require.InDelta(t, at(v[0], v[1], v[2], v[3], v[4]), got, 1e-12)
	}

	start := []float64{-3, math.Log(2), math.Log(0.25 / 0.75)}
	center, unit := d.PriorStart()
	require.InDeltaSlice(t, start, center[:3], 1e-15)
	require.InDeltaSlice(t, []float64{3, 1, 0.1 / (0.25 * 0.75)}, unit[:3], 1e-9)
	draw := d.PriorDraw(nil, rng)
	require.Equal(t, center[:3], draw[:3])
	require.NotEqual(t, center[3], draw[3])

	// elsewhere
	other := []float64{1, 0.5, -0.5}
	e := d.WithParams(other)
	center, _ = e.PriorStart()
	require.Equal(t, other, center[:3])
	require.Equal(t, other, e.PriorDraw(nil, rng)[:3])
	require.Equal(t, d.Fingerprint(), e.Fingerprint())
	r, err := e.Residuals(4)
	require.NoError(t, err)
	r.Draw(rng)
	r.Follow()
	for k := range 4 {
		prior := 0.0
		for i, u := range other {
			require.Equal(t, u, r.Z[i*4+k])
			require.Zero(t, r.E[i*4+k])
		}
		for i := 3; i < 5; i++ {
			prior += distuv.UnitNormal.LogProb(r.E[i*4+k])
		}
		require.InDelta(t, prior, r.LogPrior[k], 1e-12)
		require.InDelta(t, 1/(1+math.Exp(0.5))+math.Exp(0.5)*r.E[4*4+k], r.Z[4*4+k], 1e-12)
	}
	scales := make([]float64, 4)
	r.LogScale(scales)
	require.InDelta(t, math.Log(2)+0.5, scales[0], 1e-14)
	ratio := []float64{9, 9, 9, 9}
	r.Renew([]int{0, 1, 2, 0}, ratio, rng)
	require.Equal(t, make([]float64, 4), ratio)

	// loosened, its residuals have a normal distribution around the start
	loose, err := e.Loosened().Residuals(2000)
	require.NoError(t, err)
	loose.Draw(rng)
	mean, square := 0.0, 0.0
	for _, u := range loose.Z[:2000] {
		mean += u / 2000
		square += (u - 1) * (u - 1) / 2000
	}
	require.InDelta(t, 1, mean, 5*3/math.Sqrt(2000))
	require.InDelta(t, 9, square, 5*9*math.Sqrt(2.0/2000))

	// data are drawn given them
	z := []float64{100, math.Log(1e-9), 0, 0, 0}
	require.InDelta(t, 100, d.Replicate(nil, z, rng)[0], 1e-6)
}

// What cannot be a parameter is an error that says why, with its place.
func TestParamErrors(t *testing.T) {
	for want, build := range map[string]func(m *graph.Model){
		`param_test.go:\d+: parameter "p": the start -1 is not a number > 0`: func(m *graph.Model) { m.Param("p", -1, graph.Positive()) },
		`parameter "p": the start 2 is not a number`:                         func(m *graph.Model) { m.Param("p", 2, graph.Between(0, 2)) },
		`parameter "p": the interval \(3, 2\) is empty`:                      func(m *graph.Model) { m.Param("p", 2.5, graph.Between(3, 2)) },
		`parameter "p": the scale 0 must be positive`:                        func(m *graph.Model) { m.Param("p", 1, graph.Scale(0)) },
		`parameter "p": the start NaN is not a finite number`:                func(m *graph.Model) { m.Param("p", math.NaN()) },
		`param_test.go:\d+: the name "x" is already taken`:                   func(m *graph.Model) { m.Param("x", 1) },
		`param_test.go:\d+: guard 0: p > 3 compares parameters alone`:        func(m *graph.Model) { graph.Greater(m.Param("p", 1), 3) },
		`guard 0: p - q > 0 compares parameters alone`:                       func(m *graph.Model) { graph.Greater(m.Param("p", 1), m.Param("q", 2)) },
		`guard 0: .* compares parameters alone`:                              func(m *graph.Model) { graph.Greater(graph.Sin(m.Param("p", 1)), m.Param("q", 2)) },
		`cannot be solved for any of its latents: for s: `: func(m *graph.Model) {
			p := m.Param("p", 1)
			graph.Greater(graph.Sin(m.Sample("s", graph.Normal(0, 1))), p)
		},
		`sigma = p can be negative or 0`: func(m *graph.Model) { m.Sample("y", graph.Normal(0, m.Param("p", 1))) },
		`parameter "p" comes after a comparison \(.*param_test.go:\d+\): make parameters bef`: func(m *graph.Model) { graph.Greater(m.Sample("y", graph.Normal(0, 1)), 0); m.Param("p", 1) },
		`param_test.go:\d+: parameter "p" in the body of a plate: make it before the plate`: func(m *graph.Model) {
			m.Plate(2, func(*graph.Plate) { m.Param("p", 1) })
		},
		`parameter "p" comes after the model was compiled`: func(m *graph.Model) {
			_, err := m.Compile()
			require.NoError(t, err)
			m.Param("p", 1)
		},
	} {
		m := graph.NewModel()
		m.Sample("x", graph.Normal(0, 1))
		build(m)
		_, err := m.Compile()
		require.Error(t, err, want)
		require.Regexp(t, want, err.Error())
	}
	m := graph.NewModel()
	m.Param("p", 1)
	_, err := m.Compile()
	require.ErrorContains(t, err, "no latents")
}
