package vi

import (
	"context"
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
)

// try gives every candidate a short fit and replaces it by where that ends, and
// its score by the ELBO there. All have the same samples. A fit that fails
// leaves its candidate as it is, with a score of NaN.
func try(ctx context.Context, d *graph.Density, s Settings, list []candidate) error {
	tryers := make([]*tryer, workers(len(list)))
	return pool(len(tryers), len(list), func(w, k int) error {
		if tryers[w] == nil {
			t, err := newTryer(d, s)
			if err != nil {
				return fmt.Errorf("vi: %w", err)
			}
			tryers[w] = t
		}
		return tryers[w].try(ctx, &list[k])
	})
}

// tryer is what one goroutine needs for short fits, one after the other.
type tryer struct {
	d    *graph.Density
	s    Settings
	g    *gradienter
	eval *evaluator
}

func newTryer(d *graph.Density, s Settings) (*tryer, error) {
	t := &tryer{d: d, s: Settings{
		Samples: s.Samples, Estimator: s.Estimator, Steps: trialSteps, StepSize: s.StepSize,
		Average: 0.5, TraceEvery: math.MaxInt, Seed: mix(s.Seed, trialStream),
	}}
	var err error
	if t.g, err = newGradienter(d, s.Estimator, s.Samples, t.s.Seed); err != nil {
		return nil, err
	}
	t.eval, err = newEvaluator(d, t.s.Seed)
	return t, err
}

func (t *tryer) try(ctx context.Context, c *candidate) error {
	for b, bl := range t.g.state {
		*bl.pcg = *stream(t.s.Seed, b)
	}
	f := fitterWith(t.g, t.d, t.s, c.q)
	err := f.run(ctx, nil)
	if f.failed {
		c.score = math.NaN()
		return nil
	}
	if err != nil {
		return fmt.Errorf("vi: stopped while looking for a start: %w", context.Cause(ctx))
	}
	c.q = f.result()
	elbo, err := t.eval.elbo(c.q, 0, compareSamples)
	c.score = elbo.Mean
	return err
}
