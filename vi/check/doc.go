// Package check judges fits and estimators: each judgement is a function of a
// density and a distribution q of its latents, and prints as a table.
//
//	ELBO(q) = E[log r(z) − log q(z)] ≤ log p(data)
//
//	function            question
//	ELBO, Meter         how good is q?
//	RareSides           what does that estimate miss on rare sides of guards?
//	Gradient, …Meter    which variance has an estimator?
//	SharesByGuard       which if-statements does the gradient come from?
//	CheckBias           would reparameterization alone have been biased?
//
// All draws go one way: a [Meter] draws q block by block and evaluates log r and
// log q there.
//
//	q ──▶ draws ──▶ log r, log q ──▶ mean, tails
//
// A fit's methods of the same names are these for its own density and q. How far q is from the posterior is a matter of
// weighted draws (package weighted); package gradient has the estimators that are measured here.
package check
