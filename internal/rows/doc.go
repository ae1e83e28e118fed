// Package rows makes the nodes of rows of a plate that are like one which was recorded ([ir.Recording]), from columns of numbers.
//
//	operations ─▶ questions ─▶ columns of a pattern      a block of rows, in parts that
//	          └─▶ hashes of roots                        goroutines share
//	is there such a node? ─▶ table                       row by row
//
// A [Script] has the recorded row, and where in it the numbers and nodes are that differ. What else a row adds to a program, as latents and terms,
// package graph does, by what [Script.Moved] says of nodes.
package rows
