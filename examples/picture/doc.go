// Package picture draws the pictures of the examples: data, a posterior mean
// with its band, and what was found, in colours that colour-blind readers can
// tell apart, with the legend below the axes. It is a thin layer over
// gonum.org/v1/plot, and no more than the examples need.
package picture
