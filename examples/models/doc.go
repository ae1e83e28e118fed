// Package models holds the three experiments of Lee, Yu and Yang, "Reparameterization Gradient for Non-differentiable
// Models" (NeurIPS 2018), and the one-latent model of its Proposition 2, each written twice:
//
//   - as a facet program, the way a user would write it (temperature.go, textmsg.go, influenza.go, proposition.go);
//   - as an [Oracle] in plain Go that shares nothing with package graph but the data (the files *_oracle.go).
//
// The oracles are possible because, in all four models, each guard looks at one latent and the terms that it switches
// do not depend on that latent. Under a mean-field normal q the expectation of a term then falls into
//
//	E[ g_σ(z) ]  =  P(σ = +1) E[ g_+(z) ]  +  P(σ = −1) E[ g_−(z) ]
//
// where g is quadratic or exponential in z and P is a normal tail. In the derivative the product rule separates the two
// parts of the paper's gradient: P·∇E is RepGrad and ∇P·E is BouContr.
//
//	program ──► graph.Model ──► estimate of ∇ELBO ─┐
//	                                               ├─ must agree
//	data, constants ──► Oracle ──► exact ∇ELBO ────┘
//
// A third file of each, *_exact.go, computes its exact posterior by going through the regions: log evidence, probabilities of
// the named guards, moments of the latents. Packages coalmining, nile, lynx and tobit below have models on other data,
// with their exact posteriors.
//
// golden/ holds observations, initial parameters and exact values from two further programs.
package models
