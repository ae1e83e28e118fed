package vi

import (
	"context"
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// try gives every candidate a short fit and replaces it by where that ends, and
// its score by the ELBO there. All have the same samples. A fit that fails
// leaves its candidate as it is, with a score of NaN.
func try(ctx context.Context, d *graph.Density, s Settings, list []candidate) error {
	tryers := make([]*tryer, mc.Processors(len(list)))
	return mc.Do(len(tryers), len(list), func(w, k int) error {
		if tryers[w] == nil {
			t, err := newTryer(d, list[k].q, s)
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
	g    *gradient.Runner
	eval *check.Meter
}

func newTryer(d *graph.Density, q family.Q, s Settings) (*tryer, error) {
	t := &tryer{d: d, s: Settings{
		Samples: s.Samples, Estimator: s.Estimator, Steps: trialSteps, StepSize: s.StepSize,
		Average: 0.5, TraceEvery: math.MaxInt, Seed: mc.Mix(s.Seed, trialStream),
	}}
	var err error
	if t.g, err = gradient.NewRunner(d, q, s.Estimator, s.Samples, t.s.Seed); err != nil {
		return nil, err
	}
	t.eval, err = check.NewMeter(d, q, compareSamples, 0)
	return t, err
}

func (t *tryer) try(ctx context.Context, c *candidate) error {
	t.g.Restart(t.s.Seed)
	f := fitterWith(t.g, t.d, t.s, c.q)
	if err := f.run(ctx, nil); err != nil {
		c.score = math.NaN()
		return stopped(ctx)
	}
	c.q = f.result()
	t.eval.Restart(t.s.Seed)
	elbo, err := measured(c.q, t.eval.Measure)
	c.score = elbo.Mean
	return err
}
