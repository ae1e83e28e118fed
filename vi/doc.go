// Package vi fits variational posteriors to compiled densities.
//
// A fit maximises, by stochastic gradients, a bound on the log evidence,
//
//	ELBO(θ) = E[log r(z) − log q_θ(z)] ≤ log p(data),    z = f_θ(ε) ~ q_θ,
//
// over a family of distributions q_θ of the latents z in unconstrained
// coordinates. A [Fit] looks for its start itself, climbs with Adam in units of
// the family's own scale, and ends at the average of the last iterates:
//
//	1000 draws ─▶ climb ─▶ modes of regions ─▶ 20 short fits ─▶ 5 longer ─▶ Restarts fits ─▶ the best ELBO
//	                                                                          + average
//
// It stops after Settings.Steps, or by itself when the ELBO of averages settles
// ([Automatic]). It can be saved at any step and resumed to the same bits:
// [Posterior.Save], [Load], [Posterior.Resume], Settings.Checkpoint.
//
// The rooms below, each with an introduction of its own, in the direction of the
// data:
//
//	family     mean field, structured, full rank, low rank; the laws of guards under them
//	gradient   ∇ELBO across the jumps of the density
//	check      judgements of fits and estimators
//	events     probabilities of guards, paths and regions
//	draws      draws, predictions, CSV, npz, tensors
//	scout      where the mass is, without a family
//	mc         samples in blocks, side by side; estimates with errors
//	cells      the search for a posterior's cells
//	plot       pictures
//
// How good a fit is, and what an estimator did for it:
//
//	Posterior.ELBO           the objective, with its standard error
//	Posterior.RareSides      what that estimate misses on rare sides of guards
//	Posterior.Verdict        which of the fit's numbers can be relied on, and why
//	Posterior.LogEvidence    log p(data); [Compare] compares models by it
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
//	Posterior.Sides, TopRegions  hyperplanes, and the regions between them
//	Posterior.MostProbablePath   the most probable assignment of many guards
//
// In this package and those below it a function that returns an error returns one
// for every argument that it cannot work with: numbers that make no sense or would
// need more memory than 64 GiB, and nil. A function that returns none panics there,
// with the name of its package, and says so.
package vi
