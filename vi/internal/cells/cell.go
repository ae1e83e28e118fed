package cells

import (
	"fmt"
	"slices"
	"strings"

	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// A Cell is a part of the latent space without cliffs inside, and a distribution that
// is near the posterior there.
type Cell struct {
	Q                 family.Q
	ELBO, LogEvidence mc.Estimate
	KHat              float64

	region   regions.Signs // of a point inside
	span     []span
	open     []regions.Side // which bound the cell, but not Q
	point    []float64      // the mode of what log r is in region
	starts   [][]float64    // other points from where to look for modes
	center   []float64      // about the mean of the posterior in the cell
	mean, sd []float64      // means and standard deviations there, of discrete latents those of the values
	share    float64        // the largest part in the mass or in the variance of a latent, when it was weighed
	even     float64        // part of the draws of Q that is effective
	mixed    bool           // Q is a mixture over intervals of switches
	expanded bool
	drawn    bool // point was one of Settings.Points
	modeless bool // no mode was found
	order    int  // of the cells that were looked at
}

// known reports whether the evidence is known well enough for what the cell is in the whole.
func (c *Cell) known() bool { return c.LogEvidence.SE < judgedSE*max(1, weighty/c.share) }

// A span is what of the line of a group of parallel planes belongs to a cell:
// intervals first to last.
type span struct{ first, last int }

func key(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		fmt.Fprintf(&b, "%d-%d,", s.first, s.last)
	}
	return b.String()
}

// sides are the planes at the ends of the spans.
func (g *lines) sides(spans []span) (sides []regions.Side) {
	for k, s := range spans {
		planes := g.group[k]
		if s.first > 0 {
			sides = append(sides, regions.Side{Plane: planes[s.first-1], Positive: true})
		}
		if s.last < len(planes) {
			sides = append(sides, regions.Side{Plane: planes[s.last], Positive: false})
		}
	}
	return sides
}

// affine are those of sides that are half-spaces, with their planes, and the others.
func (g *lines) affine(sides []regions.Side) (half []family.Side, of, curved []regions.Side) {
	for _, s := range sides {
		if g.arr.Curve(s.Plane) != nil {
			curved = append(curved, s)
			continue
		}
		half = append(half, family.Side{Hyperplane: g.arr.Plane(s.Plane), Positive: s.Positive})
		of = append(of, s)
	}
	return half, of, curved
}

// outside reports whether z is not on one of sides.
func (g *lines) outside(sides []regions.Side, z []float64) bool {
	return slices.ContainsFunc(sides, func(s regions.Side) bool { return g.arr.At(s.Plane, z) > 0 != s.Positive })
}
