package weighted

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
)

// Chains are draws of Markov chains: what package smc returns. There may be independent draws of other distributions, too, divided among the chains.
type Chains struct {
	// Z are the draws in unconstrained coordinates; draw k is of chain k mod N.
	Z [][]float64
	// To, if not nil, brings copies of draws from other coordinates to those of the density.
	To      func(draws [][]float64)
	Weights []float64 // nil if all have the same
	N       int
	// Groups is how many groups of chains there are that have nothing in common, each of N/Groups chains
	// side by side.
	Groups int
	// Effective is how many independent draws would have the error of the mean that is known the least.
	Effective   float64
	LogEvidence mc.Estimate
	// Before, if not nil, is a sample of the first of the draws, which is not to be used any more: what is known of these is not computed again.
	Before *Sample
}

// OfChains is the sample that chains are. q is a distribution near the posterior, of which nothing else is known; if it is nil, a normal with the
// means and standard deviations of the draws. Standard errors are those of the means of chains, or of groups of chains where these differ by more
// than their chains say.
func OfChains(d *graph.Density, q family.Q, c Chains) *Sample {
	n, dim := len(c.Z), d.Dim()
	s := &Sample{
		density: d, q: q, chains: c.N, groups: c.Groups, Weights: make([]float64, n), columns: make([][]float64, dim),
		K: math.Inf(-1), ESS: c.Effective, LogEvidence: c.LogEvidence, strata: whole(n),
		vectors: &vectors{},
	}
	first := s.grow(c.Before, dim)
	c.fill(s.Z, n, first)
	if c.Before != nil {
		s.vectors.before = c.Before.vectors.values
		for i, known := range c.Before.columns {
			if known != nil {
				s.columns[i] = s.values(i, known)
			}
		}
	}
	for k := range s.Weights {
		s.Weights[k] = 1 / float64(n)
	}
	if c.Weights != nil {
		floats.ScaleTo(s.Weights, 1/floats.Sum(c.Weights), c.Weights)
	}
	if q == nil {
		s.q = s.normal(c.Weights)
	}
	return s
}

// moreRoom is by how much more memory is taken than numbers need that may become more: a little beyond half as many again, as a sampler's draws become.
const moreRoom = 1.6

// grow makes room for the draws of s, with those of before, if it is not nil, and returns how many these are. It takes their memory.
func (s *Sample) grow(before *Sample, dim int) (known int) {
	n := s.Len()
	if before == nil {
		s.Z = make([]float64, n*dim, int(moreRoom*float64(n*dim)))
		return 0
	}
	known = before.Len()
	if s.Z = before.Z; cap(s.Z) < n*dim {
		s.Z = make([]float64, n*dim, int(moreRoom*float64(n*dim)))
	}
	s.Z = s.Z[:n*dim]
	for i := dim - 1; i >= 0; i-- { // none is overwritten that is still to be moved
		copy(s.Z[i*n:][:known], before.Z[i*known:][:known])
	}
	return known
}

// fill puts the draws from the first on into the columns z, of n numbers.
func (c *Chains) fill(z []float64, n, first int) {
	const batch = 64 // side by side in fast memory
	var copies [batch][]float64
	for ; first < n; first += batch {
		draws := c.Z[first:min(first+batch, n)]
		if c.To != nil {
			for k, x := range draws {
				copies[k] = append(copies[k][:0], x...)
			}
			draws = copies[:len(draws)]
			c.To(draws)
		}
		for i := range draws[0] {
			row := z[i*n+first:][:len(draws)]
			for k, x := range draws {
				row[k] = x[i]
			}
		}
	}
}

// normal has the means and standard deviations of the draws.
func (s *Sample) normal(weights []float64) family.Q {
	mean, sd := make([]float64, len(s.columns)), make([]float64, len(s.columns))
	for i := range mean {
		mean[i], sd[i] = stat.PopMeanStdDev(s.Z[i*s.Len():][:s.Len()], weights)
		sd[i] = max(sd[i], 1e-12*(1e-300+math.Abs(mean[i])))
	}
	return mixture.New([]float64{0}, []family.Q{family.Independent(mean, sd)})
}

// Chains is how many chains the draws are of, draw k of chain k mod Chains: there is no proposal to take more from. It is 0 if they are
// independent.
func (s *Sample) Chains() int { return s.chains }

// ChainK is the k-hat of the sums of f ≥ 0 over chains. From 0.5 on these have no finite variance, and the standard error of f's
// expectation means nothing: a few chains have been where the others have to go, too. The draws of chains that go slowly there may have a lower one.
func (s *Sample) ChainK(f []float64) float64 {
	totals := make([]float64, s.chains)
	for first := 0; first < len(f); first += s.chains {
		for c, x := range f[first:min(first+s.chains, len(f))] {
			totals[c] += s.Weights[first+c] * x
		}
	}
	return tailK(totals)
}
