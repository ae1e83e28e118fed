package graph_test

import (
	"math"
	"testing"

	"github.com/facetvi/facet/graph"
)

// A long sum has all of its terms, however many forms they are of: here 600, each the sine of
// the one before. So has what a state's flip changes, which is another long sum.
func TestSumsOfManyForms(t *testing.T) {
	const forms = 600
	m := graph.NewModel()
	x, y, w := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1)), m.Sample("w", graph.Normal(0, 1))
	on := graph.Or(graph.Greater(y, 0), graph.Greater(w, 0))
	var all, some []graph.Expr
	next := graph.Add(x, 1)
	for k := range forms {
		next = graph.Sin(next)
		all = append(all, next)
		if k%2 == 0 {
			some = append(some, graph.If(on, next, 0))
		}
	}
	m.Factor(graph.Sin(graph.Sum(all...)))
	m.Factor(graph.Cos(graph.Sum(some...)))
	d := mustCompile(t, m)
	want := func(z []float64) float64 {
		all, some, next := 0.0, 0.0, z[0]+1
		for k := range forms {
			next = math.Sin(next)
			all += next
			if k%2 == 0 && (z[1] > 0 || z[2] > 0) {
				some += next
			}
		}
		sum := math.Sin(all) + math.Cos(some)
		for _, v := range z {
			sum += logNormalPDF(v, 0, 1)
		}
		return sum
	}
	for _, z := range [][]float64{{0.3, 0.5, 1}, {0.3, -0.5, -1}, {-1.2, -0.4, 0.2}} {
		closeTo(t, want(z), logProb(t, d, z...), 1e-11, z)
		for i, g := range gradient(t, d, z...) {
			if slope, trust := partial(want, z, i); trust {
				closeTo(t, slope, g, 1e-6, z, i)
			}
		}
	}
}
