// Package cputime measures what a computation costs, whatever else the machine does:
//
//	cost = Σ over threads of (user time + system time), in seconds
//
//	In(budget) ─▶ Limit ─▶ Over? Left? Context     asked by whoever spends it
//
// Seconds is the clock. A Limit ends a fit by its Settings.Budget (package vi).
package cputime
