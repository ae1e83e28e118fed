package check

import (
	"fmt"
	"math"
	"time"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// GradientStats describe an estimator of ∇ELBO at one θ.
type GradientStats struct {
	// Mean and SE are the mean gradient with respect to θ, and its standard error.
	Mean, SE []float64
	// AvgVar is the variance of one draw averaged over the components, the
	// paper's Avg(V(·)); NormVar is the variance of its Euclidean norm, V(‖·‖₂).
	AvgVar, NormVar float64
	// PerDraw is the time of one draw on one processor.
	PerDraw time.Duration
}

// GradientSettings are the settings of Gradient. The zero value works.
type GradientSettings struct {
	Draws   int    // number of independent gradient estimates; 1000 if 0
	Samples int    // samples in each; 1 if 0
	Seed    uint64 // fixes the result
}

func (s *GradientSettings) fill() {
	if s.Draws == 0 {
		s.Draws = 1000
	}
	if s.Samples == 0 {
		s.Samples = 1
	}
}

// gradientChunks is the number of streams that the draws are split into.
const gradientChunks = 16

// Gradient draws gradient estimates at q and returns their mean and variance. The
// estimator is Boundary{} if nil.
func Gradient(d *graph.Density, q family.Q, e gradient.Estimator, s GradientSettings) (GradientStats, error) {
	e = orBoundary(e)
	s.fill()
	if s.Draws < 2 || s.Samples < 1 {
		return GradientStats{}, fmt.Errorf("check: %d draws of %d samples; a variance needs 2 draws", s.Draws, s.Samples)
	}
	if err := checkDraws(d, q, s.Draws); err != nil {
		return GradientStats{}, err
	}
	chunks := make([]gradientMoments, gradientChunks)
	err := parallel.Do(parallel.Processors(gradientChunks), gradientChunks, func(_, c int) error {
		g, err := gradient.NewRunner(d, q, e, s.Samples, s.Seed+uint64(c)*0xd1342543de82ef95)
		if err != nil {
			return err
		}
		chunks[c].parts = make([]mc.Moments, len(q.Theta()))
		return chunks[c].draw(g, q, (s.Draws*(c+1))/gradientChunks-(s.Draws*c)/gradientChunks)
	})
	if err != nil {
		return GradientStats{}, err
	}
	all := gradientMoments{parts: make([]mc.Moments, len(q.Theta()))}
	for _, c := range chunks {
		all.merge(c)
	}
	return all.stats(), nil
}

func orBoundary(e gradient.Estimator) gradient.Estimator {
	if e == nil {
		return gradient.Boundary{}
	}
	return e
}

// gradientMoments are those of gradient estimates: of each component and of the norm.
type gradientMoments struct {
	parts   []mc.Moments
	norm    mc.Moments
	elapsed time.Duration
}

// draw counts n estimates in.
func (c *gradientMoments) draw(g *gradient.Runner, q family.Q, n int) error {
	for range n {
		start := time.Now()
		v, err := g.Estimate(q)
		if err != nil {
			return err
		}
		c.elapsed += time.Since(start)
		norm := 0.0
		for i, x := range v {
			c.parts[i].Add(x)
			norm += x * x
		}
		c.norm.Add(math.Sqrt(norm))
	}
	return nil
}

func (c *gradientMoments) merge(o gradientMoments) {
	for i := range o.parts {
		c.parts[i].Merge(o.parts[i])
	}
	c.norm.Merge(o.norm)
	c.elapsed += o.elapsed
}

// avgVar is Avg(V(·)).
func (c *gradientMoments) avgVar() (sum float64) {
	for i := range c.parts {
		sum += c.parts[i].Variance() / float64(len(c.parts))
	}
	return sum
}

func (c *gradientMoments) stats() GradientStats {
	s := GradientStats{AvgVar: c.avgVar(), NormVar: c.norm.Variance(), PerDraw: c.elapsed / time.Duration(max(1, c.norm.N))}
	for _, p := range c.parts {
		s.Mean, s.SE = append(s.Mean, p.Mean), append(s.SE, p.SE())
	}
	return s
}

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
