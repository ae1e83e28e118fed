package gradient

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
)

// A chain is a program of which each latent's prior depends on the one before.
type chain struct{ *graph.Density }

func (c chain) Parents() [][]int {
	parents := make([][]int, c.Dim())
	for i := range parents[1:] {
		parents[i+1] = []int{i}
	}
	return parents
}

// Where guards are drawn, the mean over the draws is the sum over all: at one batch
// of samples, for every family.
func TestSubsampling(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	for name, f := range families(2) {
		t.Run(name, func(t *testing.T) {
			m := graph.NewModel()
			x := m.Sample("x", graph.Normal(0, 1))
			y := m.Sample("y", graph.Normal(graph.Mul(0.5, x), 1))
			m.Factor(graph.If(graph.Greater(x, 0.5), 2, y))
			m.Factor(graph.If(graph.Greater(x, y), 1.5, 0))
			m.Factor(graph.If(graph.Less(graph.Add(x, y), 4), x, -1))
			m.Factor(graph.If(graph.Less(x, 1e6), 1, 2)) // no weight at all
			m.Factor(graph.If(graph.Less(y, 0), 1, 1))   // no jump at all
			d := vitest.Compile(t, m)
			q := member(t, f, d, newReference(f, d).theta(rand.New(rand.NewPCG(3, 0))))
			run := func(e Boundary, runs int) (mean, se []float64) {
				p, err := BindParts(d, q, 1, e)
				require.NoError(t, err)
				rng := rand.New(rand.NewPCG(*Seed, 2))
				p.draw(rng)
				all := make([]mc.Moments, len(q.Theta()))
				for range runs {
					require.NoError(t, p.batch.Run(rng))
					for k, x := range sumsOf(p, 1, p.AddBoundary) {
						all[k].Add(x)
					}
				}
				for _, m := range all {
					mean, se = append(mean, m.Mean), append(se, m.SE())
				}
				return mean, se
			}
			want, _ := run(Boundary{}, 1)
			require.Positive(t, floats.Norm(want, 2))
			for _, by := range []boundary.Subsampling{boundary.Uniform, boundary.ByWeight} {
				for _, guards := range []int{1, 3} {
					mean, se := run(Boundary{guards, by}, vitest.Draws(100000))
					z := vitest.MaxZScaled(t, mean, se, want, vitest.Precision(0.05), 1)
					require.Less(t, z, 5.0, "%d %v", guards, by)
				}
			}
		})
	}
}

// No mass on any guard, or no guard with a jump, gives zero and no NaN.
func TestNoMass(t *testing.T) {
	for name, build := range map[string]func(m *graph.Model, x, y graph.Expr){
		"far": func(m *graph.Model, x, _ graph.Expr) { m.Factor(graph.If(graph.Less(x, 1e9), x, graph.Log(x))) },
		"idle": func(m *graph.Model, x, _ graph.Expr) {
			m.If(graph.Less(x, 0), nil, nil)
			graph.Greater(x, 1)
		},
		"far and infinite": func(m *graph.Model, x, _ graph.Expr) {
			m.Factor(graph.If(graph.Less(x, -1e9), graph.Exp(graph.Square(x)), x))
		},
		"far, dense and infinite": func(m *graph.Model, x, y graph.Expr) {
			m.Factor(graph.If(graph.Less(graph.Add(x, y), -1e9), graph.Exp(graph.Square(y)), x))
		},
	} {
		m := graph.NewModel()
		x := m.Sample("x", graph.Normal(0, 1))
		build(m, x, m.Sample("y", graph.Normal(graph.Mul(0.5, x), 1)))
		d := vitest.Compile(t, m)
		for _, f := range families(2) {
			q := member(t, f, d, newReference(f, d).theta(rand.New(rand.NewPCG(3, 0))))
			for form, e := range Boundaries() {
				p, err := BindParts(d, q, 2, e)
				require.NoError(t, err)
				require.NoError(t, p.Run(rand.New(rand.NewPCG(1, 2))))
				got := sumsOf(p, 2, p.AddBoundary)
				require.Equal(t, make([]float64, len(got)), got, "%s, %s, %s", name, f.Name(), form)
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
	p, err := BindParts(vitest.Compile(t, m), family.Independent([]float64{0, 0}, []float64{1, 1}), 1, Boundary{Guards: 1})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	drawn := map[[2]float64]int{}
	for range 100 {
		require.NoError(t, p.Run(rng))
		g := sumsOf(p, 1, p.AddBoundary)
		drawn[[2]float64{g[0], g[2]}]++
	}
	w := 2 * math.Exp(-0.5*0.5*0.5) / math.Sqrt(2*math.Pi) // one of two guards, counted double
	require.Len(t, drawn, 2)
	require.Greater(t, drawn[[2]float64{2 * w, 0}], 20)
	require.Greater(t, drawn[[2]float64{0, 1.5 * w}], 20)
}

// An estimate allocates nothing, for every family and estimator.
func TestEstimateDoesNotAllocate(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	dense, _, _ := vitest.NewDense(vitest.DenseCases[2])
	curved := graph.NewModel()
	x, y, u := curved.Sample("x", graph.Normal(0, 1)), curved.Sample("y", graph.Normal(0, 1)), curved.Sample("u", graph.LogNormal(0, 1))
	product, sum := graph.Greater(graph.Mul(x, y), 0.3), graph.Greater(graph.Sum(u, graph.Square(y), graph.Mul(0.01, x)), 1)
	curved.Factor(graph.If(graph.And(product, graph.Less(x, 0.5)), x, graph.If(sum, y, 1)))
	mixed := graph.NewModel()
	k := mixed.Sample("k", graph.Binomial(3, 0.4))
	level, other, third := mixed.Sample("level", graph.Normal(0, 1)), mixed.Sample("other", graph.Normal(0, 1)), mixed.Sample("third", graph.Normal(0, 1))
	mixed.Factor(graph.If(graph.Equal(k, 1), graph.If(graph.Greater(level, other), third, 1), level))
	for _, model := range []*graph.Model{dense.Model(), curved, mixed} {
		for name, f := range families(3) {
			d := vitest.Compile(t, model)
			q, err := f.New(chain{d})
			require.NoError(t, err)
			for _, n := range []int{1, 16, 33} {
				for _, e := range []Estimator{Boundary{}, SingleGuard(), Reparam{}, Score{},
					Boundary{Guards: 2, By: boundary.ByWeight}} {
					r, err := NewRunner(d, q, e, n, 1)
					require.NoError(t, err)
					require.Zero(t, testing.AllocsPerRun(20, func() { _, err = r.Estimate(q) }), "%s, %v, %d samples", name, e, n)
					require.NoError(t, err)
				}
			}
		}
	}
}
