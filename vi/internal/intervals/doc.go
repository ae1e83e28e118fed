// Package intervals fits programs with one change, and nothing else that jumps, in about a millisecond: without a scout, for
// many data sets of one program.
//
// Such a density has one switch (see derive.Density.Switches) whose thresholds are numbers, such as the time of a change, and no other
// guards. Log r is smooth in the rest of the latents in each interval between thresholds, and the cells are the intervals:
//
//	climb in each interval, each from a prior draw of its own ─▶ log Z_j = Laplace ─▶ draws of q(j)·q_j(rest), weighted
//
// The climbs are Newton's, side by side as columns of one batch. Those of neighbouring intervals begin far from each other and
// climb nearly the same log r. Where they end on different modes there is more than one, and no fit. The switch is integrated
// out in its interval, where log r knows no more of it than its prior.
//
// The way in is New, for a program, and Fitter.Fit, for each data set. From the bottom: program is what all data have in common, climbs finds the
// normals, shares chooses the intervals, draws weighs, judge estimates, and fit is the whole.
package intervals
