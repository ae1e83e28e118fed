package calibration

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// A law is a prior without latents in it: as the program writes it, and on its
// own for the oracle.
type law struct {
	graph.Dist
	logProb func(x float64) float64
	// within is the log mass of (a, b), and mean and mean square inside it. It is
	// nil where no switch latent has the law.
	within func(a, b float64) (log, mean, square float64)
}

func normal(mu, sigma float64) law {
	return law{
		Dist:    graph.Normal(mu, sigma),
		logProb: func(x float64) float64 { return normalLog(x, mu, sigma) },
		within:  func(a, b float64) (log, mean, square float64) { return normalWithin(mu, sigma, a, b) },
	}
}

func uniform(lo, hi float64) law {
	return law{
		Dist:    graph.Uniform(lo, hi),
		logProb: func(x float64) float64 { return distuv.Uniform{Min: lo, Max: hi}.LogProb(x) },
		within: func(a, b float64) (log, mean, square float64) {
			a, b = max(a, lo), min(b, hi)
			if a >= b {
				return math.Inf(-1), lo, lo * lo
			}
			return math.Log((b - a) / (hi - lo)), (a + b) / 2, (a*a + a*b + b*b) / 3
		},
	}
}

func logNormal(mu, sigma float64) law {
	return law{
		Dist:    graph.LogNormal(mu, sigma),
		logProb: func(x float64) float64 { return distuv.LogNormal{Mu: mu, Sigma: sigma}.LogProb(x) },
		within: func(a, b float64) (log, mean, square float64) {
			a, b = math.Log(max(a, 0)), math.Log(b)
			log, _, _ = normalWithin(mu, sigma, a, b)
			v := sigma * sigma // x·density is the density around mu + v, times e^(mu + v/2)
			one, _, _ := normalWithin(mu+v, sigma, a, b)
			two, _, _ := normalWithin(mu+2*v, sigma, a, b)
			return log, math.Exp(mu + v/2 + one - log), math.Exp(2*mu + 2*v + two - log)
		},
	}
}

func halfNormal(scale float64) law {
	return law{
		Dist:    graph.HalfNormal(scale),
		logProb: func(x float64) float64 { return math.Ln2 + normalLog(x, 0, scale) },
	}
}

func gamma(alpha, beta float64) law {
	return law{
		Dist:    graph.Gamma(alpha, beta),
		logProb: func(x float64) float64 { return distuv.Gamma{Alpha: alpha, Beta: beta}.LogProb(x) },
	}
}

func beta(a, b float64) law {
	return law{
		Dist:    graph.Beta(a, b),
		logProb: func(x float64) float64 { return distuv.Beta{Alpha: a, Beta: b}.LogProb(x) },
	}
}

func normalLog(x, mu, sigma float64) float64 {
	t := (x - mu) / sigma
	return -0.5*t*t - math.Log(sigma) - 0.5*math.Log(2*math.Pi)
}

// poissonLog is the log probability of y events where λ are expected.
func poissonLog(y, lambda float64) float64 { return y*math.Log(lambda) - lambda - lgamma(y+1) }

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// phi is the standard normal density.
func phi(t float64) float64 { return math.Exp(-0.5*t*t) / math.Sqrt(2*math.Pi) }

// cumulative is the standard normal distribution function.
func cumulative(t float64) float64 { return 0.5 * math.Erfc(-t/math.Sqrt2) }

// massBetween is the standard normal mass of (a, b), with the tail that is small.
func massBetween(a, b float64) float64 {
	if a >= b {
		return 0
	}
	if a > 0 {
		return cumulative(-a) - cumulative(-b)
	}
	return cumulative(b) - cumulative(a)
}

// normalWithin is the log mass of (a, b), and the mean and the mean square of
// the normal inside it.
func normalWithin(mu, sigma, a, b float64) (log, mean, square float64) {
	a, b = (a-mu)/sigma, (b-mu)/sigma
	mass := massBetween(a, b)
	if mass <= 0 {
		return math.Inf(-1), mu, mu * mu
	}
	first := (phi(a) - phi(b)) / mass
	second := 1 + (timesPhi(a)-timesPhi(b))/mass
	return math.Log(mass), mu + sigma*first, mu*mu + 2*mu*sigma*first + sigma*sigma*second
}

// timesPhi is t φ(t), and 0 at the infinities.
func timesPhi(t float64) float64 {
	if math.IsInf(t, 0) {
		return 0
	}
	return t * phi(t)
}
