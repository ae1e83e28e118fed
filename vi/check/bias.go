package check

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

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

// roundingPart is the part of a gradient's size that is taken as rounding.
const roundingPart = 1e-10

// gradientParts are replicates of RepGrad, BouContr and their sum from common
// draws, and of the score estimate.
type gradientParts struct{ rep, bou, whole, score *chunked }

func newParts(d *graph.Density, q family.Q, batches int, seed uint64) (gradientParts, error) {
	n := len(q.Theta())
	p := gradientParts{newChunked(n), newChunked(n), newChunked(n), newChunked(n)}
	units := make([]float64, n)
	q.Units(units)
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
			w.FinishPart(bou, sums, partBatch)
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
		x.Z = zScore(x.Term.Value, x.Term.SE, roundingPart*scale)
		x.ScoreZ = zScore(x.Score.Value-x.Boundary.Value, math.Hypot(x.Score.SE, x.Boundary.SE), roundingPart*scale)
		x.ReparamZ = zScore(x.Score.Value-x.Reparam.Value, math.Hypot(x.Score.SE, x.Reparam.SE), roundingPart*scale)
		c.Components = append(c.Components, x)
	}
	return nil
}

// zScore is difference in standard errors, to which rounding adds.
func zScore(difference, se, rounding float64) float64 {
	if difference == 0 {
		return 0
	}
	return difference / math.Hypot(se, rounding)
}
