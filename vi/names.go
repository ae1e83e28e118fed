package vi

import (
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/draws"
	"github.com/facetvi/facet/vi/events"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// The names of the packages below that a user of Fit needs.
type (
	// Estimate is a Monte Carlo mean and its standard error.
	Estimate = mc.Estimate
	// Estimator estimates ∇ELBO.
	Estimator = gradient.Estimator
	// Boundary is the default estimator.
	Boundary = gradient.Boundary
	// Reparam is biased if the model has guards.
	Reparam = gradient.Reparam
	// Score has a hopeless variance beyond a few latents.
	Score = gradient.Score
	// Importance is a fit judged by importance sampling.
	Importance = check.Importance
	// BiasSettings are the settings of Posterior.CheckBias.
	BiasSettings = check.BiasSettings
	// Draws are samples of the posterior.
	Draws = draws.Draws
	// Predictive holds posterior predictive draws.
	Predictive = draws.Predictive
	// SideProb is the probability of a side of a guard's surface.
	SideProb = events.SideProb
	// RegionProb is a region and its probability.
	RegionProb = events.RegionProb
	// Path says of each of some guards whether it holds.
	Path = events.Path
)

// ErrNotFinite is wrapped by the error of a Fit that a gradient with a NaN or an
// infinity stopped: a run that has diverged.
var ErrNotFinite = gradient.ErrNotFinite
