package calibration

import "slices"

// both are two sets of data without a parameter in common.
type both struct{ a, b data }

func (d both) names() []string { return slices.Concat(d.a.names(), d.b.names()) }

func (d both) given(side []int, fine int) (log float64, mean, square []float64) {
	log1, mean1, square1 := d.a.given(side, fine)
	log2, mean2, square2 := d.b.given(side, fine)
	return log1 + log2, slices.Concat(mean1, mean2), slices.Concat(square1, square2)
}

func (d both) logPrior(param []float64) float64 {
	n := len(d.a.names())
	return d.a.logPrior(param[:n]) + d.b.logPrior(param[n:])
}

func (d both) logProb(side []int, param []float64) float64 {
	n := len(d.a.names())
	return d.a.logProb(side, param[:n]) + d.b.logProb(side, param[n:])
}
