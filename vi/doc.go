// Package vi fits variational posteriors to compiled densities.
//
// A fit maximises, by stochastic gradients, a bound on the log evidence,
//
//	ELBO(θ) = E[log r(z) − log q_θ(z)] ≤ log p(data),    z = f_θ(ε) ~ q_θ,
//
// over a family of distributions q_θ of the latents z in unconstrained
// coordinates.
//
// A posterior with if-statements has cells, parts between which it falls off a cliff.
// By default [Fit] looks for those that hold its mass and fits each by its own climb:
//
//	scout ─▶ cells ─▶ climbs ─▶ mixture ─▶ verdict
//
// A scout, tempered sequential Monte Carlo from the prior, says where to look and what
// the evidence is ([github.com/facetvi/facet/vi/scout]). From its draws a search goes
// from cell to cell; inside one the density is smooth, and a normal that is confined to
// the cell is fitted from its mode. The mixture weighs them by their evidences
// ([Posterior.Cells]), and the verdict says which of its numbers can be relied on, by
// importance weights and by the scout, which knows nothing of the mixture
// ([Posterior.Verdict]).
//
// With Climb.Family a fit is one climb: it looks for its start itself, climbs with
// Adam in units of the family's own scale, and ends at the average of the last
// iterates:
//
//	1000 draws ─▶ climb ─▶ modes of regions ─▶ 20 short fits ─▶ 5 longer ─▶ Restarts fits ─▶ the best ELBO
//	                                                                          + average
//
// It stops after Climb.Steps, or by itself when the ELBO of averages settles
// ([Automatic]). It can be saved at any step and resumed to the same bits:
// [Posterior.Save], [Load], [Posterior.Resume], Settings.Checkpoint.
//
// The rooms below, each with an introduction of its own, in the direction of the
// data:
//
//	scout      where the posterior's mass is, and its evidence, without a family
//	cells      the search for cells
//	family     mean field, structured, full rank, low rank, mixtures; the laws of guards under them
//	gradient   ∇ELBO across the jumps of the density
//	check      judgements of fits and estimators
//	events     probabilities of guards, paths and regions
//	draws      draws, predictions, CSV, npz, tensors
//	mc         samples in blocks, side by side; estimates with errors
//	plot       pictures
//
// How good a fit is, and what an estimator did for it; the last two are asked of a fit of
// one family:
//
//	Posterior.Verdict        which numbers can be relied on, and why
//	Posterior.LogEvidence    log p(data), by importance; [Compare] compares models by it
//	Posterior.ELBO           the objective, with its standard error
//	Posterior.RareSides      what that estimate misses on rare sides of guards
//	Posterior.Importance     k-hat, effective draws, log evidence, corrected moments
//	Posterior.SharesByGuard  which if-statements the gradient comes from
//	Posterior.CheckBias      would reparameterization alone have been biased?
//
// What a fit says:
//
//	Posterior.Summary            latents, correlations, guards and cells, with the verdict
//	Posterior.Cells              the parts between which the density falls off a cliff
//	Posterior.Mean, Quantile, …  one latent, exactly
//	Posterior.Draws              samples: matrices, tensors, CmdStan's CSV, .npz
//	Posterior.Predict            new data, and named deterministic expressions
//	Posterior.Prob, ProbGiven    guards, alone, together and given others
//	Posterior.Sides, TopRegions  surfaces of guards, and the regions between them
//	Posterior.MostProbablePath   the most probable assignment of many guards
//
// In this package and those below it a function that returns an error returns one
// for every argument that it cannot work with: numbers that make no sense or would
// need more memory than 64 GiB, and nil. A function that returns none panics there,
// with the name of its package, and says so.
package vi
