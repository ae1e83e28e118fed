package family

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/regions"
)

// discreteProgram is a program whose latents 1, 3 and 4 are discrete.
type discreteProgram struct{ program }

var discreteCuts = map[int][]float64{1: {0.3}, 3: {-1, 0.5, 1.7}, 4: {}}

func (p discreteProgram) Values(i int) (values, cuts []float64) {
	cuts, ok := discreteCuts[i]
	if !ok {
		return nil, nil
	}
	for j := range len(cuts) + 1 {
		values = append(values, float64(j))
	}
	return values, cuts
}

var withDiscrete = discreteProgram{program: 7}

// eachMasses calls f with members of every family that has masses.
func eachMasses(t *testing.T, f func(t *testing.T, q *masses, rng *rand.Rand)) {
	for k, family := range families(3)[1:] {
		t.Run(family.Name(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(*seed, uint64(k)))
			q, err := family.New(withDiscrete)
			require.NoError(t, err)
			theta := make([]float64, len(q.Theta()))
			for k := range theta {
				if theta[k] = 0.6 * rng.NormFloat64(); q.Param(k).Symbol == "s" {
					theta[k] = 0.3 + rng.Float64()
				}
			}
			q.Set(theta)
			f(t, q.(*masses), rng)
		})
	}
}

// A member is that of the other latents beside independent discrete ones: laws, densities, draws
// and gradients of log q say so.
func TestMasses(t *testing.T) {
	eachMasses(t, func(t *testing.T, q *masses, rng *rand.Rand) {
		require.Equal(t, []int{0, 2, 5, 6}, q.of)
		law := q.Law(axis(3))
		want := make([]float64, 4)
		eta := q.theta[len(q.theta)-5 : len(q.theta)-1]
		for j := range want {
			want[j] = math.Exp(eta[j] - floats.LogSumExp(eta))
		}
		cuts := append([]float64{math.Inf(-1)}, append(discreteCuts[3], math.Inf(1))...)
		density := 0.0
		for j, p := range want {
			require.InDelta(t, p, law.Between(cuts[j], cuts[j+1]), 1e-15)
			for _, a := range []float64{2, -0.5} { // scaled and shifted
				turned := q.Law(regions.Hyperplane{Index: []int{3}, Coef: []float64{a}, Const: 0.7})
				lo, hi := 0.7+a*cuts[j], 0.7+a*cuts[j+1]
				require.InDelta(t, p, turned.Between(min(lo, hi), max(lo, hi)), 1e-15)
			}
			lo, hi := max(cuts[j], -9), min(cuts[j+1], 9)
			z := make([]float64, 7)
			q.Rand(z, rng)
			z[3] = lo/2 + hi/2
			rest := q.LogProb(z)
			density += quad.Fixed(func(u float64) float64 {
				z[3] = u
				return math.Exp(q.LogProb(z) - rest + math.Log(law.Density((lo+hi)/2)))
			}, lo, hi, 40, nil, 0)
		}
		require.InDelta(t, 1, density, 1e-12)

		const n = 33
		s, err := Bind(q, n)
		require.NoError(t, err)
		z, one, draws := make([]float64, 7*n), make([]float64, 7), 30000
		counts, same := make([][4]float64, 2), 0
		for range draws / n {
			s.Draw(z, rng)
			for k := range n {
				q.Rand(one, rng)
				counts[0][q.law(3).value(one[3])]++
				counts[1][q.law(3).value(z[3*n+k])]++
				if (z[n+k] > 0.3) == (z[5*n+k] > q.Mean(5)) {
					same++
				}
			}
		}
		draws = draws / n * n
		for j, p := range want {
			for _, c := range counts {
				require.InDelta(t, p, c[j]/float64(draws), 5*math.Sqrt(p*(1-p)/float64(draws)))
			}
		}
		require.InDelta(t, 0.5, float64(same)/float64(draws), 2.5/math.Sqrt(float64(draws)), "independent of the rest")
		requireScore(t, q, s, z, n, rng)

		require.Equal(t, Marginal(q.rest, 2), Marginal(q, 5))
		require.Panics(t, func() { q.Law(regions.Hyperplane{Index: []int{0, 1}, Coef: []float64{1, 1}}) })
		require.Panics(t, func() { q.Place(make([]float64, 4), make([]float64, 4)) })
	})
}

// Draws beyond a cut, or beyond a plane of the rest, are q's given the side.
func TestMassesBeyond(t *testing.T) {
	eachMasses(t, func(t *testing.T, q *masses, rng *rand.Rand) {
		z := make([]float64, 7)
		for _, h := range []regions.Hyperplane{
			{Index: []int{3}, Coef: []float64{1}, Const: -0.5}, {Index: []int{3}, Coef: []float64{-2}, Const: 1}, {Index: []int{0, 5}, Coef: []float64{1, 0.5}, Const: -2},
		} {
			move, third := q.MoverTo(h, true), 0.0
			const draws = 4000
			for range draws {
				q.Rand(z, rng)
				was := q.LogProb(z)
				by, weight := move(z, rng)
				require.Positive(t, h.At(z)+1e-12)
				require.InDelta(t, q.LogProb(z), was+by, 1e-9)
				require.InDelta(t, q.Law(h).Above(0), weight, 1e-12)
				if z[3] > 1.7 {
					third++
				}
			}
			want := q.Law(axis(3)).Above(1.7)
			switch {
			case len(h.Index) > 1:
			case h.Coef[0] > 0:
				want /= q.Law(axis(3)).Above(0.5)
			default:
				want = 0
			}
			require.InDelta(t, want, third/draws, 5*math.Sqrt(want*(1-want)/draws))
		}
	})
}

// Starts and steps: a place of the prior's has the prior's masses, one far in an interval has
// nearly all there, and none is without; what has masses keeps them in another family.
func TestMassesMove(t *testing.T) {
	eachMasses(t, func(t *testing.T, q *masses, rng *rand.Rand) {
		require.Equal(t, q, q.Clone())
		for _, f := range families(3)[1:] {
			to, err := Of(f, withDiscrete, q)
			require.NoError(t, err)
			require.Equal(t, f, to.Family())
			for i := range 7 {
				require.InEpsilon(t, q.SD(i), to.SD(i), 1e-12)
				require.Equal(t, q.Law(axis(3)), to.Law(axis(3)))
			}
		}
		plain, err := Of(Softplus{}, withDiscrete, q)
		require.NoError(t, err)
		require.InDelta(t, q.Mean(3), plain.Mean(3), 1e-12)

		step := make([]float64, len(q.theta))
		first := len(q.rest.Theta())
		for k := range step {
			step[k] = rng.NormFloat64()
		}
		before, units := append([]float64(nil), q.theta...), make([]float64, len(step))
		q.Units(units)
		q.Move(step)
		for k := first; k < len(step); k++ {
			require.Positive(t, units[k])
			require.Equal(t, before[k]+step[k], q.theta[k])
		}
		require.Equal(t, q.rest.Theta(), q.theta[:first])

		q.Place(make([]float64, 7), []float64{1, 1, 1, 1, 1, 1, 1})
		prior := Independent([]float64{0}, []float64{1})
		at := axis(0)
		for _, cut := range discreteCuts[3] {
			require.InDelta(t, prior.Law(at).CDF(cut), q.Law(axis(3)).CDF(cut), 1e-14)
		}
		precision := mat.NewSymDense(7, nil)
		for i := range 7 {
			precision.SetSym(i, i, 1)
		}
		precision.SetSym(1, 6, 0.9) // of a discrete latent
		precision.SetSym(5, 6, 0.5)
		q.Correlate(precision)
		sd := 1 / math.Sqrt(1-0.5*0.5)
		if q.Family() == (MeanField{}) {
			sd = 1
		}
		require.InDelta(t, sd, q.SD(6), 0.1)
		q.Place([]float64{0, 5, 0, 1, 0, 0, 0}, []float64{1, 0.1, 1, 0.1, 1, 1, 1})
		require.InDelta(t, 1-leastPrior*truncnorm.Mass(math.Inf(-1), 0.3), q.Law(axis(1)).Above(0.3), 1e-9)
		for _, p := range q.law(3).prob {
			require.Greater(t, p, leastPrior*0.04)
		}
		far := append([]float64(nil), q.theta...)
		far[first] = -2000
		q.Set(far)
		q.Units(units)
		require.True(t, finite(units[first]))
		far[len(far)-1] = math.NaN()
		q.Set(far)
		require.Equal(t, len(far)-1, q.Fault())
		require.ErrorContains(t, Check(q, withDiscrete), "latent z4: parameter η is NaN")
	})
	q, err := FullRank{}.New(withDiscrete)
	require.NoError(t, err)
	var labels []string
	for k := range q.Theta() {
		labels = append(labels, q.Param(k).Label(withDiscrete.Latents()))
	}
	require.Equal(t, []string{
		"z0 μ", "z0 s", "z2 μ", "z2 s", "z5 μ", "z5 s", "z6 μ", "z6 s", "z2 B z0", "z5 B z0", "z5 B z2", "z6 B z0", "z6 B z2", "z6 B z5",
		"z1 η0", "z1 η1", "z3 η0", "z3 η1", "z3 η2", "z3 η3", "z4 η0",
	}, labels)
	q, err = Structured{}.New(withDiscrete)
	require.NoError(t, err)
	require.Equal(t, "z6 B z5", q.Param(8).Label(withDiscrete.Latents()), "the parents that are discrete are left out")
	require.Len(t, q.Theta(), 9+7)
	_, err = LowRank{5}.New(withDiscrete)
	require.ErrorContains(t, err, "for 4 latents")
}
