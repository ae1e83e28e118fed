// Package trials has models as users of samplers write them, and what is known of their posteriors by other samplers: means and
// standard deviations of all latents, from long runs of Stan, and for the hard ones from programs of their own.
//
//	testdata/*.csv ──────────▶ Trial.Build ─▶ graph.Density ─▶ fit
//	      └─▶ other samplers ─▶ testdata/reference/*.csv ────▶ compared with it, Off
//
// What a fit is to be within, in the tests and benchmarks of package smc:
//
//	|mean − reference| ≤ 0.05 sd,   |sd/reference − 1| ≤ 5 %
package trials
