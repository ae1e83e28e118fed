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
// Three things make the errors small. Draws are stratified: of a mixture each part has as many as its weight says, and
// so the noise is only that inside parts. Draws that stand for a fit q*, and are of q = q* and wider distributions, tell what the numbers
// would be if q* were the posterior, and its expectation of f is known in closed form: with A = Σ w_k·f_k,
//
//	c_k = q*(z_k)/q(z_k)·(f_k − E*[f])
//
// has an expectation of 0 (Owen and Zhou, JASA 2000), and β = Cov(n·w·(f − A), c)/Var(c) times its mean is taken from A. What is left is by how
// much the posterior differs from the fit. And likewise the draws' own average of f in a part, whose expectation is known, is a control variate for
// the residuals e = n·w·(f − A) − β·c of its stratum, which has n_s of the n draws:
//
//	Ê = A − β·c̄ − Σ_s (n_s/n)·β_s·(f̄_s − E_s[f]),   β_s = Cov_s(e, f)/Var_s(f).
//
// β_s is near 1 where weights are even, and nearly all noise is gone; it is near 0 where they are not. There is no correction
// where f̄ is more than five of its standard errors from E[f]: E[f] is then ruled by a far tail of the proposal, in which
// there are no draws and the posterior need not be.
package weighted
