// Package sumout sums switches out (see derive.Density.Switches): given the other latents, the rest, it knows their posterior exactly.
//
// A [Sum] computes log r without them, over all their intervals together, at batches of points. A [Given] is their posterior given the rest,
// and a [Q] that over a distribution of the rest, a member of a [Family] that can be saved. Data goes one way:
//
//	priors' masses between thresholds ─▶ sum, by elimination ─▶ posterior given the rest ─▶ Q
//
// Scouts and the search for cells climb by a Sum, and each cell has a Q. Switches that meet in a term, as the states of a chain do,
// are eliminated one after the other (package elimination).
package sumout
