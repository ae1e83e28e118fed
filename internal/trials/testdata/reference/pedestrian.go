package main

import "math"

// pedestrian weighs draws of the prior.
func pedestrian(seed uint64) *moments {
	rng := random(seed)
	m := newMoments(append([]string{"start"}, names("step", 12)...)...)
	x := make([]float64, 13)
	for range 5_000_000 {
		x[0] = 3 * rng.Float64()
		position, way, out := x[0], 0.0, true
		for k := 1; k < len(x); k++ {
			x[k] = 2*rng.Float64() - 1
			if out {
				way += math.Abs(x[k])
			}
			position += x[k]
			out = out && position > 0
		}
		d := (way - 1.1) / 0.1
		m.add(math.Exp(-d*d/2), x...)
	}
	return m
}
