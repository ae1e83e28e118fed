package cells

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/vi/family"
)

// modeApart is how many standard deviations another mode is from all others in some latent.
const modeApart = 4

// moments are means and standard deviations of the latents, of discrete ones those of the values.
type moments struct{ mean, sd []float64 }

// momentsOf are those of points.
func momentsOf(points [][]float64) moments {
	n := float64(len(points))
	m := moments{make([]float64, len(points[0])), make([]float64, len(points[0]))}
	for _, z := range points {
		for i, v := range z {
			m.mean[i] += v
			m.sd[i] += v * v
		}
	}
	floats.Scale(1/n, m.mean)
	for i, mean := range m.mean {
		m.sd[i] = math.Sqrt(max(0, m.sd[i]/n-mean*mean))
	}
	return m
}

// momentsOfNormal are those of the coordinates.
func momentsOfNormal(q *family.Normal) (m moments) {
	for i := range q.Dim() {
		m.mean, m.sd = append(m.mean, q.Mean(i)), append(m.sd, q.SD(i))
	}
	return m
}

// near reports whether a point is less than modeApart standard deviations from the mean, in all latents but some.
func (m moments) near(at []float64, but []bool) bool {
	for i, x := range at {
		if !but[i] && math.Abs(x-m.mean[i]) > modeApart*m.sd[i] {
			return false
		}
	}
	return true
}

// totals are what the cells that were found are together.
type totals struct {
	total          float64 // log of their mass
	mean, variance []float64
	least          float64 // log of the mass from which on a cell counts,
	leastVariance  float64 // and the part of a latent's variance
}

// square is what a cell of so much mass adds to the variance of latent i.
func (w totals) square(i int, log float64, m moments) float64 {
	off := m.mean[i] - w.mean[i]
	return math.Exp(log-w.total) * (off*off + m.sd[i]*m.sd[i])
}

// share is the larger of the parts that a cell has in the mass and in the variance of a latent.
func (w totals) share(log float64, m moments) float64 {
	share := math.Exp(log - w.total)
	for i, v := range w.variance {
		if v > 0 {
			share = max(share, w.square(i, log, m)/v)
		}
	}
	return share
}

// counts reports whether a cell of so much mass, of which this may be known, is one to look at.
func (w totals) counts(log float64, m moments) bool {
	return log > w.least || log > math.Inf(-1) && w.share(log, m) > w.leastVariance
}
