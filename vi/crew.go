package vi

import (
	"runtime"
	"sync/atomic"
)

// A crew does the same n pieces of work round after round, on p goroutines. A
// round takes microseconds, and waking a goroutine takes many, so those that
// help stay awake between rounds; they end by themselves when no round follows.
// It allocates nothing in a round.
type crew struct {
	n, p   int
	work   func(w, b int) error // piece b, by goroutine w below p
	ticket atomic.Int64         // number of the round · 2³² + the next piece to do
	left   atomic.Int64         // pieces of the round that are not done
	awake  []atomic.Bool        // by goroutine
	errs   []error              // by piece
}

func newCrew(p, n int, work func(w, b int) error) *crew {
	return &crew{n: n, p: p, work: work, awake: make([]atomic.Bool, p), errs: make([]error, n)}
}

// round does all pieces once, and returns the error of the first that failed.
// It must not be called again before it returns.
func (c *crew) round() error {
	c.left.Store(int64(c.n))
	c.ticket.Store((c.ticket.Load()>>32 + 1) << 32)
	for w := 1; w < c.p; w++ {
		if c.awake[w].CompareAndSwap(false, true) {
			go c.help(w)
		}
	}
	c.take(0)
	for c.left.Load() > 0 {
		runtime.Gosched()
	}
	for _, err := range c.errs {
		if err != nil {
			clear(c.errs)
			return err
		}
	}
	return nil
}

// take does pieces until the round has none to do, and reports whether it did
// any.
func (c *crew) take(w int) bool {
	any := false
	for t := c.ticket.Load(); int(t&(1<<32-1)) < c.n; t = c.ticket.Load() {
		if c.ticket.CompareAndSwap(t, t+1) {
			b := int(t & (1<<32 - 1))
			if err := c.work(w, b); err != nil {
				c.errs[b] = err
			}
			c.left.Add(-1)
			any = true
		}
	}
	return any
}

// help takes part in rounds until none has come for a while.
func (c *crew) help(w int) {
	const patience, looks = 1000, 50 // about a tenth of a millisecond
	for idle := 0; idle < patience; idle++ {
		for range looks {
			if c.take(w) {
				idle = 0
			}
		}
		runtime.Gosched() // others may have work
	}
	c.awake[w].Store(false)
}
