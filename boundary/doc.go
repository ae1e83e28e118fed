// Package boundary evaluates what automatic differentiation does not see: the
// jumps of a density at the guards of its program.
//
// Where a parameter moves the law of a guard Φ(z) > 0, mass passes from one
// side to the other, and log r changes by its jump Δ there. The gradient gains
//
//	BouContr = Σ_l E[ w_l · Δ_l(z_b) · (∂z/∂θ)ᵀ∇Φ_l ]
//
// with points z_b on the surface Φ_l = 0 (Theorem 3 of Lee, Yu and Yang,
// Reparameterization Gradient for Non-differentiable Models, NeurIPS 2018). Where Φ is
// affine it is a hyperplane:
//
//	   Φ = 0
//	 −   │   +     a sample z moves along one direction, z_b = z − Φ(z)·v;
//	z ·──▶• z_b    which direction, and its weight w, the family of the samples
//	     │         knows: package family
//
// Where Φ is not affine a sample moves in one latent alone, to a root of Φ = 0 given all
// others. So a curve has a [Piece] for each latent that it can be solved for and each
// root, and the pieces share the curve: see [Sharing].
//
// This package owns which guards are used, how they are subsampled, the signs of
// all other guards at the points, and the jumps: Δ_l is log r with the sign of guard
// l forced to + minus log r with it forced to −, at the same point. Only the terms
// of log r that depend on that sign enter, so the jumps of all guards cost about as
// much as the density itself. [Jumps] is their batched graph, [Batch] runs it, and
// a [Surface] moves the samples. Package gradient makes ∇ELBO of them.
package boundary
