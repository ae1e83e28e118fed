// Package lang has the values of the modelling language: expressions, and distributions whose densities are written in it.
//
//	numbers, nodes ─▶ Expr ─▶ Add, Mul, Log, …        of numbers a number, of nodes a node of their Program (package internal/ir)
//	                   │
//	Law: log density, tails, moments, draws ─▶ Dist   a law with its parameters, which are expressions
//
// A [Law] is written once, in expressions: what does not depend on a latent is computed when a program is made, and the same text gives
// probabilities of numbers. Truncated, Censored, Mixture and others are laws made of laws. A [Discrete] is the law of a latent that has steps.
//
// It is below package graph, whose names for all this users know, and knows of a program what [Program] and [Priors] say.
package lang
