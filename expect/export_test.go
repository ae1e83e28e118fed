package expect

import "context"

// Steps is what a step of an optimiser does by n draws.
func (e *Expectation) Steps(n int) func(ctx context.Context, seed uint64) error {
	r, err := newRunner(e.d, e.by, n, widthOf(n, stepBlocks))
	return func(ctx context.Context, seed uint64) error {
		if err != nil {
			return err
		}
		_, err := r.run(ctx, e.coord, seed)
		return err
	}
}
