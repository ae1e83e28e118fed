// Package boundary estimates the part of a gradient that automatic
// differentiation does not see: the surface integral over the hyperplanes on
// which a density jumps.
//
// Let z = f(ε) = μ + s⊙ε with standard normal ε, and let the guard Φ(z) = a·z + c
// read ã·ε + c̃ in ε. Where the path of μ and s moves the hyperplane, mass passes
// from one side to the other and log r changes by its jump Δ. The expected gain is
//
//	BouContr = Σ_l E[ w_l(ε_b) · Δ_l(f(ε_b)) · pullback(ε_b, ∇Φ_l) ]
//
// with points ε_b on hyperplane l:
//
//	     Φ = 0          coordinate elimination: keep all coordinates but the
//	 −   │   +          pivot, solve for the pivot;   w = q(ε_pivot)/|ã_pivot|
//	     │
//	ε ·──▶• ε_b         orthogonal projection: move along the normal;
//	     │              w = φ(c̃/‖ã‖)/‖ã‖, the same for all ε
//
// Both are Theorem 3 of Lee, Yu and Yang, Reparameterization Gradient for
// Non-differentiable Models (NeurIPS 2018), for different coordinates.
//
// Δ_l is log r with the sign of guard l forced to + minus log r with it forced
// to −, at the same point. Only the terms of log r that depend on that sign
// enter, so the jumps of all guards cost about as much as the density itself.
// [Jumps] is their batched graph. [Integral] estimates surface integrals of
// functions that have nothing to do with a model.
package boundary
