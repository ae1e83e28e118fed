package check

import (
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// A GradientMeter measures the variance of an estimator again and again, along
// a fit for instance, without allocating. Its random stream is its own, so that
// measuring a fit does not change it. It is for one goroutine.
type GradientMeter struct {
	d     *graph.Density
	g     *gradient.Runner
	draws int
	found gradientMoments
}

// NewGradientMeter returns a meter that draws the given number of independent
// gradient estimates at each measurement, of one sample each, at members of
// q's family. Successive
// measurements go on along one stream, which the seed fixes. The estimator is
// Boundary{} if nil.
func NewGradientMeter(d *graph.Density, q family.Q, e gradient.Estimator, draws int, seed uint64) (*GradientMeter, error) {
	if draws < 2 {
		return nil, fmt.Errorf("check: %d draws; a variance needs 2", draws)
	}
	if err := checkDraws(d, q, draws); err != nil {
		return nil, err
	}
	g, err := gradient.NewRunner(d, q, orBoundary(e), 1, seed)
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	return &GradientMeter{d, g, draws, gradientMoments{parts: make([]mc.Moments, len(q.Theta()))}}, nil
}

// Measure returns unbiased estimates of the two variances of GradientStats at
// q: avgVar is Avg(V(·)), the variance averaged over the components of θ, and
// normVar is V(‖·‖₂), that of the Euclidean norm. They are not finite if an
// estimate is not. The error is for a q that does not fit the density.
func (m *GradientMeter) Measure(q family.Q) (avgVar, normVar float64, err error) {
	if err := family.Check(q, m.d); err != nil {
		return math.NaN(), math.NaN(), fmt.Errorf("check: %w", err)
	}
	clear(m.found.parts)
	m.found.norm = mc.Moments{}
	if err := m.found.draw(m.g, q, m.draws); err != nil {
		return math.NaN(), math.NaN(), fmt.Errorf("check: %w", err)
	}
	return m.found.avgVar(), m.found.norm.Variance(), nil
}
