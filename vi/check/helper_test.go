package check

import (
	"flag"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// priorStart follows the program from top to bottom, as wide as the priors.
func priorStart(d *graph.Density) *family.Normal { return family.Independent(d.PriorStart()) }

// softplus is the member of the paper's family with the given means and standard
// deviations.
func softplus(mean, sd []float64) *family.Normal {
	q := family.Softplus{}.At(make([]float64, 2*len(mean)))
	q.Place(mean, sd)
	return q
}

// slope is ds/dρ of the paper's scale s = log(1 + exp ρ).
func slope(s float64) float64 { return -math.Expm1(-s) }

// moments are the means and standard deviations of q, by latent.
func moments(q family.Q) (mean, sd []float64) {
	for i := range q.Dim() {
		mean, sd = append(mean, q.Mean(i)), append(sd, q.SD(i))
	}
	return mean, sd
}
