// Package regions says where a piecewise smooth density jumps, and names the pieces between the jumps.
//
// A program that branches on guards Φ(z) > 0, most of them affine in the latents z ∈ ℝⁿ, has a density that is smooth inside regions and
// jumps across hyperplanes. A [Hyperplane] is one guard, an [Arrangement] is the set of different hyperplanes, and [Signs] is the sign vector
// that names a region:
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
// # Guards
//
// Guards with one zero set are one plane and flip together: [Arrangement.Add] merges them, whatever factor of either sign is between
// them, and returns the [Side] that the guard asks for. A boundary estimator that flips them one at a time is biased. What arithmetic has
// rounded on the way to a guard does not keep it apart: [Arrangement.AddRounded] takes bounds of the errors. Different numbers do.
//
// # Regions
//
// Signs is comparable, so it is itself the key of a region: use it with == and as the key of a map. [Arrangement.Signs] is the region of
// a point, and [Arrangement.SignBatch] those of many. [Signs.Flip] reverses one sign.
//
// # Curves
//
// A guard need not be affine. What a program compares may be affine in features, functions of the coordinates that
// [Arrangement.AddFeature] adds: then Φ is a [Curve], which knows its values, its slopes, and the latents for which Φ = 0 can be solved. An
// arrangement merges curves as it merges planes, by their coordinates, which features have as well:
//
//	x·y > 0.3, 2·y·x > 0.6     one curve: feature x·y, coordinate Dim()
//	x > 0.3                    a plane
//
// # Where to go next
//
// Package graph makes an arrangement from the if-statements of a model, and is the only one that adds to it. Package boundary puts points
// on its planes, and packages vi and below read it. This package imports none of them: it knows no models and no distributions. Its
// files, from the guard to the region: hyperplane, rounding and index (which guards are one); step, formula and curve (what is not affine), pivot and
// solve (where it is 0), edge (where it begins to have a value); arrangement, signs and batch.
//
// The method is that of Lee, Yu and Yang, Reparameterization Gradient for Non-differentiable Models, NeurIPS 2018.
package regions
