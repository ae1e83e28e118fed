package regions

import (
	"fmt"
	"iter"
	"slices"

	"github.com/facetvi/facet/internal/vec"
)

// Arrangement is a finite set of different surfaces in ℝⁿ, numbered in the order of their first registration: hyperplanes, and curves,
// which are hyperplanes in the coordinates and in features of them. Make one with [NewArrangement] and fill it with Add. Any number of goroutines may use an arrangement while none of them calls Add.
type Arrangement struct {
	dim      int
	features [][]Step
	planes   []plane
	curves   []*Curve // by plane; nil where Φ is affine in the latents
	shared   shared
	index    index         // of the planes; made by the first Add
	steps    []vec.StepRow // of the planes with one coordinate, for SignBatch
	dense    bool          // some planes have several coordinates, or are curves
}

// Side is a guard as one side of a plane: the guard holds where the sign of the plane is + if Positive, and − if not. On the plane
// itself, where every sign is − by definition, a guard and its side differ if the side is negative.
type Side struct {
	Plane    int // number of the plane in its arrangement
	Positive bool
}

// Holds reports whether the guard holds in region s. It panics if s has no sign for the plane.
func (d Side) Holds(s Signs) bool { return s.Positive(d.Plane) == d.Positive }

// NewArrangement returns the arrangement of no planes in ℝ^dim. It panics if dim is negative.
func NewArrangement(dim int) *Arrangement {
	if dim < 0 {
		panic(fmt.Sprintf("regions: dimension %d", dim))
	}
	return &Arrangement{dim: dim, index: newIndex(nil)}
}

// First returns the arrangement of the first n planes of a, with their numbers, in ℝ^dim, where a's features have the coordinates from
// dim up. It panics if a plane has a coordinate outside.
func (a *Arrangement) First(n, dim int) *Arrangement {
	b := &Arrangement{dim: dim, features: slices.Clip(a.features), planes: slices.Clone(a.planes[:n]), steps: slices.Clip(a.steps[:n]), curves: slices.Clip(a.curves[:n])}
	for l := range b.planes {
		if of := a.Latents(l); of[len(of)-1] >= dim {
			panic(fmt.Sprintf("regions: z%d in %d dimensions", of[len(of)-1], dim))
		}
		b.dense = b.dense || len(b.planes[l].Index) > 1 || a.curves[l] != nil
		if a.curves[l] == nil {
			continue
		}
		index := slices.Clone(b.planes[l].Index)
		for k, i := range index {
			if i >= a.dim {
				index[k] = i - a.dim + dim
			}
		}
		b.planes[l].Index = index
		b.shared.add(l, &b.planes[l].Hyperplane)
	}
	return b
}

// Add is AddRounded of a form whose numbers are exact.
func (a *Arrangement) Add(h Hyperplane) (Side, error) { return a.AddRounded(h, Rounding{}) }

// AddRounded registers the guard h(z) > 0, whose numbers are off by at most r, and returns it as a side of a plane: of a new one, or of
// the first that has the same zero set. It keeps no reference to h or r. Its time does not depend on the number of planes, unless errors
// are so large that few digits are left.
//
// Two zero sets are the same if the forms use the same coordinates and are equal, up to a factor and to what arithmetic has rounded:
//
//   - Forms with one largest coefficient, or two that differ by a power of two, are compared number by number, each to within its two
//     errors, with nothing added for the rounding of the comparison. So exact ones are different if one bit is: z0 − 1 and z0 − (1 + 2⁻⁵²).
//   - Forms with other factors, 3·z0 − 1 and z0 − 1/3, may have been rounded in finding the factor: their ratios may differ by 4
//     roundings more.
//   - Forms with one canonical form, bit for bit, are the same.
//
// The errors are those of [Hyperplane.Validate], [ErrRange], and [ErrMalformed] if h uses a coordinate outside the arrangement; they
// leave it unchanged. AddRounded panics if r has bounds for another number of coefficients.
func (a *Arrangement) AddRounded(h Hyperplane, r Rounding) (Side, error) {
	p, scale, err := newPlane(h, r)
	if err != nil {
		return Side{}, err
	}
	last := p.Index[len(p.Index)-1]
	if last >= a.dim+len(a.features) {
		return Side{}, fmt.Errorf("regions: hyperplane: z%d in %d dimensions: %w", last, a.dim, ErrMalformed)
	}
	if a.index.newest == nil {
		a.index = newIndex(a.planes)
	}
	at := p.position()
	l, known := a.index.find(&p, at, a.planes)
	if !known {
		l = len(a.planes)
		a.index.insert(at, l)
		a.planes = append(a.planes, p)
		a.steps = append(a.steps, vec.StepRow{A: p.Coef[0], C: p.Const, Row: p.Index[0]})
		a.dense = a.dense || len(p.Index) > 1 || last >= a.dim
		if a.curves = append(a.curves, a.curve(p.Hyperplane)); a.curves[l] != nil {
			a.shared.add(l, &p.Hyperplane)
		}
	}
	return Side{Plane: l, Positive: scale > 0}, nil
}

// AddFeature adds a number that steps compute from coordinates, none of them affine alone, and returns its own coordinate, from Dim()
// up. A plane that uses it is a [Curve]. It keeps steps.
func (a *Arrangement) AddFeature(steps []Step) (coordinate int) {
	a.features = append(a.features, steps)
	return a.dim + len(a.features) - 1
}

// Curve is Φ of plane l where it uses features; nil where it is affine. It is that of the plane's canonical form.
func (a *Arrangement) Curve(l int) *Curve { return a.curves[l] }

// Latents are the coordinates that Φ of plane l uses, ascending, features resolved.
func (a *Arrangement) Latents(l int) []int {
	if c := a.curves[l]; c != nil {
		return c.latents
	}
	return a.planes[l].Index
}

// curve is h as one, if it uses features.
func (a *Arrangement) curve(h Hyperplane) *Curve {
	if h.Index[len(h.Index)-1] < a.dim {
		return nil
	}
	var steps []Step
	leaf := map[int]int{}
	sum := Step{Kind: Affine, Const: h.Const}
	for k, i := range h.Index {
		feature := []Step{{Kind: Coordinate, A: i}}
		if i >= a.dim {
			feature = a.features[i-a.dim]
		}
		at := make([]int, len(feature)) // of its steps in the curve
		for s, x := range feature {
			if x.Kind == Coordinate {
				known, ok := leaf[x.A]
				if !ok {
					known = len(steps)
					leaf[x.A] = known
					steps = append(steps, x)
				}
				at[s] = known
				continue
			}
			at[s] = len(steps)
			steps = append(steps, x.moved(at))
		}
		sum.Terms = append(sum.Terms, Term{at[len(at)-1], h.Coef[k]})
	}
	return NewCurve(append(steps, sum))
}

// At is Φ of plane l at z, which must have Dim() coordinates.
func (a *Arrangement) At(l int, z []float64) float64 {
	c := a.curves[l]
	if c == nil {
		return a.planes[l].At(z)
	}
	b := c.batch(1)
	defer c.release(b)
	return b.valuesAt(z)[0]
}

// Tangent is the affine form that agrees with Φ of plane l at z in value and slopes: Φ itself where it is affine.
func (a *Arrangement) Tangent(l int, z []float64) Hyperplane {
	c := a.curves[l]
	if c == nil {
		return a.planes[l].Hyperplane
	}
	b := c.batch(1)
	defer c.release(b)
	h := Hyperplane{Const: b.valuesAt(z)[0]}
	for k, slope := range b.Slopes() {
		if slope[0] != 0 {
			h.Index, h.Coef = append(h.Index, c.latents[k]), append(h.Coef, slope[0])
			h.Const -= float64(slope[0] * z[c.latents[k]])
		}
	}
	return h
}

// Reserve makes room for n more planes.
func (a *Arrangement) Reserve(n int) {
	a.planes, a.steps, a.curves = slices.Grow(a.planes, n), slices.Grow(a.steps, n), slices.Grow(a.curves, n)
}

// Len returns the number of planes, and so of signs.
func (a *Arrangement) Len() int { return len(a.planes) }

// Dim returns the dimension n of the space.
func (a *Arrangement) Dim() int { return a.dim }

// Plane returns plane l in its canonical form: a positive multiple of the guard that made it, or its negative, whose largest coefficient
// has magnitude 1 and whose first coefficient is positive. Coordinates from Dim() up are features: see Curve. The caller must not change its slices. It panics unless 0 ≤ l < Len().
func (a *Arrangement) Plane(l int) Hyperplane { return a.planes[l].Hyperplane }

// Planes iterates over the planes by number, each as Plane returns it.
func (a *Arrangement) Planes() iter.Seq2[int, Hyperplane] {
	return func(yield func(int, Hyperplane) bool) {
		for l := range a.planes {
			if !yield(l, a.planes[l].Hyperplane) {
				return
			}
		}
	}
}

// Signs returns the region of z: + for each plane with Φ(z) > 0, and − where Φ(z) ≤ 0. A NaN has sign −. It panics unless len(z) is
// Dim().
func (a *Arrangement) Signs(z []float64) Signs {
	if len(z) != a.dim {
		panic(fmt.Sprintf("regions: point of length %d in %d dimensions", len(z), a.dim))
	}
	if !a.dense { // as At, without its loop
		return makeSigns(len(a.planes), func(l int) bool {
			s := &a.steps[l]
			return s.C+float64(s.A*z[s.Row]) > 0
		})
	}
	return makeSigns(len(a.planes), func(l int) bool { return a.At(l, z) > 0 })
}
