//go:build long

// The probability of the event by a forward recursion, and a search on a grid, to compare with.

package main

import "math"

// exact is the probability of the event. A threshold cuts the interval around a point of the grid, so that the error falls as width².
func exact(at [2]float64, width float64) (probability float64) {
	const bottom, top = 8.0, 36.0
	n := int((top - bottom) / width)
	density := func(z, sd float64) float64 { return math.Exp(-z*z/(2*sd*sd)) / (sd * math.Sqrt(2*math.Pi)) }
	x := func(k int) float64 { return bottom + (float64(k)+0.5)*width }
	below := func(edge float64, k int) float64 { return min(max((edge-x(k))/width+0.5, 0), 1) }
	move := func(to, from []float64, heat float64) {
		for i, p := range from {
			mean := kept*x(i) + heat
			for k := max(0, int((mean-7*noise-bottom)/width)); p > 1e-15 && k < n && x(k) < mean+7*noise; k++ {
				to[k] += p * density(x(k)-mean, noise) * width
			}
		}
	}
	off, on := make([]float64, n), make([]float64, n)
	for k := range off {
		off[k] = density(x(k)-30, 1) * width
	}
	for t := 1; t <= steps; t++ {
		cooled, heated := make([]float64, n), make([]float64, n)
		move(cooled, off, 0)
		move(heated, on, heat)
		probability = 0
		for k := range on {
			cold, hot := below(at[0], k), 1-below(max(at[0], at[1]), k) // where it is cold the heater is on, if high is below low, too
			on[k], off[k] = heated[k]*(1-hot)+cooled[k]*cold, cooled[k]*(1-cold)+heated[k]*hot
			if hits(t) {
				on[k], off[k] = on[k]*(below(target+within, k)-below(target-within, k)), 0
			}
			probability += on[k]
		}
	}
	return probability
}

// best are the thresholds of a grid with the largest probability of the event.
func best(step float64) (at [2]float64) {
	most := 0.0
	for low := 16.0; low < 21.5; low += step {
		for high := low; high < 23; high += step {
			if p := exact([2]float64{low, high}, 0.04); p > most {
				at, most = [2]float64{low, high}, p
			}
		}
	}
	return at
}
