package gradient

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
)

// An Estimator estimates ∇ELBO. Boundary, Reparam and Score are some.
type Estimator interface {
	// Name is the estimator's short name.
	Name() string
	// Bind makes the estimator's working state for batches of n samples of q and
	// of other members of its family.
	Bind(d *graph.Density, q family.Q, n int) (Worker, error)
}

// A Preparer is an Estimator whose Bind does something the first time that may take
// long. Prepare does it for members of q's family until ctx is done.
type Preparer interface {
	Prepare(ctx context.Context, d *graph.Density, q family.Q) error
}

// A Worker estimates gradients from batches of samples. It is for one goroutine.
type Worker interface {
	// Locate takes on the parameters of q.
	Locate(q family.Q)
	// Add draws a batch and adds its estimate, summed over the samples, to sums:
	// those of Sampler.
	Add(sums []float64, rng *rand.Rand) error
	// Sampler is what draws the batch, and makes ∇θ of sums.
	Sampler() family.Sampler
}

// Reparam is the reparameterization (pathwise) gradient: what automatic
// differentiation gives. It is BIASED if the model has guards, since it does
// not see the density jump at them; without guards it is the Boundary estimator.
type Reparam struct{}

// Name implements Estimator.
func (Reparam) Name() string { return "reparam" }

// Bind implements Estimator.
func (Reparam) Bind(d *graph.Density, q family.Q, n int) (Worker, error) {
	ex, err := d.Executor(n, graph.Compute{Grad: true})
	if err != nil {
		return nil, err
	}
	s, err := bind(q, n)
	return &reparamWorker{samples{d, ex, s}}, err
}

// bind is family.Bind.
func bind(q family.Q, n int) (family.Sampler, error) {
	s, err := family.Bind(q, n)
	if err != nil {
		return nil, fmt.Errorf("gradient: %w", err)
	}
	return s, nil
}

// samples are a batch of draws with their regions, in an executor.
type samples struct {
	d       *graph.Density
	ex      *graph.Executor
	sampler family.Sampler
}

func (s *samples) Sampler() family.Sampler { return s.sampler }
func (s *samples) Locate(q family.Q)       { s.sampler.Locate(q) }

func (s *samples) draw(rng *rand.Rand) {
	s.sampler.Draw(s.ex.Z, rng)
	s.d.Arrangement().SignBatch(s.ex.Signs, s.ex.Z, s.ex.N)
}

type reparamWorker struct{ samples }

func (w *reparamWorker) Add(sums []float64, rng *rand.Rand) error {
	w.draw(rng)
	if err := w.ex.Run(); err != nil {
		return err
	}
	w.sampler.AddPath(sums, w.ex.Grad)
	return nil
}

// Score is the score-function (REINFORCE) estimator (log r − log q)·∇log q,
// without control variates. Its variance is hopeless beyond a few latents: an oracle, not a
// tool. A parameter has no score: of a parameter that moves no guard the gradient is
// E[∂ log r], and models in which one does are refused. Else it is unbiased.
type Score struct{}

// Name implements Estimator.
func (Score) Name() string { return "score" }

// Bind implements Estimator.
func (Score) Bind(d *graph.Density, q family.Q, n int) (Worker, error) {
	if err := checkScore(d); err != nil {
		return nil, fmt.Errorf("gradient: score: %w: use Boundary", err)
	}
	ex, err := d.Executor(n, graph.Compute{Out: true, Grad: d.Params() > 0})
	if err != nil {
		return nil, err
	}
	s, err := bind(q, n)
	return &scoreWorker{samples{d, ex, s}, make([]float64, n)}, err
}

// checkScore reports parameters that a score estimator has no gradient of.
func checkScore(d *graph.Density) error {
	for l, guards := range d.GuardsByPlane() {
		if i := d.Arrangement().Latents(l)[0]; i < d.Params() {
			return fmt.Errorf("parameter %s has no score, and moves the guard %v (%s)", d.Latents()[i], guards[0], guards[0].Place())
		}
	}
	return nil
}

type scoreWorker struct {
	samples
	weight []float64
}

func (w *scoreWorker) Add(sums []float64, rng *rand.Rand) error {
	w.draw(rng)
	if err := w.ex.Run(); err != nil {
		return err
	}
	copy(w.weight, w.ex.Out)
	w.sampler.SubLogQ(w.weight)
	w.sampler.AddScore(sums, w.weight)
	if params := w.d.Params(); params > 0 {
		clear(w.ex.Grad[params*w.ex.N:])
		w.sampler.Pull(sums, w.ex.Grad)
	}
	return nil
}
