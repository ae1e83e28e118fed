package vi

import (
	"fmt"
	"math/rand/v2"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/vec"
)

// An Estimator estimates ∇ELBO. The estimators are Boundary, Reparam and Score.
type Estimator interface {
	// Name is the estimator's short name.
	Name() string
	// bind makes the estimator's working state for batches of n samples.
	bind(d *graph.Density, n int) (worker, error)
}

// A worker estimates the gradient of E[log r] from batches of samples; the
// entropy's gradient is exact and added elsewhere.
type worker interface {
	// samples is the executor whose Z and Signs are to be filled.
	samples() *graph.Executor
	// locate is told the family once for each gradient.
	locate(mu, s []float64)
	// add adds the estimate, summed over the batch's samples, to the gradients
	// with respect to μ and s. eps is the batch's ε, Dim × N.
	add(eps, mu, s []float64, rng *rand.Rand, gMu, gScale []float64) error
}

// Boundary is the unbiased, low-variance estimator of Lee, Yu and Yang (NeurIPS
// 2018): the reparameterization gradient inside the regions plus the surface
// integral over all guards. The zero value uses all guards; its settings choose
// how boundary points are made. It is unbiased for every model.
type Boundary struct{ boundary.Settings }

// Name implements Estimator.
func (e Boundary) Name() string {
	if e.Guards > 0 {
		return "boundary_single"
	}
	return "boundary"
}

func (e Boundary) bind(d *graph.Density, n int) (worker, error) {
	if d.Arrangement().Len() == 0 {
		return Reparam{}.bind(d, n)
	}
	jumps, err := boundary.NewJumps(d)
	if err != nil {
		return nil, err
	}
	b, err := jumps.Bind(d, n, e.Settings)
	if err != nil {
		return nil, err
	}
	return &boundaryWorker{b}, nil
}

type boundaryWorker struct{ *boundary.Batch }

func (w *boundaryWorker) samples() *graph.Executor { return w.Samples() }
func (w *boundaryWorker) locate(mu, s []float64)   { w.Locate(mu, s) }

func (w *boundaryWorker) add(eps, mu, s []float64, rng *rand.Rand, gMu, gScale []float64) error {
	if err := w.Run(eps, rng); err != nil {
		return err
	}
	addRepGrad(w.Samples(), eps, gMu, gScale)
	w.AddGradient(gMu, gScale)
	return nil
}

// Reparam is the reparameterization (pathwise) gradient: what automatic
// differentiation gives. It is BIASED if the model has guards, since it does
// not see the density jump at them; without guards it is the Boundary estimator.
type Reparam struct{}

// Name implements Estimator.
func (Reparam) Name() string { return "reparam" }

func (Reparam) bind(d *graph.Density, n int) (worker, error) {
	ex, err := d.Executor(n, graph.Compute{Grad: true})
	return &reparamWorker{ex}, err
}

type reparamWorker struct{ ex *graph.Executor }

func (w *reparamWorker) samples() *graph.Executor { return w.ex }
func (w *reparamWorker) locate(_, _ []float64)    {}

func (w *reparamWorker) add(eps, _, _ []float64, _ *rand.Rand, gMu, gScale []float64) error {
	if err := w.ex.Run(); err != nil {
		return err
	}
	addRepGrad(w.ex, eps, gMu, gScale)
	return nil
}

// addRepGrad adds Σ_samples pullback(ε, ∇log r).
func addRepGrad(x *graph.Executor, eps, gMu, gScale []float64) {
	if x.N == 1 {
		vec.Add(gMu, gMu, x.Grad)
		for i, g := range x.Grad {
			gScale[i] += g * eps[i]
		}
		return
	}
	vec.AddSumDotRows(gMu, gScale, x.Grad, eps, x.N)
}

// Score is the score-function (REINFORCE) estimator (log r − log q)·∇log q,
// without control variates. It is unbiased for every model, and its variance is
// hopeless beyond a few latents: an oracle, not a tool.
type Score struct{}

// Name implements Estimator.
func (Score) Name() string { return "score" }

func (Score) bind(d *graph.Density, n int) (worker, error) {
	ex, err := d.Executor(n, graph.Compute{Out: true})
	return &scoreWorker{ex: ex, weight: make([]float64, n)}, err
}

type scoreWorker struct {
	ex      *graph.Executor
	entropy float64
	weight  []float64
}

func (w *scoreWorker) samples() *graph.Executor { return w.ex }

func (w *scoreWorker) locate(_, s []float64) { w.entropy = entropyOf(s) }

func (w *scoreWorker) add(eps, _, s []float64, _ *rand.Rand, gMu, gScale []float64) error {
	if err := w.ex.Run(); err != nil {
		return err
	}
	n := w.ex.N
	for k := range w.weight { // log r − log q, where log q = Σ(1 − ε²)/2 − entropy
		w.weight[k] = w.ex.Out[k] + w.entropy
	}
	for i := range gMu {
		for k, e := range eps[i*n : i*n+n] {
			w.weight[k] += 0.5 * (e*e - 1)
		}
	}
	for i := range gMu {
		m, v := 0.0, 0.0
		for k, e := range eps[i*n : i*n+n] {
			m += w.weight[k] * e
			v += w.weight[k] * (e*e - 1)
		}
		gMu[i] += m / s[i]
		gScale[i] += (v - float64(n)) / s[i] // the exact ∂entropy/∂s, added elsewhere, is already in the score
	}
	return nil
}

// EstimatorNamed returns score, reparam, boundary or boundary_single.
func EstimatorNamed(name string) (Estimator, error) {
	for _, e := range []Estimator{Score{}, Reparam{}, Boundary{}, SingleGuard()} {
		if e.Name() == name {
			return e, nil
		}
	}
	return nil, fmt.Errorf("vi: no estimator %q; there are score, reparam, boundary and boundary_single", name)
}

// SingleGuard is the paper's own variant of Boundary: each sample uses one
// guard, drawn uniformly.
func SingleGuard() Boundary {
	return Boundary{boundary.Settings{Method: boundary.Elimination, Guards: 1, By: boundary.Uniform}}
}
