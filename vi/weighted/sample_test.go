package weighted

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
)

// drawn are n weighted draws.
func drawn(t testing.TB, d *graph.Density, q family.Q, n int, seed uint64) *Sample {
	t.Helper()
	s, err := Draw(context.Background(), d, q, n, seed)
	require.NoError(t, err)
	return s
}

// twoNormals is a program whose posterior is its prior: x of two normals, y normal and log-normal r.
func twoNormals(t testing.TB) *graph.Density {
	m := graph.NewModel()
	x := m.Sample("x", graph.Mixture(graph.Numbers(0.3, 0.7), graph.Normal(-1, 0.8), graph.Normal(2, 0.5)))
	y := m.Sample("y", graph.Normal(0.5, 1.5))
	m.Sample("r", graph.LogNormal(0.2, 0.25))
	m.Name("up", graph.Greater(x, 0))
	m.Name("sum", graph.Greater(graph.Add(x, y), 1))
	m.Name("curve", graph.Greater(graph.Add(graph.Square(y), x), 2))
	return vitest.Compile(t, m)
}

// twoParts is its posterior as a mixture, with means that are off by so many standard deviations, and these by a factor.
func twoParts(off, factor float64) *mixture.Mixture {
	part := func(mean, sd float64) family.Q {
		return family.Independent([]float64{mean + off*sd, 0.5 - 1.5*off, 0.2 + 0.25*off}, []float64{sd * factor, 1.5 * factor, 0.25 * factor})
	}
	return mixture.New([]float64{math.Log(0.3), math.Log(0.7)}, []family.Q{part(-1, 0.8), part(2, 0.5)})
}

// defensive is what draws that stand for q are of.
func defensive(q *mixture.Mixture) family.Q {
	d, _ := q.Defensive(func(part family.Q, i int) (mean, sd float64) { return part.Mean(i), part.SD(i) })
	return d
}

var twoMean = 0.3*-1 + 0.7*2
var twoSD = math.Sqrt(0.3*(1+0.64) + 0.7*(4+0.25) - twoMean*twoMean)

func twoCDF(x float64) float64 {
	return 0.3*distuv.UnitNormal.CDF((x+1)/0.8) + 0.7*distuv.UnitNormal.CDF((x-2)/0.5)
}

// sumAbove is P(x + y > 1).
var sumAbove = 0.3*distuv.UnitNormal.CDF((-1+0.5-1)/math.Hypot(0.8, 1.5)) + 0.7*distuv.UnitNormal.CDF((2+0.5-1)/math.Hypot(0.5, 1.5))

// curveAbove is P(y² + x > 2).
var curveAbove = quad.Fixed(func(y float64) float64 { return distuv.Normal{Mu: 0.5, Sigma: 1.5}.Prob(y) * (1 - twoCDF(2-y*y)) }, -12, 13, 1000, nil, 0)

// plane is the surface of a named guard.
func plane(t testing.TB, d *graph.Density, name string) (regions.Side, regions.Hyperplane) {
	side, ok := d.Named(name)[0].Side()
	require.True(t, ok)
	if d.Arrangement().Curve(side.Plane) != nil {
		return side, regions.Hyperplane{}
	}
	return side, d.Arrangement().Plane(side.Plane)
}

// side is the probability of a named guard.
func side(t testing.TB, s *Sample, name string) mc.Estimate {
	t.Helper()
	of, h := plane(t, s.Density(), name)
	signs := make([]float64, s.Len())
	s.Density().Arrangement().SignRow(signs, of.Plane, s.Z, s.Len())
	if h.Index == nil {
		return s.Share(signs, of.Positive)
	}
	return s.Side(h, of.Positive, signs)
}

// Draws of the posterior itself have equal weights, and every number with a closed form is exact, without an error.
func TestOfThePosteriorItself(t *testing.T) {
	d := twoNormals(t)
	for _, n := range []int{1000, 1237} { // whether the parts' shares are whole numbers of draws or not
		s := drawn(t, d, twoParts(0, 1), n, *seed)
		require.Equal(t, math.Inf(-1), s.K)
		require.InDelta(t, n, s.ESS, 1e-6)
		require.InDelta(t, 0, s.LogEvidence.Value, 1e-12)
		require.Less(t, s.LogEvidence.SE, 1e-12)
		require.Equal(t, n, s.Len())
		require.Same(t, d, s.Density())
		exactly := func(what string, want float64, got mc.Estimate) {
			require.InDelta(t, want, got.Value, 1e-9, "%s of %d draws", what, n)
			require.Less(t, got.SE, 1e-7, "%s of %d draws", what, n)
		}
		mean, sd := s.Moments(0)
		exactly("mean of x", twoMean, mean)
		exactly("sd of x", twoSD, sd)
		mean, sd = s.Moments(2)
		exactly("mean of r", math.Exp(0.2+0.03125), mean)
		exactly("sd of r", math.Exp(0.2+0.03125)*math.Sqrt(math.Expm1(0.0625)), sd)
		exactly("up", 1-twoCDF(0), side(t, s, "up"))
		exactly("sum", sumAbove, side(t, s, "sum"))
		require.InDelta(t, 1, floats.Sum(s.Weights), 1e-12)
	}
}

// A discrete latent has the probabilities of its values, and moments by these.
func TestMassesOfThePosteriorItself(t *testing.T) {
	m := graph.NewModel()
	m.Sample("k", graph.Binomial(3, 0.4))
	d := vitest.Compile(t, m)
	s := drawn(t, d, family.Independent([]float64{0}, []float64{1}), 1000, *seed)
	for k, p := range s.Masses(0) {
		require.InDelta(t, distuv.Binomial{N: 3, P: 0.4}.Prob(float64(k)), p.Value, 1e-9)
		require.Less(t, p.SE, 1e-7)
	}
	mean, sd := s.Moments(0)
	require.InDelta(t, 1.2, mean.Value, 1e-9)
	require.InDelta(t, math.Sqrt(0.72), sd.Value, 1e-9)
	off := drawn(t, d, family.Independent([]float64{0.2}, []float64{1.2}), 4000, *seed)
	for k, p := range off.Masses(0) {
		vitest.Estimate(t, fmt.Sprint(k), distuv.Binomial{N: 3, P: 0.4}.Prob(float64(k)), p, 0.05)
	}
}

// standard holds what many samples say of one number: errors in standard errors, and how noisy it is.
type standard struct{ z, error mc.Moments }

func (s *standard) add(want float64, got mc.Estimate) {
	s.z.Add((got.Value - want) / got.SE)
	s.error.Add(got.Value - want)
}

// square is the mean of z², 1 if standard errors are right; of 200 samples it has a standard deviation of 0.1 then.
func (s *standard) square() float64 { return s.z.Variance() + s.z.Mean*s.z.Mean }

// Standard errors are neither too small nor too large, over 200 seeds: of what is known in closed form under the proposal and what
// is not, with proposals near the posterior and far from it, and few draws in one stratum. Without strata they are not.
func TestStandardErrors(t *testing.T) {
	long.Skip(t)
	const repeats, n = 200, 1500
	d := twoNormals(t)
	numbers := map[string]struct {
		want float64
		of   func(s *Sample) mc.Estimate
	}{
		"mean":        {twoMean, func(s *Sample) mc.Estimate { mean, _ := s.Moments(0); return mean }},
		"sd":          {twoSD, func(s *Sample) mc.Estimate { _, sd := s.Moments(0); return sd }},
		"plain mean":  {twoMean, func(s *Sample) mc.Estimate { return s.Expect(s.Latent(0)) }},
		"mean of r":   {math.Exp(0.23125), func(s *Sample) mc.Estimate { mean, _ := s.Moments(2); return mean }},
		"median":      {distuv.LogNormal{Mu: 0.2, Sigma: 0.25}.Quantile(0.5), func(s *Sample) mc.Estimate { return s.Quantile(2, 0.5) }},
		"quantile":    {distuv.LogNormal{Mu: 0.2, Sigma: 0.25}.Quantile(0.9), func(s *Sample) mc.Estimate { return s.Quantile(2, 0.9) }},
		"up":          {1 - twoCDF(0), func(s *Sample) mc.Estimate { return side(t, s, "up") }},
		"sum":         {sumAbove, func(s *Sample) mc.Estimate { return side(t, s, "sum") }},
		"curve":       {curveAbove, func(s *Sample) mc.Estimate { return side(t, s, "curve") }},
		"evidence":    {0, func(s *Sample) mc.Estimate { return s.LogEvidence }},
		"mean of all": {twoMean, func(s *Sample) mc.Estimate { mean, _ := s.MomentsOf(s.Latent(0)); return mean }},
	}
	for name, q := range map[string]family.Q{
		"even": twoParts(0.01, 1.01), "near": twoParts(0.03, 1.03), "far": twoParts(0.3, 1.3),
		"few": mixture.New([]float64{math.Log(0.985), math.Log(0.015)}, []family.Q{
			family.Independent([]float64{1.1, 0.5, 0.2}, []float64{1.9, 1.6, 0.28}), family.Independent([]float64{-1, 0, 0.3}, []float64{1.5, 2, 0.3}),
		}),
		"defensive": defensive(twoParts(0.03, 1.03)), "far defensive": defensive(twoParts(0.3, 1.3)),
	} {
		found := map[string]*standard{}
		for what := range numbers {
			found[what] = new(standard)
		}
		var unstratified standard
		for k := range uint64(repeats) {
			s := drawn(t, d, q, n, *seed+k)
			for what, x := range numbers {
				found[what].add(x.want, x.of(s))
			}
			mean := s.Expect(s.Latent(0))
			var e mc.Moments
			for k := range s.Weights {
				e.Add((&residuals{s: s, f: s.Latent(0), mean: mean.Value}).at(k))
			}
			unstratified.add(twoMean, mc.Estimate{Value: mean.Value, SE: e.SE()})
		}
		for what, x := range found {
			t.Logf("%s, %s: mean of z² %.2f, of z %.2f; noise %.2g", name, what, x.square(), x.z.Mean, math.Sqrt(x.error.Variance()))
			limit := 0.6
			if what == "quantile" || what == "median" { // whose slope is known by some tens of draws
				limit = 1.5
			}
			assert.InDelta(t, 1, x.square(), limit, "%s, %s: mean square of the errors in standard errors", name, what)
			assert.Less(t, math.Abs(x.z.Mean), 5/math.Sqrt(repeats), "%s, %s: bias", name, what)
		}
		plain, controlled := twoSD*twoSD/n, found["mean"].error.Variance()
		t.Logf("%s: noise of a mean by independent draws %.2g, by hypercubes with control variates %.2g", name, math.Sqrt(plain), math.Sqrt(controlled))
		if name == "even" {
			require.Less(t, 10*math.Sqrt(controlled), math.Sqrt(plain))
			require.Less(t, unstratified.square(), 0.4, "standard errors without strata would pass")
		}
		if name == "defensive" {
			require.Less(t, 3*math.Sqrt(controlled), math.Sqrt(found["mean of all"].error.Variance()), "what the fit knows is of no use")
		}
	}
}

// Where the proposal's expectation is ruled by a tail that neither its draws nor the posterior know, it is left out: that of a
// log-normal with a standard deviation of 15 is 7e48.
func TestUnseenTail(t *testing.T) {
	m := graph.NewModel()
	m.Sample("noise", graph.LogNormal(0, 0.3))
	d := vitest.Compile(t, m)
	wide := family.Independent([]float64{0}, []float64{15})
	q := mixture.New([]float64{math.Log(0.95), math.Log(0.05)}, []family.Q{family.Independent([]float64{0}, []float64{0.33}), wide})
	huge := mixture.New([]float64{math.Log(0.95), math.Log(0.05)}, []family.Q{q.Part(0), family.Independent([]float64{0}, []float64{18})})
	for k := range uint64(20) {
		mean, sd := PartMoments(d, wide, 0)
		require.Greater(t, mean, 1e40, "nothing to leave out")
		require.Greater(t, sd, 1e40)
		mean0, sd0 := drawn(t, d, q, 4000, *seed+k).Moments(0)
		vitest.Estimate(t, "mean", math.Exp(0.045), mean0, 0.05)
		vitest.Estimate(t, "sd", math.Exp(0.045)*math.Sqrt(math.Expm1(0.09)), sd0, 0.06)
		mean0, sd0 = drawn(t, d, defensive(huge), 4000, *seed+k).Moments(0) // squares overflow
		vitest.Estimate(t, "mean", math.Exp(0.045), mean0, 0.05)
		require.InDelta(t, math.Exp(0.045)*math.Sqrt(math.Expm1(0.09)), sd0.Value, 0.015)
		require.Less(t, sd0.SE, 0.003)
	}
}

// An event that no draw sees has its probability from the laws of the proposal.
func TestRareEvent(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Name("up", graph.Greater(x, 5))
	d := vitest.Compile(t, m)
	exact := distuv.UnitNormal.CDF(-5)
	s := drawn(t, d, family.Independent([]float64{0}, []float64{1}), 2000, *seed)
	require.Less(t, floats.Max(s.Z), 5.)
	require.InEpsilon(t, exact, side(t, s, "up").Value, 1e-5)
	s = drawn(t, d, family.Independent([]float64{0.01}, []float64{1.01}), 2000, *seed)
	require.Less(t, floats.Max(s.Z), 5.)
	require.InEpsilon(t, exact, side(t, s, "up").Value, 0.5)
	h := regions.Hyperplane{Index: []int{0}, Coef: []float64{1}, Const: -5}
	signs := make([]float64, s.Len())
	require.InEpsilon(t, 1-side(t, s, "up").Value, s.Side(h, false, signs).Value, 1e-9)
}

// Outside a hard constraint draws have no weight: what must hold has probability 1, and no resampled draw breaks it.
func TestHardConstraint(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(0, 1))
	up, curve := m.Name("up", graph.Greater(x, -0.4)), m.Name("product", graph.Less(graph.Mul(x, y), 0.7))
	m.Observe("must", graph.Bernoulli(graph.If(graph.And(up, curve), 1, 0)), 1)
	d := vitest.Compile(t, m)
	q := mixture.New([]float64{0, 0}, []family.Q{
		family.Independent([]float64{0.5, 0}, []float64{1, 1}), family.Independent([]float64{0.8, -0.5}, []float64{0.7, 1}),
	})
	s := drawn(t, d, q, 4000, *seed)
	broken := 0
	breaks := func(k int) bool { return s.Latent(0)[k] < -0.4 || s.Latent(0)[k]*s.Latent(1)[k] > 0.7 }
	for k, w := range s.Weights {
		if breaks(k) {
			broken++
			require.Zero(t, w)
		}
	}
	require.Greater(t, broken, 400, "inconclusive")
	require.Equal(t, mc.Estimate{Value: 1}, side(t, s, "up"))
	require.Equal(t, mc.Estimate{Value: 1}, side(t, s, "product"))
	inside := drawn(t, d, family.Independent([]float64{1.6, -0.5}, []float64{0.5, 0.9}), 4000, *seed)
	require.Greater(t, distuv.UnitNormal.CDF(-4), 1e-5) // of the proposal is outside, where hardly a draw is
	require.InDelta(t, 1, side(t, inside, "up").Value, 5e-5)
	for _, k := range s.Resample(3000, rand.New(rand.NewPCG(1, 2))) {
		require.False(t, breaks(k))
	}
}

// Resampling takes draw k n·w_k times, rounded up or down, on average exactly, and as often as Oversampling says hardly any twice.
func TestResample(t *testing.T) {
	s := drawn(t, twoNormals(t), twoParts(0.4, 1.4), 3000, *seed)
	const m, repeats = 2000, 50
	rng, total := rand.New(rand.NewPCG(*seed, 3)), make([]float64, s.Len())
	for range repeats {
		count := make([]float64, s.Len())
		for _, k := range s.Resample(m, rng) {
			count[k]++
		}
		require.Equal(t, float64(m), floats.Sum(count))
		for k, w := range s.Weights {
			require.Less(t, math.Abs(count[k]-m*w), 1+1e-9)
			total[k] += count[k]
		}
	}
	for k, w := range s.Weights {
		require.InDelta(t, m*w, total[k]/repeats, 6*0.5/math.Sqrt(repeats))
	}
	list := s.Resample(m, rng)
	require.False(t, list[0] < list[1] && list[1] < list[2] && list[2] < list[3] && list[3] < list[4], "in random order")
	require.Empty(t, s.Resample(0, rng))

	c := s.Oversampling()
	require.Greater(t, c, 1.)
	require.Less(t, c, 5.)
	kept := int(float64(s.Len()) / c)
	twice := func(m int) float64 {
		seen, twice := map[int]bool{}, 0.
		for _, k := range s.Resample(m, rng) {
			if seen[k] {
				twice++
			}
			seen[k] = true
		}
		return twice / float64(m)
	}
	require.Less(t, twice(kept), 0.01+1/math.Sqrt(float64(kept))/2)
	require.Greater(t, twice(s.Len()), 0.02, "inconclusive")
	require.Equal(t, 1., drawn(t, twoNormals(t), twoParts(0, 1), 500, *seed).Oversampling())
}

// One seed fixes a sample, whatever GOMAXPROCS is.
func TestSeedFixesASample(t *testing.T) {
	d := twoNormals(t)
	for name, q := range map[string]family.Q{"mixture": twoParts(0.2, 1.2), "one": family.Independent([]float64{1, 0.5, 0.2}, []float64{2, 1.6, 0.3})} {
		var first *Sample
		for _, procs := range []int{1, 2, 5} {
			before := runtime.GOMAXPROCS(procs)
			s := drawn(t, d, q, 3000, *seed)
			runtime.GOMAXPROCS(before)
			if first == nil {
				first = s
			}
			require.Equal(t, first.Z, s.Z, name)
			require.Equal(t, first.Weights, s.Weights, name)
			require.Equal(t, first.LogEvidence, s.LogEvidence, name)
		}
		require.NotEqual(t, first.Z, drawn(t, d, q, 3000, *seed+1).Z)
	}
}

// Each part of a mixture has as many draws as its weight says, and the posterior's share of each is known.
func TestShares(t *testing.T) {
	q := twoParts(0, 1)
	s := drawn(t, twoNormals(t), q, 1000, *seed)
	require.InDeltaSlice(t, []float64{0.3, 0.7}, s.Shares(2), 1e-12)
	for k, z := range s.Z[:1000] { // one part after the other
		require.Equal(t, k < 300, s.strata.list[0].end > k)
		require.False(t, math.IsNaN(z))
	}
}

// A closed form of evidence and posterior where a latent is transformed: counts of a Gamma rate.
func TestPositiveLatent(t *testing.T) {
	m := graph.NewModel()
	rate := m.Sample("rate", graph.Gamma(2, 1))
	shape, scale, want := 2.0, 1.0, 0.0
	for _, k := range []float64{3, 5, 2} {
		m.Observe("k", graph.Poisson(rate), k)
		lg, _ := math.Lgamma(k + 1)
		want -= lg
		shape += k
		scale++
	}
	lg, _ := math.Lgamma(shape)
	want += lg - shape*math.Log(scale) // Γ(2) = 1
	exact := distuv.Gamma{Alpha: shape, Beta: scale}
	q := family.Independent([]float64{math.Log(shape / scale)}, []float64{1.3 / math.Sqrt(shape)})
	s := drawn(t, vitest.Compile(t, m), q, 40000, *seed)
	require.Less(t, s.K, 0.5)
	vitest.Estimate(t, "evidence", want, s.LogEvidence, 0.02)
	mean, sd := s.Moments(0)
	vitest.Estimate(t, "mean", exact.Mean(), mean, 0.02)
	vitest.Estimate(t, "sd", exact.StdDev(), sd, 0.03)
	own, _ := PartMoments(s.density, q, 0)
	require.Greater(t, math.Abs(own-exact.Mean()), 5*mean.SE, "the proposal itself would pass")
	for _, p := range []float64{0.05, 0.5, 0.95} {
		vitest.Estimate(t, fmt.Sprint(p), exact.Quantile(p), s.Quantile(0, p), 0.06)
	}
}

// A proposal that is much too narrow, or elsewhere, has a high k-hat.
func TestBadProposal(t *testing.T) {
	m := graph.NewModel()
	for _, name := range []string{"a", "b", "c"} {
		m.Sample(name, graph.StudentsT(0, 1, 3))
	}
	d := vitest.Compile(t, m)
	for name, q := range map[string]family.Q{
		"narrow":    family.Independent([]float64{0, 0, 0}, []float64{0.4, 0.4, 0.4}),
		"elsewhere": family.Independent([]float64{3, 3, 0}, []float64{1, 1, 1}),
	} {
		s := drawn(t, d, q, 10000, *seed)
		require.Greater(t, s.K, 0.7, name)
		require.Less(t, s.ESS, 3000.0, name)
	}
}

// Numbers that some draws do not have are of the others.
func TestNumbersThatAreMissing(t *testing.T) {
	s := drawn(t, twoNormals(t), twoParts(0.1, 1.1), 20000, *seed)
	above := make([]float64, s.Len())
	for k, x := range s.Latent(1) {
		if above[k] = x; x < 0.5 {
			above[k] = math.NaN()
		}
	}
	mean, sd := s.MomentsOf(above) // of a half-normal
	vitest.Estimate(t, "mean", 0.5+1.5*math.Sqrt(2/math.Pi), mean, 0.06)
	vitest.Estimate(t, "sd", 1.5*math.Sqrt(1-2/math.Pi), sd, 0.06)
	vitest.Estimate(t, "median", 0.5+1.5*distuv.UnitNormal.Quantile(0.75), s.QuantilesOf(above, 0.5)[0], 0.1)
}

// Draws without weight count for nothing, whatever numbers they have.
func TestNumbersWithoutWeight(t *testing.T) {
	s := drawn(t, twoNormals(t), defensive(twoParts(0.1, 1.1)), 5000, *seed)
	s.Weights[7], s.Weights[4000] = 0, 0
	x := slices.Clone(s.Latent(1))
	x[7], x[4000] = 0, 0
	want := s.Expect(x)
	x[7], x[4000] = math.Inf(1), math.NaN()
	require.Equal(t, want, s.Expect(x))
	require.True(t, math.IsInf(x[7], 1), "of the caller's")
}

// A side of one latent is the same whichever way its plane is written.
func TestSideOfALatent(t *testing.T) {
	s := drawn(t, twoNormals(t), defensive(twoParts(0.1, 1.1)), 5000, *seed)
	up, down := regions.Hyperplane{Index: []int{1}, Coef: []float64{1}, Const: -0.75}, regions.Hyperplane{Index: []int{1}, Coef: []float64{-2}, Const: 1.5}
	above, below := make([]float64, s.Len()), make([]float64, s.Len())
	for k := range above {
		if above[k] = 1; s.Point(k)[1] < 0.75 {
			above[k], below[k] = 0, 1
		}
	}
	p := s.Side(up, true, above)
	vitest.Estimate(t, "above", 1-distuv.UnitNormal.CDF(0.25/1.5), p, 0.01)
	require.Equal(t, p, s.Side(down, false, below))
	require.Equal(t, s.Side(up, false, above), s.Side(down, true, below))
}

// The draws of chains are those of the sample, latent by latent, and of its proposal.
func TestChains(t *testing.T) {
	d := twoNormals(t)
	rng := rand.New(rand.NewPCG(*seed, 5))
	chains := Chains{N: 4, Groups: 2}
	for range 123 {
		chains.Z = append(chains.Z, d.PriorDraw(nil, rng))
	}
	want := OfChains(d, nil, chains)
	for i := range d.Dim() {
		require.Equal(t, stat.Mean(want.Z[i*123:][:123], nil), want.Proposal().Mean(i))
		require.Equal(t, chains.Z[122][i], want.Point(122)[i])
	}
}

// Of more and more draws of chains, which come from other coordinates, a sample is what it would be without the ones before: in the memory of these, and where that
// is not enough.
func TestChainsGrow(t *testing.T) {
	m := graph.NewModel()
	m.Sample("scale", graph.Exponential(1))
	m.SampleVector("x", graph.Ordered(3, graph.Normal(0, 1)))
	d := vitest.Compile(t, m)
	rng := rand.New(rand.NewPCG(*seed, 6))
	chains := Chains{N: 4, Groups: 2, To: func(draws [][]float64) {
		for _, z := range draws {
			z[0]++
			z[1] *= 2
		}
	}}
	for _, n := range []int{100, 140, 260, 264} {
		for len(chains.Z) < n {
			chains.Z = append(chains.Z, d.PriorDraw(nil, rng))
		}
		before := chains.Before
		chains.Before = nil
		want := OfChains(d, nil, chains)
		chains.Before = before
		s := OfChains(d, nil, chains)
		require.Equal(t, want.Z, s.Z)
		require.Equal(t, chains.Z[n-1][0]+1, s.Point(n - 1)[0])
		for i := range d.Dim() {
			require.Equal(t, want.Latent(i), s.Latent(i))
			require.Equal(t, want.Proposal().SD(i), s.Proposal().SD(i))
		}
		require.Equal(t, want.Components(), s.Components())
		chains.Before = s
	}
}

func TestDrawErrors(t *testing.T) {
	d := vitest.Smooth(t)
	q := family.Independent([]float64{0, 0}, []float64{1, 1})
	draw := func(ctx context.Context, d *graph.Density, q family.Q, n int) error {
		s, err := Draw(ctx, d, q, n, 1)
		require.Nil(t, s)
		return err
	}
	ctx := context.Background()
	require.EqualError(t, draw(ctx, d, q, 20), "weighted: 20 draws; a k-hat needs 21")
	require.Error(t, draw(ctx, d, q, -1))
	require.ErrorContains(t, draw(ctx, d, family.Independent(nil, nil), 100), "weighted: ")
	require.ErrorContains(t, draw(ctx, d, q, 1e15), "weighted: 1000000000000000 draws would need")

	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Factor(graph.Log(z))
	require.ErrorContains(t, draw(ctx, vitest.Compile(t, m), family.Independent([]float64{0}, []float64{1}), 100),
		"weighted: log r is NaN at a draw: the factor (sample_test.go:")

	m = graph.NewModel()
	z = m.Sample("z", graph.Normal(0, 1))
	m.Factor(graph.Log(graph.If(graph.Greater(z, 50), 1, 0)))
	require.ErrorContains(t, draw(ctx, vitest.Compile(t, m), family.Independent([]float64{0}, []float64{1}), 100), "none of 100 importance ratios is positive")

	gone, cancel := context.WithCancelCause(ctx)
	cancel(context.DeadlineExceeded)
	for _, q := range []family.Q{q, mixture.New([]float64{0, 0}, []family.Q{q, q})} {
		require.ErrorIs(t, draw(gone, d, q, 1000), context.DeadlineExceeded)
	}
}

// The sums of chains have heavy tails where few chains are at large values, and not where all are.
func TestChainK(t *testing.T) {
	const chains, moves, times = 512, 40, 50
	rng := rand.New(rand.NewPCG(3, 4))
	s := Sample{chains: chains, Weights: slices.Repeat([]float64{1}, chains*moves)}
	slow, fast := make([]float64, chains*moves), make([]float64, chains*moves)
	var ofSlow, ofFast mc.Moments
	for range times {
		for c := range chains {
			scale := 1 / rng.Float64() // a Pareto distribution of k = 1, which 10 numbers of k = 0.5 pull to 0.94
			for k := c; k < len(slow); k += chains {
				fast[k] = rng.ExpFloat64()
				slow[k] = scale * rng.ExpFloat64()
			}
		}
		ofSlow.Add(s.ChainK(slow))
		ofFast.Add(s.ChainK(fast))
	}
	require.InDelta(t, 0.94, ofSlow.Mean, 5*ofSlow.Estimate().SE)
	require.Less(t, ofFast.Mean, 0.2)
}

// Values are in order whether or not all draws have the same weight.
func TestSorted(t *testing.T) {
	x := []float64{3, -1, 2, 2, 0.5, 7}
	even, other := Sample{Weights: make([]float64, 6)}, Sample{Weights: make([]float64, 7)}
	for k := range x {
		even.Weights[k], other.Weights[k] = 1./6, 1./6
	}
	values, cumulative, sum := even.sorted(x)
	require.Equal(t, []float64{-1, 0.5, 2, 2, 3, 7}, values)
	require.InDelta(t, 1, sum, 1e-15)
	again, cumulatives, sums := other.sorted(append(x, 1)) // of no weight
	require.Equal(t, values, again)
	require.Equal(t, cumulative, cumulatives)
	require.Equal(t, sum, sums)
}

// Draws that are few in each part of a proposal of many say so, and the errors of ten times as many are smaller than by the root of ten.
func TestScattered(t *testing.T) {
	m := graph.NewModel()
	m.Sample("x", graph.Normal(0, 1.02))
	d := vitest.Compile(t, m)
	var logs []float64
	var parts []family.Q
	for k := range 60 {
		x := -3.6 + 0.12*float64(k)
		logs, parts = append(logs, distuv.UnitNormal.LogProb(x)), append(parts, family.Independent([]float64{x}, []float64{0.2}))
	}
	q := defensive(mixture.New(logs, parts))
	few, many := 0.0, 0.0 // squares
	for k := range uint64(30) {
		s := drawn(t, d, q, 600, *seed+k)
		require.Greater(t, s.Scattered(), 0.8)
		mean, _ := s.Moments(0)
		few += mean.Value * mean.Value
		s = drawn(t, d, q, 6000, *seed+k)
		require.Less(t, s.Scattered(), 0.2)
		mean, _ = s.Moments(0)
		many += mean.Value * mean.Value
	}
	require.Greater(t, few, 50*many, "errors fall as with independent draws")
	require.Zero(t, drawn(t, d, family.Independent([]float64{0}, []float64{1.2}), 600, *seed).Scattered())
}

// Draws that are too few for a control variate have standard errors, too, of a mixture and of one normal.
func TestFewDraws(t *testing.T) {
	m := graph.NewModel()
	m.Sample("x", graph.Normal(0, 1))
	d := vitest.Compile(t, m)
	wide := family.Independent([]float64{0.2}, []float64{1.3})
	for name, q := range map[string]family.Q{"a normal": wide, "a mixture": mixture.New([]float64{0}, []family.Q{wide})} {
		squares, variance := 0.0, 0.0
		for k := range uint64(1000) {
			s := drawn(t, d, q, enoughDraws-1, *seed+k)
			e := s.Expect(s.Latent(0))
			squares += e.Value * e.Value
			variance += e.SE * e.SE
		}
		t.Logf("%s: %.3f times the variance", name, variance/squares)
		require.Greater(t, variance, 0.8*squares, name)
		if q == wide { // the other's draws are spread evenly
			require.Less(t, variance, 1.2*squares, name)
		}
	}
}
