package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// A Team does the same n pieces of work round after round, on p goroutines. A
// round may take microseconds, and waking a goroutine takes many, so those that
// help stay awake between rounds; they end by themselves when no round follows.
// It allocates nothing in a round.
type Team struct {
	n, p    int
	work    func(w, k int) error // piece k, by goroutine w below p
	ticket  atomic.Int64         // number of the round · 2³² + the next piece to do
	left    atomic.Int64         // pieces of the round that are not done
	waiting atomic.Bool          // the caller of Round sleeps until done
	done    chan struct{}
	awake   []atomic.Bool // by goroutine
	errs    []error       // by piece
}

// NewTeam returns a team for pieces 0 … n−1. work does piece k on goroutine w,
// below p, one piece at a time. State for each goroutine fixes p with it, since
// GOMAXPROCS may change meanwhile: see Processors.
func NewTeam(p, n int, work func(w, k int) error) *Team {
	return &Team{n: n, p: p, work: work, done: make(chan struct{}), awake: make([]atomic.Bool, p), errs: make([]error, n)}
}

// Processors is the number of goroutines for n pieces of work.
func Processors(n int) int { return max(1, min(n, runtime.GOMAXPROCS(0))) }

// Do does n pieces of work once; see NewTeam.
func Do(p, n int, work func(w, k int) error) error { return NewTeam(p, n, work).Round() }

// patience is how often a goroutine without work looks for some before it gives
// up: for about a tenth of a millisecond.
const patience = 1000

// A Panic is what was recovered, and the stack of the goroutine that panicked.
type Panic struct {
	Value any
	Stack []byte
}

// Recovered is the Panic of a value that recover has returned: itself if it is one.
func Recovered(v any) *Panic {
	if p, is := v.(*Panic); is {
		return p
	}
	return &Panic{v, debug.Stack()}
}

// Error implements error.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v\n\n%s", p.Value, p.Stack) }

// Round does all pieces once, and returns the error of the first that failed. If its work panics, so
// does Round, with a Panic, when the others are done. It must not be called again before it returns.
func (t *Team) Round() error {
	t.left.Store(int64(t.n))
	t.ticket.Store((t.ticket.Load()>>32 + 1) << 32)
	for w := 1; w < t.p; w++ {
		if t.awake[w].CompareAndSwap(false, true) {
			go t.help(w)
		}
	}
	t.take(0)
	t.wait()
	for _, err := range t.errs {
		if err != nil {
			clear(t.errs)
			if p, is := err.(*Panic); is {
				panic(p)
			}
			return err
		}
	}
	return nil
}

// do does piece k.
func (t *Team) do(w, k int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Recovered(v)
		}
	}()
	return t.work(w, k)
}

// wait waits until the others have done their pieces: awake at first, then
// asleep.
func (t *Team) wait() {
	for i := 0; t.left.Load() > 0; i++ {
		if i < patience {
			runtime.Gosched()
			continue
		}
		t.waiting.Store(true)
		if t.left.Load() > 0 || !t.waiting.CompareAndSwap(true, false) {
			<-t.done
		}
	}
}

// take does pieces until the round has none to do, and reports whether it did
// any.
func (t *Team) take(w int) bool {
	any := false
	for now := t.ticket.Load(); int(now&(1<<32-1)) < t.n; now = t.ticket.Load() {
		if t.ticket.CompareAndSwap(now, now+1) {
			k := int(now & (1<<32 - 1))
			if err := t.do(w, k); err != nil {
				t.errs[k] = err
			}
			if t.left.Add(-1) == 0 && t.waiting.CompareAndSwap(true, false) {
				t.done <- struct{}{}
			}
			any = true
		}
	}
	return any
}

// help takes part in rounds until none has come for a while.
func (t *Team) help(w int) {
	const looks = 50
	for idle := 0; idle < patience; idle++ {
		for range looks {
			if t.take(w) {
				idle = 0
			}
		}
		runtime.Gosched() // others may have work
	}
	t.awake[w].Store(false)
}
