package evaluation

import (
	"context"
	"runtime"
	"sync"

	"github.com/facetvi/facet/examples/paper/problem"
)

// A program is the evaluation under way.
type program struct {
	settings
	problems map[string]*problem.Problem
	store    *store
}

// runAll returns the results of the plan, in its order: what the store has, and
// what it then makes and saves, on all processors. The first error stops all.
func (p *program) runAll(ctx context.Context, show *progress) ([]*result, error) {
	runs := p.plan()
	results := make([]*result, len(runs))
	var todo []int
	for i, r := range runs {
		var ok bool
		if results[i], ok = p.store.load(r); !ok {
			todo = append(todo, i)
		}
	}
	show.begin(len(runs), len(todo), p.Steps)
	defer show.end()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(todo)) {
		wg.Go(func() {
			line := show.line()
			defer line.close()
			for i := range next {
				line.start(runs[i].key(), p.Steps)
				r, err := do(ctx, p.problems[runs[i].Model], runs[i], line.step)
				if err == nil {
					err = p.store.save(r)
				}
				if err != nil {
					cancel(err)
					return
				}
				results[i] = r
				line.finish()
				show.finished(r)
			}
		})
	}
	feed(ctx, next, todo)
	wg.Wait()
	return results, context.Cause(ctx)
}

// feed sends all of todo, or what it can until ctx is done.
func feed(ctx context.Context, next chan<- int, todo []int) {
	defer close(next)
	for _, i := range todo {
		select {
		case next <- i:
		case <-ctx.Done():
			return
		}
	}
}
