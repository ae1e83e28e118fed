// Package lower makes Gorgonia graphs of expressions, and runs them: like expressions of a store are the rows of
// one matrix (a form), and their operands gathers of rows of others.
//
//	ir.Store, outputs ──▶ batch of forms ──▶ Graph, with its gradient ──▶ plan, or TapeMachine
//
// The operations of the graph are in package kernel, and package plan runs it.
package lower
