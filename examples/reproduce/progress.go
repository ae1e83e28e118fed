package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A progress tells of runs as they end, on w: above a live bar if w is a
// terminal, else in plain lines. It is safe for concurrent use after begin.
type progress struct {
	w     io.Writer
	live  bool
	bar   *progressbar.ProgressBar
	steps atomic.Int64

	mu         sync.Mutex
	began      time.Time
	done, runs int // runs complete, of how many
	first      int // runs that were complete at the start
}

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, live: ok && term.IsTerminal(int(f.Fd()))}
}

// begin starts the clock.
func (p *progress) begin(runs, todo, steps int) {
	p.began, p.runs, p.done, p.first = time.Now(), runs, runs-todo, runs-todo
	if p.first > 0 {
		fmt.Fprintf(p.w, "%d of %d runs are there already\n", p.first, runs)
	}
	if p.live && todo > 0 {
		p.bar = progressbar.NewOptions(todo*steps, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(p.count()),
			progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true), progressbar.OptionFullWidth(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Exit()
		_ = p.bar.Clear()
	}
}

// step counts an iteration of any run.
func (p *progress) step() {
	const some = 200 // iterations between looks at the bar
	if n := p.steps.Add(1); p.bar != nil && n%some == 0 {
		_ = p.bar.Add(some)
	}
}

// finished tells of a run.
func (p *progress) finished(r *result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	line := fmt.Sprintf("%v: ELBO %s in %.1f s", r.Run, nats(r.ELBO[len(r.ELBO)-1].Exact), r.Elapsed.Seconds())
	if r.Diverged > 0 {
		line = fmt.Sprintf("%v: diverged at iteration %d, %.1f s", r.Run, r.Diverged, r.Elapsed.Seconds())
	}
	if p.bar != nil {
		p.bar.Describe(p.count())
		_, _ = progressbar.Bprintln(p.bar, line)
		return
	}
	elapsed := time.Since(p.began)
	left := elapsed / time.Duration(p.done-p.first) * time.Duration(p.runs-p.done)
	fmt.Fprintf(p.w, "%s  %s; elapsed %.0f s, left %.0f s\n", p.count(), line, elapsed.Seconds(), left.Seconds())
}

func (p *progress) count() string {
	return fmt.Sprintf("%*d/%d", len(fmt.Sprint(p.runs)), p.done, p.runs)
}
