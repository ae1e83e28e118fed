package cells

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// noVariance is the k-hat from which on the draws of a cell's distribution say nothing of variances.
const noVariance = 1

// whole is what the cells that were found are together.
type whole struct {
	total          float64 // log of their mass
	mean, variance []float64
	least          float64 // log of the mass from which on a cell counts,
	leastVariance  float64 // and the part of a latent's variance
}

func (f *Search) whole() whole {
	w := whole{total: f.total(), mean: make([]float64, f.d.Dim()), variance: make([]float64, f.d.Dim()), leastVariance: lostSquare * f.s.Lost}
	w.least = w.total + math.Log(f.s.Lost/cautious)
	for _, c := range f.Cells {
		floats.AddScaled(w.mean, math.Exp(c.LogEvidence.Value-w.total), c.mean)
	}
	for _, c := range f.Cells {
		if !(c.KHat < noVariance) {
			continue
		}
		for i := f.d.Params(); i < f.d.Dim(); i++ {
			w.variance[i] += w.square(i, c.LogEvidence.Value, c.mean, c.sd)
		}
	}
	return w
}

// square is what a cell of so much mass adds to the variance of latent i.
func (w whole) square(i int, log float64, mean, sd []float64) float64 {
	off := mean[i] - w.mean[i]
	return math.Exp(log-w.total) * (off*off + sd[i]*sd[i])
}

// share is the larger of the parts that a cell has in the mass and in the variance of a latent.
func (w whole) share(log float64, mean, sd []float64) float64 {
	share := math.Exp(log - w.total)
	for i, v := range w.variance {
		if v > 0 {
			share = max(share, w.square(i, log, mean, sd)/v)
		}
	}
	return share
}

// counts reports whether a cell of so much mass, of which this may be known, is one to look at.
func (w whole) counts(log float64, mean, sd []float64) bool {
	return log > w.least || log > math.Inf(-1) && w.share(log, mean, sd) > w.leastVariance
}
