package thermostat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// LogLikelihood is log p(y | lower, upper), by the forward recursion over the heater and a grid of temperatures of the given step. A
// threshold cuts the interval around a point of the grid, so that the error falls as step².
func LogLikelihood(y []float64, lower, upper, step float64) float64 {
	const below, above = initial - 6, initial + 6
	n := int((above-below)/step) + 1
	at := func(k int) float64 { return below + float64(k)*step }
	type heater [2][]float64
	empty := func() heater { return heater{make([]float64, n), make([]float64, n)} }
	law := distuv.Normal{Sigma: noise}
	move := func(to *heater, temperature float64, on bool, weight float64) {
		mean, row := kept*temperature, to[0]
		if on {
			mean, row = mean+heat, to[1]
		}
		const reach = 6 * noise
		for k := max(0, int((mean-reach-below)/step)); k < n && at(k) < mean+reach; k++ {
			row[k] += weight * law.Prob(at(k)-mean) * step
		}
	}
	part := func(threshold, x float64) float64 { return min(max((threshold-x)/step+0.5, 0), 1) } // below it
	log, now := 0.0, empty()
	for t, v := range y {
		to := empty()
		if t == 0 {
			move(&to, initial, true, 1)
		}
		for side, row := range now {
			for k, p := range row {
				if p < 1e-15 {
					continue
				}
				turned := part(lower, at(k)) // of the interval, where the heater is on next
				if side == 1 {
					turned = part(upper, at(k))
				}
				for i, share := range []float64{1 - turned, turned} {
					if share > 0 {
						move(&to, at(k), i == 1, p*share)
					}
				}
			}
		}
		sum := 0.0
		for _, row := range to {
			for k := range row {
				row[k] *= distuv.Normal{Mu: at(k), Sigma: blur}.Prob(v)
				sum += row[k]
			}
		}
		for _, row := range to {
			for k := range row {
				row[k] /= sum
			}
		}
		log, now = log+math.Log(sum), to
	}
	return log
}
