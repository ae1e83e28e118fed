package tobit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/models/exact"
)

// integrate is the posterior of Model(Households) by quadrature. What is desired is integrated out in closed form, so that
// five latents are left. With coefficients in units of the spread,
//
//	v = (level/spread, age/spread, liquidity/spread, log spread),
//
// which are nearly normal, it sums over a lattice of the given step in the standardised coordinates of v, and over the nodes of
// Gauss–Legendre rules for the limit, in panels that end at the purchases, where the likelihood jumps. The lattice is centred
// and scaled by a coarser one.
func integrate(step float64) exact.Posterior {
	mean := []float64{-0.3, -0.2, -0.2, 1.7}
	cov := mat.NewSymDense(dim, []float64{0.2, 0, 0, 0, 0, 0.2, 0, 0, 0, 0, 0.2, 0, 0, 0, 0, 0.1})
	limits := limitNodes()
	for range 3 {
		points, weights := lattice(mean, cov, 1, 4, limits)
		for i := range mean {
			mean[i] = stat.Mean(mat.Col(nil, i, points), weights)
		}
		stat.CovarianceMatrix(cov, points, weights)
	}
	var s sums
	walk(mean, cov, step, 7.5, func(v []float64, volume float64) { s.add(v, volume, limits) })
	return s.posterior()
}

// dim is that of v.
const dim = 4

// A node is a value of the limit, with the logarithm of its prior density times its weight.
type node struct{ limit, log float64 }

func limitNodes() (nodes []node) {
	ends := []float64{-7, 7}
	for e := -6.0; e < 7; e++ {
		ends = append(ends, e)
	}
	for _, h := range Households {
		if h.Spent > 0 && h.Spent < 7 {
			ends = append(ends, h.Spent)
		}
	}
	ends = slices.Compact(slices.Sorted(slices.Values(ends)))
	const each = 6
	x, w := make([]float64, each), make([]float64, each)
	for i := range len(ends) - 1 {
		quad.Legendre{}.FixedLocations(x, w, ends[i], ends[i+1])
		for k := range x {
			nodes = append(nodes, node{x[k], math.Log(w[k]) + distuv.UnitNormal.LogProb(x[k])})
		}
	}
	return nodes
}

// walk goes through the lattice's points within a radius, both in standard deviations.
func walk(mean []float64, cov mat.Symmetric, step, radius float64, f func(v []float64, volume float64)) {
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		panic("tobit: covariance is not positive definite")
	}
	var l mat.TriDense
	chol.LTo(&l)
	volume := math.Exp(chol.LogDet()/2) * math.Pow(step, dim)
	t, v := make([]float64, dim), make([]float64, dim)
	var visit func(i int, left float64)
	visit = func(i int, left float64) {
		if i == dim {
			for r := range v {
				v[r] = mean[r]
				for c := range r + 1 {
					v[r] += l.At(r, c) * t[c]
				}
			}
			f(v, volume)
			return
		}
		n := int(math.Sqrt(left) / step)
		for k := -n; k <= n; k++ {
			t[i] = float64(k) * step
			visit(i+1, left-t[i]*t[i])
		}
	}
	visit(0, radius*radius)
}

// lattice are the points of a walk and their weights.
func lattice(mean []float64, cov mat.Symmetric, step, radius float64, limits []node) (*mat.Dense, []float64) {
	var points, logs []float64
	walk(mean, cov, step, radius, func(v []float64, volume float64) {
		p := newPoint(v, volume)
		total := math.Inf(-1)
		for _, n := range limits {
			total = logAdd(total, p.log+n.log+p.given(n.limit))
		}
		points, logs = append(points, v...), append(logs, total)
	})
	top := slices.Max(logs)
	for i, l := range logs {
		logs[i] = math.Exp(l - top)
	}
	return mat.NewDense(len(logs), dim, points), logs
}

func logAdd(a, b float64) float64 {
	if b > a {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// A point is a value of v: the coefficients, the spread, and each household's wish.
type point struct {
	coefficients [3]float64
	spread       float64
	means        [size]float64
	log          float64 // of all that does not depend on the limit
}

// size is the number of households.
const size = 20

func newPoint(v []float64, volume float64) *point {
	p := &point{spread: math.Exp(v[3])}
	s := p.spread
	wide := distuv.Normal{Sigma: 5}
	p.log = math.Log(volume) + math.Ln2 + wide.LogProb(s) + v[3] + 3*v[3] // two Jacobians
	for i := range p.coefficients {
		p.coefficients[i] = s * v[i]
		p.log += wide.LogProb(p.coefficients[i])
	}
	for i, h := range Households {
		p.means[i] = p.coefficients[0] + p.coefficients[1]*(h.Age-MiddleAge)/AgeUnit +
			p.coefficients[2]*(h.Liquidity-MiddleLiquidity)/LiquidityUnit
		if h.Spent > 0 {
			p.log += distuv.Normal{Mu: p.means[i], Sigma: s}.LogProb(h.Spent)
		}
	}
	return p
}

// given is the log probability of all records given the limit.
func (p *point) given(limit float64) float64 {
	product := 1.0 // of at least 1e-40
	for i, h := range Households {
		switch {
		case h.Spent == 0:
			product *= Wrong + (1-2*Wrong)*cdf((limit-p.means[i])/p.spread)
		case h.Spent > limit:
			product *= 1 - Wrong
		default:
			product *= Wrong
		}
	}
	return math.Log(product)
}

func cdf(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// sums are weights of the posterior, relative to exp(top).
type sums struct {
	top, total float64
	guards     [size]float64
	moments    [5 + size]exact.Mixture
}

// add adds a point of the lattice.
func (s *sums) add(v []float64, volume float64, limits []node) {
	p := newPoint(v, volume)
	if s.total == 0 {
		s.top = p.log
	}
	if math.Exp(p.log-s.top) < 1e-14*s.total {
		return // given is a probability
	}
	for _, n := range limits {
		log := p.log + n.log + p.given(n.limit)
		weight := math.Exp(log - s.top)
		s.total += weight
		if weight < 1e-14*s.total {
			continue
		}
		for i, c := range p.coefficients {
			s.moments[i].Add(weight, c, 0)
		}
		s.moments[3].Add(weight, p.spread, 0)
		s.moments[4].Add(weight, n.limit, 0)
		for i, h := range Households {
			switch {
			case h.Spent == 0:
				s.desired(i, weight, p.means[i], p.spread, n.limit)
			case h.Spent > n.limit:
				s.guards[i] += weight
			}
		}
	}
}

// desired adds what a household that bought nothing desired: a normal, cut at the limit, of which the upper part is kept with
// the probability of a wrong record.
func (s *sums) desired(i int, weight, mean, sd, limit float64) {
	t := (limit - mean) / sd
	density := math.Exp(-t*t/2) / math.Sqrt(2*math.Pi)
	below, above := cdf(t), cdf(-t)
	keep := (1-Wrong)*below + Wrong*above
	s.guards[i] += weight * Wrong * above / keep
	// E[x; x < t] = −density, E[x²; x < t] = below − t·density for a standard normal x, and the rest above.
	first := -(1 - 2*Wrong) * density / keep
	second := 1 - (1-2*Wrong)*t*density/keep
	s.moments[5+i].Add(weight, mean+sd*first, sd*sd*(second-first*first))
}

func (s *sums) posterior() exact.Posterior {
	p := exact.Posterior{LogEvidence: s.top + math.Log(s.total)}
	p.Latents = exact.All(s.moments[:5])
	for i, h := range Households {
		p.Guards = append(p.Guards, s.guards[i]/s.total)
		if h.Spent == 0 {
			p.Latents = append(p.Latents, s.moments[5+i].Moments())
		}
	}
	return p
}
