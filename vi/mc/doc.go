// Package mc runs Monte Carlo estimates: it cuts samples into blocks, gives
// each block a random stream of its own, works on the blocks side by side, and
// sums their results in order. So a seed alone fixes a result, whatever the
// number of processors is:
//
//	        ┌─ block 0, stream (seed, 0) ─┐
//	samples ┼─ block 1, stream (seed, 1) ─┼─ sums in the order of the blocks
//	        └─ block 2, stream (seed, 2) ─┘
//
// An [Estimate] is a mean m of n values with standard error
//
//	SE² = Σ (v − m)² / (n·(n − 1)).
//
// [Blocks] says how samples are cut, [Stream] makes the streams, and a [Pool] has workers
// for the blocks and does their work round after round, as a [Team]. Package gradient uses them to climb, and
// package check to judge.
package mc
