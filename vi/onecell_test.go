package vi

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/models"
)

// switchedTextMsg is log r of textmsg with its switch z summed out,
//
//	log Σ_j P_j Π_i Poisson(n_i; e^x0 if interval j is above day i's threshold, else e^x1) + log prior(x0, x1),
//
// as a function of x0 and x1.
func switchedTextMsg() func(x0, x1 float64) float64 {
	days, counts := models.TextMsgData()
	thresholds := make([]float64, len(days))
	for i, day := range days {
		thresholds[i] = models.TextMsgThreshold(day)
	}
	ends := append(append([]float64{math.Inf(-1)}, slices.Sorted(slices.Values(thresholds))...), math.Inf(1))
	var mass, before, after, constant []float64 // by interval: log P_j, and Σn and how many days with each rate
	for j := range len(ends) - 1 {
		p := distuv.UnitNormal.CDF(ends[j+1]) - distuv.UnitNormal.CDF(ends[j])
		n0, n1, c := 0.0, 0.0, 0.0
		for i, n := range counts {
			if ends[j] >= thresholds[i] {
				n0, c = n0+n, c+1
			} else {
				n1 += n
			}
		}
		mass, before, after, constant = append(mass, math.Log(p)), append(before, n0), append(after, n1), append(constant, c)
	}
	factorials := 0.0
	for _, n := range counts {
		l, _ := math.Lgamma(n + 1)
		factorials += l
	}
	prior := distuv.Normal{Mu: math.Log(models.TextMsgMean()) - math.Ln2/2, Sigma: math.Sqrt(math.Ln2)}
	logs, all := make([]float64, len(mass)), float64(len(counts))
	return func(x0, x1 float64) float64 {
		for j := range logs {
			logs[j] = mass[j] + before[j]*x0 - constant[j]*math.Exp(x0) + after[j]*x1 - (all-constant[j])*math.Exp(x1)
		}
		return floats.LogSumExp(logs) - factorials + prior.LogProb(x0) + prior.LogProb(x1)
	}
}

// bestNormal is the highest ELBO of a normal of two latents for log r, by Gauss–Hermite
// quadrature.
func bestNormal(t testing.TB, logR func(x, y float64) float64, start []float64) float64 {
	const n = 30
	nodes, weights := make([]float64, n), make([]float64, n)
	quad.Hermite{}.FixedLocations(nodes, weights, math.Inf(-1), math.Inf(1))
	elbo := func(p []float64) float64 { // means, log scales, slope of y by x's ε
		sum := math.Log(2*math.Pi) + 1 + p[2] + p[3]
		for i, a := range nodes {
			for j, b := range nodes {
				e, f := math.Sqrt2*a, math.Sqrt2*b
				sum += weights[i] * weights[j] / math.Pi * logR(p[0]+math.Exp(p[2])*e, p[1]+math.Exp(p[3])*f+p[4]*e)
			}
		}
		return sum
	}
	r, err := optimize.Minimize(optimize.Problem{Func: func(p []float64) float64 { return -elbo(p) }}, start,
		&optimize.Settings{Converger: &optimize.FunctionConverge{Absolute: 1e-9, Iterations: 100}}, &optimize.NelderMead{SimplexSize: 0.05})
	require.NoError(t, err)
	return -r.F
}

// Textmsg by one component whose switch is summed out exactly is above independent factors
// (−292.0809 at best, by coordinate ascent on a grid), and near the best that a normal of the
// two rates can do, which is by quadrature.
func TestOneComponent(t *testing.T) {
	const independent = -292.0809
	spec, d := paperSpec(t, "textmsg")
	exact := spec.Exact().LogEvidence
	logR := switchedTextMsg()
	const h = 0.02
	sum := 0.0
	for i := range 450 {
		for j := range 450 {
			sum += math.Exp(logR(h*float64(i)-2, h*float64(j)-2) - exact)
		}
	}
	require.InDelta(t, 1, sum*h*h, 1e-6, "the integral of r")
	best := bestNormal(t, logR, []float64{3.22, 2.94, math.Log(0.09), math.Log(0.06), 0})
	t.Logf("the best normal: %.5f", best)
	require.Greater(t, best, independent)
	require.Less(t, best, exact)
	p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Cells{Most: 1}})
	require.NoError(t, err)
	require.Len(t, p.Cells(), 1)
	elbo, err := p.ELBO(100000, 1)
	require.NoError(t, err)
	t.Log(elbo, p.Cells()[0])
	require.Less(t, elbo.SE, 0.001)
	require.GreaterOrEqual(t, elbo.Value, independent-4*elbo.SE)
	require.GreaterOrEqual(t, elbo.Value, best-0.01-4*elbo.SE)
	require.LessOrEqual(t, elbo.Value, exact+4*elbo.SE)
}
