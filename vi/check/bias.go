package check

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
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
	Bias, Gradient mc.Estimate
	// Score is what the score estimator says of that, as an independent oracle.
	Score ScoreVerdict
	// Along is the score estimate minus reparameterization's, along the boundary
	// part and in units of it: 1 if Boundary is right and 0 if Reparam is. It is
	// zero unless Biased.
	Along mc.Estimate
	// ScoreMaxZ is the largest |ScoreZ| of all components, whose Bonferroni bound
	// is ScoreBound. ScoreSees is the size of a difference that the score
	// estimator would show at five standard errors.
	ScoreMaxZ, ScoreBound, ScoreSees float64
	// Components are those of θ, in its order.
	Components []BiasComponent
	Samples    int // for each estimator
	Guards     int // hyperplanes of the program
	// RareSides is how many of their sides are expected in fewer than ten of the
	// samples; see the function RareSides.
	RareSides int
}

// A BiasComponent is the gradient with respect to one parameter, in the family's
// units. Reparam,
// Boundary and Term share their draws, so that Boundary = Reparam + Term; Score
// has draws of its own.
type BiasComponent struct {
	Name                     string // "theta3 μ"
	Reparam, Boundary, Score mc.Estimate
	// Term is the boundary term, what reparameterization leaves out, and Z its
	// mean in standard errors: the z-score of Boundary against Reparam with common
	// random numbers. Rounding counts in the standard error.
	Term mc.Estimate
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

// gradientParts are replicates of RepGrad, BouContr and their sum from common
// draws, and of the score estimate.
type gradientParts struct{ rep, bou, whole, score *chunked }

func newParts(d *graph.Density, q family.Q, batches int, seed uint64) (gradientParts, error) {
	n := len(q.Theta())
	p := gradientParts{newChunked(n), newChunked(n), newChunked(n), newChunked(n)}
	units, params := make([]float64, n), make([]int, n)
	q.Units(units)
	for k := range params {
		params[k] = k
	}
	err := replicate(batches, seed, func() (func(int, *rand.Rand) error, error) {
		w, err := gradient.BindParts(d, q, partBatch, gradient.Boundary{})
		if err != nil {
			return nil, err
		}
		sums, rep, bou := make([]float64, w.Sampler().Sums()), make([]float64, n), make([]float64, n)
		return func(c int, rng *rand.Rand) error {
			if err := w.Run(rng); err != nil {
				return err
			}
			clear(sums)
			w.AddBoundary(sums)
			w.Sampler().FinishSome(bou, params, sums, partBatch)
			floats.Mul(bou, units)
			p.bou.add(c, bou)
			clear(sums)
			w.AddInside(sums)
			w.Sampler().Finish(rep, sums, partBatch)
			floats.Mul(rep, units)
			p.rep.add(c, rep)
			floats.Add(rep, bou)
			p.whole.add(c, rep)
			return nil
		}, nil
	})
	if err != nil {
		return p, err
	}
	return p, replicate(batches, seed+0x9e3779b97f4a7c15, func() (func(int, *rand.Rand) error, error) {
		w, err := gradient.Score{}.Bind(d, q, partBatch)
		if err != nil {
			return nil, err
		}
		sums, g := make([]float64, w.Sampler().Sums()), make([]float64, n)
		return func(c int, rng *rand.Rand) error {
			clear(sums)
			if err := w.Add(sums, rng); err != nil {
				return err
			}
			w.Sampler().Finish(g, sums, partBatch)
			floats.Mul(g, units)
			p.score.add(c, g)
			return nil
		}, nil
	})
}

// fill makes the components.
func (c *BiasCheck) fill(d *graph.Density, q family.Q, p gradientParts) error {
	var all [4][]mc.Estimate
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
			Name:    q.Param(i).Label(d.Latents()),
			Reparam: all[0][i], Term: all[1][i], Boundary: all[2][i], Score: all[3][i],
		}
		x.Z = zScore(x.Term.Value, x.Term.SE, rounding*scale)
		x.ScoreZ = zScore(x.Score.Value-x.Boundary.Value, math.Hypot(x.Score.SE, x.Boundary.SE), rounding*scale)
		x.ReparamZ = zScore(x.Score.Value-x.Reparam.Value, math.Hypot(x.Score.SE, x.Reparam.SE), rounding*scale)
		c.Components = append(c.Components, x)
	}
	return nil
}
