// Package scout finds where the mass of a posterior is, and its evidence, without
// a family of distributions: by tempered sequential Monte Carlo from the prior,
//
//	π_β(e) ∝ p(e)·L(z(e))^β,    β = 0 → 1,
//
// for the residuals e that the priors leave of the latents z ([graph.Density.Residuals]).
// A move changes residuals and follows the program, so that what depends on a
// latent goes with it, across guards too.
//
//	prior ──▶ weigh, resample, move ──▶ weigh, resample, move ──▶ … ──▶ posterior
//	β = 0       β with half of the           β                          β = 1
//	            draws effective
//
// The states after every move are the sample of the next temperature, not only
// those after the last (Dau and Chopin, Waste-free sequential Monte Carlo, 2022).
// Several such runs, islands, tell how far the evidence can be relied on.
//
// Package cells searches from the draws, package vi judges fits by them, and package residuals has
// what is moved.
package scout
