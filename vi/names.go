package vi

import (
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/climb"
	"github.com/facetvi/facet/vi/draws"
	"github.com/facetvi/facet/vi/events"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/saved"
	"github.com/facetvi/facet/vi/loo"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/powerscale"
	"github.com/facetvi/facet/vi/sbc"
	"github.com/facetvi/facet/vi/verdict"
	"github.com/facetvi/facet/vi/weighted"
)

// The names of the packages below that a user of Fit needs.
type (
	// Estimate is a number that was found by Monte Carlo, and its standard error.
	Estimate = mc.Estimate
	// Estimator estimates ∇ELBO.
	Estimator = gradient.Estimator
	// Boundary is the default estimator.
	Boundary = gradient.Boundary
	// Reparam is reparameterization alone, which is biased if the model has guards.
	Reparam = gradient.Reparam
	// Score is the score function estimator, whose variance is hopeless beyond a few latents.
	Score = gradient.Score
	// Adam is the optimiser of a Climb.
	Adam = climb.Adam
	// Schedule is the course of the step size over a Climb.
	Schedule = climb.Schedule
	// Shape is how the step size of a Climb falls: Constant, Cosine or Polynomial.
	Shape = climb.Shape
	// Stop says when a Climb is done.
	Stop = climb.Stop
	// Step is what Climb.OnStep is told.
	Step = climb.Step
	// TracePoint is the ELBO after a step of a Climb.
	TracePoint = climb.TracePoint
	// Restart is what became of one of the fits that Climb.Restarts asks for.
	Restart = climb.Restart
	// Sample are draws with weights.
	Sample = weighted.Sample
	// A Named is a family.Family or an Estimator that a saved fit has.
	Named = saved.Named
	// BiasSettings are the settings of Posterior.CheckBias.
	BiasSettings = check.BiasSettings
	// Draws are draws of the posterior with equal weights.
	Draws = draws.Draws
	// Calibration says whether fits are right, by simulation.
	Calibration = sbc.Result
	// LOO says how well each observation is predicted from the others.
	LOO = loo.Result
	// Sensitivity says which priors matter.
	Sensitivity = powerscale.Result
	// Verdict says whether the numbers of a fit are those of the posterior, and why.
	Verdict = verdict.Verdict
	// Trust says whether they can be relied on: TrustFit or TrustNothing.
	Trust = verdict.Trust
	// Moments are the posterior mean and standard deviation of a latent, on the program's own scale.
	Moments = verdict.Moments
	// Predictive holds posterior predictive draws.
	Predictive = draws.Predictive
	// SideProb is the probability of a side of a guard's surface.
	SideProb = events.SideProb
	// RegionProb is a region and its probability.
	RegionProb = events.RegionProb
	// Path says of each of some guards whether it holds.
	Path = events.Path
)

// The values of Stop, and those of Shape.
const (
	After      = climb.After
	Automatic  = climb.Automatic
	Constant   = climb.Constant
	Cosine     = climb.Cosine
	Polynomial = climb.Polynomial
)

// The values of Trust. TrustFit says that all numbers of the summary are right that have a finite standard error: means to a
// twentieth of a standard deviation, standard deviations to a twentieth of themselves, probabilities to a hundredth. TrustNothing says that this is not known.
const (
	TrustFit     = verdict.TrustFit
	TrustNothing = verdict.TrustNothing
)

// ErrNotFinite is wrapped by the error of a fit that has diverged: a gradient with a NaN or an infinity
// stopped it.
var ErrNotFinite = gradient.ErrNotFinite
