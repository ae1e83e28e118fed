package family

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/facetvi/facet/regions"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// program is a Program in which latent 2 depends on none, latent 3 on 0 and 2, and
// the others on the one before.
type program int

func (p program) Dim() int    { return int(p) }
func (p program) Params() int { return 0 }

func (p program) Values(int) (values, cuts []float64) { return nil, nil }

func (p program) Latents() (names []string) {
	for i := range int(p) {
		names = append(names, fmt.Sprintf("z%d", i))
	}
	return names
}

func (p program) Parents() [][]int {
	parents := make([][]int, p)
	for i := range parents {
		switch i {
		case 0, 2:
		case 3:
			parents[i] = []int{0, 2}
		default:
			parents[i] = []int{i - 1}
		}
	}
	return parents
}

func families(dim int) []Family {
	return []Family{Softplus{}, MeanField{}, Structured{}, FullRank{}, LowRank{1 + dim/2}}
}

// randomMember is a member at random parameters.
func randomMember(t testing.TB, f Family, p Program, rng *rand.Rand) Q {
	t.Helper()
	q, err := f.New(p)
	require.NoError(t, err)
	theta := make([]float64, len(q.Theta()))
	for k := range theta {
		if theta[k] = 0.6 * rng.NormFloat64(); k < 2*p.Dim() && k%2 == 1 && f != (Softplus{}) {
			theta[k] = 0.3 + rng.Float64()
		}
	}
	q.Set(theta)
	return q
}

// dense is the mean and the covariance of a member, from its parameters by linear
// algebra: L·Lᵀ with L = (I − B)⁻¹·S, or D + UUᵀ.
func dense(q Q) (mean []float64, cov *mat.SymDense) {
	n := q.Dim()
	theta := q.Theta()
	scale, b := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		mean = append(mean, theta[2*i])
		scale.Set(i, i, theta[2*i+1])
		if q.Family() == (Softplus{}) {
			scale.Set(i, i, math.Log1p(math.Exp(theta[2*i+1])))
		}
		b.Set(i, i, 1)
	}
	var all mat.Dense
	if f, ok := q.Family().(LowRank); ok {
		all.Augment(scale, mat.NewDense(n, f.Rank, theta[2*n:]))
	} else {
		for k := 2 * n; k < len(theta); k++ {
			p := q.Param(k)
			b.Set(p.Latent, p.On, -theta[k])
		}
		if err := all.Solve(b, scale); err != nil {
			panic(err)
		}
	}
	cov = mat.NewSymDense(n, nil)
	cov.SymOuterK(1, &all)
	return mean, cov
}

// eachMember calls f with members of every family, in several dimensions.
func eachMember(t *testing.T, f func(t *testing.T, q Q, rng *rand.Rand)) {
	for _, dim := range []int{1, 2, 4, 7} {
		for k, family := range families(dim) {
			t.Run(fmt.Sprintf("%s %d", family.Name(), dim), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(*seed, uint64(10*dim+k)))
				f(t, randomMember(t, family, program(dim), rng), rng)
			})
		}
	}
}

// What a member says of itself in closed form is what linear algebra says.
func TestClosedForms(t *testing.T) {
	eachMember(t, func(t *testing.T, q Q, rng *rand.Rand) {
		n := q.Dim()
		mean, cov := dense(q)
		normal, ok := distmv.NewNormal(mean, cov, nil)
		require.True(t, ok)
		g := q.(Gaussian)
		require.InDelta(t, normal.Entropy(), g.Entropy(), 1e-10)
		for i := range n {
			require.Equal(t, mean[i], q.Mean(i))
			require.InEpsilon(t, math.Sqrt(cov.At(i, i)), q.SD(i), 1e-12)
		}
		z := make([]float64, n)
		for range 20 {
			h := regions.Hyperplane{Const: rng.NormFloat64()}
			a := mat.NewVecDense(n, nil)
			for i := range n {
				if z[i] = rng.NormFloat64(); rng.IntN(2) == 0 || i == n-1 && len(h.Index) == 0 {
					h.Index, h.Coef = append(h.Index, i), append(h.Coef, rng.NormFloat64())
					a.SetVec(i, h.Coef[len(h.Coef)-1])
				}
			}
			law := q.Law(h)
			variance := mat.Inner(a, cov, a)
			require.InDelta(t, h.At(mean), law.Mean(), 1e-12)
			require.InEpsilon(t, math.Sqrt(variance), law.SD(), 1e-12)
			var along mat.VecDense
			along.MulVec(cov, a)
			along.ScaleVec(1/variance, &along)
			require.InDeltaSlice(t, along.RawVector().Data, g.Regression(h), 1e-10*(1+mat.Norm(&along, 2)))
			require.InDelta(t, normal.LogProb(z), q.LogProb(z), 1e-9*(1+math.Abs(normal.LogProb(z))))
		}
	})
}

// Draws have the means and covariances, of Rand and of a Sampler alike.
func TestDraws(t *testing.T) {
	eachMember(t, func(t *testing.T, q Q, rng *rand.Rand) {
		const draws, batch = 40000, 16
		n := q.Dim()
		mean, cov := dense(q)
		one, z := make([]float64, n), make([]float64, n*batch)
		s := q.Drawer(batch)
		for name, draw := range map[string]func() [][]float64{
			"Rand": func() [][]float64 { q.Rand(one, rng); return [][]float64{one} },
			"Sampler": func() (out [][]float64) {
				s.Draw(z, rng)
				for k := range batch {
					out = append(out, make([]float64, n))
					for i := range n {
						out[k][i] = z[i*batch+k]
					}
				}
				return out
			},
		} {
			first, second := make([]float64, n), mat.NewSymDense(n, nil)
			total := 0.0
			for total < draws {
				for _, x := range draw() {
					floats.Sub(x, mean)
					floats.Add(first, x)
					second.SymRankOne(second, 1, mat.NewVecDense(n, x))
					total++
				}
			}
			for i := range n {
				require.Less(t, math.Abs(first[i]/total), 5*math.Sqrt(cov.At(i, i)/total), name)
				for j := range i + 1 {
					se := math.Sqrt((cov.At(i, i)*cov.At(j, j) + cov.At(i, j)*cov.At(i, j)) / total)
					require.Less(t, math.Abs(second.At(i, j)/total-cov.At(i, j)), 5*se, "%s: %d, %d", name, i, j)
				}
			}
		}
	})
}

// log q at a sampler's draws is LogProb, and AddScore its gradient by θ.
func TestScore(t *testing.T) {
	eachMember(t, func(t *testing.T, q Q, rng *rand.Rand) {
		for _, n := range []int{1, 5, 33} {
			s, err := Bind(q, n)
			require.NoError(t, err)
			z := make([]float64, q.Dim()*n)
			s.Draw(z, rng)
			requireScore(t, q, s, z, n, rng)
		}
	})
}

// requireScore compares a sampler's log q at its n last draws, z, with LogProb, and the sum of their scores,
// with random weights, with central differences.
func requireScore(t testing.TB, q Q, s Sampler, z []float64, n int, rng *rand.Rand) {
	t.Helper()
	logs, weight := make([]float64, n), make([]float64, n)
	s.SubLogQ(logs)
	sums, got, want := make([]float64, s.Sums()), make([]float64, len(q.Theta())), make([]float64, len(q.Theta()))
	for k := range n {
		x := make([]float64, q.Dim())
		for i := range x {
			x[i] = z[i*n+k]
		}
		log := q.LogProb(x)
		require.InDelta(t, -log, logs[k], 1e-9*(1+math.Abs(log)))
		weight[k] = rng.NormFloat64()
		floats.AddScaled(want, weight[k]/float64(n), fd.Gradient(nil, func(theta []float64) float64 {
			at := q.Clone()
			at.Set(theta)
			return at.LogProb(x)
		}, q.Theta(), &fd.Settings{Formula: fd.Central}))
	}
	s.AddScore(sums, weight)
	s.Finish(got, sums, n)
	require.InDeltaSlice(t, want, got, 1e-6*(1+floats.Norm(want, 2)))
}

// A step moves by units, and scales by factors: they stay positive, and a step
// back is the way back.
func TestMove(t *testing.T) {
	eachMember(t, func(t *testing.T, q Q, rng *rand.Rand) {
		before := append([]float64(nil), q.Theta()...)
		units, step := make([]float64, len(before)), make([]float64, len(before))
		q.Units(units)
		for k := range step {
			require.Positive(t, units[k])
			step[k] = 3 * rng.NormFloat64()
		}
		q.Move(step)
		require.Negative(t, q.Fault())
		for k, x := range q.Theta() {
			want := before[k] + units[k]*step[k]
			if q.Param(k).Symbol == "s" {
				require.Equal(t, before[k], units[k])
				want = before[k] * math.Exp(step[k])
			}
			require.InEpsilon(t, want, x, 1e-12, "%v", q.Param(k))
		}
	})
}

// Place makes independent normals as nearly as the family can, and Of keeps what
// the other family can hold.
func TestPlaceAndOf(t *testing.T) {
	const dim = 5
	rng := rand.New(rand.NewPCG(*seed, 0))
	mean, sd, z := make([]float64, dim), make([]float64, dim), make([]float64, dim)
	for i := range mean {
		mean[i], sd[i], z[i] = rng.NormFloat64(), 0.1+rng.Float64(), rng.NormFloat64()
	}
	agree := func(a, b Q) {
		for i := range dim {
			require.InDelta(t, a.Mean(i), b.Mean(i), 1e-14)
			require.InEpsilon(t, a.SD(i), b.SD(i), 1e-12)
		}
	}
	rank := map[Family]int{Softplus{}: 0, MeanField{}: 0, Structured{}: 1, FullRank{}: 2}
	for _, f := range families(dim) {
		placed := randomMember(t, f, program(dim), rng)
		placed.Place(mean, sd)
		agree(Independent(mean, sd), placed)
		if f != (LowRank{3}) {
			require.InDelta(t, Independent(mean, sd).LogProb(z), placed.LogProb(z), 1e-9)
		}
		require.Panics(t, func() { placed.Place(mean[1:], sd) })
		for _, g := range families(dim) {
			from := randomMember(t, f, program(dim), rng)
			to, err := Of(g, program(dim), from)
			require.NoError(t, err)
			require.Equal(t, g, to.Family())
			agree(from, to)
			small, known := rank[f]
			if large, ok := rank[g]; f == g || known && ok && small <= large { // g has all of f
				require.InDelta(t, from.LogProb(z), to.LogProb(z), 1e-9*(1+math.Abs(from.LogProb(z))), "%s to %s", f.Name(), g.Name())
			}
		}
	}
}

// A copy shares nothing that changes, and wrong lengths panic.
func TestMembersAreApart(t *testing.T) {
	eachMember(t, func(t *testing.T, q Q, rng *rand.Rand) {
		theta := append([]float64(nil), q.Theta()...)
		c := q.Clone()
		require.Equal(t, q, c)
		require.NoError(t, Check(c, program(q.Dim())))
		sd := q.SD(q.Dim() - 1)
		for k := range theta {
			c.Set(append([]float64(nil), theta...))
			bad := append([]float64(nil), theta...)
			bad[k] = math.NaN()
			c.Set(bad)
			require.Equal(t, k, c.Fault())
			require.ErrorContains(t, Check(c, program(q.Dim())), fmt.Sprintf("latent z%d: parameter %s is NaN", q.Param(k).Latent, q.Param(k).Symbol))
			if q.Param(k).Symbol == "s" {
				bad[k] = 0
				c.Set(bad)
				require.Equal(t, k, c.Fault())
			}
		}
		require.Equal(t, theta, q.Theta())
		require.Equal(t, sd, q.SD(q.Dim()-1))
		require.Panics(t, func() { q.Set(theta[1:]) })
		require.Panics(t, func() { q.LogProb(make([]float64, q.Dim()+1)) })
		require.ErrorContains(t, Check(q, program(q.Dim()+1)), "latents for")
	})
	require.Error(t, Check(nil, program(1)))
}

func TestParams(t *testing.T) {
	labels := func(f Family) (out []string) {
		q, err := f.New(program(4))
		require.NoError(t, err)
		for k := range q.Theta() {
			out = append(out, q.Param(k).Label(program(4).Latents()))
		}
		return out
	}
	common := []string{"z0 μ", "z0 s", "z1 μ", "z1 s", "z2 μ", "z2 s", "z3 μ", "z3 s"}
	require.Equal(t, common, labels(MeanField{}))
	require.Equal(t, "z3 ρ", labels(Softplus{})[7])
	require.Equal(t, append(common[:8:8], "z1 B z0", "z3 B z0", "z3 B z2"), labels(Structured{}))
	require.Equal(t, append(common[:8:8], "z1 B z0", "z2 B z0", "z2 B z1", "z3 B z0", "z3 B z1", "z3 B z2"), labels(FullRank{}))
	require.Equal(t, append(common[:8:8], "z0 U0", "z0 U1", "z1 U0", "z1 U1", "z2 U0", "z2 U1", "z3 U0", "z3 U1"), labels(LowRank{2}))
	for _, r := range []int{-1, 0, 5} {
		_, err := LowRank{r}.New(program(4))
		require.ErrorContains(t, err, "between 1 and")
	}
	_, err := FullRank{}.New(program(mostFullRank + 1))
	require.ErrorContains(t, err, "use Structured or LowRank")
}
