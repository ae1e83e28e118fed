// Package parallel works on samples side by side: it cuts them into blocks, gives each block a
// random stream of its own, and works on the blocks in the goroutines of a team. So a seed alone
// fixes a result, whatever the number of processors is:
//
//	        ┌─ block 0, stream (seed, 0) ─┐
//	samples ┼─ block 1, stream (seed, 1) ─┼─ sums in the order of the blocks
//	        └─ block 2, stream (seed, 2) ─┘
//
// [Blocks] says how samples are cut, [Stream] makes the streams, and a [Pool] has workers
// for the blocks and does their work round after round, as a [Team]. Package gradient uses them to
// climb, and package check to judge.
package parallel
