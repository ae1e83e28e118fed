// Package rows makes the nodes of rows of a plate: those of a block ([ir.Block]) that are like its first one, which was made as any other.
//
//	first row, columns of its numbers ─▶ what is in holes, which rows are alike ─▶ columns of a pattern
//	                                                                           ─▶ table of nodes, row by row
//
// A [Script] has the first row. What else a row adds to a program, as latents and terms, package graph does, by what [Script.Moved] says of nodes.
package rows
