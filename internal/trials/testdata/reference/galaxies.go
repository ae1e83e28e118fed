package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// galaxies is Gibbs sampling of a mixture of n normals, whose components are put in order afterwards: which of them each
// observation is of, shares, means; and standard deviations by slices.
func galaxies(n, sweeps int, seed uint64) *moments {
	y := column("galaxies.csv", "v")
	rng := random(seed)
	type component struct {
		mu, sd, share float64
		leaf
	}
	c := make([]component, n)
	for k := range c {
		c[k] = component{mu: 20 + 10*rng.NormFloat64(), sd: 5 * math.Abs(rng.NormFloat64()), share: 1 / float64(n)}
	}
	list := append(append(append([]string{"mu_least"}, names("mu_gap", n-1)...), names("sd", n)...), names("share_stick", n-1)...)
	m := newMoments(list...)
	p, x := make([]float64, n), make([]float64, len(list))
	for sweep := range sweeps + sweeps/20 {
		for k := range c {
			c[k].leaf = leaf{}
		}
		for _, v := range y {
			sum := 0.0
			for k := range c {
				d := (v - c[k].mu) / c[k].sd
				sum += c[k].share / c[k].sd * math.Exp(-d*d/2)
				p[k] = sum
			}
			u, k := sum*rng.Float64(), 0
			for k < n-1 && p[k] <= u {
				k++
			}
			c[k].add(v)
		}
		total := 0.0
		for k := range c {
			g := &c[k]
			g.mu = g.draw(20, 10, g.sd, rng)
			squares := g.square - 2*g.mu*g.sum + g.n*g.mu*g.mu
			g.sd = scale(g.sd, g.n, squares, rng)
			g.share = gamma(1+g.n, rng)
			total += g.share
		}
		slices.SortFunc(c, func(a, b component) int {
			if a.mu < b.mu {
				return -1
			}
			return 1
		})
		rest := 1.0
		for k := range c {
			c[k].share /= total
			x[n+k] = c[k].sd
			if k == 0 {
				x[0] = c[0].mu
			} else {
				x[k] = c[k].mu - c[k-1].mu
			}
			if k < n-1 {
				x[2*n+k] = c[k].share / rest
				rest -= c[k].share
			}
		}
		if sweep >= sweeps/20 {
			m.add(1, x...)
		}
	}
	return m
}

// scale moves a standard deviation with a half normal prior of scale 5 by slices in its logarithm.
func scale(sd, n, squares float64, rng *rand.Rand) float64 {
	if n == 0 {
		return 5 * math.Abs(rng.NormFloat64())
	}
	logp := func(u float64) float64 {
		s := math.Exp(u)
		return (1-n)*u - squares/(2*s*s) - s*s/50
	}
	u := math.Log(sd)
	for range 2 {
		level := logp(u) - rng.ExpFloat64()
		low := u - rng.Float64()
		high := low + 1
		for logp(low) > level {
			low--
		}
		for logp(high) > level {
			high++
		}
		for {
			v := low + (high-low)*rng.Float64()
			if logp(v) > level {
				u = v
				break
			}
			if v < u {
				low = v
			} else {
				high = v
			}
		}
	}
	return math.Exp(u)
}

// gamma draws by Marsaglia and Tsang, for a ≥ 1.
func gamma(a float64, rng *rand.Rand) float64 {
	d := a - 1./3
	for {
		x := rng.NormFloat64()
		v := 1 + x/math.Sqrt(9*d)
		if v > 0 && math.Log(rng.Float64()) < x*x/2+d-d*v*v*v+d*math.Log(v*v*v) {
			return d * v * v * v
		}
	}
}
