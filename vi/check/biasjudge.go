package check

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/vi/mc"
)

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

// zScore is difference in standard errors, to which rounding adds.
func zScore(difference, se, rounding float64) float64 {
	if difference == 0 {
		return 0
	}
	return difference / math.Hypot(se, rounding)
}

// size is the root mean square of one sample's gradient.
func size(c *chunked) float64 {
	sum := 0.0
	for _, m := range c.total() {
		sum += m.Mean*m.Mean + partBatch*m.Variance()
	}
	return math.Sqrt(sum)
}

// bonferroni is what the largest |z| of n exceeds by chance with probability
// level at most.
func bonferroni(level float64, n int, t distuv.StudentsT) float64 {
	return -t.Quantile(level / (2 * float64(max(1, n))))
}
