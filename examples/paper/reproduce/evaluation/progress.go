package evaluation

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"golang.org/x/term"
)

// A progress tells of runs on w. On a terminal each run under way has a live
// line, and all runs together another below them. A run that has ended leaves a
// plain line. It is safe for concurrent use after begin.
type progress struct {
	w    io.Writer
	live bool
	bars *mpb.Progress // nil unless lines are live now
	all  *liveLine

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
		p.bars = mpb.New(mpb.WithOutput(p.w), mpb.WithAutoRefresh())
		p.all = p.line()
		p.all.bar.SetPriority(runs) // the last line
		p.all.start(p.count(), todo*steps)
	}
}

// end takes the live lines away.
func (p *progress) end() {
	if p.bars != nil {
		p.all.close()
		p.bars.Wait()
	}
}

// finished tells of a run.
func (p *progress) finished(r *result) {
	line := fmt.Sprintf("%v: ELBO %s in %.1f s", r.Run, nats(r.ELBO[len(r.ELBO)-1].Exact), r.Elapsed.Seconds())
	if r.Diverged > 0 {
		line = fmt.Sprintf("%v: diverged at iteration %d, %.1f s", r.Run, r.Diverged, r.Elapsed.Seconds())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.bars != nil {
		p.all.rename(p.count())
		fmt.Fprintln(p.bars, line)
		return
	}
	fmt.Fprintf(p.w, "%s  %s; %s\n", p.count(), line, clock(time.Since(p.began), p.done-p.first, p.runs-p.first))
}

func (p *progress) count() string {
	return fmt.Sprintf("%*d/%d runs", len(fmt.Sprint(p.runs)), p.done, p.runs)
}

// clock is the time that done of total took, and what the rest will take at
// that pace.
func clock(elapsed time.Duration, done, total int) string {
	left := "?"
	if done > 0 {
		left = fmt.Sprintf("%.1f s", elapsed.Seconds()*float64(total-done)/float64(done))
	}
	return fmt.Sprintf("elapsed %.1f s, left %s", elapsed.Seconds(), left)
}
