package regions

import (
	"fmt"

	"github.com/facetvi/facet/internal/vec"
)

// SignBatch writes the signs of n points: dst[l·n+s] is 1 where Φ_l > 0 at point s, and 0 where Φ_l ≤ 0. Both matrices are row-major
// and hold the points side by side: z is Dim()×n, dst is Len()×n. Column s is bit for bit what Signs says of point s. It allocates
// nothing. It panics if a length is wrong; dst and z must not overlap.
func (a *Arrangement) SignBatch(dst, z []float64, n int) { a.SignBatchWith(dst, z, n, nil) }

// SignBatchWith is SignBatch with batches of n points for curves, by plane, whose last Values are then at the points: of those that are
// not nil.
func (a *Arrangement) SignBatchWith(dst, z []float64, n int, curves []*CurveBatch) {
	if n < 0 || len(z) != a.dim*n || len(dst) != len(a.planes)*n {
		panic(fmt.Sprintf("regions: %d signs of %d numbers, want %d×%d of %d×%d", len(dst), len(z), len(a.planes), n, a.dim, n))
	}
	if !a.dense {
		vec.StepRows(dst, z, n, a.steps)
		return
	}
	for l, c := range a.curves {
		row := dst[l*n:][:n]
		switch {
		case c == nil:
			a.signRow(row, l, z, n)
		case curves != nil && curves[l] != nil:
			vec.Step(row, curves[l].valuesAt(z), 1, 0)
		case curves != nil || !a.shared.later[l]:
			b := c.batch(n)
			vec.Step(row, b.valuesAt(z), 1, 0)
			if curves == nil {
				for _, k := range a.shared.after[l] {
					row := dst[k*n:][:n]
					b.sum(row, a.planes[k].Const)
					vec.Step(row, row, 1, 0)
				}
			}
			c.release(b)
		}
	}
}

// Shared says which curves are of one function but for a number that is added to it, as the times at which a day may have begun: by the first
// of them, the others.
type shared struct {
	first map[string]int // by indices and coefficients
	after [][]int        // by plane
	later []bool         // those that are after another one
}

// add notes that plane l is a curve.
func (s *shared) add(l int, h *Hyperplane) {
	if s.first == nil {
		s.first = map[string]int{}
	}
	for len(s.after) <= l {
		s.after, s.later = append(s.after, nil), append(s.later, false)
	}
	key := fmt.Sprint(h.Index, h.Coef)
	if k, known := s.first[key]; known {
		s.after[k], s.later[l] = append(s.after[k], l), true
		return
	}
	s.first[key] = l
}

// SignRow is row l of SignBatch. It reads only the rows of z of the latents in hyperplane l. It panics if a length is wrong.
func (a *Arrangement) SignRow(dst []float64, l int, z []float64, n int) {
	if n < 0 || len(z) != a.dim*n || len(dst) != n {
		panic(fmt.Sprintf("regions: %d signs of %d numbers, want %d of %d×%d", len(dst), len(z), n, a.dim, n))
	}
	a.signRow(dst, l, z, n)
}

func (a *Arrangement) signRow(row []float64, l int, z []float64, n int) {
	h := &a.planes[l]
	if c := a.curves[l]; c != nil {
		b := c.batch(n)
		vec.Step(row, b.valuesAt(z), 1, 0)
		c.release(b)
		return
	}
	if len(h.Index) > 1 {
		h.atBatch(row, z, n)
		vec.Step(row, row, 1, 0)
		return
	}
	vec.StepRows(row, z, n, a.steps[l:l+1])
}

// atBatch is At for n points, with the same roundings in the same order.
func (h *Hyperplane) atBatch(dst, z []float64, n int) {
	for s := range dst {
		dst[s] = h.Const
	}
	for k, i := range h.Index {
		vec.AddScaled(dst, h.Coef[k], z[i*n:])
	}
}
