package vi

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
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

// BiasCheck says whether reparameterization alone would have been biased, for one
// model at one member of the family.
type BiasCheck struct {
	// Biased is whether some component's |Z| is above Bound, the Bonferroni bound
	// of all components at the settings' level; MaxZ is the largest |Z|.
	Biased      bool
	Bound, MaxZ float64
	// Bias is the norm of the boundary part of the gradient, which
	// reparameterization leaves out, and Gradient that of the whole. What noise
	// adds to them is taken off.
	Bias, Gradient Estimate
	// Score is what the score estimator says of that, as an independent oracle.
	Score ScoreVerdict
	// Along is the score estimate minus reparameterization's, along the boundary
	// part and in units of it: 1 if Boundary is right and 0 if Reparam is. It is
	// zero unless Biased.
	Along Estimate
	// ScoreMaxZ is the largest |ScoreZ| of all components, whose Bonferroni bound
	// is ScoreBound. ScoreSees is the size of a difference that the score
	// estimator would show at five standard errors.
	ScoreMaxZ, ScoreBound, ScoreSees float64
	// Components are those of θ: μ and ρ of each latent in the model's order.
	Components []BiasComponent
	Samples    int // for each estimator
	Guards     int // hyperplanes of the program
	// RareSides is how many of their sides are expected in fewer than ten of the
	// samples; see the function RareSides.
	RareSides int
}

// A BiasComponent is the gradient with respect to one parameter. Reparam,
// Boundary and Term share their draws, so that Boundary = Reparam + Term; Score
// has draws of its own.
type BiasComponent struct {
	Name                     string // "theta3 μ" or "theta3 ρ"
	Reparam, Boundary, Score Estimate
	// Term is the boundary term, what reparameterization leaves out, and Z its
	// mean in standard errors: the z-score of Boundary against Reparam with common
	// random numbers. Rounding counts in the standard error.
	Term Estimate
	Z    float64
	// ScoreZ and ReparamZ are the z-scores of Score against Boundary and Reparam.
	ScoreZ, ReparamZ float64
}

// ScoreVerdict is what the score estimator says of the other two.
type ScoreVerdict uint8

const (
	// ScoreTooNoisy: its noise hides what there is to see, or it disagrees while
	// its draws see too little of rare sides of guards, whose boundary term
	// Boundary knows from the guards themselves.
	ScoreTooNoisy ScoreVerdict = iota
	// ScoreAgrees with Boundary; and if there is a bias, it rejects Reparam.
	ScoreAgrees
	// ScoreDisagrees with Boundary, without such an excuse: one of the two is
	// wrong.
	ScoreDisagrees
)

// String is the verdict in words.
func (v ScoreVerdict) String() string {
	switch v {
	case ScoreAgrees:
		return "score agrees with boundary"
	case ScoreDisagrees:
		return "score disagrees with boundary"
	}
	return "score too noisy to tell"
}

// rounding is the part of a gradient's size that is taken as rounding.
const rounding = 1e-10

// CheckBias compares Reparam, Boundary and Score at q. The difference of the
// first two is the boundary term itself: its mean and standard error are the
// sharpest test of whether reparameterization is biased here, since all else
// cancels. Score knows nothing of boundaries: where its noise allows, it says
// independently which of the two is right.
func CheckBias(d *graph.Density, q MeanField, s BiasSettings) (BiasCheck, error) {
	orSet(&s.Samples, 32768)
	orSet(&s.Level, 0.001)
	if s.Samples < 1 || !(s.Level > 0 && s.Level < 1) {
		return BiasCheck{}, fmt.Errorf("vi: BiasSettings: %d samples at level %v", s.Samples, s.Level)
	}
	if err := q.check(d); err != nil {
		return BiasCheck{}, err
	}
	batches := batchesFor(s.Samples)
	p, err := newParts(d, q, batches, s.Seed)
	if err != nil {
		return BiasCheck{}, err
	}
	c := BiasCheck{Samples: batches * partBatch * partChunks, Guards: d.Arrangement().Len()}
	c.RareSides = len(rareSides(d, q, c.Samples))
	if err := c.fill(d, q, p); err != nil {
		return BiasCheck{}, err
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(batches*partChunks - 1)}
	c.judge(p, s.Level, t)
	c.judgeScore(p, s.Level, t)
	return c, nil
}

// CheckBias checks the fit's member of the family; see the function CheckBias.
func (p *Posterior) CheckBias(s BiasSettings) (BiasCheck, error) {
	return CheckBias(p.Density, p.Q, s)
}

// gradientParts are replicates of RepGrad, BouContr and their sum from common
// draws, and of the score estimate.
type gradientParts struct{ rep, bou, whole, score *chunked }

func newParts(d *graph.Density, q MeanField, batches int, seed uint64) (gradientParts, error) {
	n := 2 * d.Dim()
	p := gradientParts{newChunked(n), newChunked(n), newChunked(n), newChunked(n)}
	slope := slopes(q)
	err := replicate(d, q, inside{}, batches, seed, func(c int, w worker, g []float64) {
		p.rep.add(c, g)
		bou := make([]float64, n)
		if b, ok := w.(*insideWorker); ok {
			sums := make([]float64, n)
			b.AddGradient(sums[:n/2], sums[n/2:])
			for i, slope := range slope {
				bou[2*i], bou[2*i+1] = sums[i]/partBatch, sums[n/2+i]/partBatch*slope
			}
		}
		p.bou.add(c, bou)
		for i := range bou {
			bou[i] += g[i]
		}
		p.whole.add(c, bou)
	})
	if err != nil {
		return p, err
	}
	return p, replicate(d, q, Score{}, batches, seed+0x9e3779b97f4a7c15, func(c int, _ worker, g []float64) { p.score.add(c, g) })
}

// fill makes the components.
func (c *BiasCheck) fill(d *graph.Density, q MeanField, p gradientParts) error {
	var all [4][]Estimate
	for k, of := range []struct {
		name string
		*chunked
	}{{"reparam", p.rep}, {"boundary", p.bou}, {"boundary", p.whole}, {"score", p.score}} {
		var err error
		if all[k], err = of.estimates(d, q, of.name); err != nil {
			return err
		}
	}
	scale := size(p.rep) + size(p.bou)
	for i := range all[0] {
		x := BiasComponent{
			Name:    d.Latents()[i/2] + [2]string{" μ", " ρ"}[i%2],
			Reparam: all[0][i], Term: all[1][i], Boundary: all[2][i], Score: all[3][i],
		}
		x.Z = zScore(x.Term.Mean, x.Term.SE, rounding*scale)
		x.ScoreZ = zScore(x.Score.Mean-x.Boundary.Mean, math.Hypot(x.Score.SE, x.Boundary.SE), rounding*scale)
		x.ReparamZ = zScore(x.Score.Mean-x.Reparam.Mean, math.Hypot(x.Score.SE, x.Reparam.SE), rounding*scale)
		c.Components = append(c.Components, x)
	}
	return nil
}
