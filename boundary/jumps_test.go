package boundary_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/programs"
	"github.com/facetvi/facet/regions"
)

func TestMain(m *testing.M) { long.Main(m) }

// lines moves samples onto planes along given directions v, by latent, with
// a·v = 1. Each plane has the given density.
type lines struct {
	arr     *regions.Arrangement
	pieces  []boundary.Piece
	n       int
	at      [][]int
	v       [][]float64
	density []float64
	along   [][]float64
}

func (s *lines) Locate() {}

func (s *lines) Along(k int) []float64 {
	if s.along == nil {
		s.along = make([][]float64, len(s.at))
		for k := range s.at {
			for _, i := range s.at[k] {
				s.along[k] = append(s.along[k], s.v[k][i])
			}
		}
	}
	return s.along[k]
}

func (s *lines) Density(k int) float64 { return s.density[k] }
func (s *lines) Reached(k int) bool    { return s.density[k] > 0 }
func (s *lines) Each(int) bool         { return true }

var _ boundary.Curves = (*lines)(nil)

func (s *lines) Curved(k int) bool { return s.pieces != nil && s.pieces[k].Curve != nil }

// Move moves the latent of a piece of a curve onto the curve, or not if there is no way.
func (s *lines) Move(dst []float64, k int, z, _ []float64, _ *regions.CurveBatch) {
	for b := 0; b < s.n && len(s.at[k]) > 0; b++ {
		u := make([]float64, len(z)/s.n)
		for i := range u {
			u[i] = z[i*s.n+b]
		}
		i := s.pieces[k].Latent()
		dst[b] = u[i]
		if x, ok := root(s.arr, s.pieces[k].Plane, u, i); ok {
			dst[b] = x
		}
	}
}

// root is where the sign of plane l changes along coordinate i of u: found by scanning and
// bisection, without a solver.
func root(arr *regions.Arrangement, l int, u []float64, i int) (x float64, ok bool) {
	u = slices.Clone(u)
	positive := func(x float64) bool {
		u[i] = x
		return arr.Signs(u).Positive(l)
	}
	const reach, steps = 4.0, 16
	for k := range steps {
		lo, hi := -reach+2*reach*float64(k)/steps, -reach+2*reach*float64(k+1)/steps
		if below := positive(lo); below != positive(hi) {
			for range 60 {
				if mid := 0.5 * (lo + hi); positive(mid) == below {
					lo = mid
				} else {
					hi = mid
				}
			}
			return lo, true
		}
	}
	return 0, false
}

// onto moves z onto h along v.
func onto(h regions.Hyperplane, z, v []float64) []float64 {
	moved, phi := slices.Clone(z), h.At(z)
	for i := range moved {
		moved[i] -= phi * v[i]
	}
	return moved
}

// axes moves the first latent of each plane alone.
var axes = boundary.Reach{Name: "first", Moves: func(h regions.Hyperplane, i int) bool { return h.Index[0] == i }}

// axisLines are the directions of axes for the hyperplanes of j, all of density 1.
func axisLines(j *boundary.Jumps, dim int) *lines {
	s := &lines{at: j.Latents()}
	for _, h := range j.Pieces() {
		v := make([]float64, dim)
		if h.Curve == nil {
			v[h.Index[0]] = 1 / h.Coef[0]
		}
		s.v, s.density = append(s.v, v), append(s.density, 1)
	}
	return s
}

// randomLines is a random reach for the planes of a program: on each, the latent
// with the largest coefficient and some others move, in random directions.
func randomLines(t *rapid.T, d *graph.Density, rng *rand.Rand) (boundary.Reach, func(h regions.Hyperplane) []float64) {
	direction := map[string][]float64{}
	for l, h := range d.Arrangement().Planes() {
		if d.Arrangement().Curve(l) != nil {
			continue
		}
		v, largest := make([]float64, d.Dim()), 0
		for i := range v {
			if rapid.Bool().Draw(t, "moves") {
				v[i] = rng.NormFloat64()
			}
		}
		for k, c := range h.Coef {
			if math.Abs(c) > math.Abs(h.Coef[largest]) {
				largest = k
			}
		}
		rest := 1.0
		for k, i := range h.Index {
			if k != largest {
				rest -= h.Coef[k] * v[i]
			}
		}
		v[h.Index[largest]] = rest / h.Coef[largest]
		direction[h.String()] = v
	}
	of := func(h regions.Hyperplane) []float64 { return direction[h.String()] }
	return boundary.Reach{Name: "random", Moves: func(h regions.Hyperplane, i int) bool { return of(h)[i] != 0 }}, of
}

// jump is Δ at a point on hyperplane l, by evaluating the whole density on both of
// its sides, and the size of what it is the difference of.
func jump(t require.TestingT, d *graph.Density, l int, z []float64) (delta, size float64) {
	signs := d.Arrangement().Signs(z)
	above, err := d.LogProbAt(z, signs.Force(l, true))
	require.NoError(t, err)
	below, err := d.LogProbAt(z, signs.Force(l, false))
	require.NoError(t, err)
	return above - below, 1 + math.Abs(above) + math.Abs(below)
}

// The jumps of random programs, on whatever way a sample gets onto a plane or a curve, are
// those of the whole density with the sign of one guard forced to either side, and those
// of an interpreter that knows no guards.
func TestJumpsAreBruteForce(t *testing.T) {
	counts, beyond := map[string]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		p, d, rng := programs.Compiled(t, programs.Limits{Depth: 1})
		dim, arr := d.Dim(), d.Arrangement()
		n := rapid.SampledFrom([]int{1, 2, 5}).Draw(t, "samples")
		counts["planes"] += arr.Len()
		counts["merged guards"] += len(d.Guards()) - arr.Len()
		reach, direction := randomLines(t, d, rng)
		jumps, err := boundary.NewJumps(d, reach)
		require.NoError(t, err)
		s := &lines{arr: arr, pieces: jumps.Pieces(), n: n, at: jumps.Latents()}
		seen := map[int][]int{}
		for k, x := range jumps.Pieces() {
			seen[x.Plane] = append(seen[x.Plane], k)
			if s.density = append(s.density, 1); x.Curve != nil {
				s.v = append(s.v, make([]float64, dim))
				require.GreaterOrEqual(t, x.Latent(), d.Params())
				continue
			}
			s.v = append(s.v, direction(x.Hyperplane))
			require.Equal(t, arr.Plane(x.Plane), x.Hyperplane)
			require.Len(t, seen[x.Plane], 1)
			if len(x.Index) > 1 {
				counts["dense planes"]++
			}
		}
		b, err := jumps.Bind(d, n, s, boundary.Settings{})
		require.NoError(t, err)
		require.Equal(t, len(jumps.Pieces()), b.Len())
		b.Locate()
		z := make([]float64, dim)
		for range 2 { // buffers are used again
			x := b.Samples()
			for k := range x.Z {
				x.Z[k] = 0.5 + rng.NormFloat64()
			}
			arr.SignBatch(x.Signs, x.Z, n)
			require.NoError(t, b.Run(nil))
			require.Empty(t, b.Sums())
			for at := rng.IntN(n); at < n; at += n { // one will do
				for i := range z {
					z[i] = x.Z[i*n+at]
				}
				inside, err := d.GradAt(z, arr.Signs(z))
				require.NoError(t, err)
				for i, g := range inside {
					require.InDelta(t, g, x.Grad[i*n+at], 1e-11*(1+math.Abs(g)), "gradient at a sample")
				}
				// compare compares piece k, or none if it is −1, of plane l at a point.
				compare := func(l, k int, point, way []float64) {
					left, accuracy := 1e-11, 1e-10
					if arr.Curve(l) != nil { // on which the point is to rounding of its root
						left, accuracy = 1e-9, 1e-9
					}
					want, size := jump(t, d, l, point)
					reference := p.Jump(point, way)
					if math.IsNaN(want) && math.IsNaN(reference) {
						beyond++ // log r is no number on one side, or −∞ on both, as where a square overflows
						return
					}
					if alone(arr, l, point, way) && math.IsNaN(reference) && !math.IsNaN(want) {
						beyond++ // the interpreter's r, which is no logarithm everywhere, overflows
						require.Greater(t, size, 700.0, "plane %d at %v", l, point)
					} else if alone(arr, l, point, way) {
						counts["seen by the interpreter"]++
						require.InDelta(t, reference, want, 1e-6*size, "plane %d at %v", l, point)
					}
					if k < 0 {
						require.InDelta(t, 0, want, left*size, "plane %d is left out", l)
						return
					}
					require.InDelta(t, want, b.Jumps(k)[at], accuracy*size, "plane %d", l)
				}
				for l, h := range arr.Planes() {
					pieces := append(slices.Clone(seen[l]), -1)
					if arr.Curve(l) == nil {
						point := onto(h, z, direction(h))
						require.InDelta(t, 0, h.At(point), 1e-9*(1+math.Abs(h.At(z))))
						way := make([]float64, dim)
						for c, i := range h.Index {
							way[i] = h.Coef[c]
						}
						if compare(l, pieces[0], point, way); pieces[0] >= 0 {
							require.InDelta(t, h.At(z), b.Values(pieces[0])[at], 1e-12*(1+math.Abs(h.At(z))))
						}
						continue
					}
					for _, k := range pieces[:max(1, len(pieces)-1)] {
						i := arr.Curve(l).Latents()[0]
						if k >= 0 {
							i = jumps.Pieces()[k].Latent()
						}
						if r, ok := root(arr, l, z, i); ok {
							counts["points on curves"]++
							point, way := slices.Clone(z), make([]float64, dim)
							point[i], way[i] = r, 1
							above := slices.Clone(point)
							if above[i] += 1e-7; !arr.Signs(above).Positive(l) {
								way[i] = -1
							}
							compare(l, k, point, way)
						}
					}
				}
			}
		}
	})
	t.Log(counts, beyond)
	require.Less(t, 100*beyond, counts["seen by the interpreter"])
	for what, n := range counts {
		require.Greater(t, n, 50, what)
	}
}

// alone reports whether plane l is the only one whose sign changes at a point, where Φ rises.
func alone(arr *regions.Arrangement, l int, point, way []float64) bool {
	signs := func(by float64) regions.Signs {
		at := slices.Clone(point)
		for i, x := range way {
			at[i] += by * x
		}
		return arr.Signs(at)
	}
	before, behind := signs(-1e-7), signs(1e-7)
	for k := range arr.Len() {
		if k != l && before.Positive(k) != behind.Positive(k) {
			return false
		}
	}
	return !before.Positive(l) && behind.Positive(l)
}

// Where guards are drawn, the mean over the draws is the sum over all.
func TestSubsampling(t *testing.T) {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(x, 0.5), 2, y))
	m.Factor(graph.If(graph.Greater(x, y), 1.5, 0))
	m.Factor(graph.If(graph.Less(graph.Add(x, y), 4), x, -1))
	m.Factor(graph.If(graph.Less(x, 1e6), 1, 2)) // no weight at all
	m.Factor(graph.If(graph.Less(y, 0), 1, 1))   // no jump at all
	d, err := m.Compile()
	require.NoError(t, err)
	jumps, err := boundary.NewJumps(d, axes)
	require.NoError(t, err)
	require.Len(t, jumps.Pieces(), 4)
	surface := axisLines(jumps, d.Dim())
	surface.density = []float64{0.4, 0, 0.3, 0.1} // axis planes come first
	require.Equal(t, -1e6, jumps.Pieces()[1].Const)
	draw := func(s boundary.Settings, runs int) (values [][]float64) {
		b, err := jumps.Bind(d, 1, surface, s)
		require.NoError(t, err)
		copy(b.Samples().Z, []float64{0.4, -0.7})
		d.Arrangement().SignBatch(b.Samples().Signs, b.Samples().Z, 1)
		b.Locate()
		rng := rand.New(rand.NewPCG(1, 2))
		values = make([][]float64, b.Len())
		for range runs {
			require.NoError(t, b.Run(rng))
			for k := range values {
				values[k] = append(values[k], b.Jumps(k)[0])
			}
		}
		return values
	}
	want := draw(boundary.Settings{}, 1)
	for _, by := range []boundary.Subsampling{boundary.Uniform, boundary.ByWeight} {
		for _, guards := range []int{1, 3, 7} {
			for k, values := range draw(boundary.Settings{Guards: guards, By: by}, 100000) {
				mean, sd := stat.MeanStdDev(values, nil)
				se := stat.StdErr(sd, float64(len(values)))
				if by == boundary.ByWeight && surface.density[k] == 0 {
					require.Zero(t, mean, "a plane without weight is never chosen")
					continue
				}
				require.Less(t, math.Abs(mean-want[k][0]), 5*se, "plane %d, %d %v", k, guards, by)
				require.Less(t, 5*se, 0.05*math.Abs(want[k][0]), "inconclusive")
			}
		}
	}
}

// Jumps that are the same for all samples are computed once, and must survive
// subsampling, which counts some of them and others not.
func TestSubsamplingConstantJumps(t *testing.T) {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(x, 0.5), 2, 0))
	m.Factor(graph.If(graph.Greater(y, 0.5), 1.5, 0))
	d, err := m.Compile()
	require.NoError(t, err)
	jumps, err := boundary.NewJumps(d, axes)
	require.NoError(t, err)
	b, err := jumps.Bind(d, 1, axisLines(jumps, 2), boundary.Settings{Guards: 1})
	require.NoError(t, err)
	b.Locate()
	rng := rand.New(rand.NewPCG(1, 2))
	drawn := map[[2]float64]int{}
	for range 100 {
		require.NoError(t, b.Run(rng))
		first := b.Jumps(0)[0] // the next call uses the same slice
		drawn[[2]float64{first, b.Jumps(1)[0]}]++
	}
	require.Len(t, drawn, 2) // one of two guards, counted double
	require.Greater(t, drawn[[2]float64{4, 0}], 20)
	require.Greater(t, drawn[[2]float64{0, 3}], 20)
}

// A model's jumps are compiled once for a reach, for all its data; and not for
// another's.
func TestJumpsAreCompiledOnce(t *testing.T) {
	build := func() *graph.Density {
		m := graph.NewModel()
		x := m.Sample("x", graph.Normal(0, 1))
		m.Observe("y", graph.Normal(graph.If(graph.Greater(x, 0), 1, -1), 1), 0.5)
		d, err := m.Compile()
		require.NoError(t, err)
		return d
	}
	d := build()
	jumps, err := boundary.NewJumps(d, axes)
	require.NoError(t, err)
	next, err := d.WithData(map[string][]float64{"y": {2}})
	require.NoError(t, err)
	again, err := boundary.NewJumps(next, axes)
	require.NoError(t, err)
	require.Same(t, jumps, again)
	other := axes
	other.Name = "another"
	apart, err := boundary.NewJumps(d, other)
	require.NoError(t, err)
	require.NotSame(t, jumps, apart)
	require.Positive(t, jumps.Program().Nodes())

	// The jump at 0 is log N(y; 1, 1) − log N(y; −1, 1) = 2y.
	for _, c := range []struct {
		d *graph.Density
		y float64
	}{{d, 0.5}, {next, 2}} {
		b, err := jumps.Bind(c.d, 1, axisLines(jumps, 1), boundary.Settings{})
		require.NoError(t, err)
		b.Locate()
		require.NoError(t, b.Run(nil))
		require.InDelta(t, 2*c.y, b.Jumps(0)[0], 1e-12)
	}
	_, err = jumps.Bind(build(), 1, axisLines(jumps, 1), boundary.Settings{})
	require.ErrorContains(t, err, "another model")
	for _, s := range []boundary.Settings{{Guards: -1}, {By: 2}} {
		require.Error(t, s.Validate())
		_, err = jumps.Bind(d, 1, axisLines(jumps, 1), s)
		require.Error(t, err)
	}
	require.Equal(t, "uniform by weight", fmt.Sprint(boundary.Uniform, " ", boundary.ByWeight))
}
