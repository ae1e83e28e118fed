// Package derive makes programs from the terms of a compiled density ([Density]), with some of their latents and signs
// substituted: its jumps at guards, for batches of points ([Builder]) and at one point ([LocalJumps]).
//
//	terms of log r ──▶ Rewriter on either side of a sign ──▶ difference ──▶ lower.Program
//	                   flips of the states that follow    ──▶ a recurrence, linear in their number
//
// It finds latents that stand in parallel guards alone ([Density.Switches]), tabulates log r over their intervals
// ([Tabulation]; linear where these are polynomials of few expressions, gated by a logic), and adds up terms that are such polynomials ([Sums]).
// It knows which latents move with a scale so that log r stays as it is ([Density.Scales]), and what scales the spread of a latent goes with ([Density.Noncentred]).
package derive
