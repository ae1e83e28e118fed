package family

import "math/rand/v2"

// A pointDrawer is the Drawer of a Q that draws point by point.
type pointDrawer struct {
	q     Q // a copy
	logQ  []float64
	point []float64 // scratch
}

func newPointDrawer(q Q, n int) *pointDrawer {
	return &pointDrawer{q.Clone(), make([]float64, n), make([]float64, q.Dim())}
}

// Locate implements Drawer.
func (d *pointDrawer) Locate(q Q) { d.q.Set(q.Theta()) }

// Draw implements Drawer.
func (d *pointDrawer) Draw(z []float64, rng *rand.Rand) {
	for k := range d.logQ {
		d.q.Rand(d.point, rng)
		d.logQ[k] = d.q.LogProb(d.point)
		for i, x := range d.point {
			z[i*len(d.logQ)+k] = x
		}
	}
}

// SubLogQ implements Drawer.
func (d *pointDrawer) SubLogQ(dst []float64) {
	for k, x := range d.logQ {
		dst[k] -= x
	}
}
