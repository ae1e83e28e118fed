package lang

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/internal/kernel"
)

// Mixture is the distribution of a value that comes from d[k] with a probability in proportion to weights[k].
func Mixture(weights []Expr, d []Dist) Dist {
	if d, is := unusable(d...); is {
		return d
	}
	f := mixture(len(weights), d)
	if len(weights) != len(d) || len(d) == 0 {
		return Dist{law: f, err: fmt.Errorf("%s: %d weights for %d distributions", f.name, len(weights), len(d))}
	}
	return madeOf(f, weights, d...)
}

func mixture(n int, of []Dist) *Law {
	f, s := combined("Mixture", numbered("weight", n, Positive), of...)
	f.noPrior = "its distributions have different supports"
	f.check = func(p []Expr) error {
		for _, d := range s.at(p) {
			if d.Support().whole != s.at(p)[0].Support().whole {
				return errors.New("has whole numbers and others")
			}
		}
		return nil
	}
	f.supportAt = func(p []Expr) Support {
		ds := s.at(p)
		all := ds[0].Support()
		for _, d := range ds[1:] {
			all = all.or(d.Support())
		}
		return all
	}
	f.logProb = func(x Expr, p []Expr) Expr {
		all := f.supportAt(p)
		return mixed(p[:n], s.at(p), func(d Dist) Expr {
			logp, part := d.LogProb(x), d.Support()
			if least := part.first(); least > all.first() {
				logp = applyPair(kernel.IfNonNegative, Sub(x, least), logp)
			}
			if greatest := part.last(); greatest < all.last() {
				logp = applyPair(kernel.IfNonNegative, Sub(greatest, x), logp)
			}
			return logp
		})
	}
	f.rand = func(p []float64, rng *rand.Rand) float64 {
		k := Choice(p[:n], rng)
		whole := Numbers(p)
		d := s.at(whole)[k]
		u := d.sample(rng)
		if f.supportAt(whole).forward == nil {
			return d.FromCoordinate(u)
		}
		return u
	}
	f.coordinate.start = func(p []float64) (center, scale float64) { return startOfMixture(p, n, of) }
	if slices.ContainsFunc(of, func(d Dist) bool { return !d.HasCDF() }) {
		return f
	}
	f.tails.logCDF = func(x Expr, p []Expr) Expr {
		return mixed(p[:n], s.at(p), func(d Dist) Expr { return d.logTail(x, false) })
	}
	f.tails.logCCDF = func(x Expr, p []Expr) Expr {
		return mixed(p[:n], s.at(p), func(d Dist) Expr { return d.logTail(x, true) })
	}
	f.moments.mean = func(p []Expr) Expr { return mixedMean(p[:n], s.at(p)) }
	f.moments.variance = func(p []Expr) Expr { return mixedVariance(p[:n], s.at(p)) }
	return f
}

// startOfMixture is the mean and the standard deviation of where the parts start; p has the n weights and then the
// parameters of the parts.
func startOfMixture(p []float64, n int, of []Dist) (center, scale float64) {
	total, square, from := 0.0, 0.0, n
	for k, d := range of {
		to := from + len(d.law.params)
		c, sd := d.law.coordinate.start(p[from:to])
		total += p[k]
		center += p[k] * c
		square += p[k] * (c*c + sd*sd)
		from = to
	}
	center /= total
	return center, math.Sqrt(max(square/total-center*center, 0))
}

// mixedMean is the mean of a mixture; NaN where a part has none.
func mixedMean(weights []Expr, ds []Dist) Expr {
	means, _, ok := momentsOf(ds)
	if !ok {
		return Expr{v: math.NaN()}
	}
	return average(weights, means)
}

// mixedVariance is the variance of a mixture; NaN where a part has none.
func mixedVariance(weights []Expr, ds []Dist) Expr {
	means, squares, ok := momentsOf(ds)
	if !ok {
		return Expr{v: math.NaN()}
	}
	for k, m := range means {
		squares[k] = Add(squares[k], Square(m))
	}
	return Sub(average(weights, squares), Square(average(weights, means)))
}

// mixed is the log of the average of exp(logp(d)) by weights. A logp of −∞ has no part in it.
func mixed(weights []Expr, ds []Dist, logp func(d Dist) Expr) Expr {
	var logs, total []Expr
	for k, d := range ds {
		w := Log(weights[k])
		total = append(total, w)
		if l := logp(d); !IsNone(l) {
			logs = append(logs, Add(w, l))
		}
	}
	return Sub(LogSumExp(logs...), LogSumExp(total...))
}

// IsNone reports whether x is log 0.
func IsNone(x Expr) bool {
	v, known := x.IsConst()
	return known && math.IsInf(v, -1)
}

// average is Σ weights·xs / Σ weights.
func average(weights, xs []Expr) Expr {
	var sum Expr
	for k, x := range xs {
		sum = Add(sum, Mul(weights[k], x))
	}
	return Div(sum, Sum(weights...))
}

// or is the support of values of s or t. It has a transform if they are one.
func (s Support) or(t Support) Support {
	same := s.lo == t.lo && s.hi == t.hi && s.fn == t.fn && s.unit == t.unit && s.forward != nil && t.forward != nil
	if t.first() < s.first() {
		s.lo, s.closedLo = t.lo, t.closedLo
	}
	if t.last() > s.last() {
		s.hi, s.closedHi = t.hi, t.closedHi
	}
	if !same {
		s.transform = transform{}
	}
	return s
}

// first and last are the least and the greatest value.
func (s Support) first() float64 { return s.nearest(math.Inf(-1)) }

func (s Support) last() float64 { return s.nearest(math.Inf(1)) }
