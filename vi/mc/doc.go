// Package mc has Monte Carlo estimates. An [Estimate] is a mean m of n values with standard error
//
//	SE² = Σ (v − m)² / (n·(n − 1)),
//
// [Moments] collect the values, and [Number] and [Numbers] are written as JSON, NaN and infinities too.
package mc
