package layer_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/expect/layer"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/vi/family"
)

// BenchmarkNode is a node of series of 20 counts with a change, 4 draws each, and its gradient, on a TapeMachine.
func BenchmarkNode(b *testing.B) {
	const length = 20
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(0, length))
	before, after := m.Sample("before", graph.Exponential(0.1)), m.Sample("after", graph.Exponential(0.1))
	for t := range length {
		m.Observe("count", graph.Poisson(graph.If(graph.Greater(when, float64(t)+0.5), before, after)), 1)
	}
	d, err := m.Compile()
	require.NoError(b, err)
	q, err := family.MeanField{}.New(d)
	require.NoError(b, err)
	rows, err := expect.NewRows(d, q, 4, 1)
	require.NoError(b, err)
	for _, batch := range []int{32, 64, 128} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			g := gorgonia.NewGraph()
			theta, data := input(g, "theta", batch, 6, random(1, batch*6)...), input(g, "data", batch, length, slices.Repeat([]float64{3}, batch*length)...)
			out, err := layer.Of(rows).Apply(theta, nil, data)
			require.NoError(b, err)
			_, err = gorgonia.Grad(must(gorgonia.Sum(out)), theta)
			require.NoError(b, err)
			machine := gorgonia.NewTapeMachine(g)
			defer machine.Close()
			start := cputime.Seconds()
			for range b.N {
				require.NoError(b, machine.RunAll())
				machine.Reset()
			}
			b.ReportMetric((cputime.Seconds()-start)*1e6/float64(b.N*batch), "CPU-µs/row")
		})
	}
}
