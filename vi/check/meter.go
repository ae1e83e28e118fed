package check

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// ELBO estimates E[log r(z) − log q(z)] in nats from the given number of samples.
// The standard error is honest only if no rare region dominates: an event of
// probability 1e-5 that costs 5e5 nats is not seen by 1000 samples. RareSides
// estimates what they miss. It is −Inf, without error, if a sample has log r =
// −Inf.
func ELBO(d *graph.Density, q family.Q, samples int, seed uint64) (mc.Estimate, error) {
	m, err := newMeter(d, q, samples, seed, allProcessors)
	if err != nil {
		return mc.Estimate{}, err
	}
	return m.Measure(q)
}

// A Meter estimates ELBOs again and again, without allocating. Its random
// streams are its own. It is for one goroutine, which it never leaves: for many
// fits at once, each with a meter.
type Meter struct {
	d           *graph.Density
	pool        *parallel.Pool[*meterWorker]
	logR, ratio []float64  // log r, and log r − log q
	q           family.Q   // while it measures
	placed      placedHook // likewise
}

// placedHook may look at the samples from number first on before log r is
// evaluated, and change them.
type placedHook func(first int, x *graph.Executor, rng *rand.Rand)

type meterWorker struct {
	x       *graph.Executor
	sampler family.Drawer
}

// NewMeter returns a meter of the given number of samples a measurement, for
// members of q's family. The first measurement is that of ELBO with the same
// seed; the next go on along the same streams.
func NewMeter(d *graph.Density, q family.Q, samples int, seed uint64) (*Meter, error) {
	return newMeter(d, q, samples, seed, 1)
}

// allProcessors is as many as there are, at most one for each block.
const allProcessors = 0

// termsOfLatent is how many terms of log r make blocks as short as a latent does: of much data longer ones would take
// gigabytes.
const termsOfLatent = 64

func newMeter(d *graph.Density, q family.Q, samples int, seed uint64, processors int) (*Meter, error) {
	if err := family.Check(q, d); err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	if samples < 2 {
		return nil, fmt.Errorf("check: %d samples; a standard error needs 2", samples)
	}
	if err := memory.Check(fmt.Sprintf("%d samples", samples), 24*float64(samples)); err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	cut := parallel.Cut(samples, max(d.Dim(), d.Terms()/termsOfLatent))
	if processors == allProcessors {
		processors = parallel.Processors(cut.Len())
	}
	m := &Meter{d: d, logR: make([]float64, samples), ratio: make([]float64, samples)}
	bind := func(n int) (*meterWorker, error) {
		x, err := d.Executor(n, graph.Compute{Out: true})
		if err != nil {
			return nil, fmt.Errorf("check: %w", err)
		}
		return &meterWorker{x, q.Drawer(n)}, nil
	}
	var err error
	m.pool, err = parallel.NewPool(cut, processors, seed, bind, func(w *meterWorker) { w.sampler.Locate(m.q) }, m.block)
	return m, err
}

// Restart puts the random streams where seed says.
func (m *Meter) Restart(seed uint64) { m.pool.Restart(seed) }

// Measure estimates the ELBO at q in nats; see ELBO for what the standard error
// does not see.
func (m *Meter) Measure(q family.Q) (mc.Estimate, error) {
	if err := m.draw(q, nil); err != nil {
		return mc.Estimate{}, err
	}
	return mc.Mean(m.ratio), nil
}

// MeasureLogR estimates E[log r(z)] at q: with the entropy, which is exact, an
// estimate of the ELBO whose noise stays where q is the posterior.
func (m *Meter) MeasureLogR(q family.Q) (mc.Estimate, error) {
	if err := m.draw(q, nil); err != nil {
		return mc.Estimate{}, err
	}
	return mc.Mean(m.logR), nil
}

// draw fills logR and ratio, with log q of the samples before they are changed.
func (m *Meter) draw(q family.Q, placed placedHook) error {
	if err := family.Check(q, m.d); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	m.q, m.placed = q, placed
	if err := m.pool.Round(); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	return nil
}

func (m *Meter) block(w *meterWorker, b int, rng *rand.Rand) error {
	first, x := b*m.pool.Size, w.x
	w.sampler.Draw(x.Z, rng)
	m.d.Arrangement().SignBatch(x.Signs, x.Z, x.N)
	if m.placed != nil {
		m.placed(first, x, rng)
	}
	if err := x.Run(); err != nil {
		return err
	}
	copy(m.logR[first:], x.Out)
	copy(m.ratio[first:], x.Out)
	w.sampler.SubLogQ(m.ratio[first:][:x.N])
	return nil
}

// badLog is the first of log densities that is NaN or +Inf, or −1.
func badLog(logs []float64) int {
	return slices.IndexFunc(logs, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 1) })
}

// checkLogs reports a log density that is NaN or +Inf at draws from q.
func checkLogs(d *graph.Density, q family.Q, logs []float64) error {
	k := badLog(logs)
	if k < 0 {
		return nil
	}
	err := fmt.Errorf("check: log r is %v at a draw", logs[k])
	if why := gradient.Blame(d, q); why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return err
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
