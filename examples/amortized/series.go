// The program, series that are drawn from it, and what the network reads of one.

package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// program is the model, without data.
func program() (*graph.Density, error) {
	m := graph.NewModel()
	change := m.Sample("change", graph.Uniform(0, length))
	before, after := m.Sample("before", graph.Exponential(rate)), m.Sample("after", graph.Exponential(rate))
	for t := range length {
		m.Observe("count", graph.Poisson(graph.If(graph.Less(float64(t)+0.5, change), before, after)), 0)
	}
	return m.Compile()
}

// draw draws latents and a series.
func draw(rng *rand.Rand) (change, before, after float64, counts []float64) {
	change, before, after = length*rng.Float64(), rng.ExpFloat64()/rate, rng.ExpFloat64()/rate
	for t := range length {
		mean := after
		if float64(t)+0.5 < change {
			mean = before
		}
		counts = append(counts, distuv.Poisson{Lambda: mean, Src: rng}.Rand())
	}
	return change, before, after, counts
}

// What a network is given, B × inputs: features, then a guess of θ, and how wrong each number of that may be.
const (
	splits   = length - 1
	peaks    = 4
	guesses  = 2 * peaks
	outputs  = 6 // θ: μ and log s of the change's logit, and of the logarithms of both rates
	features = 2*splits + outputs + 1
	inputs   = features + 2*outputs
)

// read is what a network is given of a series. The guess is a change, with the rates that the counts have then; the network sees
// from there how likely all other changes are in comparison. Guesses 0 to 3 are the highest peaks of the likelihood of the
// change. Guesses 4 to 7 are the same, but the network sees only what is on that peak.
func read(dst, counts []float64, guess int) {
	var sums, ratio [splits]float64
	floats.CumSum(sums[:], counts[:splits])
	total := floats.Sum(counts)
	side := func(sum, n float64) float64 { // the log likelihood of n counts, with half of a degree of freedom
		return sum*logMean(sum, n) - n*math.Exp(logMean(sum, n)) - 0.5*math.Log(sum+1)
	}
	for k, sum := range sums { // the density of the change's logit
		n, m := float64(k+1), float64(splits-k)
		ratio[k] = side(sum, n) + side(total-sum, m) + math.Log(n*m/length)
	}
	best, lo, hi := peak(ratio[:], guess%peaks)
	if guess < peaks {
		lo, hi = 0, splits-1
	}
	all := floats.LogSumExp(ratio[lo : hi+1])
	clear(dst)
	square := 1.0 / 12
	for k := lo; k <= hi; k++ {
		p := math.Exp(ratio[k] - all)
		square += p * float64((k-best)*(k-best))
		if at := k - best + splits/2; at >= 0 && at < splits {
			dst[at], dst[splits+at] = p, math.Exp(0.3*min(3, ratio[k]-ratio[best]))
		}
	}
	n, m := float64(best+1), float64(splits-best)
	before, after := sums[best], total-sums[best]
	s := [3]float64{min(0.5, math.Sqrt(square)*length/(n*m)), 1 / math.Sqrt(before+1), 1 / math.Sqrt(after+1)}
	theta := dst[features:]
	for i, mu := range []float64{math.Log(n / m), logMean(before, n), logMean(after, m)} {
		theta[2*i], theta[2*i+1] = mu, math.Log(s[i])
		theta[outputs+2*i], theta[outputs+2*i+1] = s[i], 1
	}
	copy(dst[2*splits:], theta[:outputs])
	dst[features-1] = 0.1 * min(30, ratio[best]-side(total, length)) // is there a change at all?
}

// peak is where x has its highest peak, or the next highest if n is 1, and so on, and from where to where it falls to both sides.
func peak(x []float64, n int) (top, lo, hi int) {
	var tops []int
	for k := range x {
		if (k == 0 || x[k] > x[k-1]) && (k == len(x)-1 || x[k] >= x[k+1]) {
			tops = append(tops, k)
		}
	}
	slices.SortFunc(tops, func(i, j int) int { return cmp.Compare(x[j], x[i]) })
	top = tops[min(n, len(tops)-1)] // the last one, if there are fewer
	for lo = top; lo > 0 && x[lo-1] <= x[lo]; lo-- {
	}
	for hi = top; hi < len(x)-1 && x[hi+1] <= x[hi]; hi++ {
	}
	return top, lo, hi
}

func logMean(sum, n float64) float64 { return math.Log((sum + 1) / (n + rate)) }
