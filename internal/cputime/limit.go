package cputime

import (
	"context"
	"time"
)

// A Limit is how many CPU seconds the process will have taken when a computation is to
// end. The zero Limit is none.
type Limit float64

// In is the limit that is reached when the process has taken d more.
func In(d time.Duration) Limit { return Limit(Seconds() + d.Seconds()) }

// Over reports whether l has been reached.
func (l Limit) Over() bool { return l != 0 && Seconds() >= float64(l) }

// Left is what is left until l, not below 0.
func (l Limit) Left() time.Duration {
	return time.Duration(max(0, float64(l)-Seconds()) * float64(time.Second))
}

// often is how often a context looks at its limit.
const often = 5 * time.Millisecond

// Context is a context that is done when l is over, too, with the cause
// context.DeadlineExceeded. stop must be called when it is not needed any more.
func (l Limit) Context(parent context.Context) (ctx context.Context, stop func()) {
	if l == 0 {
		return parent, func() {}
	}
	ctx, cancel := context.WithCancelCause(parent)
	if l.Over() {
		cancel(context.DeadlineExceeded)
		return ctx, func() {}
	}
	go func() {
		tick := time.NewTicker(often)
		defer tick.Stop()
		for !l.Over() {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		cancel(context.DeadlineExceeded)
	}()
	return ctx, func() { cancel(nil) }
}
