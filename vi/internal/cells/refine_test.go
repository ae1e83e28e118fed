package cells

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mixture"
)

// funnel is Neal's funnel in two dimensions, without data: log r integrates to 1. With a switch,
// whose intervals say the same of nothing, it still does.
func funnel(t *testing.T, withSwitch bool) *graph.Density {
	m := graph.NewModel()
	log := m.Sample("log", graph.Normal(0, 1))
	m.Sample("x", graph.Normal(0, graph.Exp(log)))
	if withSwitch {
		w := m.Sample("w", graph.Normal(0, 1))
		m.Factor(graph.If(graph.Greater(w, 0), math.Log(0.5), math.Log(1.5)))
	}
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// A funnel takes several normals: one is nats below the evidence, and they are a quarter at most. The evidence is
// that of the density, which the ELBO stays below.
func TestRefineFunnel(t *testing.T) {
	for name, withSwitch := range map[string]bool{"nothing but normals": false, "a switch is summed out": true} {
		d := funnel(t, withSwitch)
		f := found(t, d, Settings{Seed: 1, Switches: d.Engine().Switches()})
		require.Len(t, f.Cells, 1, name)
		var draws [][]float64
		rng := parallel.NewRand(2)
		for range 4000 {
			draws = append(draws, d.PriorDraw(nil, rng))
		}
		one := *f.Cells[0]
		kept, _, err := f.Finish(context.Background(), Finish{Draws: draws})
		require.NoError(t, err)
		c := kept[0]
		require.Greater(t, mixed(t, c.Q).Len(), 3, name)
		require.Less(t, one.ELBO.Value, -1., name)
		require.Greater(t, c.ELBO.Value, -0.25, name)
		require.Less(t, c.ELBO.Value, 4*c.ELBO.SE, name)
		require.InDelta(t, 0, c.LogEvidence.Value, 4*c.LogEvidence.SE, name)
		require.Less(t, c.LogEvidence.SE, 0.02, name)
		x, err := ratios(context.Background(), d, f.finders[0].x, c.Q, 2000, rng)
		require.NoError(t, err)
		for k, z := range x.z { // what was drawn has the density that LogProb says
			require.InDelta(t, x.logR[k]-x.ratio[k], c.Q.LogProb(z), 1e-9, name)
		}
	}
}

func mixed(t *testing.T, q family.Q) *mixture.Mixture {
	m, ok := restOf(q).(*mixture.Mixture)
	require.True(t, ok)
	return m
}

// Points of weight keep their share of what is fitted, and one of large weight does not
// make a normal of itself.
func TestFitNormalsWeighted(t *testing.T) {
	rng := parallel.NewRand(3)
	var x [][]float64
	var logs []float64
	for k := range 3000 {
		side := 1 - 2*float64(k%2) // as many on both sides, of weights 1 and 3
		x, logs = append(x, []float64{4*side + 0.5*rng.NormFloat64(), rng.NormFloat64()}), append(logs, math.Log(2-side))
	}
	var c cloud
	c.add(x, logs, 0)
	m := fitNormals(context.Background(), c, choice{least: 1, each: mixtureEach}, rng)
	require.Len(t, m, 2)
	for _, p := range m {
		want := 0.25
		if p.mean[0] < 0 {
			want = 0.75
		}
		require.InDelta(t, want, math.Exp(p.logWeight), 0.01)
		require.InDelta(t, 4, math.Abs(p.mean[0]), 0.06)
	}
	logs[0] = 20
	var heavy, tempered cloud
	heavy.add(x, logs, 0)
	require.Nil(t, fitNormals(context.Background(), heavy, choice{least: 1, each: mixtureEach}, rng))
	tempered.add(x, logs, 500)
	require.NotNil(t, fitNormals(context.Background(), tempered, choice{least: 1, each: mixtureEach}, rng))
}

// What is summed by monomials is the mean log density of the normals, and the moments of the points by the parts' shares, far
// from 0 and in units that are far apart too.
func TestExpect(t *testing.T) {
	rng := parallel.NewRand(4)
	var x [][]float64
	var logs []float64
	for range 300 {
		z := rng.NormFloat64()
		x, logs = append(x, []float64{1000 + z, 1e-3 * (z + 0.2*rng.NormFloat64())}), append(logs, rng.NormFloat64())
	}
	var c cloud
	c.add(x, logs, 0)
	m := c.maximise(context.Background(), c.seeds(3, rng))
	require.Len(t, m, 3)
	s := shape{latents: []int{0, 1}, dim: 2}
	q := s.of(m)
	var sums mat.Dense
	score := m.expect(c, &sums)
	want, moments, all := 0.0, mat.NewDense(3, 6, nil), 0.0
	for j, z := range x {
		total := q.LogProb(z)
		want += c.weight[j] * total
		all += c.weight[j]
		u, v := (z[0]-c.centre[0])/c.scale[0], (z[1]-c.centre[1])/c.scale[1]
		for k, p := range m {
			share := c.weight[j] * math.Exp(p.logWeight+s.of(normals{p}).LogProb(z)-total)
			floats.AddScaled(moments.RawRowView(k), share, []float64{1, u, v, u * u, u * v, v * v})
		}
	}
	require.InDelta(t, want/all, score, 1e-9)
	require.InDelta(t, want/all, m.expect(c, nil), 1e-9)
	require.True(t, mat.EqualApprox(moments, &sums, 1e-7))
}

// Points that belong to one normal give their weighted mean and covariance.
func TestMaximiseOne(t *testing.T) {
	rng := parallel.NewRand(5)
	var x [][]float64
	var logs []float64
	points := mat.NewDense(400, 3, nil)
	for k := range 400 {
		common := rng.NormFloat64()
		x, logs = append(x, []float64{50 + common, 1e4 * (common + rng.NormFloat64()), 1e-2 * rng.ExpFloat64()}), append(logs, rng.NormFloat64())
		points.SetRow(k, x[k])
	}
	var c cloud
	c.add(x, logs, 0)
	m := c.maximise(context.Background(), c.seeds(1, rng))
	require.Len(t, m, 1)
	require.InDelta(t, 0, m[0].logWeight, 1e-12)
	var want mat.SymDense
	stat.CovarianceMatrix(&want, points, c.weight)
	var chol mat.Cholesky
	require.True(t, chol.Factorize(m[0].precision))
	got := mat.NewSymDense(3, nil)
	require.NoError(t, chol.InverseTo(got))
	require.InDelta(t, -chol.LogDet(), -m[0].logDet, 1e-9)
	for i, mean := range m[0].mean {
		require.InDelta(t, stat.Mean(mat.Col(nil, i, points), c.weight), mean, 1e-9*c.scale[i])
		for j := range i + 1 {
			unit := c.scale[i] * c.scale[j]
			ridged := want.At(i, j) / unit
			if i == j {
				ridged += ridge
			}
			require.InDelta(t, ridged, got.At(i, j)/unit, 1e-9)
		}
	}
}

// No step of expectation maximisation lowers the likelihood.
func TestMaximiseRises(t *testing.T) {
	rng := parallel.NewRand(6)
	var x [][]float64
	for range 1000 {
		x = append(x, []float64{rng.Float64(), rng.Float64()})
	}
	var c cloud
	c.add(x, make([]float64, len(x)), 0)
	m := c.seeds(4, rng)
	for last, step := math.Inf(-1), 0; step < 30; step++ {
		var sums mat.Dense
		score := m.expect(c, &sums)
		require.Greater(t, score, last-1e-4) // which the ridge and the unbiased variances may cost
		last = score
		for k := range m {
			m[k] = newComponent(c, sums.RawRowView(k))
			require.NotNil(t, m[k])
		}
	}
}
