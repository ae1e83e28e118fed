package models

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
)

// node is a point of a one-dimensional rule. Its weight belongs to the piece between two thresholds in which inside lies;
// z itself may lie outside, where the piece's smooth density is continued.
type node struct{ z, weight, inside float64 }

// cubature integrates over a mean-field normal, latent by latent. It is exact for what is quadratic within each piece, and
// for textmsg's exponentials to rounding. It shares no special function with the closed form.
type cubature struct {
	oracle Oracle
	e      *expectation // for μ and s only
	rules  [][]node
}

func newCubature(o Oracle, theta []float64) *cubature {
	c := &cubature{oracle: o, e: newExpectation(theta)}
	thresholds := make([][]float64, o.Dim())
	for _, g := range o.Guards() {
		thresholds[g.Latent] = append(thresholds[g.Latent], g.Threshold)
	}
	for i, cuts := range thresholds {
		if len(cuts) == 0 {
			c.rules = append(c.rules, hermite(c.e.mu[i], c.e.sd[i], isExponential(o)))
		} else {
			c.rules = append(c.rules, pieces(c.e.mu[i], c.e.sd[i], cuts))
		}
	}
	return c
}

// isExponential reports whether log r is not quadratic in the latents without guards.
func isExponential(o Oracle) bool {
	_, ok := o.(closedForm).density.(textMsg)
	return ok
}

// hermite is the Gauss–Hermite rule of N(mu, sd²): two nodes, or enough for exp.
func hermite(mu, sd float64, exponential bool) []node {
	n := 2
	if exponential {
		n = 20
	}
	x, w := make([]float64, n), make([]float64, n)
	quad.Hermite{}.FixedLocations(x, w, math.Inf(-1), math.Inf(1))
	nodes := make([]node, n)
	for k := range nodes {
		nodes[k] = node{z: mu + math.Sqrt2*sd*x[k], weight: w[k] / math.Sqrt(math.Pi)}
	}
	return nodes
}

// pieces cuts N(mu, sd²) at the thresholds. Two nodes at mean ± sd of a piece match its mass, mean and variance.
func pieces(mu, sd float64, cuts []float64) []node {
	ends := slices.Concat([]float64{math.Inf(-1)}, slices.Sorted(slices.Values(cuts)), []float64{math.Inf(1)})
	var nodes []node
	for k := range ends[:len(ends)-1] {
		lo, hi := math.Max(ends[k], mu-12*sd), math.Min(ends[k+1], mu+12*sd)
		if lo >= hi {
			continue
		}
		mass, mean, spread := moments(mu, sd, lo, hi)
		nodes = append(nodes, node{mean - spread, mass / 2, (lo + hi) / 2}, node{mean + spread, mass / 2, (lo + hi) / 2})
	}
	return nodes
}

// moments integrates N(mu, sd²) between lo and hi by Gauss–Legendre in panels of at most one standard deviation.
func moments(mu, sd, lo, hi float64) (mass, mean, spread float64) {
	panels := math.Ceil((hi - lo) / sd)
	integral := func(f func(z float64) float64) (sum float64) {
		for k := range int(panels) {
			a, b := lo+(hi-lo)*float64(k)/panels, lo+(hi-lo)*float64(k+1)/panels
			sum += quad.Fixed(func(z float64) float64 { return f(z) * density1(z, mu, sd) }, a, b, 20, quad.Legendre{}, 1)
		}
		return sum
	}
	mass = integral(func(float64) float64 { return 1 })
	mean = integral(func(z float64) float64 { return z }) / mass
	spread = math.Sqrt(integral(func(z float64) float64 { return (z - mean) * (z - mean) }) / mass)
	return mass, mean, spread
}

func density1(z, mu, sd float64) float64 { return math.Exp(logNormal(z, mu, sd)) }

// each calls f at every node of the product rule, with its weight and a point inside its piece. It reuses z and inside.
func each(rules [][]node, f func(weight float64, z, inside []float64)) {
	z, inside := make([]float64, len(rules)), make([]float64, len(rules))
	var descend func(i int, weight float64)
	descend = func(i int, weight float64) {
		if i == len(rules) {
			f(weight, z, inside)
			return
		}
		for _, n := range rules[i] {
			z[i], inside[i] = n.z, n.inside
			descend(i+1, weight*n.weight)
		}
	}
	descend(0, 1)
}

// elbo is E[log r − log q].
func (c *cubature) elbo() (sum float64) {
	each(c.rules, func(weight float64, z, inside []float64) {
		v := c.oracle.LogDensity(z, Natural(inside))
		for i := range z {
			v -= logNormal(z[i], c.e.mu[i], c.e.sd[i])
		}
		sum += weight * v
	})
	return sum
}

// repGrad is E[pullback(ε, ∇ log r_σ)] + ∇ entropy, with differences inside one region.
func (c *cubature) repGrad() []float64 {
	g := make([]float64, 2*len(c.rules))
	each(c.rules, func(weight float64, z, inside []float64) {
		for i := range z {
			c.pullback(g, i, z[i], weight*slope(c.oracle, z, Natural(inside), i, c.e.sd[i]/128))
		}
	})
	for i, s := range c.e.sd {
		g[2*i+1] += c.e.slope[i] / s
	}
	return g
}

// bouContr is Σ_l E[w_l Δ_l pullback(ε, ∇Φ_l)]: the guard's latent sits on the threshold, where q's density is w_l, and Δ_l is
// log r with the guard's sign forced to + less log r with it forced to −.
func (c *cubature) bouContr() []float64 {
	g := make([]float64, 2*len(c.rules))
	for _, guard := range c.oracle.Guards() {
		i, at := guard.Latent, guard.Threshold
		rules := slices.Clone(c.rules)
		rules[i] = []node{{at, density1(at, c.e.mu[i], c.e.sd[i]), at}}
		each(rules, func(weight float64, z, inside []float64) {
			jump := c.oracle.LogDensity(z, forced(inside, guard, true)) - c.oracle.LogDensity(z, forced(inside, guard, false))
			c.pullback(g, i, at, weight*jump)
		})
	}
	return g
}

// pullback adds v·(1, ε·ds/dρ), the gradient with respect to (μ_i, ρ_i) of v·z_i.
func (c *cubature) pullback(g []float64, i int, z, v float64) {
	g[2*i] += v
	g[2*i+1] += v * (z - c.e.mu[i]) / c.e.sd[i] * c.e.slope[i]
}

// forced is Natural(z) but for one guard.
func forced(z []float64, guard Guard, sign bool) Side {
	return func(latent int, threshold float64) bool {
		if (Guard{latent, threshold}) == guard {
			return sign
		}
		return z[latent] > threshold
	}
}

// slope is the five-point difference ∂ log r_σ / ∂z_i, exact for quadratics; at 1/128 of a scale its error in textmsg is 1e-10.
func slope(o Oracle, z []float64, side Side, i int, h float64) float64 {
	at := func(step float64) float64 {
		moved := slices.Clone(z)
		moved[i] += step * h
		return o.LogDensity(moved, side)
	}
	return (8*(at(1)-at(-1)) - (at(2) - at(-2))) / (12 * h)
}

// An ELBO, a RepGrad and a BouContr that are each integrated from its definition agree with the product rule.
func TestClosedFormIsCubature(t *testing.T) {
	for _, c := range smallCases() {
		t.Run(c.name, func(t *testing.T) {
			q := newCubature(c.oracle, c.theta)
			elbo := c.oracle.ELBO(c.theta)
			checkNear(t, "ELBO", []float64{elbo}, []float64{q.elbo()}, 1e-12*math.Abs(elbo))
			rep, bou := c.oracle.Gradient(c.theta)
			checkNear(t, "RepGrad", rep, q.repGrad(), 1e-10*largest(rep))
			checkNear(t, "BouContr", bou, q.bouContr(), 1e-11*largest(bou))
			if largest(bou) == 0 {
				t.Error("inconclusive: no guard is open")
			}
		})
	}
}
