// Package climb fits one family of distributions q_θ to a posterior with if-statements. It maximises, by stochastic gradients
// through the ifs, a bound on the log evidence,
//
//	ELBO(θ) = E[log r(z) − log q_θ(z)] ≤ log p(data),    z = f_θ(ε) ~ q_θ,
//
// where z are the latents in unconstrained coordinates. It looks for its start itself, climbs with
// Adam in units of the family's own scale, and ends at the average of the last
// iterates:
//
//	1000 draws ─▶ climb ─▶ modes of regions ─▶ 20 short fits ─▶ 5 longer ─▶ Restarts fits ─▶ the best ELBO
//	                                                                          + average
//
// It stops after Settings.Steps, or by itself when the ELBO of averages settles ([Automatic]). [State] is what the future of a
// fit depends on: a fit goes on from one to the same bits.
//
// Users call it by vi.Fit with the method vi.Climb, which is a [Settings]. The rest is for package vi, which has checked what it
// gives, and makes a posterior with weighted draws and a verdict of the [Result]:
//
//	Job ─▶ New ─▶ Restore, Begin ─▶ Fits.Run ─▶ Result
//
// This package knows of families, gradients and the ELBO, and of no weights, no verdict and no files. Families are added in package
// family, and estimators in package gradient.
package climb

// The files of this package read in one direction; none uses a later one:
//
//	adam, schedule, average, stop, settings  the optimiser, windows of steps, and what a user sets
//	units, holder, state, job                what a fit is made of and goes on from, what a climb is given and gives
//	fitter, hold, gain, trace                one fit: what it holds, gains, and shows
//	result, pace, monitor, steps             the best of several, what watches them, and the steps
//	candidates, trial, start, fits           the search for starts, and all of it
