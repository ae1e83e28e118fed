package residuals

import (
	"math/rand/v2"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/regions"
)

// A Program is what a batch follows: the priors of latents, with expressions as parameters.
type Program struct {
	Nodes  *ir.Nodes
	Arr    *regions.Arrangement
	Data   []float64
	Priors []Prior // by latent
}

// A Prior is the law of a latent's unconstrained coordinate, in numbers. Without a Start the latent stays where its one
// parameter is, a number, whatever its residual is.
type Prior struct {
	Law    string // laws of one name are one law
	Params []Param
	// Normal says that residuals are normal, and center and scale the parameters.
	Normal bool
	// Start is a central value and a scale.
	Start func(p []float64) (center, scale float64)
	// LogProb is the log density of a residual, given what Start has; nil for a law whose log density is the node Term alone.
	LogProb func(e, center, scale float64, p []float64) float64
	Term    ir.ID
	// Shares is the distribution of the residual, where it is known.
	Shares *Shares
	// Draw stores draws of the coordinate, number k with the parameters p(k).
	Draw func(dst []float64, p func(k int) []float64, rng *rand.Rand)
	// Excludes reports by parameter whether a finite number has no meaning; nil where all have one.
	Excludes []func(v float64) bool
}

// A Param is a number, or an expression of the latents before.
type Param struct {
	IsNumber bool
	Number   float64
	ID       ir.ID
}

// Shares are the probabilities of intervals under the distribution of a prior's residual.
type Shares struct {
	// LogMass is the log probability of (lo, hi), and Quantile the point below which
	// there is the part u of it.
	LogMass  func(lo, hi float64) float64
	Quantile func(u, lo, hi float64) float64
}
