package boundary

import "github.com/facetvi/facet/regions"

// A Surface says how a batch of samples gets onto the pieces of Jumps, in their
// numbers: sample z moves to z_b = z − Φ(z)·v with the same direction v for all
// samples, a·v = 1. A family of distributions has one (package family).
type Surface interface {
	// Locate follows the parameters of the family, which have changed.
	Locate()
	// Along is v at the latents that Jumps.Latents lists: a view, always the same.
	Along(k int) []float64
	// Density is that of Φ at 0, or near it: positive wherever samples count.
	Density(k int) float64
	// Reached is false if no sample counts on the piece.
	Reached(k int) bool
	// Each reports whether the samples count differently, so that the sum of their
	// jumps is not enough.
	Each(k int) bool
}

// Curves are a Surface that moves samples onto some pieces in other ways than along a
// line. A Surface that is none does not reach the pieces of curves.
type Curves interface {
	Surface
	// Curved reports whether piece k is one of them. Its Along does not count. Pieces
	// of curves that it is false for are not reached.
	Curved(k int) bool
	// Move writes the points on piece k to dst, Jumps.Latents × N, given the samples z,
	// latents × N, and Φ there: of a hyperplane as phi, of a curve as the last Values of
	// at. All points must be finite.
	Move(dst []float64, k int, z, phi []float64, at *regions.CurveBatch)
}
