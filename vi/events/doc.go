// Package events gives the probabilities of what guards decide under a
// distribution q of the latents: of one guard, of some given others, of paths of
// named guards, and of whole regions.
//
// A comparison has the probability that the law of Φ(z) = a·z + c under q says. Φ is
// normal under normal q, with mean m and standard deviation σ, so that it is exact:
//
//	P(Φ > 0) = N(m/σ),   N the standard normal distribution function.
//
// Several guards together are exact where their hyperplanes are parallel wherever
// latents that are not independent link them, in each part of a mixture:
//
//	z_1 > 3 ─┐            z_2 > 0 ── block of its own
//	z_1 > 5 ─┴ one block, intervals of z_1:  ──┤3├────┤5├──▶
//
// Else they are counted among draws, with standard errors. [Of] says of what;
// a fit's methods Prob, ProbGiven, Sides, TopRegions and MostProbablePath are these
// for its own q.
package events
