// Package ir is the intermediate representation of programs: a [Store] of expressions as
// nodes, of which equal ones are one, and the algebra that makes them.
//
//	a, b ──▶ Combination ──▶ Node in affine normal form      sums and multiples
//	     ──▶ simplified  ──▶ Node                            functions, formulas, selects
//	                          │
//	                     list, or a row of a pattern          what rows of a plate have in common is kept once
//
// Numbers carry bounds of their errors ([Rounded]), so that equal mathematics is one node. Rows of a plate
// are made as a [Block]: their numbers are columns while the first one is made. What follows from nodes without
// changing them is here too: where they have values ([Store.Domain]), what formulas say of each other
// ([Premises]), what they are worth ([Evaluator]).
//
// It knows nothing of models, latents' priors or guards; it is used by packages graph and its passes.
package ir
