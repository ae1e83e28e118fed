// Package exact holds what the exact posteriors of the example models are made of. In all of them the guards cut the
// space of the latents into cells, and within a cell the latents are normal, or nearly: the posterior is a mixture,
//
//	p(z | data) = Σ_c p(c | data) p(z | c, data),   p(c | data) = (evidence of c) / Σ (evidence of a cell)
//
// over a switch point's intervals, a path of months, a history of the controller, or the nodes of a quadrature.
package exact

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Posterior is what is known of a model's posterior without a fit.
type Posterior struct {
	// LogEvidence is log p(data), in nats.
	LogEvidence float64
	// Guards are the probabilities of the program's named guards: name by name in the order of graph.Density.GuardNames, and
	// those of one name in the order of the program.
	Guards []float64
	// Latents are those of the program's latents, in the order of sampling, on the program's own scale.
	Latents []Moments
}

// Moments are a mean and a standard deviation.
type Moments struct{ Mean, SD float64 }

// A Mixture adds up the moments of a mixture. The zero value is empty.
type Mixture struct{ weight, mean, square float64 }

// Add adds a component of the given weight, mean and variance. Weights need not sum to 1.
func (m *Mixture) Add(weight, mean, variance float64) {
	if weight <= 0 {
		return
	}
	m.weight += weight
	d := mean - m.mean
	m.mean += d * weight / m.weight
	m.square += weight * (variance + d*(mean-m.mean))
}

// Moments are those of the mixture; NaN if it is empty.
func (m *Mixture) Moments() Moments {
	return Moments{m.mean, math.Sqrt(m.square / m.weight)}
}

// All are the moments of several mixtures.
func All(mixtures []Mixture) []Moments {
	all := make([]Moments, len(mixtures))
	for i := range mixtures {
		all[i] = mixtures[i].Moments()
	}
	return all
}

// Truncated is the probability that x ~ N(mu, sigma²) lies in (lo, hi), and the mean and variance of x given that. Bounds may
// be infinite. It loses digits where the probability is tiny, and gives mean and variance NaN where it is 0.
func Truncated(mu, sigma, lo, hi float64) (prob, mean, variance float64) {
	n := distuv.UnitNormal
	a, b := (lo-mu)/sigma, (hi-mu)/sigma
	if prob = n.CDF(b) - n.CDF(a); a > 0 {
		prob = n.Survival(a) - n.Survival(b)
	}
	at := func(t float64) (density, times float64) {
		if math.IsInf(t, 0) {
			return 0, 0
		}
		return n.Prob(t), t * n.Prob(t)
	}
	pa, ta := at(a)
	pb, tb := at(b)
	shift := (pa - pb) / prob
	return prob, mu + sigma*shift, sigma * sigma * (1 + (ta-tb)/prob - shift*shift)
}
