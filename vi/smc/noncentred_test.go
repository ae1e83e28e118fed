package smc_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/smc"
)

// scaled is a random walk with an unknown step and effects that are not centred.
func scaled(m *graph.Model) {
	step := m.Sample("step", graph.HalfNormal(1))
	x := m.Sample("x0", graph.Normal(0, 1))
	for k := range scaledLength {
		x = m.Sample(fmt.Sprint("x", k+1), graph.Normal(graph.Add(x, 0.1), step))
		m.Observe("y", graph.Normal(x, 1), seen(k))
	}
	tau := m.Sample("tau", graph.HalfNormal(1))
	for k := range scaledLength {
		m.Observe("w", graph.Normal(graph.Mul(tau, m.Sample(fmt.Sprint("e", k), graph.Normal(0, 1))), 1), seen(k))
	}
}

const scaledLength = 40

func seen(k int) float64 { return math.Sin(float64(2*k)) + 2*math.Sin(float64(k)/4) }

// exactly are the means and standard deviations of log step and log tau, by filters and sums over a grid.
func exactly() (mean, sd [2]float64) {
	var logs, ps [2][]float64
	for s := -12.0; s < 3; s += 0.01 {
		step := math.Exp(s)
		logStep, logTau := s-step*step/2, s-step*step/2
		m, v := 0.0, 1.0
		for k := range scaledLength {
			m, v = m+0.1, v+step*step
			r, of := seen(k)-m, v+1
			logStep -= 0.5*math.Log(of) + r*r/of/2
			m, v = m+v/of*r, v/of
			logTau -= 0.5*math.Log(1+step*step) + seen(k)*seen(k)/(1+step*step)/2
		}
		for i, l := range []float64{logStep, logTau} {
			logs[i], ps[i] = append(logs[i], s), append(ps[i], math.Exp(l))
		}
	}
	for i := range mean {
		mean[i] = stat.Mean(logs[i], ps[i])
		sd[i] = stat.PopStdDev(logs[i], ps[i])
	}
	return mean, sd
}

// Trajectories go in coordinates in which widths do not change with scales, and draws are the posterior's (not so where volumes are left out). The step is
// known by half as many effective draws of a gradient again, at least.
func TestNoncentred(t *testing.T) {
	d := density(t, scaled)
	mean, sd := exactly()
	run := func(s smc.Settings) (worst, effective float64) {
		r, err := smc.Run(context.Background(), d, s)
		require.NoError(t, err)
		for i, name := range []string{"step", "tau"} {
			x := values(d, r, name)
			for k := range x {
				x[k] = math.Log(x[k])
			}
			for _, f := range []func(float64) float64{
				func(x float64) float64 { return (x - mean[i]) / sd[i] },
				func(x float64) float64 { return (x-mean[i])*(x-mean[i])/(sd[i]*sd[i]) - 1 },
			} {
				sums := make([]float64, r.Chains)
				for k := range x {
					sums[k%r.Chains] += f(x[k]) * float64(r.Chains) / float64(len(x))
				}
				m, v := stat.MeanVariance(sums, nil)
				z := m / math.Sqrt(v/float64(len(sums)))
				t.Logf("%s: %.4f, z = %.1f", name, m, z)
				worst = max(worst, math.Abs(z))
			}
		}
		return worst, r.Effective / float64(r.Gradients)
	}
	s := smc.Settings{Seed: 1, Effective: 20_000}
	worst, effective := run(s)
	require.Less(t, worst, 4.0)
	without, before := run(s.AsWritten())
	require.Less(t, without, 4.0)
	t.Logf("effective draws of a gradient: %.4f, %.4f in the program's coordinates", effective, before)
	require.Greater(t, effective, 1.5*before)
}

// Coordinates have an inverse, and gradients in them are those by differences.
func TestNoncentredGradients(t *testing.T) {
	d := density(t, scaled)
	inverse, gradient, err := smc.NoncentringErrors(d)
	require.NoError(t, err)
	require.Less(t, inverse, 1e-12)
	require.Less(t, gradient, 1e-6)
}
