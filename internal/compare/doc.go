// Package compare makes guards: formulas of signs, of the comparisons in a program. All comparisons that change at one surface, a hyperplane
// of the latents or a curve, are one sign.
//
//	x − y > 0 ─▶ no branches ─▶ affine, where it can be made so ─▶ hyperplane ─┐
//	             (ways.go)      (curved.go, factors.go)                        ├─▶ regions.Arrangement ─▶ sign
//	                        └─▶ of a discrete latent ─▶ cut of its coordinate ─┤   (halfspace.go)
//	                            (steps.go)           └─▶ curve in features ────┘
//
// guard.go has the table of forms that are made simpler: each says what a comparison claims in terms of simpler ones, which are compared in turn.
//
// A [Maker] does so for one program, of which it knows what [Program] says: names, transforms and discrete values of its latents. Whether a
// comparison holds where what it compares has no value, or an infinite one, is in domain.go and infinite.go; that curves have no part in common,
// in overlap.go. Here too is what guards say of expressions: where they are continuous (kink.go), in which range they are (extent.go), and how they
// are written for the user (format.go, comparison.go).
//
// It is below package graph, and knows nothing of distributions, plates or densities.
package compare
