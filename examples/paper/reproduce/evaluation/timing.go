package evaluation

import (
	"context"
	"runtime"
	"time"

	"github.com/facetvi/facet/examples/paper/problem"
	"github.com/facetvi/facet/vi"
)

// timeIterations is Table 2: the time of an iteration at N = 1 with nothing
// measured beside it, on one goroutine, by model and estimator. It is that
// of the fastest of five fits, which other programs disturbed least.
func (p *program) timeIterations(ctx context.Context) (map[string]map[string]time.Duration, error) {
	table := map[string]map[string]time.Duration{}
	for _, model := range p.Models {
		table[model] = map[string]time.Duration{}
		for _, e := range p.Estimators {
			for k := range 5 {
				t, err := p.timeFit(ctx, p.problems[model], estimatorNamed(e).estimator)
				if err != nil {
					return nil, err
				}
				if k == 0 || t < table[model][e] {
					table[model][e] = t
				}
			}
		}
	}
	return table, nil
}

// timingStepSize is one that no fit diverges with.
const timingStepSize = 0.001

// timeFit is the time of an iteration after the first, which makes what the
// fit keeps.
func (p *program) timeFit(ctx context.Context, of *problem.Problem, e vi.Estimator) (time.Duration, error) {
	start := of.Start()
	var began time.Time
	var ended time.Duration
	steps := min(3000, 10*p.Steps)
	runtime.GC()
	_, err := vi.Fit(ctx, of.Density, vi.Settings{Seed: p.Seed, Method: vi.Climb{Estimator: e, Samples: 1, Steps: steps, StepSize: timingStepSize, Start: start, TraceEvery: steps, OnStep: func(s vi.Step) error {
		switch s.T {
		case 1:
			began = time.Now()
		case steps:
			ended = time.Since(began)
		}
		return nil
	}}})
	return ended / time.Duration(steps-1), err
}
