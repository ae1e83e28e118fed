package climb

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/vi/internal/watch"
	"github.com/facetvi/facet/vi/mc"
)

// pace is how fast restarts take their steps, and how far they are.
type pace struct {
	total  int           // steps of all restarts
	atMost bool          // the fit may be done sooner
	steps  []int         // taken by each restart
	elbo   []mc.Estimate // of each restart
	trend  []float64     // of each restart, in nats a step
	began  time.Time     // at the first report
	from   int           // steps taken then
}

// newPace begins with what was taken before.
func newPace(s Job, fits []*fitter) *pace {
	p := &pace{total: s.Steps * s.Restarts, atMost: s.Stop == Automatic, began: time.Now()}
	for _, f := range fits {
		p.steps, p.elbo = append(p.steps, f.Step), append(p.elbo, mc.Estimate{Value: math.NaN(), SE: math.NaN()})
		p.from += f.Step
	}
	p.trend = make([]float64, len(fits))
	return p
}

// at notes where restart r is, with a trace that has a new point, and reports it.
func (p *pace) at(r int, trace []TracePoint, w *watch.Watch) {
	now := trace[len(trace)-1]
	p.steps[r], p.elbo[r], p.trend[r] = now.Step, now.ELBO, slope(trace)
	w.Report(func(terminal bool) string { return p.line(time.Since(p.began), terminal) })
}

func (p *pace) done() int {
	n := 0
	for _, s := range p.steps {
		n += s
	}
	return n
}

// state is the ELBO and its trend, of the best restart.
func (p *pace) state() string {
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
func (p *pace) line(after time.Duration, terminal bool) string {
	done := p.done()
	rate := float64(done-p.from) / after.Seconds()
	left := time.Duration(float64(p.total-done) / rate * float64(time.Second)).Round(100 * time.Millisecond)
	words := "left"
	if p.atMost {
		words = "left at most"
	}
	if terminal {
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
