// Package residuals has batches of points in two coordinates: the unconstrained latents z, and what the priors leave of them,
//
//	e_i = (z_i − center_i)/scale_i,
//
// where center_i and scale_i are those of latent i's prior with the parameters and branches that the program gives it after z_1, …, z_i−1:
//
//	e_1 ─▶ z_1 ─▶ parameters of prior 2 ─▶ e_2 ─▶ z_2 ─▶ …        Follow, Place; Draw and Renew draw e on the way
//	z   ─▶ parameters of all priors     ─▶ e                     Invert
//
// So a change of one residual moves all later latents whose priors follow it, across guards too.
package residuals
