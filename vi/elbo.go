package vi

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
)

// An Estimate is a Monte Carlo mean and its standard error.
type Estimate struct{ Mean, SE float64 }

// String is "mean ± standard error".
func (e Estimate) String() string { return fmt.Sprintf("%.6g ± %.2g", e.Mean, e.SE) }

// ELBO estimates E[log r(z)] + entropy(q) in nats from the given number of
// samples; the entropy is exact. The standard error is honest only if no rare
// region dominates: an event of probability 1e-5 that costs 5e5 nats is not
// seen by 1000 samples.
func ELBO(d *graph.Density, q MeanField, samples int, seed uint64) (Estimate, error) {
	if err := q.check(d); err != nil {
		return Estimate{}, err
	}
	if samples < 2 {
		return Estimate{}, fmt.Errorf("vi: %d samples; a standard error needs 2", samples)
	}
	log, err := logProbs(d, q, samples, seed)
	if err != nil {
		return Estimate{}, err
	}
	var m moments
	for _, v := range log {
		m.add(v)
	}
	return Estimate{m.mean + q.Entropy(), m.se()}, nil
}

// logProbs is log r at samples of q.
func logProbs(d *graph.Density, q MeanField, samples int, seed uint64) ([]float64, error) {
	cut := splitOf(samples, d.Dim())
	n := cut.blocks()
	out := make([]float64, samples)
	s := q.Scale(nil)
	execs := make([]map[int]*graph.Executor, workers(n))
	err := pool(len(execs), n, func(w, b int) error {
		width := cut.width(b)
		if execs[w] == nil {
			execs[w] = map[int]*graph.Executor{}
		}
		x := execs[w][width]
		if x == nil {
			var err error
			if x, err = d.Executor(width, graph.Want{Out: true}); err != nil {
				return err
			}
			execs[w][width] = x
		}
		draw(d, x, make([]float64, d.Dim()*width), q.Mu, s, rand.New(stream(seed, b)))
		if err := x.Run(); err != nil {
			return err
		}
		copy(out[b*cut.size:], x.Out)
		return nil
	})
	return out, err
}

// moments is a running mean and variance (Welford).
type moments struct {
	n        int
	mean, m2 float64
}

func (m *moments) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.m2 += d * (x - m.mean)
}

func (m *moments) merge(o moments) {
	if o.n == 0 {
		return
	}
	n := float64(m.n + o.n)
	d := o.mean - m.mean
	m.m2 += o.m2 + d*d*float64(m.n)*float64(o.n)/n
	m.mean += d * float64(o.n) / n
	m.n += o.n
}

func (m *moments) variance() float64 { return m.m2 / float64(m.n-1) }

func (m *moments) se() float64 { return math.Sqrt(m.variance() / float64(m.n)) }
