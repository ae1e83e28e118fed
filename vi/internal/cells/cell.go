package cells

import (
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

	area
	peak
	center   []float64 // about the mean of the posterior in the cell
	moments  moments
	share    float64 // the largest part in the mass or in the variance of a latent, when it was weighed
	even     float64 // part of the draws of Q that is effective
	mixed    bool    // Q is a mixture over intervals of switches
	expanded bool
	order    int // of the cells that were looked at
}

// An area is where a cell is.
type area struct {
	region regions.Signs // of a point inside
	span   []span
	open   []regions.Side // which bound the cell, but not Q
}

// A peak is where log r is highest in a cell.
type peak struct {
	point    []float64 // the mode of what log r is in the region,
	drawn    bool      // which was one of Settings.Points before it was looked for;
	modeless bool      // none was found
}

// When the evidence of a cell is known well enough.
const (
	weighty  = 0.01 // of the mass of a cell that is judged by more than its search,
	judgedSE = 0.1  // and the log evidence of one of less whose standard error times its share is no less than of one of that mass
)

// known reports whether the evidence is known well enough for what the cell is in the whole.
func (c *Cell) known() bool { return c.LogEvidence.SE < judgedSE*max(1, weighty/c.share) }
