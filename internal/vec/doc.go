// Package vec has the loops over contiguous float64 that a batch of samples
// spends its time in, such as
//
//	Affine: dst_i = a·x_i + b      AddScaled: dst_i += a·x_i      Sum: Σ_i x_i
//
//	x  ▏0 1 2 3▕▏4 5 6 7▕▏8 9       four at a time, and what is left over
//
// On amd64 with AVX2 they handle four numbers at a time;
// elsewhere, and for what is left over, plain Go does the same arithmetic in the
// same order, so that results do not depend on the path: no fused
// multiply-add, and sums run in sixteen lanes on both. Normals has a loop for
// AVX-512 too, with the same bits.
//
// Signs are 1.0 or 0.0, as in the matrices of package graph. Slices other than
// dst must be at least as long as dst, and may be dst itself; they must not
// overlap it otherwise. Nothing allocates. Package kernel has the operations made of them.
package vec
