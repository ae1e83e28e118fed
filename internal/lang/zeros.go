package lang

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/internal/kernel"
)

// ZeroInflated is a count with distribution d, or with probability zero a 0 whatever that is.
func ZeroInflated(zero Expr, d Dist) Dist { return combine(zeroInflated, []Expr{zero}, d) }

func zeroInflated(d Dist) *Law {
	f, s := zeros("ZeroInflated", d, false)
	in := func(p []Expr) Dist { return s.at(p)[0] }
	f.logProb = func(x Expr, p []Expr) Expr {
		base, none := Add(Log1p(Neg(p[0])), in(p).LogProb(x)), is(x, 0)
		return Add(times(none, LogSumExp(Log(p[0]), base)), times(Sub(1, none), base))
	}
	if d.HasCDF() {
		f.tails.logCDF = func(x Expr, p []Expr) Expr {
			return LogSumExp(Log(p[0]), Add(Log1p(Neg(p[0])), in(p).logTail(x, false)))
		}
		f.tails.logCCDF = func(x Expr, p []Expr) Expr { return Add(Log1p(Neg(p[0])), in(p).logTail(x, true)) }
	}
	f.rand = func(p []float64, rng *rand.Rand) float64 {
		if rng.Float64() < p[0] {
			return 0
		}
		return in(Numbers(p)).sample(rng)
	}
	if d.law.moments.known() {
		f.moments.mean = func(p []Expr) Expr { return Mul(Sub(1, p[0]), d.law.moments.mean(p[1:])) }
		f.moments.variance = func(p []Expr) Expr {
			m := d.law.moments.mean(p[1:])
			return Mul(Sub(1, p[0]), Add(d.law.moments.variance(p[1:]), Mul(p[0], Square(m))))
		}
	}
	return f
}

// Hurdle is a count that is 0 with probability zero, and else has the distribution d given that it is not 0.
func Hurdle(zero Expr, d Dist) Dist { return combine(hurdle, []Expr{zero}, d) }

func hurdle(d Dist) *Law {
	f, s := zeros("Hurdle", d, true)
	in := func(p []Expr) Dist { return s.at(p)[0] }
	some := func(p []Expr) Expr { // the log of (1 − zero)/(1 − d(0))
		return Sub(Log1p(Neg(p[0])), Apply(kernel.Log1mExp, in(p).LogProb(Expr{})))
	}
	f.logProb = func(x Expr, p []Expr) Expr {
		none := is(x, 0)
		return Add(times(none, Log(p[0])), times(Sub(1, none), Add(some(p), in(p).LogProb(x))))
	}
	f.tails.logCDF = func(x Expr, p []Expr) Expr {
		if v, known := x.IsConst(); known && v < 1 {
			return Log(p[0]) // what follows would have the logarithm of 0 in it, as a number if d has numbers
		}
		return LogSumExp(Log(p[0]), Add(some(p), in(p).logMass(Expr{}, x)))
	}
	f.tails.logCCDF = func(x Expr, p []Expr) Expr { return Add(some(p), in(p).logTail(x, true)) }
	positive := truncated(d)
	f.rand = func(p []float64, rng *rand.Rand) float64 {
		if rng.Float64() < p[0] {
			return 0
		}
		return Dist{law: positive, params: Numbers(append([]float64{1, math.Inf(1)}, p[1:]...))}.sample(rng)
	}
	if d.law.moments.known() {
		f.moments.mean = func(p []Expr) Expr { return Mul(Exp(some(p)), d.law.moments.mean(p[1:])) }
		f.moments.variance = func(p []Expr) Expr {
			m, share := d.law.moments.mean(p[1:]), Exp(some(p))
			return Sub(Mul(share, Add(d.law.moments.variance(p[1:]), Square(m))), Square(Mul(share, m)))
		}
	}
	return f
}

// zeros is a law of counts of which 0 is special, that may need their distribution function.
func zeros(name string, d Dist, needsCDF bool) (*Law, parts) {
	f, s := combined(name, []param{{"zero", Probability}}, d)
	f.supportAt = func(p []Expr) Support { return s.at(p)[0].Support() }
	f.check = func(p []Expr) error {
		switch of := f.supportAt(p); {
		case !of.whole || of.lo != 0:
			return errors.New("needs counts from 0 on")
		case needsCDF && !s.at(p)[0].HasCDF():
			return errNoCDF
		}
		return nil
	}
	return f, s
}
