package check

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// BiasSettings are the settings of CheckBias. The zero value works.
type BiasSettings struct {
	// Samples for each estimator; 32768 if 0. They are rounded up to a multiple of
	// 512, at least 1024.
	Samples int
	Seed    uint64 // fixes the result
	// Level is the probability that chance alone makes the check say biased;
	// 0.001 if 0.
	Level float64
}

// CheckBias compares Reparam, Boundary and Score at q. The difference of the
// first two is the boundary term itself: its mean and standard error are the
// sharpest test of whether reparameterization is biased here, since all else
// cancels. Score knows nothing of boundaries: where its noise allows, it says
// independently which of the two is right.
func CheckBias(d *graph.Density, q family.Q, s BiasSettings) (BiasCheck, error) {
	if s.Samples == 0 {
		s.Samples = 32768
	}
	if s.Level == 0 {
		s.Level = 0.001
	}
	if s.Samples < 1 || !(s.Level > 0 && s.Level < 1) {
		return BiasCheck{}, fmt.Errorf("check: BiasSettings: %d samples at level %v", s.Samples, s.Level)
	}
	if err := checkDraws(d, q, s.Samples); err != nil {
		return BiasCheck{}, err
	}
	batches := batchesFor(s.Samples)
	p, err := newParts(d, q, batches, s.Seed)
	if err != nil {
		return BiasCheck{}, err
	}
	c := BiasCheck{Samples: batches * partBatch * partChunks, Guards: d.Arrangement().Len()}
	c.RareSides = len(rareSides(d, q, c.Samples, noProb))
	if err := c.fill(d, q, p); err != nil {
		return BiasCheck{}, err
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(batches*partChunks - 1)}
	c.judge(p, s.Level, t)
	c.judgeScore(p, s.Level, t)
	return c, nil
}

// judge decides whether Reparam is biased.
func (c *BiasCheck) judge(p gradientParts, level float64, t distuv.StudentsT) {
	tested := 0
	for _, x := range c.Components {
		if x.Term != (mc.Estimate{}) {
			tested++
		}
		c.MaxZ = math.Max(c.MaxZ, math.Abs(x.Z))
	}
	c.Bound = bonferroni(level, tested, t)
	c.Biased = c.MaxZ > c.Bound
	c.Bias, c.Gradient = norm(p.bou.means()), norm(p.whole.means())
}

// judgeScore decides what the score estimator has to say.
func (c *BiasCheck) judgeScore(p gradientParts, level float64, t distuv.StudentsT) {
	noise2 := 0.0
	for _, x := range c.Components {
		c.ScoreMaxZ = math.Max(c.ScoreMaxZ, math.Abs(x.ScoreZ))
		noise2 += x.Score.SE*x.Score.SE + x.Boundary.SE*x.Boundary.SE
	}
	c.ScoreBound = bonferroni(level, len(c.Components), t)
	c.ScoreSees = 5 * math.Sqrt(noise2)
	disagrees, tells := c.ScoreMaxZ > c.ScoreBound, c.ScoreSees < size(p.rep)
	if c.Biased {
		c.Along = c.along(p)
		disagrees = disagrees || math.Abs(c.Along.Value-1) > 5*c.Along.SE
		tells = 5*c.Along.SE < 1
	}
	switch {
	case disagrees && c.RareSides == 0:
		c.Score = ScoreDisagrees
	case !disagrees && tells:
		c.Score = ScoreAgrees
	}
}

// along regresses Score − Reparam on the boundary term, each component weighted
// by its precision.
func (c *BiasCheck) along(p gradientParts) mc.Estimate {
	score, rep := p.score.means(), p.rep.means()
	weight := make([]float64, len(c.Components))
	unit := 0.0
	for i, x := range c.Components {
		if v := x.Score.SE*x.Score.SE + x.Reparam.SE*x.Reparam.SE; v > 0 {
			weight[i] = x.Term.Value / v
			unit += weight[i] * x.Term.Value
		}
	}
	var s, r mc.Moments
	for k := range score {
		dotScore, dotRep := 0.0, 0.0
		for i, w := range weight {
			dotScore += w * score[k][i] / unit
			dotRep += w * rep[k][i] / unit
		}
		s.Add(dotScore)
		r.Add(dotRep)
	}
	return mc.Estimate{Value: s.Mean - r.Mean, SE: math.Hypot(s.SE(), r.SE())}
}

// bonferroni is what the largest |z| of n exceeds by chance with probability
// level at most.
func bonferroni(level float64, n int, t distuv.StudentsT) float64 {
	return -t.Quantile(level / (2 * float64(max(1, n))))
}
