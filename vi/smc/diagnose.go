package smc

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/mc"
	"gonum.org/v1/gonum/stat"
)

// mostDiagnosed is from how many draws diagnostics are computed: every so many moves.
const mostDiagnosed = 1 << 12

// Diagnose computes the diagnostics that depend on the draws alone.
func (r *Result) Diagnose(arr *regions.Arrangement) {
	moves := len(r.Z) / r.Chains
	stride := max(1, moves*r.Chains/mostDiagnosed)
	part := Result{Chains: r.Chains}
	for k := stride - 1; k < moves; k += stride {
		part.Z = append(part.Z, r.Z[k*r.Chains:][:r.Chains]...)
	}
	n := len(part.Z)
	x, sorted := make([]float64, n), make([]float64, n)
	r.RHat, r.Bulk, r.Tail = nil, nil, nil
	for i := range part.Z[0] {
		for k, z := range part.Z {
			x[k] = z[i]
		}
		copy(sorted, x)
		slices.Sort(sorted)
		tail := math.Inf(1)
		for _, p := range []float64{0.05, 0.95} {
			below := make([]float64, n)
			q := sorted[int(p*float64(n-1))]
			for k, v := range x {
				if v <= q {
					below[k] = 1
				}
			}
			tail = math.Min(tail, part.effective(below))
		}
		rank, folded := part.ranks(x), slices.Clone(x)
		for k := range folded {
			folded[k] = math.Abs(folded[k] - sorted[n/2])
		}
		islands := len(r.Islands)
		r.RHat = append(r.RHat, max(part.rhat(rank, islands), part.rhat(part.ranks(folded), islands)))
		r.Bulk, r.Tail = append(r.Bulk, part.effective(rank)), append(r.Tail, tail)
	}
	sides := make([][]float64, arr.Len())
	for l := range sides {
		sides[l] = make([]float64, n)
	}
	for k, z := range part.Z {
		signs := arr.Signs(z)
		for l := range sides {
			if signs.Positive(l) {
				sides[l][k] = 1
			}
		}
	}
	r.Guards = nil
	for l := range sides {
		r.Guards = append(r.Guards, part.effective(sides[l]))
	}
}

// Mean is the mean of values, one for each of Z, with its Monte Carlo error: that of the means of
// particles, each of which is a chain.
func (r *Result) Mean(values []float64) mc.Estimate {
	n := r.Chains
	var m mc.Moments
	for k := range n {
		sum, count := 0.0, 0
		for i := k; i < len(values); i += n {
			sum += values[i]
			count++
		}
		m.Add(sum / float64(count))
	}
	return m.Estimate()
}

// effective is how many independent values would have the mean's error.
func (r *Result) effective(values []float64) float64 {
	_, variance := stat.PopMeanVariance(values, nil)
	if se := r.Mean(values).SE; variance > 0 {
		return variance / (se * se)
	}
	return math.NaN()
}

// ranks are the normal scores of the ranks of x; equal numbers have the mean of their ranks.
func (r *Result) ranks(x []float64) []float64 {
	at := make([]int, len(x))
	for k := range at {
		at[k] = k
	}
	slices.SortFunc(at, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return 0
	})
	scores, n := make([]float64, len(x)), float64(len(x))
	for from := 0; from < len(at); {
		to := from + 1
		for to < len(at) && x[at[to]] == x[at[from]] {
			to++
		}
		score := truncnorm.Quantile((float64(from+to+1)/2-0.375)/(n+0.25), math.Inf(-1), math.Inf(1))
		for ; from < to; from++ {
			scores[at[from]] = score
		}
	}
	return scores
}

// rhat is the potential scale reduction of the halves of islands.
func (r *Result) rhat(x []float64, islands int) float64 {
	groups := make([]mc.Moments, 2*islands)
	per := r.Chains / islands
	for k, v := range x {
		half := 0
		if 2*(k/r.Chains+1) > len(x)/r.Chains {
			half = 1
		}
		groups[2*(k%r.Chains/per)+half].Add(v)
	}
	var means, within mc.Moments
	n := math.Inf(1)
	for _, g := range groups {
		if g.N < 2 {
			continue
		}
		means.Add(g.Mean)
		within.Add(g.Variance())
		n = min(n, float64(g.N))
	}
	if !(within.Mean > 0) || means.N < 2 {
		return 1
	}
	return math.Sqrt((n-1)/n + means.Variance()/within.Mean)
}
