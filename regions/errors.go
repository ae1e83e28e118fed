package regions

import "errors"

// The faults of an affine form. They come wrapped with the offending part; test for them with errors.Is.
var (
	// ErrNoNormal says that a form has no coefficients: it is constant, so its zero set is no hyperplane.
	ErrNoNormal = errors.New("no normal: a hyperplane needs a nonzero coefficient")

	// ErrNotFinite says that a coefficient or constant is NaN or infinite.
	ErrNotFinite = errors.New("coefficients and constant must be finite")

	// ErrMalformed says that Index and Coef are not the sparse form that [Hyperplane] describes, or that an index is outside the
	// arrangement.
	ErrMalformed = errors.New("malformed sparse form")

	// ErrRange says that the numbers of a form lie too far apart: divided by the largest coefficient, one overflows or vanishes.
	ErrRange = errors.New("ratio to the largest coefficient is outside the range of float64")
)
