package graph

import "github.com/facetvi/facet/internal/lang"

// Distributions that are made of others:
//
//	Truncated, Censored, IntervalCensored    restricted to a part of the line, or observed in part
//	ZeroInflated, Hurdle                     counts with more zeros
//	Mixture                                  one of several

// Truncated is the distribution of an X with distribution d, given that lo ≤ X ≤ hi:
//
//	p(x)/P(lo ≤ X ≤ hi),    lo ≤ x ≤ hi
//
// The bounds must be numbers; they may be infinite. Values outside were not recorded at
// all. For values that were recorded as a bound use Censored.
func Truncated[A, B Value](d Dist, lo A, hi B) Dist {
	return Dist{lang.Truncated(d.of, lift(lo), lift(hi))}
}

// Censored is how an X with distribution d is recorded by an instrument that ends at lo
// and at hi: as lo where X ≤ lo, as hi where X ≥ hi, and as it is between. The bounds
// must be numbers; they may be infinite.
//
//	P(X ≤ lo) at lo,    p(x) for lo < x < hi,    P(X ≥ hi) at hi
//
// So the time of someone who was still alive at time c is observed as
//
//	m.Observe("time", graph.Censored(graph.Weibull(k, lambda), math.Inf(-1), c), c)
//
// and a death at a time t before c as the observation t of the same distribution. Where values outside were not
// recorded at all, use Truncated; where all that is known is an interval, IntervalCensored. Censored is for
// observations. It may be of a Truncated or a Mixture, but not these of it.
func Censored[A, B Value](d Dist, lo A, hi B) Dist {
	return Dist{lang.Censored(d.of, lift(lo), lift(hi))}
}

// IntervalCensored is how many of the edges an X with distribution d exceeds: what is
// recorded of it by inspections at these times, or by rounding.
//
//	P(k) = P(edges[k−1] < X ≤ edges[k]),    k = 0, 1, …, len(edges)
//
// So someone who was well at time a and ill at time b is observed as
//
//	m.Observe("onset", graph.IntervalCensored(graph.LogNormal(mu, sigma), a, b), 1)
//
// The edges must increase, and may be latents: IntervalCensored of a Normal is the
// ordered probit.
func IntervalCensored[A Value](d Dist, edges ...A) Dist {
	return Dist{lang.IntervalCensored(d.of, Numbers(edges...))}
}

// ZeroInflated is a count with distribution d, or with probability zero a 0 whatever
// that is:
//
//	P(0) = zero + (1 − zero)·d(0),    P(k) = (1 − zero)·d(k)
//
// (R's pscl and brms's zi; PyMC's psi is 1 − zero.)
func ZeroInflated[A Value](zero A, d Dist) Dist { return Dist{lang.ZeroInflated(lift(zero), d.of)} }

// Hurdle is a count that is 0 with probability zero, and else has the distribution d
// given that it is not 0:
//
//	P(0) = zero,    P(k) = (1 − zero)·d(k)/(1 − d(0))
//
// (brms's hu; the zero model of R's pscl is of 1 − zero, as PyMC's psi.)
func Hurdle[A Value](zero A, d Dist) Dist { return Dist{lang.Hurdle(lift(zero), d.of)} }

// Mixture is the distribution of a value that comes from d[k] with a probability in
// proportion to weights[k]: the class of each value summed out.
//
//	p(x) = Σ_k weights[k]·d[k](x) / Σ_k weights[k]
//
// All d are of whole numbers, or none is. Their supports may differ, and the mixture's is their union; but the prior of
// a latent needs the same support for all.
func Mixture[A Value](weights []A, d ...Dist) Dist {
	of := make([]lang.Dist, len(d))
	for k := range d {
		of[k] = d[k].of
	}
	return Dist{lang.Mixture(Numbers(weights...), of)}
}
