// Package family holds the distributions that a fit chooses from: z = f_θ(ε), a
// map of standard normal noise ε that the parameters θ shape.
//
// The main one is the sequential normal. Take the latents in the order of the
// program, each with some earlier latents as parents:
//
//	z_i = μ_i + Σ_{j ∈ parents(i)} B_ij·(z_j − μ_j) + s_i·ε_i
//
// Which latents are parents makes the family:
//
//	MeanField    none            z0   z1   z2   z3    independent normals
//	Structured   the program's   z0 ─▶ z1 ─▶ z2 ─▶ z3   right for chains, linear cost
//	FullRank     all before      z0 ─▶ z1 ─▶ z2 …        every normal
//	             └──────────────▶
//
// [Sequential] and [FromPrecision] take any parents. [Normal.Confine] keeps a
// sequential normal on given sides of guards: each conditional is truncated. That is
// the distribution of a cell, to draw from, and not fitted by gradients.
//
// [LowRank] is another: z = μ + s⊙ε + U·η with few columns in U. [Softplus] is
// MeanField with the parameters and the steps of Lee, Yu and Yang (NeurIPS 2018).
//
// Discrete latents of a program have masses of their own beside all of these but Softplus, which depend on no
// other latent:
//
//	q(z) = q_rest(z_rest)·Π_i π_i(k_i),   π_i(k) = exp η_ik / Σ_l exp η_il
//
// Mixtures of members are in package vi/mixture.
//
// A [Family] makes members; a [Q] is one of them, with what is known of it: log q,
// and the [Law] of any number Φ(z) = a·z + c, a list of truncated normals:
//
//	one normal  ─╱╲─     a cell  ▏╲──     a mixture  ─╱╲──▏╲─
//
// A [Drawer] is the working state of a member for batches of n samples. If the
// member can be fitted it is a [Sampler], which knows the gradient of
//
//	ELBO(θ) = E[log r(z)] − E[log q_θ(z)]
//
// given ∇ log r at the samples ([Sampler.AddPath]), and given the jumps of log r
// at guards ([Surface]), for which it moves the samples onto hyperplanes. Units
// are its own too: θ moves by multiples of the family's scale ([Q.Units]), so that
// a model in other units has the same fit in other units.
//
// To add a family, write one file that implements Family, Q and Sampler, here or in a program, and
// name it in the list of families that a saved fit may have (Save in package vi), or give it to
// vi.Load. What some members can do besides is asked of their methods: [Gaussian],
// [Truncated], [Natural], [Sampled], [Composite].
package family
