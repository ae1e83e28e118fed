package intervals

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// A Fitter climbs and judges in memory that it has: only the distribution that it
// returns is new.
func TestAllocatesNothing(t *testing.T) {
	const n = 60
	for name, program := range map[string]func(m *graph.Model, after graph.Guard, x []graph.Expr, y float64){
		"levels": func(m *graph.Model, after graph.Guard, x []graph.Expr, y float64) {
			m.Observe("y", graph.Normal(graph.If(after, x[1], x[0]), 1), y)
		},
		"rates": func(m *graph.Model, after graph.Guard, x []graph.Expr, y float64) {
			m.Observe("y", graph.Poisson(graph.If(after, graph.Exp(x[1]), graph.Exp(x[0]))), math.Floor(math.Abs(3*y)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := graph.NewModel()
			when := m.Sample("when", graph.Uniform(0, n))
			latents := []graph.Expr{m.Sample("low", graph.Normal(0, 3)), m.Sample("high", graph.Normal(0, 3))}
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range n {
				y := rng.NormFloat64()
				if i > n/3 {
					y += 2
				}
				program(m, graph.Less(when, float64(i)+0.5), latents, y)
			}
			d, err := m.Compile()
			require.NoError(t, err)
			f, err := New(d)
			require.NoError(t, err)
			require.Zero(t, testing.AllocsPerRun(3, func() {
				ok, err := f.find(d, 1e-3)
				require.NoError(t, err)
				require.True(t, ok)
			}))
			allocated := testing.AllocsPerRun(3, func() {
				ok, err := f.drawer.weigh(1, 256)
				require.NoError(t, err)
				require.True(t, ok)
			})
			require.LessOrEqual(t, allocated, 3*float64(len(f.drawer.sample.cells))+10)
		})
	}
}
