package vi

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
)

// An Estimate is a Monte Carlo mean and its standard error, which is 0 if the
// mean is exact.
type Estimate struct{ Mean, SE float64 }

// String is "mean ± standard error", without the latter if it is 0.
func (e Estimate) String() string {
	if e.SE == 0 {
		return fmt.Sprintf("%.6g", e.Mean)
	}
	return fmt.Sprintf("%.6g ± %.2g", e.Mean, e.SE)
}

// ELBO estimates E[log r(z)] + entropy(q) in nats from the given number of
// samples; the entropy is exact. The standard error is honest only if no rare
// region dominates: an event of probability 1e-5 that costs 5e5 nats is not
// seen by 1000 samples. RareSides estimates what they miss.
func ELBO(d *graph.Density, q MeanField, samples int, seed uint64) (Estimate, error) {
	if err := q.check(d); err != nil {
		return Estimate{}, err
	}
	if samples < 2 {
		return Estimate{}, fmt.Errorf("vi: %d samples; a standard error needs 2", samples)
	}
	log, err := logProbs(d, q, samples, seed)
	if err != nil {
		return Estimate{}, err
	}
	var m moments
	for _, v := range log {
		m.add(v)
	}
	return Estimate{m.mean + q.Entropy(), m.se()}, nil
}

// logProbs is log r at samples of q.
func logProbs(d *graph.Density, q MeanField, samples int, seed uint64) ([]float64, error) {
	s := q.Scale(nil)
	return evaluate(d, samples, seed, func(_ int, x *graph.Executor, rng *rand.Rand) {
		draw(d, x, make([]float64, d.Dim()*x.N), q.Mu, s, rng)
	})
}

// moments is a running mean and variance (Welford).
type moments struct {
	n        int
	mean, m2 float64
}

func (m *moments) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.m2 += d * (x - m.mean)
}

func (m *moments) merge(o moments) {
	if o.n == 0 {
		return
	}
	n := float64(m.n + o.n)
	d := o.mean - m.mean
	m.m2 += o.m2 + d*d*float64(m.n)*float64(o.n)/n
	m.mean += d * float64(o.n) / n
	m.n += o.n
}

func (m *moments) variance() float64 { return m.m2 / float64(m.n-1) }

func (m *moments) se() float64 { return math.Sqrt(m.variance() / float64(m.n)) }
