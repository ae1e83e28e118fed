// Package gradient estimates ∇ELBO.
//
// Where a density jumps, the gradient has two parts:
//
//	log r      region −  │  region +        RepGrad: how log r changes as a sample
//	        ─────────────┘ Δ                moves inside its region
//	                     └────────────      BouContr: the mass that crosses the
//	               z ──▶ Φ = 0              guard, times the jump Δ
//
//	∇ELBO = E[(∂z/∂θ)ᵀ∇(log r − log q)] + Σ_l E[w_l·Δ_l·(∂z/∂θ)ᵀ∇Φ_l]
//
// Reparameterization alone computes the first part, and so is biased if the
// program branches on a latent. [Boundary] adds the second (Lee, Yu and Yang,
// NeurIPS 2018).
//
//	estimator        unbiased                      variance
//	Boundary         always                        low
//	Reparam          only without guards           low
//	Score            always                        hopeless beyond a few latents
//
// An [Estimator] makes a [Worker] for a density, a member of a family and a batch
// size; a [Runner] has workers estimate side by side. Estimators may be written
// elsewhere: draw with a family.Sampler, run a graph.Executor, and give what came
// out to the sampler's AddPath or AddScore. Package boundary makes the jumps,
// package family the points on the guards and their weights, package check
// measures estimators.
package gradient
