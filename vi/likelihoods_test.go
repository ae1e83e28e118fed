//go:build long

package vi

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// A mixture of two normals with 200 points, its classes summed out, has the exact answer:
// by quadrature over the share and the mean of one class.
func TestMarginalisedMixture(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 3))
	ys := make([]float64, 200)
	for i := range ys {
		if ys[i] = -1 + 0.8*rng.NormFloat64(); rng.Float64() < 0.4 {
			ys[i] = 1.2 + 1.1*rng.NormFloat64()
		}
	}
	known := distuv.Normal{Mu: -1, Sigma: 0.8}
	logJoint := func(share, mu float64) float64 {
		sum := distuv.Beta{Alpha: 2, Beta: 2}.LogProb(share) + distuv.Normal{Sigma: 3}.LogProb(mu)
		other := distuv.Normal{Mu: mu, Sigma: 1.1}
		for _, y := range ys {
			sum += math.Log((1-share)*known.Prob(y) + share*other.Prob(y))
		}
		return sum
	}
	peak := logJoint(0.4, 1.2)
	var moments [5]float64 // of 1, share, share², mu, mu²
	const n = 150
	var x, w, z, v [n]float64
	quad.Legendre{}.FixedLocations(x[:], w[:], 0.05, 0.85)
	quad.Legendre{}.FixedLocations(z[:], v[:], -0.5, 3)
	for i, share := range x {
		for j, mu := range z {
			p := w[i] * v[j] * math.Exp(logJoint(share, mu)-peak)
			for k, f := range []float64{1, share, share * share, mu, mu * mu} {
				moments[k] += p * f
			}
		}
	}
	logEvidence := peak + math.Log(moments[0])

	m := graph.NewModel()
	share := m.Sample("share", graph.Beta(2, 2))
	mu := m.Sample("mu", graph.Normal(0, 3))
	for _, y := range ys {
		m.Observe("y", graph.Mixture([]graph.Expr{graph.Sub(1, share), share}, graph.Normal(-1, 0.8), graph.Normal(mu, 1.1)), y)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	for s := range uint64(3) {
		fit, err := Fit(context.Background(), d, Settings{Seed: *seed + s})
		require.NoError(t, err)
		evidence, err := fit.LogEvidence()
		require.NoError(t, err)
		require.Less(t, evidence.SE, 0.02)
		require.InDelta(t, logEvidence, evidence.Value, 5*evidence.SE)
		for k, name := range []string{"share", "mu"} {
			mean := moments[1+2*k] / moments[0]
			sd := math.Sqrt(moments[2+2*k]/moments[0] - mean*mean)
			got, err := fit.Mean(name)
			require.NoError(t, err)
			gotSD, err := fit.SD(name)
			require.NoError(t, err)
			t.Logf("%s: %v, %v, exactly %.4f ± %.4f; log evidence %v, exactly %.4f", name, got, gotSD, mean, sd, evidence, logEvidence)
			vitest.Estimate(t, name, mean, got, 0.05*sd)
			vitest.Estimate(t, name, sd, gotSD, 0.05*sd)
		}
	}
}

// A censored survival time is replicated as it would be recorded, and its posterior is the
// exact one: exponential times with a gamma prior of the rate.
func TestCensoredTimes(t *testing.T) {
	t.Parallel()
	const end = 4.0
	times := []float64{0.3, 1.2, 4, 2.5, 4, 0.9, 4, 3.1}
	m := graph.NewModel()
	rate := m.Sample("rate", graph.Gamma(2, 3))
	died, lived := 2.0, 3.0
	for _, x := range times {
		m.Observe("time", graph.Censored(graph.Exponential(rate), math.Inf(-1), end), x)
		lived += x
		if x < end {
			died++
		}
	}
	d, err := m.Compile()
	require.NoError(t, err)
	fit, err := Fit(context.Background(), d, Settings{Seed: *seed})
	require.NoError(t, err)
	exact := distuv.Gamma{Alpha: died, Beta: lived}
	mean, err := fit.Mean("rate")
	require.NoError(t, err)
	vitest.Estimate(t, "rate", exact.Mean(), mean, 0.02*exact.StdDev())

	const n = 20000
	replicates, err := fit.Predict(n, *seed)
	require.NoError(t, err)
	rows, err := replicates.Of("time")
	require.NoError(t, err)
	ended := 0.0
	for k := range n {
		for j := range times {
			x := rows.At(k, j)
			require.LessOrEqual(t, x, end)
			if x == end {
				ended++
			}
		}
	}
	want := math.Pow(lived/(lived+end), died) // E[exp(−rate·end)]
	require.InDelta(t, want, ended/float64(n*len(times)), 0.01)
}
