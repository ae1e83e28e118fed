package climb

import (
	"context"
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/streams"
)

// A trialRound gives candidates short fits: steps long, with step sizes of rate
// times that of the fit.
type trialRound struct {
	candidates, steps int
	rate              float64
}

// trialRounds are the rounds; the best candidates of one take part in the next.
var trialRounds = []trialRound{{2 * trials, 100, 2}, {trials / 2, 300, 1}}

// runTrials gives candidates short fits, replaces them by where these end, and
// orders them by the ELBO there.
func runTrials(ctx context.Context, d *graph.Density, s Job, list []candidate) error {
	for _, r := range trialRounds {
		some := list[:min(r.candidates, len(list))]
		if err := r.run(ctx, d, s, some, counting(s.Watch, len(some), fmt.Sprintf("fits of %d steps", r.steps))); err != nil {
			return err
		}
		rank(list)
	}
	return nil
}

// run gives every candidate a short fit, all with the same samples. A fit that
// fails leaves its candidate as it is, with a score of NaN.
func (r trialRound) run(ctx context.Context, d *graph.Density, s Job, list []candidate, done func(int)) error {
	workers := make([]*trial, parallel.Processors(len(list)))
	return parallel.Do(len(workers), len(list), func(w, k int) error {
		defer done(1)
		if workers[w] == nil {
			t, err := r.bind(d, list[k].q, s)
			if err != nil {
				return err
			}
			workers[w] = t
		}
		return workers[w].fit(ctx, &list[k])
	})
}

// A trial is what one goroutine needs for short fits, one after the other.
type trial struct {
	d *graph.Density
	s Job
	g *gradient.Runner
}

func (r trialRound) bind(d *graph.Density, q family.Q, s Job) (*trial, error) {
	t := &trial{d: d, s: Job{Seed: parallel.Mix(s.Seed, streams.Trials), Settings: Settings{
		Samples: s.Samples, Estimator: s.Estimator, Steps: r.steps, StepSize: r.rate * s.StepSize, Average: 0.5, TraceEvery: math.MaxInt,
	}}}
	var err error
	t.g, err = gradient.NewRunner(d, q, s.Estimator, s.Samples, t.s.Seed)
	return t, err
}

func (t *trial) fit(ctx context.Context, c *candidate) error {
	t.g.Restart(t.s.Seed)
	f := fitterWith(t.g, t.d, t.s, c.q)
	if err := f.run(ctx, nil); err != nil {
		c.score = math.NaN()
		return stopped(ctx)
	}
	c.q = f.result()
	elbo, err := compare(t.d, c.q, t.s.Seed)
	c.score = elbo.Value
	return err
}
