// Package plan runs a Gorgonia graph of package kernel's operations many times,
// fast: without Gorgonia's machines, whose cost is microseconds a node.
//
// A [Plan] is a list of steps
//
//	out_k = f_k(in_k1, in_k2, …),    k = 1, 2, …
//
// in topological order, each kernel bound once to slices that are allocated
// once. [New] makes it:
//
//	Gorgonia graph, inputs, results
//	   │  read        nodes in topological order; what is the same in each run is
//	   │              computed now, and is a number from then on
//	   │  fuse        products with constants ─▶ scalings, which products with gradients
//	   │              take in; a Reduce reads through what leads to it; chains of sums of
//	   │              gradients ─▶ one accumulate; runs of neighbouring rows ─▶ views, without a step;
//	   │              products and sums read rows that a Gather copies where they are
//	   │  bind        each value gets a slice, used again when the value is dead; a Reduce of one
//	   │              or two operands makes row after row
//	   ▼
//	steps ── Run      allocates nothing
//
// A step computes what the graph's operations compute, in another order where
// sums are joined; the TapeMachine runs the same graph as the oracle in tests. To
// make programs faster without changing what they compute is the business of
// this package; what an operation computes is that of package kernel.
package plan
