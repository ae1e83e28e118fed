// Package calibration judges fits by models whose posteriors are known exactly; command
// calibration/verdict does so by random programs, too.
//
// A Case of its collection is a compiled program with its log evidence, the means and standard
// deviations of its latents, and the probabilities of its named guards. They
// come from the sum over the cells of the program, which are the sides that its
// guards take together,
//
//	p(y) = Σ_cells P(cell) p(y | cell),
//
// with conjugate algebra inside a cell and quadrature over the few latents that
// are left. None of it uses the density of package graph:
//
//	data ─┬─▶ program ─▶ graph.Density ─────────────▶ fit
//	      ├─▶ plain joint density ─▶ equal at random points (tests)
//	      └─▶ cells × quadrature ─▶ Exact ──────────▶ compared with the fit
//
// The collection has easy posteriors and hard ones: clear, weak and contradictory
// data, several modes, near ties, heavy noise, units far from 1. Data are
// simulated with fixed seeds, or real series.
package calibration
