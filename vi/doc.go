// Package vi finds the posterior of a compiled density: draws with weights, the numbers that they give, each with its
// standard error, and a verdict on them.
//
//	density ──▶ Fit ──▶ q, a distribution near the posterior ──▶ draws of q, weights ──▶ numbers, verdict
//
// A posterior with if-statements has cells, parts between which it falls off a cliff.
// By default [Fit] looks for those that hold its mass, and gives each a distribution:
//
//	scout ─▶ cells ─▶ mixture ─▶ weighted draws ─▶ verdict
//
// The scout, tempered sequential Monte Carlo from the prior, says where to look and what
// the evidence is ([github.com/facetvi/facet/vi/scout]). From its draws a search goes
// from cell to cell. Inside one the density is smooth, and a normal with the mode and the curvature
// there, confined to the cell, is near the posterior. The mixture of them
// weighs each by its evidence ([Posterior.Cells]).
//
// With the method [Climb] the fit is of one family of distributions, whose ELBO it maximises by stochastic gradients through
// the ifs ([github.com/facetvi/facet/vi/climb]). A fit can be saved, a climb at any step, and resumed to the same bits:
// [Posterior.Save], [Load], [Posterior.Resume], Settings.Checkpoint.
//
// Either way the result is a [Posterior]. Its numbers are those of the weighted draws, not of q
// ([github.com/facetvi/facet/vi/weighted]), and the verdict says whether they can be relied on
// ([Posterior.Verdict]): by their standard errors, by how even the weights are, and by the scout, which knows nothing
// of q.
//
// What a fit says:
//
//	Posterior.Summary                  latents, correlations, guards and cells, with the verdict
//	Posterior.Mean, SD, Quantile, …    one latent; Expect for any function of all of them
//	Posterior.Prob, ProbGiven          guards, alone, together and given others
//	Posterior.Sides, TopRegions        surfaces of guards, and the regions between them
//	Posterior.MostProbablePath         the most probable assignment of many guards
//	Posterior.Cells                    the parts between which the density falls off a cliff
//	Posterior.LogEvidence              log p(data); Compare compares models by it
//	Posterior.Predict                  new data, what is missing, and named deterministic expressions
//	Posterior.PredictWith              the same by another program, of other covariates or rows
//	Posterior.Draws                    draws with equal weights: matrices, tensors, CmdStan's CSV, .npz
//	Posterior.Sample                   the draws with their weights
//
// What is asked of q itself, and of the gradient that found it:
//
//	Posterior.ELBO           the objective, with its standard error
//	Posterior.RareSides      what that estimate misses on rare sides of guards
//	Posterior.SharesByGuard  which if-statements the gradient comes from
//	Posterior.CheckBias      would reparameterization alone have been biased?
//
// The packages below, each with an introduction of its own, are of the posterior:
//
//	scout       where its mass is, and its evidence, without a family
//	verdict     how well its numbers are known, and whether they can be relied on
//	smc         a sampler whose paths reflect and refract at guards
//	mixture     mixtures of members of families, one part or more for each cell
//	weighted    draws with weights, and the numbers of them
//	events      probabilities of guards, paths and regions
//	draws       draws, predictions, CSV, npz, tensors
//	loo         leave-one-out cross-validation, and stacking
//	sbc         ranks of calibration by simulation
//	powerscale  sensitivity to priors
//	plot        pictures
//	report      a fit as one HTML file
//
// or of climbs by gradients:
//
//	climb       the fit of one family: starts, steps, stopping
//	family      mean field, structured, full rank, low rank; the laws of guards under them
//	gradient    ∇ELBO across the jumps of the density
//	check       judgements of q and of estimators
//
// These are two doors. What has to do with cells, weights and verdicts is of the posterior, in this package and the packages of the
// first list, and needs no gradient of an ELBO. What has to do with families, surfaces and estimators is learning by gradients through
// ifs: it is changed in the packages of the second list, which know of no weights and no verdict. Both have mc, estimates with
// standard errors. The search for cells and quick fits are internal.
//
// In this package and those below it a function that returns an error returns one
// for every argument that it cannot work with: numbers that make no sense or would
// need more memory than 64 GiB, and nil. A function that returns none panics there,
// with the name of its package, and says so.
//
// Pages with examples: how to [read a fit], when to [trust a fit], how to [choose a family],
// how to fit [many series], and [how it works].
//
// [read a fit]: https://github.com/facetvi/facet/blob/main/docs/fit.md
// [trust a fit]: https://github.com/facetvi/facet/blob/main/docs/trust.md
// [choose a family]: https://github.com/facetvi/facet/blob/main/docs/families.md
// [many series]: https://github.com/facetvi/facet/blob/main/docs/many.md
// [how it works]: https://github.com/facetvi/facet/blob/main/docs/how.md
package vi

// The files of this package read in one direction; none uses a later one:
//
//	names, start, switches, settings     what users type, and what a fit goes by
//	posterior, monitor, guards, sampled  what a fit has found, and its draws
//	savefound, save, checkpoint, judge   files, and the verdict
//	cellsfit, quick, near, sampler       ways to the posterior
//	runcells, fit                        which of them is gone, or a climb
//	queries, summary, predictprior, …    questions to one fit
//	fitall, compare, howmany, calibrate  many fits
