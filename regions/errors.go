package regions

import (
	"errors"
	"fmt"
)

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

// PlaneError says which plane of an arrangement a map has spoiled. It wraps [ErrNoNormal] or [ErrNotFinite].
type PlaneError struct {
	Plane int        // number of the plane
	Form  Hyperplane // the plane before the map
	Err   error
}

// Error names the plane, its form and the fault.
func (e *PlaneError) Error() string {
	return fmt.Sprintf("regions: image of plane %d (%v): %v", e.Plane, e.Form, e.Err)
}

// Unwrap returns Err.
func (e *PlaneError) Unwrap() error { return e.Err }
