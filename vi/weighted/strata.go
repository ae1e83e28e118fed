package weighted

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/mixture"
)

// enoughDraws is how many draws of a stratum are enough for a control variate and a variance of its own.
const enoughDraws = 30

// strata divide the draws.
type strata struct {
	list  []stratum
	few   []int // the draws of those with too few
	cubes int   // of all
}

// A stratum is draws first to end − 1, all of one part of the proposal, which has a weight.
type stratum struct {
	weight           float64
	part, first, end int
	meanRatio        float64
	cubes            []int   // ends of groups of draws whose sums are independent of each other
	meanW, ww        float64 // mean and variance of n·w, of n draws in all
}

func (t stratum) len() int { return t.end - t.first }

// whole is one stratum of n draws.
func whole(n int) strata { return strata{list: []stratum{{weight: 1, end: n}}} }

// stratify gives the parts of a mixture their draws, one part after the other: n·π of n, rounded up or down at random. It
// returns the part of each draw, too.
func stratify(m *mixture.Mixture, n int, seed uint64) (s strata, part []int) {
	u, k, sum := parallel.NewRand(parallel.Mix(seed, uint64(n))).Float64(), 0, m.Weight(0)
	part = make([]int, n)
	for j := range part {
		for k < m.Len()-1 && (float64(j)+u)/float64(n) >= sum {
			k++
			sum += m.Weight(k)
		}
		if j == 0 || part[j-1] != k {
			s.list = append(s.list, stratum{weight: m.Weight(k), part: k, first: j, end: j})
		}
		part[j] = k
		s.list[len(s.list)-1].end++
	}
	return s, part
}

// findFew lists the draws of strata that have too few.
func (s *strata) findFew() {
	for _, t := range s.list {
		for k := t.first; k < t.end && t.len() < enoughDraws; k++ {
			s.few = append(s.few, k)
		}
	}
}

// group lists the hypercubes of all strata, by blocks of draws.
func (s *strata) group(part []int, cut parallel.Blocks) {
	at, j := 0, 0
	for b := range cut.Len() {
		width, sizes := cut.Width(b), []int(nil)
		if part != nil {
			sizes = mixture.Hypercubes(part[at:][:width])
		} else {
			sizes = slices.Repeat([]int{1}, width)
		}
		for _, size := range sizes {
			if at += size; at > s.list[j].end {
				j++
			}
			s.list[j].cubes = append(s.list[j].cubes, at)
			s.cubes++
		}
	}
}

// share undoes that numbers of draws are whole: the weights of a stratum that has enough draws, given by their logarithms, are as if it
// had n·π. Those of small strata, rounded at random, are right on average.
func (s *strata) share(logWeights, ratios []float64) {
	for _, t := range s.list {
		if t.len() >= enoughDraws {
			by := t.weight * float64(len(logWeights)) / float64(t.len())
			floats.AddConst(math.Log(by), logWeights[t.first:t.end])
			if ratios != nil {
				floats.Scale(by, ratios[t.first:t.end])
			}
		}
	}
}

// spread finds the means and variances of the strata's weights.
func (s *strata) spread(weights, ratios []float64) {
	n := float64(len(weights))
	for j := range s.list {
		t := &s.list[j]
		own := weights[t.first:t.end]
		t.meanW, t.ww = floats.Sum(own)/float64(t.len())*n, 0
		for _, w := range own {
			t.ww += (n*w - t.meanW) * (n*w - t.meanW)
		}
		t.ww /= float64(t.len() - 1)
		if ratios != nil {
			t.meanRatio = floats.Sum(ratios[t.first:t.end]) / float64(t.len())
		}
	}
}
