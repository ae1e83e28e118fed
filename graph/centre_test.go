package graph_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// At any point a density of centred latents is the one of their own coordinates, and with the threshold summed out it is the sum of that over its intervals,
// though each has its own coordinates.
func TestCentre(t *testing.T) {
	m := graph.NewModel()
	thr := m.Sample("thr", graph.Normal(1, 2))
	a, jump, tau := m.Sample("a", graph.Normal(0, 2)), m.Sample("jump", graph.Normal(0, 1)), m.Sample("tau", graph.HalfNormal(1))
	late := m.Sample("late", graph.Normal(0, 1)) // whose own guard is in all sums of u[0], and which is no switch
	u, v := m.SampleN("u", 4, graph.Normal(a, tau)), m.SampleN("v", 4, graph.Laplace(0, tau))
	once := m.Sample("once", graph.Normal(0, 1))       // one term knows it
	guarded := m.Sample("guarded", graph.Normal(0, 1)) // and of these a guard,
	parent := m.Sample("parent", graph.Normal(0, 1))   // another prior,
	scaled := m.Sample("scaled", graph.Normal(0, 1))   // or a term beside the sums
	m.Sample("child", graph.Normal(parent, 1))
	m.Factor(graph.If(graph.Greater(guarded, 0), 0.3, 0))
	m.Factor(graph.Mul(scaled, graph.Mul(late, 0.1)))
	same := graph.If(graph.Greater(1, thr), jump, 0)
	for k := range 8 {
		i := k / 2
		step := graph.If(graph.Greater(float64(i), thr), jump, graph.Mul(0.1, a))
		x := graph.Sum(graph.Mul(float64(i), a), u[i], step, graph.Mul(float64(k%2), v[i]))
		if i == 0 {
			x = graph.Sum(x, graph.If(graph.Greater(late, 0.5), 0.7, 0))
		}
		m.Observe("y", graph.Poisson(graph.Exp(x)), float64(k))
		for _, z := range []graph.Expr{guarded, parent, scaled} {
			m.Observe("z", graph.Normal(graph.Sum(z, same), 1), 0.3)
		}
		if k == 0 {
			m.Observe("w", graph.Normal(graph.Sum(once, same), 1), 0.3)
		}
	}
	d, err := m.Compile()
	require.NoError(t, err)
	c, err := d.Centre()
	require.NoError(t, err)
	var names []string
	for _, i := range c.Latents {
		names = append(names, d.Latents()[i])
	}
	require.Equal(t, []string{"u[0]", "u[1]", "u[2]", "u[3]"}, names)
	summed, switches, err := c.Density.SumOut()
	require.NoError(t, err)
	require.Len(t, switches, 1)
	own, _, err := d.SumOut()
	require.NoError(t, err)

	rng := rand.New(rand.NewPCG(1, 1))
	at := func(d *graph.Density, z []float64) float64 {
		x, err := d.LogProb(z)
		require.NoError(t, err)
		return x
	}
	var points [][]float64
	for range 70 {
		points = append(points, d.PriorDraw(nil, rng))
	}
	there := clone(points)
	to, err := c.Shift(1)
	require.NoError(t, err)
	from, err := c.Shift(-1)
	require.NoError(t, err)
	to(there)
	for k, w := range there {
		require.InEpsilon(t, at(d, points[k]), at(c.Density, w), 1e-10)
		for i := range w {
			require.Equal(t, slices.Contains(c.Latents, i), w[i] != points[k][i])
		}
	}
	back := clone(there)
	from(back)
	require.InDeltaSlice(t, slices.Concat(points...), slices.Concat(back...), 1e-12)

	// Σ over intervals of mass·r, with the prior of the threshold at w
	cuts := []float64{math.Inf(-1), 0, 1, 2, 3, math.Inf(1)}
	cdf := func(x float64) float64 { return math.Erfc((1-x)/(2*math.Sqrt2)) / 2 }
	log := func(x float64) float64 { return -0.125*(x-1)*(x-1) - math.Log(2*math.Sqrt(2*math.Pi)) }
	for _, w := range there[:10] {
		sum := 0.0
		for j := range 5 {
			in := slices.Clone(w)
			in[0] = []float64{-1, 0.5, 1.5, 2.5, 4}[j]
			z := clone([][]float64{in})
			from(z)
			sum += (cdf(cuts[j+1]) - cdf(cuts[j])) * math.Exp(at(d, z[0])-log(in[0])-at(summed, w)+log(w[0]))
		}
		require.InDelta(t, 1, sum, 1e-9)
	}
	// The two densities are of the same latents, which they have at other places.
	require.Greater(t, math.Abs(at(summed, there[0])-at(own, points[0])), 1e-3)
}

// Without a threshold, or where none of its guards is added to a latent, nothing is centred.
func TestCentreNothing(t *testing.T) {
	m := graph.NewModel()
	thr, jump := m.Sample("thr", graph.Normal(1, 2)), m.Sample("jump", graph.Normal(0, 1))
	u := m.Sample("u", graph.Normal(0, 1))
	for k := range 3 {
		m.Observe("y", graph.Normal(graph.If(graph.Greater(float64(k), thr), jump, 0), 1), 2)
		m.Observe("z", graph.Normal(graph.Sum(u, jump), 1), 2)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	c, err := d.Centre()
	require.NoError(t, err)
	require.Nil(t, c)
}

func clone(points [][]float64) (all [][]float64) {
	for _, z := range points {
		all = append(all, slices.Clone(z))
	}
	return all
}
