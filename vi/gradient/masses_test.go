package gradient_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// threePoints is a mixture of three points with a discrete latent for each, guards on the
// continuous latents alone, and guards on both kinds. Latents are k0, a, k1, b, k2.
func threePoints(t testing.TB, curved bool) *graph.Density {
	m := graph.NewModel()
	k0 := m.Sample("k0", graph.Bernoulli(0.4))
	a := m.Sample("a", graph.Normal(1, 2))
	k1 := m.Sample("k1", graph.Categorical(0.2, 0.5, 0.3))
	b := m.Sample("b", graph.Normal(graph.Mul(0.5, a), 1.5))
	k2 := m.Sample("k2", graph.Bernoulli(0.6))
	m.Observe("y0", graph.Normal(graph.Switch(k0, a, b), 1), 0.7)
	m.Observe("y1", graph.Normal(graph.Switch(k1, a, b, graph.Numbers(2)[0]), 1), -0.4)
	m.Observe("y2", graph.Normal(graph.Switch(k2, a, b), 1), 2.2)
	m.Factor(graph.If(graph.And(graph.Greater(a, 0.3), graph.Equal(k0, 1)), 1.2, 0))
	m.Factor(graph.If(graph.Greater(a, b), graph.If(graph.Equal(k1, 2), -1, 0.8), 0))
	m.Factor(graph.If(graph.Greater(graph.Add(k0, k2), 1), 0.9, 0))
	if curved {
		m.Factor(graph.If(graph.Greater(graph.Mul(a, b), 0.2), graph.If(graph.Equal(k1, 1), 0.7, b), 0))
	}
	return vitest.Compile(t, m)
}

// threePointsELBO is the ELBO of q in closed form: a sum over all 12 states, in each of which log r is
// quadratic in a and b, but for guards of which q's laws know the probabilities.
func threePointsELBO(q family.Q) float64 {
	law := func(c, ofA, ofB float64) family.Law {
		h := regions.Hyperplane{Const: c}
		for i, x := range map[int]float64{1: ofA, 3: ofB} {
			if x != 0 {
				h.Index, h.Coef = append(h.Index, i), append(h.Coef, x)
			}
		}
		if len(h.Index) == 2 && h.Index[0] > h.Index[1] {
			h.Index[0], h.Index[1], h.Coef[0], h.Coef[1] = h.Index[1], h.Index[0], h.Coef[1], h.Coef[0]
		}
		return q.Law(h)
	}
	normal := func(sd, c, ofA, ofB float64) float64 { // E[log N(c + ofA·a + ofB·b; 0, sd)]
		l := law(c, ofA, ofB)
		mean, s := l.Mean(), l.SD()
		return -0.5*math.Log(2*math.Pi) - math.Log(sd) - 0.5*(mean*mean+s*s)/(sd*sd)
	}
	va, vb, sum := math.Pow(law(0, 1, 0).SD(), 2), math.Pow(law(0, 0, 1).SD(), 2), math.Pow(law(0, 1, 1).SD(), 2)
	cov := (sum - va - vb) / 2
	elbo := normal(2, -1, 1, 0) + normal(1.5, 0, -0.5, 1) + math.Log(2*math.Pi) + 1 + 0.5*math.Log(va*vb-cov*cov)
	prior := [][]float64{{0.6, 0.4}, {0.2, 0.5, 0.3}, {0.4, 0.6}}
	var mass [3][]float64
	theta := q.Theta()[len(q.Theta())-7:]
	for d, p := range prior {
		eta := theta[:len(p)]
		theta = theta[len(p):]
		for j, x := range eta {
			mass[d] = append(mass[d], math.Exp(x-floats.LogSumExp(eta)))
			elbo -= mass[d][j] * math.Log(mass[d][j]/p[j])
		}
	}
	above, greater := law(-0.3, 1, 0).Above(0), law(0, 1, -1).Above(0)
	y := func(x float64, k int) float64 {
		switch k {
		case 0:
			return normal(1, -x, 1, 0)
		case 1:
			return normal(1, -x, 0, 1)
		}
		return -0.5*math.Log(2*math.Pi) - 0.5*(x-2)*(x-2)
	}
	for k0, p0 := range mass[0] {
		for k1, p1 := range mass[1] {
			for k2, p2 := range mass[2] {
				log := y(0.7, k0) + y(-0.4, k1) + y(2.2, k2) + 1.2*above*float64(k0)
				if k1 == 2 {
					log -= greater
				} else {
					log += 0.8 * greater
				}
				if k0+k2 > 1 {
					log += 0.9
				}
				elbo += p0 * p1 * p2 * log
			}
		}
	}
	return elbo
}

// massesMember is a member of f at random parameters.
func massesMember(t testing.TB, f family.Family, d *graph.Density, rng *rand.Rand) family.Q {
	q, err := f.New(d)
	require.NoError(t, err)
	theta := make([]float64, len(q.Theta()))
	for k := range theta {
		switch q.Param(k).Symbol {
		case "s":
			theta[k] = 0.5 + rng.Float64()
		default:
			theta[k] = 0.7 * rng.NormFloat64()
		}
	}
	q.Set(theta)
	return q
}

var massesFamilies = []family.Family{family.MeanField{}, family.Structured{}, family.FullRank{}, family.LowRank{Rank: 1}}

// The gradient by the logits of discrete latents and by the parameters of all others is that of the ELBO in
// closed form, for each family and with guards drawn or not. Without the boundary term it is not.
func TestMassesGradient(t *testing.T) {
	t.Parallel()
	d := threePoints(t, false)
	for k, f := range massesFamilies[:long.Or(2, 4)] {
		t.Run(f.Name(), func(t *testing.T) {
			q := massesMember(t, f, d, rand.New(rand.NewPCG(*gradient.Seed, uint64(k))))
			want := fd.Gradient(nil, func(theta []float64) float64 {
				at := q.Clone()
				at.Set(theta)
				return threePointsELBO(at)
			}, q.Theta(), &fd.Settings{Formula: fd.Central})
			z := func(e gradient.Estimator, draws int, detect float64) float64 {
				s := sampled(t, d, q, e, vitest.Draws(draws))
				return vitest.MaxZ(t, s.Mean, s.SE, want, vitest.Precision(detect))
			}
			require.Less(t, z(gradient.Boundary{}, 500_000, 0.1), 5.0)
			require.Less(t, z(gradient.Boundary{Guards: 2}, 1_000_000, 0.3), 5.0)
			require.Less(t, z(gradient.Score{}, 1_000_000, 0.3), 5.0)
			require.Greater(t, z(gradient.Reparam{}, 100_000, 0.3), 20.0)
		})
	}
}

// A curve between latents whose numbers discrete ones shift: the gradient is that of the score function.
func TestMassesBesideCurves(t *testing.T) {
	t.Parallel()
	d := threePoints(t, true)
	for k, f := range massesFamilies {
		q := massesMember(t, f, d, rand.New(rand.NewPCG(*gradient.Seed, uint64(k))))
		got, want := sampled(t, d, q, gradient.Boundary{}, vitest.Draws(500_000)), sampled(t, d, q, gradient.Score{}, vitest.Draws(2_000_000))
		for k, se := range want.SE {
			se = math.Hypot(se, got.SE[k])
			require.InDelta(t, want.Mean[k], got.Mean[k], 5*se, "%s %s", f.Name(), q.Param(k).Label(d.Latents()))
			require.Less(t, 5*se, vitest.Precision(0.35), "of which little would be known")
		}
	}
}

// A latent's own draw brings no variance: of one discrete latent each estimate is the gradient of the
// ELBO, to rounding.
func TestOwnDrawBringsNoVariance(t *testing.T) {
	m := graph.NewModel()
	k := m.Sample("k", graph.Binomial(6, 0.3))
	m.Observe("y", graph.Normal(graph.Square(k), 3), 7)
	d := vitest.Compile(t, m)
	rng := rand.New(rand.NewPCG(*gradient.Seed, 0))
	q := massesMember(t, family.MeanField{}, d, rng)
	eta, want := q.Theta(), make([]float64, 7)
	p, h, mean := make([]float64, 7), make([]float64, 7), 0.0
	for k := range p {
		p[k] = math.Exp(eta[k] - floats.LogSumExp(eta))
		choose, r := math.Exp(lgamma(7)-lgamma(float64(k+1))-lgamma(float64(7-k))), (7-float64(k*k))/3
		h[k] = math.Log(choose*math.Pow(0.3, float64(k))*math.Pow(0.7, float64(6-k))/p[k]) - 0.5*r*r
		mean += p[k] * h[k]
	}
	units := make([]float64, 7)
	q.Units(units)
	natural := make([]float64, 7)
	for k := range want {
		want[k] = p[k] * (h[k] - mean)
		require.InEpsilon(t, 1/p[k], units[k]*units[k], 1e-12, "of Fisher's metric")
		natural[k] = want[k] * units[k]
	}
	q.(family.Natural).Natural(natural)
	for k, x := range natural {
		require.InEpsilon(t, h[k]-mean, x, 1e-9)
	}
	r, err := gradient.NewRunner(d, q, gradient.Boundary{}, 1, *gradient.Seed)
	require.NoError(t, err)
	for range 20 {
		g, err := r.Estimate(q)
		require.NoError(t, err)
		require.InDeltaSlice(t, want, g, 1e-12)
	}
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// The whole gradient of an ELBO of ten bits is that of the sum over all 2^10 states.
func TestMassesGradientOfBits(t *testing.T) {
	c := newCube(t, 10)
	want := c.exact()
	for i := range 10 {
		p := c.one(i)
		kl := p * (1 - p) * math.Log(p/(1-p))
		want[2*i] += kl
		want[2*i+1] -= kl
	}
	for name, e := range gradient.Boundaries() {
		s := sampled(t, c.d, c.q, e, vitest.Draws(200_000))
		require.Less(t, vitest.MaxZ(t, s.Mean, s.SE, want, vitest.Precision(0.2)), 5.0, name)
	}
}

// Guards that compare numbers which are infinite, or none, for some values of a discrete latent: the gradient is that of the score
// function, and without the boundary term it is not.
func TestMassesBesideInfiniteNumbers(t *testing.T) {
	t.Parallel()
	m := graph.NewModel()
	a, b, k := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 1)), m.Sample("k", graph.Binomial(2, 0.5))
	m.Factor(graph.If(graph.Greater(graph.Mul(a, b), graph.Log(k)), 1, 0))
	m.Factor(graph.If(graph.Greater(graph.Square(a), graph.Div(1, k)), 0, 1.5))
	m.Factor(graph.If(graph.Greater(graph.Mul(a, graph.Sqrt(graph.Sub(k, 1))), b), 2, 0))
	m.Factor(graph.If(graph.Greater(graph.Add(graph.Sqrt(b), graph.Mul(0.5, k)), graph.Sqrt(b)), 0.7, 0))
	d := vitest.Compile(t, m)
	for k, f := range massesFamilies[:3] {
		q := massesMember(t, f, d, rand.New(rand.NewPCG(*gradient.Seed, uint64(k))))
		want := sampled(t, d, q, gradient.Score{}, vitest.Draws(2_000_000))
		far := func(e gradient.Estimator) (worst float64) {
			got := sampled(t, d, q, e, vitest.Draws(300_000))
			for k, se := range want.SE {
				se = math.Hypot(se, got.SE[k])
				worst = max(worst, math.Abs(want.Mean[k]-got.Mean[k])/se)
				require.Less(t, 5*se, vitest.Precision(0.1), "of which little would be known")
			}
			return worst
		}
		require.Less(t, far(gradient.Boundary{}), 5.0, f.Name())
		require.Greater(t, far(gradient.Reparam{}), 10.0, f.Name())
	}
}
