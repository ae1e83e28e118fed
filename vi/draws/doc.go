// Package draws holds draws of a fitted distribution and hands them on: as
// matrices and tensors, as CmdStan's CSV, as NumPy's .npz, and as replicated data.
//
//	z ~ q  ──▶  x = constrain(z)  ──▶  Draws       matrix, tensor, CSV, npz
//	                    │
//	                    └─▶ program ─▶  Predictive  y ~ p(y | x), named expressions
//
// A draw has a row, a latent a column, on the program's own scale. [Of] makes
// draws of any member of a family, [Predict] runs the program at them. A fit's
// methods Draws and Predict are these two for its own distribution; package
// events counts guards among draws, package check weighs them.
package draws
