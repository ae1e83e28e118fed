package check

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/vi/draws"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// Importance is a fit judged by importance sampling: draws of the fit weighted
// by posterior over fit, r/q, after Pareto smoothing.
type Importance struct {
	// K is the k-hat of the weights; see ParetoSmooth, KThreshold and Verdict.
	K float64
	// ESS is the effective number of draws, of len(Weights).
	ESS float64
	// ELBO is the mean log ratio, from the same draws, and LogEvidence the log
	// mean ratio: log p(data), if the model has no Factor and log r therefore is
	// the joint log density of latents and data; else the log normaliser of r. It
	// is at least the ELBO, by the divergence KL(q‖posterior). Both in nats. The error of
	// the log evidence is what its standard error says up to a K of 0.5; of weights with a
	// Pareto tail its root mean square was 1.2 times as large at 0.6 and 1.4 times at 0.69.
	ELBO, LogEvidence mc.Estimate
	// Latents are the fit's and the reweighted moments, in the model's order.
	Latents []Reweighted
	// Draws are the draws of the fit, on the program's own scale, and Weights
	// their smoothed weights, which sum to 1.
	Draws   draws.Draws
	Weights []float64
}

// Reweighted is a latent's mean and standard deviation, on the program's own
// scale: in the fit, and by importance weights in the posterior. SDSE is the standard error
// of SD.
type Reweighted struct {
	Name           string
	FitMean, FitSD float64
	Mean           mc.Estimate
	SD, SDSE       float64
}

// Weigh weighs draws of q by importance; the seed fixes them, and they are the
// ones of ELBO. It returns an error if there are fewer than 21 samples, the least
// for a k-hat, or if log r is NaN or +Inf at one of them. Moments are q's own
// means and standard deviations, on the program's scale, by latent.
func Weigh(d *graph.Density, q family.Q, samples int, seed uint64, moments func(i int) (mean, sd float64)) (Importance, error) {
	if tailLength(max(0, samples)) < minTail {
		return Importance{}, fmt.Errorf("check: %d samples; a k-hat needs 21", samples)
	}
	if err := family.Check(q, d); err != nil {
		return Importance{}, fmt.Errorf("check: %w", err)
	}
	if err := memory.Check(fmt.Sprintf("%d samples", samples), float64(samples)*(160+16*float64(d.Dim()))); err != nil {
		return Importance{}, fmt.Errorf("check: %w", err)
	}
	z := make([][]float64, samples)
	ratios, err := logRatios(d, q, samples, seed, z)
	if err != nil {
		return Importance{}, err
	}
	smoothed, err := ParetoSmooth(ratios)
	if err != nil {
		return Importance{}, err
	}
	imp := Importance{K: smoothed.K, ESS: smoothed.ESS, Draws: draws.At(d, q, z), ELBO: mc.Mean(ratios)}
	imp.LogEvidence, imp.Weights = normalise(smoothed.LogWeights)
	for i, name := range imp.Draws.Names {
		r := Reweighted{Name: name}
		r.FitMean, r.FitSD = moments(i)
		r.Mean, r.SD, r.SDSE = imp.moments(func(x []float64) float64 { return x[i] })
		imp.Latents = append(imp.Latents, r)
	}
	return imp, nil
}

// logRatios is log r − log q at samples of q, whose z are written to points.
func logRatios(d *graph.Density, q family.Q, samples int, seed uint64, points [][]float64) ([]float64, error) {
	m, err := newMeter(d, q, samples, seed, allProcessors)
	if err != nil {
		return nil, err
	}
	err = m.draw(q, func(first int, x *graph.Executor, _ *rand.Rand) {
		for k := range x.N {
			points[first+k] = x.Point(k)
		}
	})
	if err == nil {
		err = checkLogs(d, q, m.logR)
	}
	return m.ratio, err
}

// normalise returns the log of the mean weight, with its standard error by the
// delta method, and the weights divided by their sum.
func normalise(logWeights []float64) (logMean mc.Estimate, weights []float64) {
	n := float64(len(logWeights))
	sum := floats.LogSumExp(logWeights)
	weights = make([]float64, len(logWeights))
	variance := 0.0
	for i, x := range logWeights {
		weights[i] = math.Exp(x - sum)
		r := n*weights[i] - 1
		variance += r * r / (n - 1)
	}
	return mc.Estimate{Value: sum - math.Log(n), SE: math.Sqrt(variance / n)}, weights
}

// Expect estimates the posterior expectation of f, a function of the latents'
// values in the model's order. f must not keep or change its argument.
func (imp Importance) Expect(f func(x []float64) float64) mc.Estimate {
	mean, _, _ := imp.moments(f)
	return mean
}

// moments are the mean and the standard deviation of f, and the standard error of that by the
// delta method.
func (imp Importance) moments(f func(x []float64) float64) (mean mc.Estimate, sd, sdSE float64) {
	values := make([]float64, len(imp.Weights))
	for k, x := range imp.Draws.Values {
		values[k] = f(x)
		mean.Value += imp.Weights[k] * values[k]
	}
	variance := 0.0
	for k, w := range imp.Weights {
		e := values[k] - mean.Value
		variance += w * e * e
		mean.SE += w * w * e * e
	}
	for k, w := range imp.Weights {
		e := values[k] - mean.Value
		off := w * (e*e - variance)
		sdSE += off * off
	}
	mean.SE = math.Sqrt(mean.SE)
	if sd = math.Sqrt(variance); sd > 0 {
		sdSE = math.Sqrt(sdSE) / (2 * sd)
	}
	return mean, sd, sdSE
}

// Reliable reports whether K is below 0.7 and KThreshold, so that the
// reweighted numbers and their standard errors can be trusted.
func (imp Importance) Reliable() bool { return imp.K < KThreshold(len(imp.Weights)) }

// Verdict says in plain words what K means.
func (imp Importance) Verdict() string {
	n := len(imp.Weights)
	switch k := imp.K; {
	case imp.Reliable() && k < 0.5:
		return "good: trust the reweighted numbers"
	case imp.Reliable():
		return "ok: trust the reweighted numbers, though they converge slowly"
	case math.IsInf(k, 1):
		return "do not trust: no Pareto distribution fits the largest weights (too few, or tied)"
	case k < 0.7:
		return fmt.Sprintf("do not trust: this k-hat needs more than %.0f draws, %d were taken", math.Pow(10, 1/(1-k)), n)
	case k < 1:
		return "do not trust: the fit is too far from the posterior to be reweighted"
	}
	return "do not trust: the fit misses so much of the posterior that the weights have no finite mean"
}

// String is the judgement and a table of the latents.
func (imp Importance) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "k-hat            %.2f  %s\n", imp.K, imp.Verdict())
	fmt.Fprintf(&b, "effective draws  %.0f of %d\n", imp.ESS, len(imp.Weights))
	fmt.Fprintf(&b, "ELBO             %.3f ± %.2g\n", imp.ELBO.Value, imp.ELBO.SE)
	fmt.Fprintf(&b, "log evidence     %.3f ± %.2g\n\n", imp.LogEvidence.Value, imp.LogEvidence.SE)
	rows := [][]string{{"latent", "fit mean", "sd", "reweighted mean", "± se", "sd"}}
	for _, l := range imp.Latents {
		rows = append(rows, []string{l.Name, text.Short(l.FitMean), text.Short(l.FitSD), text.Short(l.Mean.Value), text.Short(l.Mean.SE), text.Short(l.SD)})
	}
	b.WriteString(text.Table(rows, 1))
	return b.String()
}
