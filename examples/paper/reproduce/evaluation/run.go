package evaluation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/facetvi/facet/examples/paper/problem"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
)

// A result is what a run measured. Iteration 0 is the start.
type result struct {
	Run      runSpec
	ELBO     []elboPoint
	Variance []variancePoint // of the run's own estimator, at every iteration; if measuresVariance
	Same     []variancePoint // of every estimator, with each of ELBO; if comparesAll
	Theta    []float64       // at the end; none if that is no normal
	// Diverged is the iteration whose gradient was not finite, or that led to a
	// scale of 0, and Why is what the fit said of it; 0 if the run reached its
	// end.
	Diverged int
	Why      string
	Elapsed  time.Duration
}

// complete reports whether the result has every point of its series, up to where
// the run ended.
func (r *result) complete() bool {
	if r.Diverged < 0 || r.Diverged > r.Run.Steps {
		return false
	}
	last := r.Run.Steps // the last iteration that was measured
	if r.Diverged > 0 {
		last = r.Diverged - 1
	}
	points := (last+elboEvery-1)/elboEvery + 1 // with one at last
	if len(r.ELBO) != points && (r.Diverged == 0 || len(r.ELBO) != last/elboEvery+1) {
		return false
	}
	for k, p := range r.ELBO {
		if p.Iteration != min(k*elboEvery, last) {
			return false
		}
	}
	if r.Run.measuresVariance() && len(r.Variance) != min(last+1, r.Run.Steps) {
		return false
	}
	for k, p := range r.Variance {
		if p.Iteration != k || p.Estimator != r.Run.Estimator {
			return false
		}
	}
	if r.Run.comparesAll() && len(r.Same) != len(r.ELBO)*len(estimators) {
		return false
	}
	for k, p := range r.Same {
		if p.Iteration != r.ELBO[k/len(estimators)].Iteration || p.Estimator != estimators[k%len(estimators)].name {
			return false
		}
	}
	return true
}

// An elboPoint is the ELBO after an iteration, in nats.
type elboPoint struct {
	Iteration int
	MonteCarlo,
	SE, // of MonteCarlo
	Exact float64 // in closed form
}

// A variancePoint is the variance of an estimator's gradient at the θ that an
// iteration led to; the next iteration starts there.
type variancePoint struct {
	Iteration int
	Estimator string
	Avg, Norm float64 // Avg(V(·)) and V(‖·‖₂)
}

// do makes a run. A run that diverges is a result; an error is ctx's or a
// fault of the program.
func do(ctx context.Context, p *problem.Problem, r runSpec, tick func()) (*result, error) {
	began := time.Now()
	rec, err := newRecorder(p, r)
	if err != nil {
		return nil, err
	}
	start := p.Start()
	if err := rec.observe(0, start); err != nil {
		return nil, err
	}
	fit, err := vi.Fit(ctx, p.Density, vi.Settings{Seed: r.stream("fit"), Method: vi.Climb{Estimator: estimatorNamed(r.Estimator).estimator, Samples: r.Samples, Steps: r.Steps, StepSize: r.StepSize, Start: start, Average: 1e-9, OnStep: func(s vi.Step) error {
		tick()
		return rec.observe(s.T, s.Q)
	}}})
	switch {
	case errors.Is(err, errDegenerate):
		rec.result.Diverged, rec.result.Why = fit.Steps, err.Error()
	case errors.Is(err, vi.ErrNotFinite):
		rec.result.Diverged, rec.result.Why = fit.Steps+1, err.Error()
		if err := rec.elbo(fit.Steps, fit.Q); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, fmt.Errorf("%v: %w", r, err)
	}
	if !degenerate(fit.Q) {
		rec.result.Theta = fit.Q.Theta()
	}
	rec.result.Elapsed = time.Since(began)
	return rec.result, nil
}

// errDegenerate ends a run whose family is no normal any more.
var errDegenerate = errors.New("a scale is 0 or not finite")

func degenerate(q family.Q) bool { return q.Fault() >= 0 }

// A recorder measures a fit under way.
type recorder struct {
	p        *problem.Problem
	result   *result
	elbos    *check.Meter
	variance *check.GradientMeter
	same     []*check.GradientMeter // as estimators
}

func newRecorder(p *problem.Problem, r runSpec) (*recorder, error) {
	rec := &recorder{p: p, result: &result{Run: r}}
	q := p.Start()
	var err error
	if rec.elbos, err = check.NewMeter(p.Density, q, elboDraws, r.stream("elbo")); err != nil {
		return nil, err
	}
	if r.measuresVariance() {
		e := estimatorNamed(r.Estimator).estimator
		if rec.variance, err = check.NewGradientMeter(p.Density, q, e, varianceDraws, r.stream("variance")); err != nil {
			return nil, err
		}
	}
	if r.comparesAll() {
		for _, e := range estimators {
			m, err := check.NewGradientMeter(p.Density, q, e.estimator, sameDraws, r.stream("same "+e.name))
			if err != nil {
				return nil, err
			}
			rec.same = append(rec.same, m)
		}
	}
	return rec, nil
}

// observe measures q, to which t iterations have led.
func (rec *recorder) observe(t int, q family.Q) error {
	if degenerate(q) {
		return errDegenerate
	}
	r := rec.result.Run
	if t%elboEvery == 0 || t == r.Steps {
		if err := rec.elbo(t, q); err != nil {
			return err
		}
	}
	if rec.variance == nil || t == r.Steps { // no iteration starts from the end
		return nil
	}
	avg, norm, err := rec.variance.Measure(q)
	rec.result.Variance = append(rec.result.Variance, variancePoint{t, r.Estimator, avg, norm})
	return err
}

// elbo evaluates the ELBO at q, unless that has been done.
func (rec *recorder) elbo(t int, q family.Q) error {
	done := rec.result.ELBO
	if len(done) > 0 && done[len(done)-1].Iteration == t {
		return nil
	}
	e, err := rec.elbos.MeasureLogR(q) // and the entropy, which is exact: the paper's estimate
	if err != nil {
		return err
	}
	exact := rec.p.Oracle.ELBO(q.Theta())
	rec.result.ELBO = append(done, elboPoint{t, e.Value + q.(family.Gaussian).Entropy(), e.SE, exact})
	for i, m := range rec.same {
		avg, norm, err := m.Measure(q)
		if err != nil {
			return err
		}
		rec.result.Same = append(rec.result.Same, variancePoint{t, estimators[i].name, avg, norm})
	}
	return nil
}

// averages are the trajectory's: of Avg(V(·)) and of V(‖·‖₂). They are NaN
// without points.
func averages(points []variancePoint, estimator string) (avg, norm float64) {
	n := 0.0
	for _, p := range points {
		if p.Estimator == estimator {
			avg, norm, n = avg+p.Avg, norm+p.Norm, n+1
		}
	}
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	return avg / n, norm / n
}
