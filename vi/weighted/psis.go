package weighted

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Smoothed are importance weights after Pareto smoothing.
type Smoothed struct {
	// LogWeights are the logarithms of the smoothed weights, not normalised, in
	// the order of the ratios.
	LogWeights []float64
	// K is k-hat, the estimated shape of the weights' upper tail: moments of the weights below the 1/K-th are
	// finite. See ParetoSmooth for ±Inf.
	K float64
	// ESS is the effective sample size 1/Σw² of the normalised smoothed weights.
	ESS float64
	// Tail is the number of weights that were taken as the tail.
	Tail int
}

// minTail is the smallest tail that a Pareto distribution is fitted to.
const minTail = 5

// sameWeight is the spread of log weights that is taken for rounding.
const sameWeight = 1e-9

// ParetoSmooth replaces the largest importance weights by the expected order
// statistics of a generalised Pareto distribution fitted to them, and caps them
// at the largest ratio: PSIS of Vehtari, Simpson, Gelman, Yao and Gabry (JMLR
// 25, 2024). The tail is the ⌈min(S/5, 3√S)⌉ largest of S weights. It computes
// what psis() of R's package loo does.
//
// K is +Inf if no Pareto distribution fits, as in loo: the tail has fewer than 5
// weights, or more than a quarter of it is tied with the largest weight below
// it. Unlike in loo, where that is +Inf as well, K is −Inf if all weights of the
// tail are equal: such weights are bounded. Then nothing is smoothed.
//
// Log ratios of −Inf are weights of zero. NaN, +Inf and a list without any
// positive weight are errors.
func ParetoSmooth(logRatios []float64) (Smoothed, error) {
	top := math.Inf(-1)
	for i, x := range logRatios {
		if math.IsNaN(x) || math.IsInf(x, 1) {
			return Smoothed{}, fmt.Errorf("weighted: log importance ratio %d is %v", i, x)
		}
		top = max(top, x)
	}
	if math.IsInf(top, -1) {
		return Smoothed{}, fmt.Errorf("weighted: none of %d importance ratios is positive", len(logRatios))
	}
	s := Smoothed{LogWeights: make([]float64, len(logRatios)), K: math.Inf(1), Tail: tailLength(len(logRatios))}
	for i, x := range logRatios {
		s.LogWeights[i] = x - top
	}
	if s.Tail >= minTail {
		s.K = smoothTail(s.LogWeights, s.Tail)
	}
	sum, squares := 0.0, 0.0
	for i, x := range s.LogWeights {
		w := math.Exp(x)
		sum += w
		squares += w * w
		s.LogWeights[i] = x + top
	}
	s.ESS = sum * sum / squares
	return s, nil
}

func tailLength(n int) int {
	return int(math.Ceil(min(0.2*float64(n), 3*math.Sqrt(float64(n)))))
}

// smoothTail smooths the n largest of logs, whose maximum is 0, and returns k.
func smoothTail(logs []float64, n int) float64 {
	same := 0 // as the largest
	for _, x := range logs {
		if -x <= sameWeight {
			same++
		}
	}
	if same >= n {
		return math.Inf(-1)
	}
	order := largest(logs, n+1)
	tail := order[1:]
	cutoff := math.Exp(logs[order[0]])
	excess := make([]float64, n)
	for i, at := range tail {
		excess[i] = math.Exp(logs[at]) - cutoff
	}
	k, sigma := fitPareto(excess)
	if math.IsInf(k, 0) {
		return k
	}
	for i, at := range tail {
		p := (float64(i) + 0.5) / float64(n)
		logs[at] = min(0, math.Log(paretoQuantile(p, k, sigma)+cutoff))
	}
	return k
}

// largest lists where the n largest of x are, ascending; of equal ones those that come last.
func largest(x []float64, n int) []int {
	type number struct {
		x  float64
		at int
	}
	list, least := make([]number, 0, 2*n), math.Inf(-1)
	keep := func() {
		slices.SortFunc(list, func(a, b number) int {
			if a.x == b.x {
				return a.at - b.at
			}
			return cmp.Compare(a.x, b.x)
		})
		list = append(list[:0], list[len(list)-n:]...)
		least = list[0].x
	}
	for i, v := range x {
		if v < least {
			continue
		}
		if list = append(list, number{v, i}); len(list) == 2*n {
			keep()
		}
	}
	keep()
	at := make([]int, n)
	for k, v := range list {
		at[k] = v.at
	}
	return at
}

// paretoQuantile is the quantile of the generalised Pareto distribution.
func paretoQuantile(p, k, sigma float64) float64 {
	if k == 0 {
		return -sigma * math.Log1p(-p)
	}
	return sigma * math.Expm1(-k*math.Log1p(-p)) / k
}

// fitPareto estimates shape and scale of a generalised Pareto distribution from
// x, ascending and not negative, by the quasi-Bayesian method of Zhang and
// Stephens (Technometrics 51, 2009). The shape has the weak prior of Vehtari et
// al.: as much as ten observations of 0.5. It is +Inf if nothing fits.
func fitPareto(x []float64) (k, sigma float64) {
	const prior = 3
	n := float64(len(x))
	grid := 30 + math.Floor(math.Sqrt(n))
	quartile, largest := x[int(n/4+0.5)-1], x[len(x)-1]
	var theta, logPosterior []float64
	top := math.Inf(-1)
	for j := 0.5; j < grid; j++ {
		t := 1/largest + (1-math.Sqrt(grid/j))/prior/quartile
		shape := meanLog1p(-t, x)
		theta = append(theta, t)
		logPosterior = append(logPosterior, n*(math.Log(-t/shape)-shape-1))
		top = math.Max(top, logPosterior[len(logPosterior)-1])
	}
	best, sum := 0.0, 0.0
	for j, t := range theta {
		w := math.Exp(logPosterior[j] - top)
		best += w * t
		sum += w
	}
	best /= sum
	k = meanLog1p(-best, x)
	sigma = -k / best
	if math.IsNaN(k) {
		return math.Inf(1), sigma
	}
	return (k*n + 10*0.5) / (n + 10), sigma
}

// meanLog1p is the mean of log(1 + a·x).
func meanLog1p(a float64, x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Log1p(a * v)
	}
	return sum / float64(len(x))
}

// Heavy is how many times the mean a weight is that makes k-hat count.
const Heavy = 100.

// KThreshold is the largest k-hat with which n weights can be trusted,
// min(1 − 1/log₁₀ n, 0.7) of Vehtari et al. (2024): above it importance
// estimates have errors that their standard errors do not show.
func KThreshold(n int) float64 { return math.Min(1-1/math.Log10(float64(n)), 0.7) }
