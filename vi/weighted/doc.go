// Package weighted makes a posterior of draws with weights, and estimates from them.
//
// A proposal q, the distribution that a fit has found, is near the posterior p ∝ r. Draws
// z_k ~ q with weights
//
//	w_k ∝ r(z_k)/q(z_k),   Σ w_k = 1,
//
// the largest of them smoothed by a Pareto distribution, stand for the posterior itself:
//
//	q ──▶ draws, weights ──▶ Expect, Moments, Quantile, log evidence, each with its standard error
//
// Two things make the errors small. Draws are stratified: of a mixture each part has as many as its weight says, and
// so the noise is only that inside parts. And where the expectation of f under a part is known in closed form,
// the draws' own average of f, which should be that, is a control variate: in a stratum with n_s of the n draws
//
//	Ê = Σ w_k·f_k − Σ_s (n_s/n)·β_s·(f̄_s − E_s[f]),   β_s = Cov_s(n·w·(f − A), f)/Var_s(f),   A = Σ w_k·f_k.
//
// β is near 1 where weights are even, and nearly all noise is gone; it is near 0 where they are not. There is no correction
// where f̄ is more than five of its standard errors from E[f]: E[f] is then ruled by a far tail of the proposal, in which
// there are no draws and the posterior need not be.
package weighted
