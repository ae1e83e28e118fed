package family

import "github.com/facetvi/facet/boundary"

// A Surface moves the samples of a batch onto pieces, numbered as they were given, and
// pulls back what is found there. With w, the density of q along a sample's way, the
// boundary term of piece k is
//
//	Σ w·Δ·(∂z/∂θ)ᵀ∇Φ   at the points z_b on the piece, for jumps Δ of log r.
type Surface interface {
	boundary.Surface
	// AddSums adds the terms of pieces first, first + 1, …, given for each the sum of
	// the samples' jumps. Call it only for pieces where Each is false.
	AddSums(sums []float64, first int, jumps []float64)
	// Seeds reports whether Add leaves part of its work to AddPath or Pull of the
	// same grad, which must come after it.
	Seeds() bool
	// Add adds the term of piece k, given Φ at the samples, nil on a piece of a curve, and
	// the jumps of each:
	// to sums and, if Seeds, to grad. Where a weight is 0 the jump, which may be
	// infinite, does not count.
	Add(sums, grad []float64, k int, phi, jumps []float64)
}
