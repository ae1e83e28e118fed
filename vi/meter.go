package vi

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
)

// A GradientMeter measures the variance of an estimator again and again, along
// a fit for instance, without allocating. Its random stream is its own, so that
// measuring a fit does not change it. It is for one goroutine.
type GradientMeter struct {
	g     *gradienter
	draws int
	parts []moments
}

// NewGradientMeter returns a meter that draws the given number of independent
// gradient estimates at each measurement, of one sample each. Successive
// measurements go on along one stream, which the seed fixes. The estimator is
// Boundary{} if nil.
func NewGradientMeter(d *graph.Density, e Estimator, draws int, seed uint64) (*GradientMeter, error) {
	if draws < 2 {
		return nil, fmt.Errorf("vi: %d draws; a variance needs 2", draws)
	}
	orSet[Estimator](&e, Boundary{})
	g, err := newGradienter(d, e, 1, seed)
	if err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	return &GradientMeter{g, draws, make([]moments, 2*d.Dim())}, nil
}

// Measure returns unbiased estimates of the two variances of GradientStats at
// q: avgVar is Avg(V(·)), the variance averaged over the components of θ, and
// normVar is V(‖·‖₂), that of the Euclidean norm. They are not finite if an
// estimate is not. The error is for a q that does not fit the density.
func (m *GradientMeter) Measure(q MeanField) (avgVar, normVar float64, err error) {
	if err := q.check(m.g.d); err != nil {
		return math.NaN(), math.NaN(), err
	}
	clear(m.parts)
	var norms moments
	for range m.draws {
		g, err := m.g.estimate(q)
		if err != nil {
			return math.NaN(), math.NaN(), fmt.Errorf("vi: %w", err)
		}
		norm := 0.0
		for i, x := range g {
			m.parts[i].add(x)
			norm += x * x
		}
		norms.add(math.Sqrt(norm))
	}
	for i := range m.parts {
		avgVar += m.parts[i].variance()
	}
	return avgVar / float64(len(m.parts)), norms.variance(), nil
}

// An ELBOMeter estimates the ELBO again and again, without allocating. Its
// random streams are its own. It is for one goroutine, which it never leaves:
// for many fits at once, each with a meter.
type ELBOMeter struct {
	d          *graph.Density
	cut        split
	full, rest *graph.Executor // for full blocks of samples and for the last one
	rngs       []*rand.Rand
	eps, s     []float64
}

// NewELBOMeter returns a meter of the given number of samples a measurement.
// The first measurement is that of ELBO with the same seed; the next go on
// along the same streams.
func NewELBOMeter(d *graph.Density, samples int, seed uint64) (*ELBOMeter, error) {
	if samples < 2 {
		return nil, fmt.Errorf("vi: %d samples; a standard error needs 2", samples)
	}
	cut := splitOf(samples, d.Dim())
	m := &ELBOMeter{d: d, cut: cut, eps: make([]float64, d.Dim()*min(cut.size, samples)), s: make([]float64, d.Dim())}
	for b := range cut.blocks() {
		m.rngs = append(m.rngs, rand.New(stream(seed, b)))
	}
	var err error
	if samples >= cut.size {
		if m.full, err = d.Executor(cut.size, graph.Compute{Out: true}); err != nil {
			return nil, fmt.Errorf("vi: %w", err)
		}
	}
	if rest := samples % cut.size; rest > 0 {
		if m.rest, err = d.Executor(rest, graph.Compute{Out: true}); err != nil {
			return nil, fmt.Errorf("vi: %w", err)
		}
	}
	return m, nil
}

// Measure estimates the ELBO at q in nats; see ELBO for what the standard error
// does not see.
func (m *ELBOMeter) Measure(q MeanField) (Estimate, error) {
	if err := q.check(m.d); err != nil {
		return Estimate{}, err
	}
	q.Scale(m.s)
	var logs moments
	for b, rng := range m.rngs {
		x := m.full
		if m.cut.width(b) < m.cut.size {
			x = m.rest
		}
		draw(m.d, x, m.eps[:len(m.s)*x.N], q.Mu, m.s, rng)
		if err := x.Run(); err != nil {
			return Estimate{}, fmt.Errorf("vi: %w", err)
		}
		for _, v := range x.Out {
			logs.add(v)
		}
	}
	return Estimate{logs.mean + q.Entropy(), logs.se()}, nil
}
