package vi

import (
	"math/rand/v2"
	"time"

	"github.com/facetvi/facet/graph"
)

// A TracePoint is the ELBO of a fit after a step, from fresh samples, and the
// time until then. The ELBO is that of the average of the iterates since the
// point before, for it is an average that a fit returns: single iterates can be
// several nats worse.
type TracePoint struct {
	Step    int
	ELBO    Estimate
	Elapsed time.Duration
}

// The samples behind a TracePoint, and behind an ELBO that others are compared
// with.
const (
	traceSamples   = 64
	compareSamples = 1024
)

// evaluator estimates ELBOs from samples of log r(z) − log q(z), whose spread
// vanishes as q nears the posterior. It keeps its buffers, and draws from
// streams that seed and step alone name: a fit that is resumed has no state of
// it to restore.
type evaluator struct {
	d      *graph.Density
	x      *graph.Executor
	pcg    *rand.PCG
	rng    *rand.Rand
	seed   uint64
	eps, s []float64
	log    []float64
}

func newEvaluator(d *graph.Density, seed uint64) (*evaluator, error) {
	n := min(traceSamples, splitOf(compareSamples, d.Dim()).size)
	x, err := d.Executor(n, graph.Compute{Out: true})
	if err != nil {
		return nil, err
	}
	pcg := rand.NewPCG(0, 0)
	return &evaluator{
		d: d, x: x, pcg: pcg, rng: rand.New(pcg), seed: seed,
		eps: make([]float64, d.Dim()*n), s: make([]float64, d.Dim()), log: make([]float64, compareSamples),
	}, nil
}

// weights writes samples of log r − log q to dst. Equal streams draw equal ε.
func (e *evaluator) weights(dst []float64, q MeanField, stream int) error {
	e.pcg.Seed(e.seed^0xd1342543de82ef95, uint64(stream))
	q.Scale(e.s)
	entropy := entropyOf(e.s) - 0.5*float64(len(e.s)) // −log q is this + ½|ε|²
	n := e.x.N
	for at := 0; at < len(dst); at += n {
		draw(e.d, e.x, e.eps, q.Mu, e.s, e.rng)
		if err := e.x.Run(); err != nil {
			return err
		}
		log := dst[at : at+n]
		clear(log)
		for i := 0; i < len(e.eps); i += n {
			for k, x := range e.eps[i : i+n] {
				log[k] += x * x
			}
		}
		for k, square := range log {
			log[k] = e.x.Out[k] + entropy + 0.5*square
		}
	}
	return nil
}

// elbo estimates the ELBO of q from a few samples, for the trace.
func (e *evaluator) elbo(q MeanField, stream, samples int) (Estimate, error) {
	log := e.log[:samples]
	if err := e.weights(log, q, stream); err != nil {
		return Estimate{}, err
	}
	return meanOf(log), nil
}

func meanOf(v []float64) Estimate {
	var m moments
	for _, x := range v {
		m.add(x)
	}
	return Estimate{m.mean, m.se()}
}

// trace adds a point to the trace.
func (f *fitter) trace() error {
	eval, err := f.evaluator()
	if err != nil {
		return err
	}
	f.Recent.write(f.mean)
	f.Recent.reset()
	f.meanQ.set(f.mean)
	elbo, err := eval.elbo(f.meanQ, f.Step, traceSamples)
	f.Elapsed = time.Since(f.began)
	f.Trace = append(f.Trace, TracePoint{f.Step, elbo, f.Elapsed})
	return err
}
