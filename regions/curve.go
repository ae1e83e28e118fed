package regions

import (
	"slices"
	"sync"
)

// A Curve is Φ of a guard that is not affine, as a list of steps of which the last is Φ. It knows which coordinates Φ = 0 can be solved
// for: given all others there is one root or none, or, of squares, two.
type Curve struct {
	formula
	pivots []pivot // by latent
	back   backward
	pool   sync.Pool // of *CurveBatch
}

// NewCurve returns the curve of the steps, which it keeps. It panics if a step refers to one that is not before it.
func NewCurve(steps []Step) *Curve {
	c := &Curve{formula: newFormula(steps), back: newBackward(steps)}
	for k := range c.latents {
		c.pivots = append(c.pivots, c.newPivot(k))
	}
	return c
}

// Renumbered is the curve with coordinate number[i] in place of i. The order of those that Φ
// uses must stay.
func (c *Curve) Renumbered(number []int) *Curve {
	steps := slices.Clone(c.steps)
	for s, x := range steps {
		if x.Kind == Coordinate {
			steps[s].A = number[x.A]
		}
	}
	return NewCurve(steps)
}

// Latents are the coordinates that Φ uses, ascending.
func (c *Curve) Latents() []int { return c.latents }

// Pivots are the positions in Latents of those that Φ = 0 can be solved for.
func (c *Curve) Pivots() (list []int) {
	for k := range c.pivots {
		if c.pivots[k].wrong == "" {
			list = append(list, k)
		}
	}
	return list
}

// WhyNot says why Φ = 0 cannot be solved for latent k of Latents; "" if it can.
func (c *Curve) WhyNot(k int) string { return c.pivots[k].wrong }

// Straight reports whether Φ is a multiple of latent k of Latents plus what does not depend on it, by sums alone.
func (c *Curve) Straight(k int) bool { return c.pivots[k].straight }

// Separate reports whether Φ is a function of latent k of Latents plus what does not depend on it.
func (c *Curve) Separate(k int) bool { return c.pivots[k].separate }

// Trend is 1 if Φ increases strictly with latent k of Latents wherever the others are, −1 if it decreases, and 0 if that is not known.
func (c *Curve) Trend(k int) int { return c.pivots[k].trend }

// Roots is the largest number of roots that Solve finds for latent k.
func (c *Curve) Roots(k int) int { return c.pivots[k].roots }
