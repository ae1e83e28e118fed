package vi

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
	"gonum.org/v1/gonum/stat"
)

// progress tells a user how a fit gets on: with a bar on a terminal, in lines
// elsewhere.
type progress struct {
	w      io.Writer // nil: nobody listens
	bar    *progressbar.ProgressBar
	atMost bool          // the fit may be done sooner
	total  int           // steps of all restarts
	every  time.Duration // between reports
	steps  []int         // taken by each restart
	elbo   []Estimate    // of each restart
	trend  []float64     // of each restart, in nats a step
	began  time.Time     // at the first report
	from   int           // steps taken then
	last   time.Time     // the last report
	news   bool          // there is more to report
}

func newProgress(s Settings) *progress {
	if s.Progress == nil {
		return nil
	}
	p := &progress{w: s.Progress, total: s.Steps * s.Restarts, atMost: s.Stop == Automatic, every: time.Second}
	p.steps, p.elbo, p.trend = make([]int, s.Restarts), make([]Estimate, s.Restarts), make([]float64, s.Restarts)
	if f, ok := s.Progress.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar, p.every = newBar(s.Progress, p.total), 100*time.Millisecond
	}
	return p
}

func newBar(w io.Writer, total int) *progressbar.ProgressBar {
	return progressbar.NewOptions(total, progressbar.OptionSetWriter(w), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("steps"), progressbar.OptionSetWidth(20),
		progressbar.OptionOnCompletion(func() { fmt.Fprintln(w) }))
}

// say says what goes on before the first step.
func (p *progress) say(what string) {
	switch {
	case p == nil:
	case p.bar != nil:
		p.bar.Describe(what)
		_ = p.bar.RenderBlank()
	default:
		fmt.Fprintln(p.w, what)
	}
}

// begin notes how many steps were taken before.
func (p *progress) begin(fits []*fitter) {
	if p == nil {
		return
	}
	p.began = time.Now()
	for r, f := range fits {
		p.steps[r], p.elbo[r] = f.Step, Estimate{Mean: math.NaN(), SE: math.NaN()}
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

// end writes what has not been written yet.
func (p *progress) end() {
	if p == nil {
		return
	}
	if p.news {
		p.flush()
	}
	if p.bar != nil && !p.bar.IsFinished() {
		fmt.Fprintln(p.w)
	}
}

// flush writes the news. A terminal that does not take them is no reason to stop.
func (p *progress) flush() {
	if p.bar != nil {
		p.bar.Describe(p.state())
		_ = p.bar.Set(p.done())
	} else {
		fmt.Fprintln(p.w, p.line(time.Since(p.began)))
	}
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
		if e.Mean > p.elbo[best].Mean || math.IsNaN(p.elbo[best].Mean) {
			best = r
		}
	}
	return fmt.Sprintf("ELBO %v (%+.2g per 1000 steps)", p.elbo[best], 1000*p.trend[best])
}

// line is a report after the given time.
func (p *progress) line(after time.Duration) string {
	done := p.done()
	rate := float64(done-p.from) / after.Seconds()
	left := time.Duration(float64(p.total-done) / rate * float64(time.Second)).Round(100 * time.Millisecond)
	words := "left"
	if p.atMost {
		words = "left at most"
	}
	return fmt.Sprintf("step %d of %d  %.0f steps/s  %s  %v %s", done, p.total, rate, p.state(), left, words)
}

// slope is the trend of a trace over its last ten points, in nats a step, by
// least squares.
func slope(trace []TracePoint) float64 {
	var x, y []float64
	for _, p := range trace[max(0, len(trace)-10):] {
		x, y = append(x, float64(p.Step)), append(y, p.ELBO.Mean)
	}
	if len(x) < 2 {
		return 0
	}
	_, slope := stat.LinearRegression(x, y, nil, false)
	return slope
}
