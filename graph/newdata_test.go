package graph_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// An executor whose data change computes what one that is made for the data does, and changes
// without an allocation.
func TestFeed(t *testing.T) {
	const n, samples = 7, 5
	for name, build := range map[string]func(m *graph.Model){
		"level": func(m *graph.Model) {
			when, low, high := m.Sample("when", graph.Uniform(0, n)), m.Sample("low", graph.Normal(0, 3)), m.Sample("high", graph.Normal(0, 3))
			for i := range n {
				m.Observe("y", graph.Normal(graph.If(graph.Less(when, float64(i)+0.5), high, low), 1), 1)
			}
		},
		"noise": func(m *graph.Model) {
			level, sd := m.Sample("level", graph.Cauchy(0, 1)), m.Sample("sd", graph.Gamma(2, 1))
			for i := range n {
				m.Observe("y", graph.Normal(graph.If(graph.Less(level, 0.1*float64(i)), 0, level), sd), 1)
			}
		},
		"counts": func(m *graph.Model) {
			rate := m.Sample("rate", graph.Gamma(2, 1))
			for i := range n {
				m.Observe("y", graph.Poisson(graph.If(graph.Less(rate, 1+0.1*float64(i)), 0.5, rate)), 0)
			}
		},
		"alike": func(m *graph.Model) {
			x := m.Sample("x", graph.Normal(0, 1))
			m.Factor(graph.If(graph.Less(x, 0.3), 0, 1))
			for range n {
				m.Observe("y", graph.Laplace(x, 1), 2)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := graph.NewModel()
			build(m)
			d, err := m.Compile()
			require.NoError(t, err)
			for _, w := range []graph.Compute{{Out: true}, {Out: true, Grad: true}, {OutSum: true, Grad: true}} {
				varying := w
				varying.NewData = true
				x, err := d.Executor(samples, varying)
				require.NoError(t, err)
				rng := rand.New(rand.NewPCG(1, 2))
				for range 4 {
					y := make([]float64, n)
					for i := range y {
						y[i] = float64(rng.IntN(4))
					}
					next, err := d.WithData(map[string][]float64{"y": y})
					require.NoError(t, err)
					require.NoError(t, next.Feed(x))
					require.Zero(t, testing.AllocsPerRun(10, func() { _ = next.Feed(x) }))
					want, err := next.Executor(samples, w)
					require.NoError(t, err)
					for k := range x.Z {
						x.Z[k] = rng.NormFloat64()
					}
					d.Arrangement().SignBatch(x.Signs, x.Z, samples)
					copy(want.Z, x.Z)
					copy(want.Signs, x.Signs)
					require.NoError(t, x.Run())
					require.NoError(t, want.Run())
					if w.Out {
						require.InDeltaSlice(t, want.Out, x.Out, 1e-11)
					}
					if w.OutSum {
						require.InDeltaSlice(t, want.OutSum, x.OutSum, 1e-11)
					}
					if w.Grad {
						require.InDeltaSlice(t, want.Grad, x.Grad, 1e-11)
					}
				}
			}
			_, err = d.Executor(1, graph.Compute{Out: true, NewData: true, Tape: true})
			require.ErrorContains(t, err, "NewData")
			plain, err := d.Executor(1, graph.Compute{Out: true})
			require.NoError(t, err)
			require.ErrorContains(t, d.Feed(plain), "NewData")
			other := graph.NewModel()
			build(other)
			o, err := other.Compile()
			require.NoError(t, err)
			x, err := d.Executor(1, graph.Compute{Out: true, NewData: true})
			require.NoError(t, err)
			require.ErrorContains(t, o.Feed(x), "another program")
		})
	}
}

// LogProb and GradAt say the same of a point wherever they are called, also by two goroutines at a time and with other data.
func TestPointsSideBySide(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Observe("y", graph.Normal(graph.If(graph.Greater(x, 0.3), x, -1), 2), 0.7)
	first := mustCompile(t, m)
	second, err := first.WithData(map[string][]float64{"y": {-4}})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			d, y := first, 0.7
			if k%2 == 1 {
				d, y = second, -4
			}
			for i := range 200 {
				x := 0.01*float64(i+k) - 1
				mean, slope := -1.0, -x
				if x > 0.3 {
					mean, slope = x, -x+(y-x)/4
				}
				log, err := d.LogProb([]float64{x})
				assert.NoError(t, err)
				assert.InDelta(t, logNormalPDF(x, 0, 1)+logNormalPDF(y, mean, 2), log, 1e-12)
				grad, err := d.GradAt([]float64{x}, d.Arrangement().Signs([]float64{x}))
				assert.NoError(t, err)
				assert.InDeltaSlice(t, []float64{slope}, grad, 1e-12)
			}
		})
	}
	wg.Wait()
}
