// Package kernel has the operations of a model's Gorgonia graph: what each
// computes, and its derivative.
//
// A [Kernel] is the arithmetic of one operation on matrices, a row for each
// scalar expression and a column for each sample. For operands x_0, x_1, … and
// an upstream gradient g it knows
//
//	y = f(x_0, x_1, …)    and the kernel of    g·∂f/∂x_j
//
// [Apply] makes it a node of a graph, which gorgonia.Grad can then differentiate.
// A gradient of 0 stays 0, also where ∂f/∂x_j is NaN or infinite: nothing of a
// branch that is not taken gets into a gradient.
//
//	rows               Gather ⇄ Scatter       chosen rows
//	sums               WeightedSum, Affine    c + Σ_j a_j ⊙ x_j, and sparse recurrences
//	                   Reduce ⇄ Spread        c + Σ_j M_j·x_j with sparse M_j
//	                   Total ⇄ Fill           the sum of all numbers
//	number by number   Elementwise ─▶ Slope   f(a), f(a, b), f(a, b, c)
//	                   LogSum ─▶ LogSumShare  log Σ_j exp(x_j); Head is a result without its working rows
//	signs              Select ─▶ Gate         a where the sign is 1, else b
//	                   Table                  a number for each combination of signs
//	                   Formulas, Flip         ¬a and a ∧ b of signs; x times a difference of signs
//	chains             Forward ─▶ ForwardGrad sums over the paths of hidden Markov chains
//
// (⇄ and ─▶ lead to derivatives.) The scalar functions of Elementwise are
// the entries of one table: see [Function].
//
// A kernel does not know who runs it: package plan, which binds it to slices
// once, or a machine of Gorgonia's, for which Apply allocates. To make a
// program faster without changing what it computes go to plan. To add an
// operation add a type here; to add a scalar function add an entry to the table.
package kernel
