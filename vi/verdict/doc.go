// Package verdict says whether the numbers of a fit are those of the posterior. It gets weighted draws, what a search for cells
// has left out, and the sample of a scout that knows nothing of the fit:
//
//	draws ─▶ Numbers, with their standard errors ─┐
//	scout, Fit ───────────────────────────────────┴─▶ Of ─▶ Verdict
//
// It asks how even the weights are ([OfWeights]), whether the scout has found more than the fit, whether the search has left out
// much, how well the numbers are known ([OfNumbers]), and whether something holds the parameters of the program. The draws of a
// sampler have no weights: [OfRun] asks whether its groups agree. What is promised where it says TrustFit, and by which limits, is
// here, and nothing else: it draws nothing and runs no fit. Users read a [Verdict]; the rest is for package vi.
package verdict
