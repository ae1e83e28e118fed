package compare

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/regions"
)

// Guards whose zero sets have a piece in common flip together there, and so have to be
// one guard in a term of log r that depends on both. Terms that depend on one of them each
// have jumps of their own, which add up. Hyperplanes are compared when they are made, and
// what is a product of them is written so (see positiveFactors). Of other curves the pieces
// are seen on lines: a line in the direction of a latent through a random point meets
// different pieces in different points, with probability 1.

const (
	overlapLines = 8    // in the direction of each latent
	overlapWidth = 1e-9 // of what is one point, relative
)

// A crossing is where a line meets the zero set of a plane.
type crossing struct {
	at    float64
	plane int
}

// Overlap is an error if a curve has a piece in common with another one, or with a
// hyperplane, and a term depends on both: if they meet several lines in the same points.
func (m *Maker) Overlap(arr *regions.Arrangement, terms iter.Seq[ir.ID]) error {
	list, curved := crossings(arr, m.program.Dim())
	if !curved {
		return nil
	}
	met, pairs := map[[2]int]int{}, [][2]int(nil)
	for _, on := range list {
		slices.SortFunc(on, func(a, b crossing) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.plane, b.plane)) })
		for k, a := range on {
			for _, b := range on[k+1:] {
				if b.at-a.at > overlapWidth*(1+math.Abs(a.at)) {
					break
				}
				if a.plane == b.plane || arr.Curve(a.plane) == nil && arr.Curve(b.plane) == nil {
					continue
				}
				pair := [2]int{min(a.plane, b.plane), max(a.plane, b.plane)}
				if met[pair]++; met[pair] == 2 {
					pairs = append(pairs, pair)
				}
			}
		}
	}
	if k := m.together(pairs, terms); k >= 0 {
		return m.overlapError(arr, pairs[k])
	}
	return nil
}

// together is the number of a pair of planes on both of which one of terms depends, −1 if there is none.
func (m *Maker) together(pairs [][2]int, terms iter.Seq[ir.ID]) int {
	if len(pairs) == 0 {
		return -1
	}
	for id := range terms {
		signs := m.st.PlanesIn(id)
		if k := slices.IndexFunc(pairs, func(p [2]int) bool { return slices.Contains(signs, p[0]) && slices.Contains(signs, p[1]) }); k >= 0 {
			return k
		}
	}
	return -1
}

// sameRounded is how near to one another the numbers of two planes are that differ by rounding alone.
const sameRounded = 1e-12

func (m *Maker) overlapError(arr *regions.Arrangement, pair [2]int) error {
	var of [2]Comparison
	for k, l := range pair {
		of[k] = m.Made[slices.IndexFunc(m.Made, func(g Comparison) bool { return g.Side.Plane == l })]
	}
	a, b := arr.Plane(pair[0]), arr.Plane(pair[1])
	if slices.Equal(a.Index, b.Index) && floats.EqualApprox(a.Coef, b.Coef, sameRounded) && scalar.EqualWithinAbsOrRel(a.Const, b.Const, sameRounded, sameRounded) {
		return fmt.Errorf("graph: %v: %s and, at %v, the same guard with numbers that differ by rounding: a term depends on both; compute the numbers once",
			of[1].Place, of[1].Write("="), of[0].Place)
	}
	return fmt.Errorf("graph: %v: %s and, at %v, %s have a part in common, where both guards change at once: compare the factors of the larger one each by itself",
		of[1].Place, of[1].Write("="), of[0].Place, of[0].Write("="))
}

// crossings are the crossings on each line, and whether there are curves.
func crossings(arr *regions.Arrangement, latents int) (list [][]crossing, curved bool) {
	for l := range arr.Len() {
		curved = curved || arr.Curve(l) != nil
	}
	if !curved {
		return nil, false
	}
	rng := rand.New(rand.NewPCG(1, 0))
	z := make([]float64, arr.Dim()*overlapLines)
	for k := range z {
		z[k] = rng.NormFloat64()
	}
	const n = overlapLines
	list = make([][]crossing, latents*n)
	meet := func(i, line int, at float64, plane int) {
		if ir.IsFinite(at) {
			list[i*n+line] = append(list[i*n+line], crossing{at, plane})
		}
	}
	for l, h := range arr.Planes() {
		c := arr.Curve(l)
		if c == nil {
			for line := range n {
				phi := h.Const
				for k, i := range h.Index {
					phi += h.Coef[k] * z[i*n+line]
				}
				for k, i := range h.Index {
					meet(i, line, z[i*n+line]-phi/h.Coef[k], l)
				}
			}
			continue
		}
		b := c.Bind(n)
		for k, i := range c.Latents() {
			b.In[k] = z[i*n:][:n]
		}
		b.Values()
		for _, k := range c.Pivots() {
			for r, at := range b.Solve(k) {
				meet(c.Latents()[k], r%n, at, l)
			}
		}
	}
	return list, true
}

const (
	missedLines = 4   // through random points, in the direction of each latent
	missedReach = 8   // from 0, in the latent's coordinate
	missedSteps = 512 // on a line
	flatSlope   = 1e-6
	sameRoot    = 1e-5
)

// unsolvable is an error if plane l is a curve of which a part cannot be solved for any
// latent.
func (m *Maker) unsolvable(l int) error {
	c := m.Arr.Curve(l)
	if c == nil {
		return nil
	}
	if slices.ContainsFunc(c.Pivots(), func(k int) bool { return c.Latents()[k] >= m.program.Params() }) {
		return m.missed(l)
	}
	var why []string
	for k, i := range c.Latents() {
		if i < m.program.Params() {
			continue
		}
		why = append(why, fmt.Sprintf("for %s: %s", m.program.Latent(int(i)).Name(), c.WhyNot(k)))
	}
	return fmt.Errorf("%s cannot be solved for any of its latents: %s", m.surface(l).Write("="), strings.Join(why, "; "))
}

// missed is an error if curve l, which can be solved for some of its latents, has a part
// that cannot, as x = 1 of (x − 1)·(sin(x) + y) if that is not written as a product: on
// lines along the other latents it looks for zeros where no slope but theirs is left.
func (m *Maker) missed(l int) error {
	c := m.Arr.Curve(l)
	rng := rand.New(rand.NewPCG(2, 0))
	for k, i := range c.Latents() {
		if c.WhyNot(k) == "" || i < m.program.Params() {
			continue
		}
		for range missedLines {
			z := make([]float64, len(c.Latents()))
			for j := range z {
				z[j] = rng.NormFloat64()
			}
			if at, found := missedOn(c, k, z); found {
				return fmt.Errorf("%s = %.6g is a part of %s, which cannot be solved for %s: %s; compare the factors of the product each by itself",
					m.coordinate(i), at, m.surface(l).Write("="), m.program.Latent(int(i)).Name(), c.WhyNot(k))
			}
		}
	}
	return nil
}

// missedOn looks on the line through z along latent k.
func missedOn(c *regions.Curve, k int, z []float64) (at float64, found bool) {
	line, one := c.Bind(missedSteps), c.Bind(1)
	for j, x := range z {
		line.In[j], one.In[j] = slices.Repeat([]float64{x}, missedSteps), []float64{x}
	}
	for s := range missedSteps {
		line.In[k][s] = missedReach * (2*(float64(s)+0.5)/missedSteps - 1)
	}
	value := func(x float64) float64 { one.In[k][0] = x; return one.Values()[0] }
	phi := line.Values()
	for s := 1; s < missedSteps; s++ {
		if !(phi[s-1]*phi[s] < 0) {
			continue
		}
		lo, hi := line.In[k][s-1], line.In[k][s]
		for range 60 {
			if mid := lo + (hi-lo)/2; value(mid)*phi[s] > 0 {
				hi = mid
			} else {
				lo = mid
			}
		}
		value(hi)
		inside := one.Inside(0)
		value(lo)
		slopes := one.Slopes()
		rest := 0.0
		for _, j := range c.Pivots() {
			rest = max(rest, math.Abs(slopes[j][0]))
		}
		if inside && one.Inside(0) && rest < flatSlope*math.Abs(slopes[k][0]) && !isSolved(c, one) {
			return lo, true
		}
	}
	return 0, false
}

// isSolved reports whether the point of b is the root of a curve for one of its latents.
func isSolved(c *regions.Curve, b *regions.CurveBatch) bool {
	for _, j := range c.Pivots() {
		x := b.In[j][0]
		if slices.ContainsFunc(b.Solve(j), func(root float64) bool { return math.Abs(root-x) < sameRoot*(1+math.Abs(x)) }) {
			return true
		}
	}
	return false
}
