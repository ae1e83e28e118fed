package gradient_test

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// leaveOneOut is the score estimator with the mean weight of the other samples as
// a control variate (Kool, van Hoof and Welling, 2019).
type leaveOneOut struct{}

func (leaveOneOut) Name() string { return "leave one out" }

func (leaveOneOut) Bind(d *graph.Density, q family.Q, n int) (gradient.Worker, error) {
	x, err := d.Executor(n, graph.Compute{Out: true})
	if err != nil {
		return nil, err
	}
	s, err := family.Bind(q, n)
	return &looWorker{d, x, s}, err
}

type looWorker struct {
	d *graph.Density
	x *graph.Executor
	s family.Sampler
}

func (w *looWorker) Sampler() family.Sampler { return w.s }
func (w *looWorker) Locate(q family.Q)       { w.s.Locate(q) }

func (w *looWorker) Add(sums []float64, rng *rand.Rand) error {
	w.s.Draw(w.x.Z, rng)
	w.d.Arrangement().SignBatch(w.x.Signs, w.x.Z, w.x.N)
	if err := w.x.Run(); err != nil {
		return err
	}
	weights, n := w.x.Out, float64(w.x.N)
	w.s.SubLogQ(weights) // log r − log q
	mean := floats.Sum(weights) / n
	for k, v := range weights {
		weights[k] = (v - mean) * n / (n - 1)
	}
	w.s.AddScore(sums, weights)
	return nil
}

// An estimator may be written anywhere: it draws with the family's sampler, runs the
// density, and gives the sampler what came out.
func ExampleEstimator() {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Observe("x", graph.Normal(graph.If(graph.Greater(z, 0), 5, -2), 1), 0)
	density, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	q := family.Independent([]float64{0.5}, []float64{1})
	for _, e := range []gradient.Estimator{gradient.Boundary{}, gradient.Score{}, leaveOneOut{}} {
		g, err := check.Gradient(density, q, e, check.GradientSettings{Draws: 20000, Samples: 16, Seed: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-13s  ∂ELBO/∂μ = %.1f, one estimate ± %.1f\n", e.Name(), g.Mean[0], g.SE[0]*141.4)
	}
	// Output:
	// boundary       ∂ELBO/∂μ = -4.2, one estimate ± 0.0
	// score          ∂ELBO/∂μ = -4.2, one estimate ± 2.4
	// leave one out  ∂ELBO/∂μ = -4.2, one estimate ± 1.3
}
