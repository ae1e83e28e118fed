// Package draws holds draws of a posterior, with equal weights, and hands them on: as
// matrices and tensors, as CmdStan's CSV, as NumPy's .npz, and as replicated data.
//
//	weighted draws ──▶ resample ──▶  x = constrain(z)  ──▶  Draws       matrix, tensor, CSV, npz
//	                                         │
//	                                         └─▶ program ─▶  Predictive  y ~ p(y | x), named expressions
//
// A draw has a row, a latent a column, on the program's own scale. [Of] resamples
// weighted draws, [Predict] runs the program at draws. A fit's methods Draws and Predict are
// these two; package weighted has the draws with their weights.
package draws
