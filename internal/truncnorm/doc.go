// Package truncnorm is the standard normal distribution truncated to an interval
// (α, β), whose ends may be infinite, with density φ(x)/(Φ(β) − Φ(α)).
//
//	                 ▁▂▄▆█▇
//	────────────────┤██████▆▄▂▁──────
//	                α          β
//
// Everything is good to 1e-12 relative wherever the interval lies, α = 1000 too,
// and however narrow it is. Two things make it so. An interval on one side of 0 is
// seen from its nearer end, c: what is computed is its mass over exp(−c²/2), from the
// Mills ratio R(x) = (1 − Φ(x))/φ(x), which is neither large nor small (Cody 1969).
// And both tails of a point are sums of positive terms,
//
//	Φ(t) = Φ(−ε)·Φ(α) + Φ(ε)·Φ(β),   Φ(−t) = Φ(−ε)·Φ(−α) + Φ(ε)·Φ(−β),
//
// of which the smaller gives t.
//
// It is assumed that α < β.
package truncnorm
