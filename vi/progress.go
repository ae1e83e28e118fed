package vi

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
	"gonum.org/v1/gonum/stat"
)

// progress tells a user how a fit gets on: on a terminal by one line that is
// written anew in its place, elsewhere by a line each second. What the user
// prints meanwhile begins on the line in progress and stays.
type progress struct {
	w       io.Writer     // nil: nobody listens
	columns func() int    // of the terminal; nil if w is none
	shown   int           // characters of the line in progress
	atMost  bool          // the fit may be done sooner
	total   int           // steps of all restarts
	every   time.Duration // between reports
	steps   []int         // taken by each restart
	elbo    []Estimate    // of each restart
	trend   []float64     // of each restart, in nats a step
	began   time.Time     // at the first report
	from    int           // steps taken then
	last    time.Time     // the last report
	news    bool          // there is more to report
}

func newProgress(s job) *progress {
	if s.Progress == nil {
		return nil
	}
	p := &progress{w: s.Progress, total: s.Steps * s.Restarts, atMost: s.Stop == Automatic, every: time.Second}
	p.steps, p.elbo, p.trend = make([]int, s.Restarts), make([]Estimate, s.Restarts), make([]float64, s.Restarts)
	if f, ok := s.Progress.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.columns, p.every = func() int { return columns(f) }, 100*time.Millisecond
	}
	return p
}

// columns is the width of a terminal, 80 if it does not tell.
func columns(f *os.File) int {
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil || n == 0 {
		return 80
	}
	return n
}

// say says what goes on before the first step.
func (p *progress) say(what string) {
	if p != nil {
		p.write(what)
		p.last = time.Now()
	}
}

// soon says it if nothing has been said for a while.
func (p *progress) soon(what string) {
	if p != nil && time.Since(p.last) >= p.every {
		p.say(what)
	}
}

// write writes a line, on a terminal over the last one and cut to its width. A
// writer that fails is no reason to stop.
func (p *progress) write(line string) {
	if p.columns == nil {
		fmt.Fprintln(p.w, line)
		return
	}
	n := utf8.RuneCountInString(line)
	if room := max(1, p.columns()-1); n > room {
		line, n = string([]rune(line)[:room-1])+"…", room
	}
	fmt.Fprint(p.w, "\r", line, strings.Repeat(" ", max(0, p.shown-n)))
	p.shown = n
}

// begin notes how many steps were taken before.
func (p *progress) begin(fits []*fitter) {
	if p == nil {
		return
	}
	p.began = time.Now()
	for r, f := range fits {
		p.steps[r], p.elbo[r] = f.Step, Estimate{Value: math.NaN(), SE: math.NaN()}
		p.from += f.Step
	}
}

// at reports restart r, with a trace that has a new point.
func (p *progress) at(r int, trace []TracePoint) {
	if p == nil {
		return
	}
	now := trace[len(trace)-1]
	p.steps[r], p.elbo[r], p.trend[r] = now.Step, now.ELBO, slope(trace)
	if p.news = true; time.Since(p.last) >= p.every {
		p.flush()
	}
}

// end writes what has not been written yet, and ends the line in progress.
func (p *progress) end() {
	if p == nil {
		return
	}
	if p.news {
		p.flush()
	}
	if p.shown > 0 {
		fmt.Fprintln(p.w)
		p.shown = 0
	}
}

// flush writes the news.
func (p *progress) flush() {
	p.write(p.line(time.Since(p.began)))
	p.last, p.news = time.Now(), false
}

func (p *progress) done() int {
	n := 0
	for _, s := range p.steps {
		n += s
	}
	return n
}

// state is the ELBO and its trend, of the best restart.
func (p *progress) state() string {
	best := 0
	for r, e := range p.elbo {
		if e.Value > p.elbo[best].Value || math.IsNaN(p.elbo[best].Value) {
			best = r
		}
	}
	return fmt.Sprintf("ELBO %v (%+.2g per 1000 steps)", p.elbo[best], 1000*p.trend[best])
}

// line is a report after the given time; on a terminal what matters most comes
// first, since the line may be cut.
func (p *progress) line(after time.Duration) string {
	done := p.done()
	rate := float64(done-p.from) / after.Seconds()
	left := time.Duration(float64(p.total-done) / rate * float64(time.Second)).Round(100 * time.Millisecond)
	words := "left"
	if p.atMost {
		words = "left at most"
	}
	if p.columns != nil {
		return fmt.Sprintf("%3d%%  %v %s  %s  step %d of %d  %.0f steps/s", 100*done/p.total, left, words, p.state(), done, p.total, rate)
	}
	return fmt.Sprintf("step %d of %d  %.0f steps/s  %s  %v %s", done, p.total, rate, p.state(), left, words)
}

// slope is the trend of a trace over its last ten points, in nats a step, by
// least squares.
func slope(trace []TracePoint) float64 {
	var x, y []float64
	for _, p := range trace[max(0, len(trace)-10):] {
		x, y = append(x, float64(p.Step)), append(y, p.ELBO.Value)
	}
	if len(x) < 2 {
		return 0
	}
	_, slope := stat.LinearRegression(x, y, nil, false)
	return slope
}
