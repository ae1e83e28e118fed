package vi_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// A linear model y = A·z + noise has a normal posterior, and the evidence
// N(y; m, Σ) of normal data.
type linearModel struct {
	prior    []float64   // standard deviations
	on       [][]float64 // z_i = Σ on[i][j]·z_j + prior noise, j < i
	a        [][]float64 // y = A·z
	sd       float64
	y        []float64
	evidence float64
}

// newLinearModel draws one: a chain, in which each latent and each observation
// depends on its neighbour only, or one where all depend on all.
func newLinearModel(chain bool, dim int, rng *rand.Rand) *linearModel {
	l := &linearModel{sd: 0.7}
	noise := mat.NewDense(dim, dim, nil) // z = noise·ε
	for i := range dim {
		l.prior = append(l.prior, 0.5+rng.Float64())
		l.on, l.a = append(l.on, make([]float64, dim)), append(l.a, make([]float64, dim))
		for j := range i {
			if !chain || j == i-1 {
				l.on[i][j] = rng.NormFloat64() / 2
			}
		}
		for j := range dim {
			if !chain || j == i {
				l.a[i][j] = rng.NormFloat64()
			}
		}
		l.y = append(l.y, 2*rng.NormFloat64())
		for k := range dim {
			for j := range i {
				noise.Set(i, k, noise.At(i, k)+l.on[i][j]*noise.At(j, k))
			}
		}
		noise.Set(i, i, l.prior[i])
	}
	var through, cov mat.Dense
	a := mat.NewDense(dim, dim, nil)
	for i := range dim {
		a.SetRow(i, l.a[i])
	}
	through.Mul(a, noise)
	cov.Mul(&through, through.T())
	sym := mat.NewSymDense(dim, nil)
	for i := range dim {
		for j := range i + 1 {
			sym.SetSym(i, j, cov.At(i, j))
		}
		sym.SetSym(i, i, sym.At(i, i)+l.sd*l.sd)
	}
	var c mat.Cholesky
	c.Factorize(sym)
	var w mat.VecDense
	y := mat.NewVecDense(dim, l.y)
	if err := c.SolveVecTo(&w, y); err != nil {
		panic(err)
	}
	l.evidence = -0.5 * (mat.Dot(y, &w) + c.LogDet() + float64(dim)*math.Log(2*math.Pi))
	return l
}

func (l *linearModel) compile(t *testing.T) *graph.Density {
	m := graph.NewModel()
	sum := func(of []float64, z []graph.Expr) graph.Expr {
		s := graph.Add(0, 0)
		for j, x := range z {
			s = graph.Add(s, graph.Mul(of[j], x))
		}
		return s
	}
	var z []graph.Expr
	for i, sd := range l.prior {
		z = append(z, m.Sample(fmt.Sprintf("z[%d]", i), graph.Normal(sum(l.on[i], z), sd)))
	}
	for i, y := range l.y {
		m.Observe("y", graph.Normal(sum(l.a[i], z), l.sd), y)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// A posterior that is in the family is found exactly: its ELBO is the log
// evidence, without noise. The mean field, which does not have it, stays below.
func TestNormalPosteriors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		chain bool
		exact family.Family
		below family.Family
	}{
		{"chain", true, family.Structured{}, family.MeanField{}},
		{"dense", false, family.FullRank{}, family.MeanField{}},
		{"chain, full rank", true, family.FullRank{}, family.MeanField{}},
	}[:long.Or(1, 3)] {
		t.Run(c.name, func(t *testing.T) {
			l := newLinearModel(c.chain, 10, rand.New(rand.NewPCG(1, 2)))
			d := l.compile(t)
			elbo := func(f family.Family, draws int) vi.Estimate {
				fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1, Method: vi.Climb{Family: f}})
				require.NoError(t, err)
				e, err := fit.ELBO(draws, 1)
				require.NoError(t, err)
				return e
			}
			e := elbo(c.exact, long.Or(12_000_000/9, 12_000_000))
			require.InDelta(t, l.evidence, e.Value, 1e-6, "%v", e)
			require.Less(t, e.SE, long.Or(7.5e-7, 2.5e-7))
			require.Less(t, elbo(c.below, 100_000).Value, l.evidence-0.1)
		})
	}
}
