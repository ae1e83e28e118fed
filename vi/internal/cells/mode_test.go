package cells

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
)

// box is a density of three latents whose log r is quadratic in each region, highest at mean, and the walls of a box with a corner
// cut off that mean is outside of.
func box(t *testing.T, low, high, mean []float64) (d *graph.Density, precision *mat.SymDense) {
	m := graph.NewModel()
	var z []graph.Expr
	for _, name := range []string{"x", "y", "z"} {
		z = append(z, m.Sample(name, graph.Normal(0, 1)))
	}
	precision = mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	for _, row := range [][]float64{{1, 0.8, 0}, {0, 1, -0.6}, {0.5, 0, 1}} { // prior and data are both highest at mean
		a := mat.NewVecDense(3, row)
		precision.SymRankOne(precision, 1, a)
	}
	sum := func(row []float64) (s graph.Expr) {
		s = graph.Mul(row[0], z[0])
		for i := 1; i < 3; i++ {
			s = graph.Add(s, graph.Mul(row[i], z[i]))
		}
		return s
	}
	var by mat.VecDense
	by.MulVec(precision, mat.NewVecDense(3, mean))
	for i := range 3 { // −zᵀPz/2 + zᵀP·mean
		row := make([]float64, 3)
		for j := range 3 {
			row[j] = precision.At(i, j)
		}
		rest := slices.Clone(row)
		rest[i]-- // of the prior
		m.Factor(graph.Sub(graph.Mul(by.AtVec(i), z[i]), graph.Mul(0.5, graph.Mul(z[i], sum(rest)))))
	}
	inside := func(g graph.Guard) { m.Factor(graph.If(g, 0, -50)) }
	for i := range 3 {
		inside(graph.Greater(z[i], low[i]))
		inside(graph.Less(z[i], high[i]))
	}
	inside(graph.Less(graph.Add(z[0], z[1]), high[0]+high[1]-0.3))
	d, err := m.Compile()
	require.NoError(t, err)
	return d, precision
}

// A climb that meets walls goes along them, to where log r is highest inside: there no feasible direction rises, but towards the walls
// that are next to it. The normal is that of log r.
func TestEdge(t *testing.T) {
	rng := parallel.NewRand(1)
	slides := 0
	for range 300 {
		low, high, mean := make([]float64, 3), make([]float64, 3), make([]float64, 3)
		z := make([]float64, 3)
		for i := range 3 {
			low[i] = 2 * rng.NormFloat64()
			high[i] = low[i] + 0.5 + rng.Float64()
			mean[i] = 2 * rng.NormFloat64()
			z[i] = low[i] + 0.3*(high[i]-low[i])
		}
		d, precision := box(t, low, high, mean)
		f, err := newFinder(d, newLines(d.Arrangement()), nil)
		require.NoError(t, err)
		signs := d.Arrangement().Signs(z)
		c, err := f.cellOf(lead{z: z, s: signs})
		require.NoError(t, err)
		walls := f.lines.boundsOf(c.span).all
		require.Len(t, walls, 7)
		got, curvature, _, err := f.mode.edge(context.Background(), z, signs, walls)
		require.NoError(t, err)
		require.True(t, mat.EqualApprox(curvature, precision, 1e-5), "%v\n%v", mat.Formatted(curvature), mat.Formatted(precision))
		require.InDeltaSlice(t, mean, got, 1e-4)
		require.False(t, f.lines.outside(walls, z))
		var slope mat.VecDense
		slope.MulVec(precision, mat.NewVecDense(3, floats.SubTo(make([]float64, 3), mean, z)))
		g := slope.RawVector().Data
		near := slices.Clone(f.mode.held)
		if len(near) > 0 {
			slides++
		}
		// g is a sum of the normals that point outside, none of them with a negative weight
		left := slices.Clone(g)
		normals := mat.NewDense(3, max(1, len(near)), nil)
		for k, w := range near {
			h := d.Arrangement().Plane(w.Plane)
			require.Less(t, math.Abs(h.At(z)), 0.3)
			for j, i := range h.Index {
				normals.Set(i, k, h.Coef[j])
				if w.Positive {
					normals.Set(i, k, -h.Coef[j])
				}
			}
		}
		if len(near) > 0 {
			var weight mat.VecDense
			require.NoError(t, weight.SolveVec(normals, mat.NewVecDense(3, g)))
			for k := range near {
				require.Greater(t, weight.AtVec(k), -0.05*floats.Norm(g, 2))
			}
			var sum mat.VecDense
			sum.MulVec(normals, &weight)
			floats.Sub(left, sum.RawVector().Data)
		}
		require.Less(t, floats.Norm(left, 2), 0.01*(1+floats.Norm(g, 2)))
	}
	require.Greater(t, slides, 200)
}

// Where log r is convex across a wall the normal has the curvature of log r along it: here 2 in y, and none of y with x.
func TestEdgeConvexAcross(t *testing.T) {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
	m.Factor(graph.Mul(x, x))
	m.Factor(graph.Mul(-0.5, graph.Mul(y, y)))
	m.Factor(graph.If(graph.Greater(x, 1), 0, -9))
	m.Factor(graph.If(graph.Greater(x, 2), -9, 0))
	d, err := m.Compile()
	require.NoError(t, err)
	f, err := newFinder(d, newLines(d.Arrangement()), nil)
	require.NoError(t, err)
	z := []float64{1.5, 0.7}
	signs := d.Arrangement().Signs(z)
	c, err := f.cellOf(lead{z: z, s: signs})
	require.NoError(t, err)
	mean, precision, _, err := f.mode.edge(context.Background(), z, signs, f.lines.boundsOf(c.span).all)
	require.NoError(t, err)
	require.Greater(t, z[0], 1.94)
	require.InDelta(t, 2, precision.At(1, 1), 1e-4)
	require.InDelta(t, 0, precision.At(0, 1), 1e-4)
	require.InDelta(t, 0, mean[1], 1e-4)
	require.InDelta(t, z[0], precision.At(0, 0)*(mean[0]-z[0]), 1e-3) // the slope of log r
}

// Inside a circle beyond which log r falls off a cliff a climb comes to the maximum of log r and its barrier, on the way to (3, 0), from
// everywhere: beside the circle, too, and from its centre, where it is flat.
func TestFindInsideCircle(t *testing.T) {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.Normal(3, 1)), m.Sample("y", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Less(graph.Add(graph.Square(x), graph.Square(y)), 1), 0, -9))
	d, err := m.Compile()
	require.NoError(t, err)
	f, err := NewModeFinder(d, nil)
	require.NoError(t, err)
	height := func(x, y float64) float64 { return -0.5*(x-3)*(x-3) - 0.5*y*y + math.Log(1-x*x-y*y) }
	most := math.Inf(-1)
	for x := -1.0; x < 1; x += 1e-4 {
		most = max(most, height(x, 0))
	}
	for _, z := range [][]float64{{0, 0}, {0.1, 0.1}, {0, 0.5}, {0, -0.9}, {0.5, 0.5}, {0.8, 0.5}, {-0.9, 0.3}} {
		precision, _, err := f.Find(context.Background(), z)
		require.NoError(t, err)
		require.NotNil(t, precision)
		require.Greater(t, height(z[0], z[1]), most-0.02, z)
	}
}
