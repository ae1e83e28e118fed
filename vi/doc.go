// Package vi fits variational posteriors to compiled densities.
//
// The family is the mean-field normal: z = μ + s⊙ε, ε standard normal, with
// scale s = softplus(ρ). A fit maximises
//
//	ELBO(θ) = E[log r(z)] + entropy(q_θ),    θ = (μ_0, ρ_0, μ_1, ρ_1, …)
//
// by stochastic gradients; z are the latents in unconstrained coordinates. Where
// the density jumps, the gradient has two parts:
//
//	log r      region −  │  region +        RepGrad: how log r changes as a sample
//	        ─────────────┘ Δ                moves inside its region
//	                     └────────────      BouContr: the mass that crosses the
//	               z ──▶ Φ = 0              guard, times the jump Δ
//
// Reparameterization alone computes the first part, and so is biased if the
// program branches on a latent. [Boundary], the default, adds the second (Lee,
// Yu and Yang, NeurIPS 2018).
//
//	estimator        unbiased                      variance
//	Boundary         always                        low
//	Reparam          only without guards           low
//	Score            always                        hopeless beyond a few latents
//
// A [Fit] looks for its start among draws from the program's prior, climbs with
// Adam, and ends at the average of the last iterates:
//
//	1000 draws ─▶ climb ─▶ 10 short fits ─▶ Restarts fits ─▶ the best ELBO
//	           in regions                   + average
//
// It stops after Settings.Steps, or by itself when the ELBO of averages settles
// ([Automatic]). It can be saved at any step and resumed to the same bits:
// [Posterior.Save], [Load], [Posterior.Resume], Settings.Checkpoint.
//
// How good a fit is, and what an estimator did for it:
//
//	Posterior.ELBO           the objective, with its standard error
//	RareSides                what that estimate misses on rare sides of guards
//	Posterior.Importance     k-hat, effective draws, log evidence, corrected moments
//	VarianceByLatent         where a gradient's variance comes from
//	SharesByGuard            which if-statements the gradient comes from
//	CheckBias                would reparameterization alone have been biased?
//
// What a fit says:
//
//	Posterior.Summary            a table of latents and guards, with warnings
//	Posterior.Mean, Quantile, …  one latent, exactly
//	Posterior.Draws              samples: matrices, tensors, CmdStan's CSV, .npz
//	Posterior.Predict            new data, and named deterministic expressions
//	Posterior.Prob, ProbGiven    guards, alone, together and given others
//	Posterior.Sides, TopRegions  hyperplanes, and the regions between them
//	Posterior.MostProbablePath   the most probable assignment of many guards
//
// Package plot draws it.
//
// In this package and those below it a function that returns an error returns one
// for every argument that it cannot work with: numbers that make no sense or would
// need more memory than 64 GiB, and nil. A function that returns none panics there,
// with the name of its package, and says so.
package vi
