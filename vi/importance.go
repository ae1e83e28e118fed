package vi

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
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
	// is at least the ELBO, by the divergence KL(q‖posterior). Both in nats.
	ELBO, LogEvidence Estimate
	// Latents are the fit's and the reweighted moments, in the model's order.
	Latents []Reweighted
	// Draws are the draws of the fit, on the program's own scale, and Weights
	// their smoothed weights, which sum to 1.
	Draws   Draws
	Weights []float64
}

// Reweighted is a latent's mean and standard deviation, on the program's own
// scale: in the fit, and by importance weights in the posterior.
type Reweighted struct {
	Name           string
	FitMean, FitSD float64
	Mean           Estimate
	SD             float64
}

// Importance weighs draws of the fit by importance; the seed fixes them, and
// they are the ones of ELBO. It returns an error if there are fewer than 21
// samples, the least for a k-hat, or if log r is NaN or +Inf at one of them.
func (p *Posterior) Importance(samples int, seed uint64) (Importance, error) {
	d, q := p.Density, p.Q
	if err := q.check(d); err != nil {
		return Importance{}, err
	}
	if tailLength(max(0, samples)) < minTail {
		return Importance{}, fmt.Errorf("vi: %d samples; a k-hat needs 21", samples)
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
	imp := Importance{K: smoothed.K, ESS: smoothed.ESS, Draws: p.drawsAt(z), ELBO: estimate(ratios)}
	imp.LogEvidence, imp.Weights = normalise(smoothed.LogWeights)
	for i, name := range imp.Draws.Names {
		r := Reweighted{Name: name}
		r.FitMean, r.FitSD = p.meanSD(i)
		r.Mean, r.SD = imp.moments(func(x []float64) float64 { return x[i] })
		imp.Latents = append(imp.Latents, r)
	}
	return imp, nil
}

// logRatios is log r − log q at samples of q, whose z are written to points.
func logRatios(d *graph.Density, q MeanField, samples int, seed uint64, points [][]float64) ([]float64, error) {
	s, entropy := q.Scale(nil), q.Entropy()
	logQ := make([]float64, samples)
	ratios, err := evaluate(d, samples, seed, func(first int, x *graph.Executor, rng *rand.Rand) {
		eps := make([]float64, d.Dim()*x.N)
		draw(d, x, eps, q.Mu, s, rng)
		for k := range x.N {
			points[first+k] = make([]float64, d.Dim())
			sum := -entropy // log q = Σ(1 − ε²)/2 − entropy
			for i := range s {
				e := eps[i*x.N+k]
				sum += 0.5 * (1 - e*e)
				points[first+k][i] = x.Z[i*x.N+k]
			}
			logQ[first+k] = sum
		}
	})
	if err == nil {
		err = checkLogs(d, q, ratios)
	}
	floats.Sub(ratios, logQ)
	return ratios, err
}

// normalise returns the log of the mean weight, with its standard error by the
// delta method, and the weights divided by their sum.
func normalise(logWeights []float64) (logMean Estimate, weights []float64) {
	n := float64(len(logWeights))
	sum := floats.LogSumExp(logWeights)
	weights = make([]float64, len(logWeights))
	variance := 0.0
	for i, x := range logWeights {
		weights[i] = math.Exp(x - sum)
		r := n*weights[i] - 1
		variance += r * r / (n - 1)
	}
	return Estimate{sum - math.Log(n), math.Sqrt(variance / n)}, weights
}

// Expect estimates the posterior expectation of f, a function of the latents'
// values in the model's order. f must not keep or change its argument.
func (imp Importance) Expect(f func(x []float64) float64) Estimate {
	mean, _ := imp.moments(f)
	return mean
}

func (imp Importance) moments(f func(x []float64) float64) (mean Estimate, sd float64) {
	values := make([]float64, len(imp.Weights))
	for k, x := range imp.Draws.Values {
		values[k] = f(x)
		mean.Mean += imp.Weights[k] * values[k]
	}
	for k, w := range imp.Weights {
		e := values[k] - mean.Mean
		sd += w * e * e
		mean.SE += w * w * e * e
	}
	mean.SE = math.Sqrt(mean.SE)
	return mean, math.Sqrt(sd)
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
	fmt.Fprintf(&b, "ELBO             %.3f ± %.2g\n", imp.ELBO.Mean, imp.ELBO.SE)
	fmt.Fprintf(&b, "log evidence     %.3f ± %.2g\n\n", imp.LogEvidence.Mean, imp.LogEvidence.SE)
	rows := [][]string{{"latent", "fit mean", "sd", "reweighted mean", "± se", "sd"}}
	for _, l := range imp.Latents {
		rows = append(rows, []string{l.Name, short(l.FitMean), short(l.FitSD), short(l.Mean.Mean), short(l.Mean.SE), short(l.SD)})
	}
	b.WriteString(table(rows, 1))
	return b.String()
}
