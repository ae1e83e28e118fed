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
	Z       [][]float64
	Weights []float64 // nil if all have the same
	N       int
	// Groups is how many groups of chains there are that have nothing in common, each of N/Groups chains
	// side by side.
	Groups int
	// Effective is how many independent draws would have the error of the mean that is known the least.
	Effective   float64
	LogEvidence mc.Estimate
	// Before, if not nil, is a sample of the first of the draws: what is known of these is not computed again.
	Before *Sample
}

// OfChains is the sample that chains are. q is a distribution near the posterior, of which nothing else is known; if it is nil, a normal with the
// means and standard deviations of the draws. Standard errors are those of the means of chains, or of groups of chains where these differ by more
// than their chains say.
func OfChains(d *graph.Density, q family.Q, c Chains) *Sample {
	n, dim := len(c.Z), d.Dim()
	s := &Sample{
		density: d, q: q, chains: c.N, groups: c.Groups, Z: make([]float64, n*dim), Weights: make([]float64, n), columns: make([][]float64, dim),
		K: math.Inf(-1), ESS: c.Effective, LogEvidence: c.LogEvidence, strata: whole(n),
		vectors: &vectors{before: c.Before},
	}
	k := 0
	for ; k+8 <= n; k += 8 { // side by side in fast memory
		z0, z1, z2, z3 := c.Z[k][:dim], c.Z[k+1][:dim], c.Z[k+2][:dim], c.Z[k+3][:dim]
		z4, z5, z6, z7 := c.Z[k+4][:dim], c.Z[k+5][:dim], c.Z[k+6][:dim], c.Z[k+7][:dim]
		for i := range dim {
			row := s.Z[i*n+k:][:8]
			row[0], row[1], row[2], row[3] = z0[i], z1[i], z2[i], z3[i]
			row[4], row[5], row[6], row[7] = z4[i], z5[i], z6[i], z7[i]
		}
	}
	for ; k < n; k++ {
		for i, x := range c.Z[k] {
			s.Z[i*n+k] = x
		}
	}
	if c.Before != nil {
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
