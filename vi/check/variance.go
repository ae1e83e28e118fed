package check

import (
	"fmt"
	"math"
	"time"

	"github.com/facetvi/facet/graph"
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
	err := family.Check(q, d)
	if err == nil {
		err = mc.CheckDraws(s.Draws)
	}
	if err != nil {
		return GradientStats{}, fmt.Errorf("check: %w", err)
	}
	chunks := make([]gradientChunk, gradientChunks)
	err = mc.Do(mc.Processors(gradientChunks), gradientChunks, func(_, c int) error {
		draws := (s.Draws*(c+1))/gradientChunks - (s.Draws*c)/gradientChunks
		return chunks[c].run(d, q, e, draws, s.Samples, s.Seed+uint64(c)*0xd1342543de82ef95)
	})
	if err != nil {
		return GradientStats{}, err
	}
	all := gradientChunk{parts: make([]mc.Moments, len(q.Theta()))}
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

type gradientChunk struct {
	parts   []mc.Moments
	norm    mc.Moments
	elapsed time.Duration
}

func (c *gradientChunk) run(d *graph.Density, q family.Q, e gradient.Estimator, draws, samples int, seed uint64) error {
	c.parts = make([]mc.Moments, len(q.Theta()))
	g, err := gradient.NewRunner(d, q, e, samples, seed)
	if err != nil {
		return err
	}
	for range draws {
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

func (c *gradientChunk) merge(o gradientChunk) {
	for i := range o.parts {
		c.parts[i].Merge(o.parts[i])
	}
	c.norm.Merge(o.norm)
	c.elapsed += o.elapsed
}

func (c *gradientChunk) stats() GradientStats {
	var s GradientStats
	for _, p := range c.parts {
		s.Mean = append(s.Mean, p.Mean)
		s.SE = append(s.SE, p.SE())
		s.AvgVar += p.Variance() / float64(len(c.parts))
	}
	s.NormVar = c.norm.Variance()
	s.PerDraw = c.elapsed / time.Duration(max(1, c.norm.N))
	return s
}
