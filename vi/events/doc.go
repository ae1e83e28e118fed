// Package events is about the guards of a program under its posterior, a [weighted.Sample]: with what probability they hold,
// alone and together, where others hold, and which regions are the most probable.
//
// A guard holds or not at each draw, so each probability is the expectation of a number that is 0 or 1,
//
//	P(g) = E[1{g holds at z}],   P(g | given) = P(g and given)/P(given),
//
// with a standard error. Where g compares what has a normal law in a part of the proposal, the law says P(g) there, and little
// is left to the draws: rare events have their probability, too.
package events
