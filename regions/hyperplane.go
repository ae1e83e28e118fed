package regions

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Hyperplane is the sparse affine form
//
//	Φ(z) = Σ_k Coef[k]·z[Index[k]] + Const
//
// and stands for its zero set, and for the guard Φ(z) > 0. Index and Coef have one length, Index is strictly increasing from 0 up,
// each Coef is finite and not zero. Validate checks this; At and String do not.
type Hyperplane struct {
	Index []int     // the coordinates that Φ uses
	Coef  []float64 // the normal, at those coordinates
	Const float64
}

// At returns Φ(z). It panics if z has no coordinate that Φ uses.
func (h Hyperplane) At(z []float64) float64 {
	sum := h.Const
	for k, i := range h.Index {
		sum += float64(h.Coef[k] * z[i]) // the conversion forbids a fused multiply-add, so that SignBatch rounds alike
	}
	return sum
}

// String returns the form as mathematics, with digits enough to tell any two forms apart: z3 - 2·z5 + 0.5.
func (h Hyperplane) String() string {
	var b strings.Builder
	for k := range min(len(h.Index), len(h.Coef)) {
		coef := writeSign(&b, h.Coef[k])
		if coef != 1 {
			b.WriteString(number(coef) + "·")
		}
		b.WriteString("z" + strconv.Itoa(h.Index[k]))
	}
	if h.Const != 0 || b.Len() == 0 {
		b.WriteString(number(writeSign(&b, h.Const)))
	}
	return b.String()
}

// writeSign writes the operator that joins x to the terms before it, and returns what is left of x to write.
func writeSign(b *strings.Builder, x float64) float64 {
	first := b.Len() == 0
	switch {
	case x < 0 && first:
		b.WriteString("-")
	case x < 0:
		b.WriteString(" - ")
	case !first:
		b.WriteString(" + ")
	}
	return math.Abs(x)
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Validate returns nil if h is a hyperplane as the type describes it, and otherwise an error that wraps [ErrNoNormal], [ErrNotFinite]
// or [ErrMalformed].
func (h Hyperplane) Validate() error {
	if err := h.fault(); err != nil {
		return fmt.Errorf("regions: hyperplane: %w", err)
	}
	return nil
}

// fault is the error of Validate without its prefix.
func (h Hyperplane) fault() error {
	if len(h.Index) != len(h.Coef) {
		return fmt.Errorf("%d indices but %d coefficients: %w", len(h.Index), len(h.Coef), ErrMalformed)
	}
	if len(h.Index) == 0 {
		return ErrNoNormal
	}
	if !finite(h.Const) {
		return fmt.Errorf("constant %v: %w", h.Const, ErrNotFinite)
	}
	last := -1
	for k, i := range h.Index {
		switch c := h.Coef[k]; {
		case i < 0:
			return fmt.Errorf("index %d is negative: %w", i, ErrMalformed)
		case i <= last:
			return fmt.Errorf("index %d follows %d, but indices must increase: %w", i, last, ErrMalformed)
		case c == 0:
			return fmt.Errorf("coefficient of z%d is zero, leave it out: %w", i, ErrMalformed)
		case !finite(c):
			return fmt.Errorf("coefficient %v of z%d: %w", c, i, ErrNotFinite)
		}
		last = i
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// canonical returns the multiple of h whose largest coefficient has magnitude 1 and whose first coefficient is positive, and the
// factor: h = scale·canonical. Forms with one zero set have one canonical form up to rounding, exactly one if their factor is ± a
// power of two. The canonical form of a canonical form is itself, bit for bit. It shares no memory with h.
//
// The errors are those of Validate, and [ErrRange] if a division by scale overflows, or underflows to zero.
func (h Hyperplane) canonical() (c Hyperplane, scale float64, err error) {
	if err := h.Validate(); err != nil {
		return Hyperplane{}, 0, err
	}
	scale = h.scale()
	c = Hyperplane{Index: slices.Clone(h.Index), Coef: make([]float64, len(h.Coef)), Const: h.Const / scale}
	if !kept(h.Const, c.Const) {
		return Hyperplane{}, 0, fmt.Errorf("regions: hyperplane: constant %v over %v: %w", h.Const, scale, ErrRange)
	}
	if c.Const == 0 {
		c.Const = 0 // not −0
	}
	for k, x := range h.Coef {
		c.Coef[k] = x / scale
		if !kept(x, c.Coef[k]) {
			return Hyperplane{}, 0, fmt.Errorf("regions: hyperplane: coefficient %v of z%d over %v: %w", x, h.Index[k], scale, ErrRange)
		}
	}
	return c, scale, nil
}

// scale returns the largest magnitude of a coefficient, with the sign of the first.
func (h Hyperplane) scale() float64 {
	var largest float64
	for _, c := range h.Coef {
		largest = max(largest, math.Abs(c))
	}
	return math.Copysign(largest, h.Coef[0])
}

// kept reports whether a division has left x in the range of float64.
func kept(x, quotient float64) bool {
	return !math.IsInf(quotient, 0) && (x == 0) == (quotient == 0)
}
