package family

import "github.com/facetvi/facet/boundary"

// A Surface moves the samples of a batch onto pieces, numbered as they were given, and
// pulls back what is found there. With w, the density of q along a sample's way, the
// boundary term of piece k is
//
//	Σ w·Δ·(∂z/∂θ)ᵀ∇Φ   at the points z_b on the piece, for jumps Δ of log r.
type Surface interface {
	boundary.Surface
	// Params are the parameters that the term of piece k touches, or all.
	Params(k int) []int
	// Clear clears the sums that the term of piece k adds to.
	Clear(sums []float64, k int)
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

// A fullSurface is what surfaces have in common whose terms touch all n parameters and
// sums, and need each jump.
type fullSurface struct{ n int }

func (d fullSurface) Params(int) []int {
	all := make([]int, d.n)
	for k := range all {
		all[k] = k
	}
	return all
}

func (fullSurface) Clear(sums []float64, _ int)       { clear(sums) }
func (fullSurface) Seeds() bool                       { return false }
func (fullSurface) Each(int) bool                     { return true }
func (fullSurface) AddSums([]float64, int, []float64) { panic("family: each jump is needed") }

// A Method says how a sample is moved onto a hyperplane (Lee, Yu and Yang,
// Theorem 3). For independent latents and a plane with one coordinate all are
// the same.
type Method uint8

const (
	// Own is the method that suits the family: Orthogonal, but Elimination for
	// sequential normals with parents, where Orthogonal costs two to six times as
	// much.
	Own Method = iota
	// Orthogonal projection moves along the normal in ε, which is Σa in z. Its
	// weights are constants.
	Orthogonal
	// Elimination solves for one coordinate of ε, and keeps the others. Where its
	// scale s is small beside that of the rest, v, the weights of guards that are m
	// away have a heavy tail: E[w²]/E[w]² grows like exp(m²·(1/(s²+v²) −
	// 1/(s²+2v²))), and few samples see such guards.
	Elimination
)

// String is the method's name.
func (m Method) String() string {
	return [...]string{"the family's own", "orthogonal", "elimination"}[m]
}
