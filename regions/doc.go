// Package regions says where a piecewise smooth density jumps, and names the pieces between the jumps.
//
// A program that branches on guards Φ(z) > 0, each affine in the latents z ∈ ℝⁿ, has a density that is smooth inside regions and
// jumps across hyperplanes. A [Hyperplane] is one sparse affine form, an [Arrangement] is the set of the different ones, and [Signs]
// is the sign vector that names a region:
//
//	Φ_l(z) = Σ_k Coef[k]·z[Index[k]] + Const,    σ_l(z) = + where Φ_l(z) > 0, and − where Φ_l(z) ≤ 0
//
//	              |
//	      -+      |      ++          if z0 > 0 …       plane 0, +
//	              |                  if -3·z0 > 0 …    plane 0, −
//	   -----------+-----------       if z1 > 1 …       plane 1, +
//	              |       Φ₁ = 0
//	      --      |      +-          three guards, two planes, four regions
//	              |
//	            Φ₀ = 0
//
// Guards with one zero set, equal up to a factor of either sign, are one plane and flip together: [Arrangement.Add] merges them and
// returns the [Side] that the guard asks for. A boundary estimator that flips them one at a time is biased.
//
// Signs is comparable, so it is itself the key of a region: use it with == and as the key of a map. [Signs.Flip] is the neighbour
// across a facet.
//
// [Arrangement.Regions] lists the sign vectors that are regions, those whose open cells are not empty, and [Arrangement.Facets] the
// planes that bound one. L planes in general position in n dimensions have Σ_{i≤n} C(L, i) regions, [Arrangement.MaxRegions].
//
// A location-scale family z = μ + Lε cuts the space of ε by the same planes, [Arrangement.PushForward]:
//
//	Φ(μ + Lε) = (Lᵀa)·ε + (a·μ + c)
//
// The method is that of Lee, Yu and Yang, Reparameterization Gradient for Non-differentiable Models, NeurIPS 2018.
package regions
