// Package mixture has mixtures of members of families,
//
//	q = Σ π_k·q_k,
//
// for posteriors with several cells: the parts are the distributions of cells, of any families of package family, and may be mixtures
// themselves. A [Mixture] is a family.Q:
//
//	parts, log weights ─▶ New ─▶ Mixture ─▶ Defensive ─▶ Drawer ─▶ draws, log q
//
// [Mixture.Defensive] is what importance draws are from, the same with heavier tails. A [Drawer] draws them: of each part as
// many as its weight says, by Latin hypercubes, so that averages have less noise than by independent draws.
//
// Parts that are confined to sides of guards are passed over fast where they have no density, and points that the same parts can reach are evaluated at
// once. Where all parts have one law of some latents given the others in common ([Completed]), that is evaluated once for each draw.
package mixture
