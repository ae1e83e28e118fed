package main

import "math"

// lockdown is random-walk Metropolis, its steps by the covariance of a first part; each second move puts the day anew or moves it a little.
func lockdown(seed uint64) *moments {
	cases := column("lockdown.csv", "cases")
	rng := random(seed)
	center, spread := [4]float64{-0.5, -1.5, -1.5, 2}, [4]float64{0.5, 0.5, 0.5, 0.7}
	logp := func(u [5]float64) float64 {
		if u[4] < 0 || u[4] > 28 {
			return math.Inf(-1)
		}
		v := 0.0
		for k := range center {
			d := (u[k] - center[k]) / spread[k]
			v -= d * d / 2
		}
		before, after, ends, sick := math.Exp(u[0]), math.Exp(u[1]), math.Exp(u[2]), math.Exp(u[3])
		well, stay := 1000-sick, math.Exp(-ends)
		for k, y := range cases {
			meet := after
			if u[4] > float64(k)+0.5 {
				meet = before
			}
			rate := well * -math.Expm1(-meet*sick/1000)
			if !(rate > 0) {
				return math.Inf(-1)
			}
			v += y*math.Log(rate) - rate
			well, sick = well-rate, rate+sick*stay
		}
		return v
	}
	m := newMoments("before", "after", "ends", "first", "when")
	u := [5]float64{-0.5, -1.5, -1.5, 2, 14}
	now := logp(u)
	var n float64
	var mean [4]float64
	var cov, root [4][4]float64
	for k := range root {
		root[k][k] = 0.05
	}
	const burn, moves = 100_000, 1_000_000
	for i := range burn + moves {
		v := u
		if i%2 == 0 {
			var e [4]float64
			for k := range e {
				e[k] = rng.NormFloat64()
				for j := range k + 1 {
					v[k] += root[k][j] * e[j]
				}
			}
		}
		switch {
		case i%4 == 1:
			v[4] = 28 * rng.Float64()
		case i%4 == 3:
			v[4] += 0.7 * rng.NormFloat64()
		}
		if next := logp(v); math.Log(rng.Float64()) < next-now {
			u, now = v, next
		}
		if i < burn {
			n++
			learn(&mean, &cov, u, n)
			if i%1000 == 999 && i > 5000 {
				root = cholesky(cov, 2.4*2.4/4/n)
			}
			continue
		}
		m.add(1, math.Exp(u[0]), math.Exp(u[1]), math.Exp(u[2]), math.Exp(u[3]), u[4])
	}
	return m
}

// learn adds u to a mean and sums of products.
func learn(mean *[4]float64, cov *[4][4]float64, u [5]float64, n float64) {
	var d [4]float64
	for k := range d {
		d[k] = u[k] - mean[k]
		mean[k] += d[k] / n
	}
	for k := range d {
		for j := range d {
			cov[k][j] += d[k] * (u[j] - mean[j])
		}
	}
}

// cholesky is the factor of a multiple of c.
func cholesky(c [4][4]float64, by float64) (l [4][4]float64) {
	for i := range c {
		for j := range i + 1 {
			v := by * c[i][j]
			for k := range j {
				v -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][i] = math.Sqrt(v + 1e-12)
			} else {
				l[i][j] = v / l[j][j]
			}
		}
	}
	return l
}
