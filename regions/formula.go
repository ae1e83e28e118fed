package regions

import (
	"fmt"
	"math"
	"slices"
)

// A formula is steps, of which the last is Φ, and what is known of them.
type formula struct {
	steps   []Step
	latents []int     // coordinates, ascending
	leaf    []int     // the steps that are their coordinates
	uses    [][]bool  // by latent: the steps that depend on it
	signs   []signSet // of the values of steps
}

// newFormula panics if a step refers to one that is not before it.
func newFormula(steps []Step) formula {
	c := formula{steps: steps, signs: make([]signSet, len(steps))}
	at := map[int]int{}
	for s, x := range steps {
		for o := range x.operands {
			if o < 0 || o >= s {
				panic(fmt.Sprintf("regions: step %d refers to step %d", s, o))
			}
		}
		if x.Kind == Coordinate {
			if _, known := at[x.A]; known {
				panic(fmt.Sprintf("regions: coordinate %d is two steps", x.A))
			}
			at[x.A] = s
			c.latents = append(c.latents, x.A)
		}
		c.signs[s] = c.signOf(x)
	}
	slices.Sort(c.latents)
	for _, i := range c.latents {
		c.leaf = append(c.leaf, at[i])
		c.uses = append(c.uses, c.dependents(at[i]))
	}
	return c
}

// dependents are the steps that depend on the given one.
func (c *formula) dependents(of int) []bool {
	on := make([]bool, len(c.steps))
	on[of] = true
	for s, x := range c.steps {
		for o := range x.operands {
			on[s] = on[s] || on[o]
		}
	}
	return on
}

// exponent is that of a power if it is a whole number other than 0, and else 0.5.
func (c *formula) exponent(x Step) float64 {
	p := c.steps[x.B]
	if p.Kind == Affine && len(p.Terms) == 0 && p.Const == math.Trunc(p.Const) && p.Const != 0 {
		return p.Const
	}
	return 0.5
}
