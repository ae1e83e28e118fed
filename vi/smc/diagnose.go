package smc

import (
	"cmp"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/mc"
	"gonum.org/v1/gonum/stat"
)

// A placed is the value of draw k.
type placed struct {
	x float64
	k int
}

// fold appends the distances from the median of sorted to dst, ascending.
func fold(dst, sorted []placed) []placed {
	above := len(sorted) / 2
	below, median := above-1, sorted[above].x
	for below >= 0 || above < len(sorted) {
		if above == len(sorted) || below >= 0 && median-sorted[below].x < sorted[above].x-median {
			dst = append(dst, placed{median - sorted[below].x, sorted[below].k})
			below--
		} else {
			dst = append(dst, placed{sorted[above].x - median, sorted[above].k})
			above++
		}
	}
	return dst
}

// normalScore is that of a rank of n.
func normalScore(rank float64, n int) float64 {
	return truncnorm.Quantile((rank-0.375)/(float64(n)+0.25), math.Inf(-1), math.Inf(1))
}

// mostDiagnosed is from how many draws diagnostics are computed: every so many moves.
const mostDiagnosed = 1 << 12

// Thin is the result with the draws that diagnostics are of.
func (r *Result) Thin() Result {
	moves, part := (len(r.Z)-r.Proposed)/max(1, r.Chains), *r
	stride := max(1, moves*r.Chains/mostDiagnosed)
	part.Z, part.Island, part.Weights, part.Proposed = nil, nil, nil, 0
	for k := stride - 1; k < moves; k += stride {
		part.Z = append(part.Z, r.Z[k*r.Chains:][:r.Chains]...)
	}
	return part
}

// Diagnose computes the diagnostics that depend on the draws alone.
func (r *Result) Diagnose(arr *regions.Arrangement) {
	part := r.Thin()
	n, islands := len(part.Z), len(r.Islands)
	if n == 0 {
		return // there are no draws
	}
	sorted, folded, below, rank, scores := make([]placed, n), make([]placed, 0, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for k := range scores {
		scores[k] = normalScore(float64(k+1), n)
	}
	r.RHat, r.Bulk, r.Tail = nil, nil, nil
	for i := range part.Z[0] {
		for k, z := range part.Z {
			sorted[k] = placed{z[i], k}
		}
		slices.SortFunc(sorted, func(a, b placed) int { return cmp.Compare(a.x, b.x) })
		tail := math.Inf(1)
		for _, p := range []float64{0.05, 0.95} {
			q := sorted[int(p*float64(n-1))].x
			for _, v := range sorted {
				if below[v.k] = 0; v.x <= q {
					below[v.k] = 1
				}
			}
			tail = math.Min(tail, part.effective(below))
		}
		setRanks(rank, sorted, scores)
		rhat := part.rhat(rank, islands)
		r.Bulk, r.Tail = append(r.Bulk, part.effective(rank)), append(r.Tail, tail)
		folded = fold(folded[:0], sorted)
		setRanks(rank, folded, scores)
		r.RHat = append(r.RHat, max(rhat, part.rhat(rank, islands)))
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

// setRanks sets the normal scores of the ranks of values, of which scores are those of all ranks; equal numbers have the mean of their ranks.
func setRanks(dst []float64, sorted []placed, scores []float64) {
	for from := 0; from < len(sorted); {
		to, score := from+1, scores[from]
		for to < len(sorted) && sorted[to].x == sorted[from].x {
			to++
		}
		if to > from+1 {
			score = normalScore(float64(from+to+1)/2, len(sorted))
		}
		for ; from < to; from++ {
			dst[sorted[from].k] = score
		}
	}
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
