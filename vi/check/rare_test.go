package check

import (
	"math"
	"regexp"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
)

func rareOf(t testing.TB, d *graph.Density, q family.Q, samples int) Unseen {
	t.Helper()
	r, err := RareSides(d, q, samples, *seed)
	require.NoError(t, err)
	return r
}

// checkCorrected holds the two estimates to the closed form: the corrected one
// must agree, to precision seen, and the plain one be rejected.
func checkCorrected(t testing.TB, r Unseen, want, seen float64) {
	t.Helper()
	vitest.Estimate(t, "corrected ELBO", want, r.Corrected, seen)
	require.Greater(t, math.Abs(r.Plain.Value-want), 5*r.Plain.SE, "the plain estimate must be rejected")
	require.True(t, r.Misleading())
}

// At temperature's optimum, crossings of probability 1e-7 cost 5e5 nats each; the
// closed form is of package models.
func TestRareSidesOfTemperature(t *testing.T) {
	spec, d := vitest.Paper(t, "temperature")
	theta, elbo, err := models.Optimum(spec.Oracle, spec.ThetaInit)
	require.NoError(t, err)
	r := rareOf(t, d, family.Softplus{}.At(theta), 50000)
	checkCorrected(t, r, elbo, 0.15)
	require.Less(t, r.Missed.Value, -0.2)
	require.Less(t, 5*r.Missed.SE, 0.5*math.Abs(r.Missed.Value), "inconclusive")
	for _, s := range r.Sides[:5] {
		require.Less(t, s.Prob, 1e-6, s.Condition)
		require.Zero(t, s.Seen, s.Condition)
		require.InEpsilon(t, -5e5, s.Gap.Value, 0.02, s.Condition)
		require.InEpsilon(t, s.Prob*s.Gap.Value, s.Missed.Value, 0.02, s.Condition)
		require.Regexp(t, `^theta\d+ [<>] (18|22)$`, s.Condition)
		require.Regexp(t, `^temperature.go:\d+$`, s.Guards[0].Place())
	}
}

// One rare side of a guard on three latents: log r is quadratic there, and its
// expectation a closed form of the truncated normal.
func TestRareSidesGap(t *testing.T) {
	for _, positive := range []bool{true, false} {
		d := vitest.Dense{A: [][]float64{{1, -2, 0.5}}, V: [][]float64{{3e4, -1e4, 2e4}}, B: []float64{-12}, W: []float64{-1e6}}
		if !positive { // the side without the jump is the rare one
			d.B[0] = 10.1
		}
		q := family.Independent([]float64{0.3, -0.2, 0.5}, []float64{0.8, 1.1, 0.6})
		mean, s := moments(q)
		_, x, norm, _ := d.Guard(0, mean, s)
		depth := math.Abs(x)
		prob := distuv.UnitNormal.CDF(-depth)
		hazard := distuv.UnitNormal.Prob(depth) / prob
		// E[ε_i | side] = u_i·hazard and E[ε_i² | side] = 1 + u_i²·depth·hazard, for u the unit normal into the side
		onSide, all, jump := 0.0, 0.0, d.W[0]
		for i, mu := range mean {
			u := d.A[0][i] * s[i] / norm
			if !positive {
				u = -u
			}
			first, square := u*hazard, 1+u*u*depth*hazard
			onSide -= 0.5 * (mu*mu + 2*mu*s[i]*first + s[i]*s[i]*square)
			all -= 0.5 * (mu*mu + s[i]*s[i])
			if positive {
				jump += d.V[0][i] * (mu + s[i]*first)
			} else { // then the jump is on the common side, of which the rare one is a negligible part
				jump += d.V[0][i] * mu
			}
		}
		want := onSide - all + jump
		if !positive {
			want = onSide - all - jump
		}
		require.InDelta(t, 1.2e-6, prob, 1e-6)

		r := rareOf(t, vitest.Compile(t, d.Model()), q, 20000)
		require.Len(t, r.Sides, 1)
		got := r.Sides[0]
		require.Equal(t, regions.Side{Plane: 0, Positive: positive}, got.Side)
		require.InEpsilon(t, prob, got.Prob, 1e-9)
		require.Zero(t, got.Seen)
		vitest.Estimate(t, "gap", want, got.Gap, 0.01*math.Abs(want))
		vitest.Estimate(t, "missed", prob*want, got.Missed, 0.01*prob*math.Abs(want))
		require.Equal(t, r.Missed, got.Missed)
	}
}

// A rare side of a guard on latents that are not independent.
func TestRareSidesOfCorrelated(t *testing.T) {
	d := vitest.Dense{A: [][]float64{{1, -1.2, 0.5}}, V: [][]float64{{3e4, -1e4, 2e4}}, B: []float64{0}, W: []float64{-1e6}}
	mean, sd := []float64{0.3, -0.2, 0.5}, []float64{0.8, 1.1, 0.6}
	density := vitest.Compile(t, d.Model())
	qs, covs := correlated(t, density, mean, sd)
	for k, q := range qs {
		a := mat.NewVecDense(3, d.A[0])
		d.B[0] = -floats.Dot(d.A[0], mean) - 4.5*math.Sqrt(mat.Inner(a, covs[k], a)) // of probability 3.4e-6
		r := rareOf(t, vitest.Compile(t, d.Model()), q, 20000)
		require.Len(t, r.Sides, 1)
		require.InEpsilon(t, distuv.UnitNormal.CDF(-4.5), r.Sides[0].Prob, 1e-9)
		require.Zero(t, r.Sides[0].Seen)
		checkCorrected(t, r, d.ELBO(mean, covs[k]), 0.2)
	}
}

// A rare side of a mixture, which one of its parts is on more often; and of a family that
// cannot be drawn there.
func TestRareSidesOfMixture(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(z, 4.2), -3e5, 0))
	d := vitest.Compile(t, m)
	parts := []family.Q{family.Independent([]float64{0.2}, []float64{1}), family.Independent([]float64{1}, []float64{0.6})}
	q := mixture.New([]float64{math.Log(0.4), math.Log(0.6)}, parts)
	law := family.Marginal(q, 0)
	want, _ := law.Expect(func(z float64) float64 { return distuv.UnitNormal.LogProb(z) - q.LogProb([]float64{z}) })
	want -= 3e5 * law.Above(4.2)
	r := rareOf(t, d, q, 20000)
	checkCorrected(t, r, want, 0.1)
	require.Len(t, r.Sides, 1)
	require.InEpsilon(t, law.Above(4.2), r.Sides[0].Prob, 1e-12)

	blind := rareOf(t, d, stuck{q}, 20000)
	require.Empty(t, blind.Sides)
	require.Equal(t, 1, blind.Skipped)
	require.Equal(t, r.Plain, blind.Plain)
	require.Contains(t, blind.String(), "Of 1 rare sides of guards nothing is known")
	require.NotContains(t, blind.String(), "No side")
}

// stuck cannot be drawn on rare sides.
type stuck struct{ *mixture.Mixture }

func (stuck) MoverTo(regions.Hyperplane, bool) family.Mover { return nil }

// Unseen sides that have much in common: what they share counts once.
func TestRareSidesThatMeet(t *testing.T) {
	d := vitest.Dense{
		A: [][]float64{{1, 0, 0}, {1, 0.3, 0}, {-1, 0.2, 0.1}}, V: [][]float64{{0, 0, 0}, {1e3, 0, 0}, {0, 1, 0}},
		B: []float64{-3.7, -3.9, 0.4}, W: []float64{-4e4, -7e4, 1},
	}
	q := family.Independent([]float64{0.1, -0.2, 0.5}, []float64{1, 0.9, 0.6})
	want := d.Diagonal(moments(q))
	r := rareOf(t, vitest.Compile(t, d.Model()), q, 50000)
	require.Len(t, r.Sides, 2)
	require.Less(t, 5*r.Corrected.SE, 0.1*math.Abs(r.Missed.Value), "inconclusive")
	vitest.Estimate(t, "corrected ELBO", want, r.Corrected, 1)
	double := r.Corrected.Value - r.Missed.Value
	for _, s := range r.Sides {
		double += s.Prob * s.Gap.Value
	}
	require.Greater(t, math.Abs(double-want), 5*r.Corrected.SE, "counting twice must be rejected")
}

// A side that some draws are on is not counted twice either.
func TestRareSidesThatAreSeen(t *testing.T) {
	d := vitest.Dense{A: [][]float64{{1, 0.5}}, V: [][]float64{{0, 0}}, B: []float64{-3.6}, W: []float64{-1e3}}
	q := family.Independent([]float64{0, 0}, []float64{1, 0.9}) // not the prior, whose log r − log q has no noise
	want, density := d.Diagonal(moments(q)), vitest.Compile(t, d.Model())
	var off mc.Moments
	seen := 0
	for s := range uint64(100) {
		r, err := RareSides(density, q, 10000, s)
		require.NoError(t, err)
		require.Len(t, r.Sides, 1)
		seen += r.Sides[0].Seen
		off.Add(r.Corrected.Value - want)
		require.Less(t, math.Abs(r.Corrected.Value-want), 5*r.Corrected.SE)
	}
	require.Greater(t, seen, 100)
	require.Less(t, math.Abs(off.Mean), 5*off.SE())
	require.Less(t, 5*off.SE(), 0.02, "inconclusive") // a side of probability 6e-4 brings 0.6 nats
}

// Without rare sides the corrected estimate is the plain one, which is ELBO's.
func TestRareSidesOfNone(t *testing.T) {
	d := vitest.Compile(t, vitest.Dense{A: [][]float64{{1, 1}}, V: [][]float64{{1, 2}}, B: []float64{0.2}, W: []float64{1}}.Model())
	q := family.Independent([]float64{0, 0}, []float64{1, 1})
	r := rareOf(t, d, q, 1000)
	plain, err := ELBO(d, q, 1000, *seed)
	require.NoError(t, err)
	require.Equal(t, plain, r.Plain)
	require.InDelta(t, plain.Value, r.Corrected.Value, 1e-12)
	require.InDelta(t, plain.SE, r.Corrected.SE, 1e-12)
	require.False(t, r.Misleading())
	require.Empty(t, r.Sides)
	require.Contains(t, r.String(), "No side of a guard is rare.")
	require.False(t, rareOf(t, vitest.Smooth(t), family.Independent([]float64{0, 0}, []float64{1, 1}), 1000).Misleading())
}

// A side that is as good as impossible counts where it costs enough: behind a wall of 1e200 nats that is
// 15 standard deviations away. A step of 1 nat there does not.
func TestRareSidesBehindAWall(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(x, 0), 0, -1e200))
	m.Factor(graph.If(graph.Greater(x, 3), -1, 0))
	d := vitest.Compile(t, m)
	q := family.Independent([]float64{1.5}, []float64{0.1})
	r := rareOf(t, d, q, 1000)
	want := -1e200 * 0.5 * math.Erfc(15/math.Sqrt2)
	require.Len(t, r.Sides, 1)
	require.InEpsilon(t, want, r.Missed.Value, 1e-9)
	require.InEpsilon(t, want, r.Corrected.Value, 1e-9)
	require.Equal(t, "x < 0", r.Sides[0].Condition)
}

func TestRareSidesProcessors(t *testing.T) {
	_, d := vitest.Paper(t, "temperature")
	q := priorStart(d)
	many := rareOf(t, d, q, 2000)
	require.NotEmpty(t, many.Sides)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	require.Equal(t, many, rareOf(t, d, q, 2000))
}

func TestRareSidesErrors(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.If(graph.Greater(z, 6), func() { m.Factor(graph.Log(graph.Neg(z))) }, nil)
	d := vitest.Compile(t, m)
	q := family.Independent([]float64{0}, []float64{1})
	_, err := RareSides(d, q, 1, 1)
	require.EqualError(t, err, "check: 1 samples; a standard error needs 2")
	_, err = RareSides(d, family.Independent(nil, nil), 10, 1)
	require.Error(t, err)
	_, err = RareSides(d, q, 1000, 1)
	require.ErrorContains(t, err, "check: log r is NaN on the rare side z > 6 (rare_test.go:")
}

func TestRareString(t *testing.T) {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
	m.Name("far", graph.Greater(x, 4))
	graph.Less(graph.Mul(2, x), 8)
	graph.Greater(y, x)
	guards := vitest.Compile(t, m).GuardsByPlane()
	r := Unseen{
		Plain: mc.Estimate{Value: -42.886, SE: 0.14}, Corrected: mc.Estimate{Value: -43.426, SE: 0.14}, Missed: mc.Estimate{Value: -0.54, SE: 0.002}, Samples: 1000, PerSide: 500,
		Sides: []RareSide{
			{Condition: "x > 4", Guards: guards[0], Prob: 6.7e-8, Gap: mc.Estimate{Value: -499900, SE: 140}, Missed: mc.Estimate{Value: -0.5, SE: 0.002}},
			{Condition: "y - x > 0", Guards: guards[1], Prob: 0.001, Seen: 2, Gap: mc.Estimate{Value: -40, SE: 1}, Missed: mc.Estimate{Value: -0.04, SE: 0.001}},
		},
	}
	require.Equal(t, `ELBO of 1000 draws         -42.886 ± 0.14
with rare sides of guards  -43.426 ± 0.14
The draws miss rare sides that bring -0.54 ± 0.002 nats: do not use the first number.

rare side  where                                   probability  draws           gap in nats         brings
x > 4      far rare_test.go:###, rare_test.go:###      6.7e-08      0  -4.999e+05 ± 1.4e+02   -0.5 ± 0.002
y - x > 0  rare_test.go:###                              0.001      2               -40 ± 1  -0.04 ± 0.001
`, regexp.MustCompile(`\.go:\d{3}`).ReplaceAllString(r.String(), ".go:###"))

	for range rareShown {
		r.Sides = append(r.Sides, r.Sides[1])
	}
	require.Contains(t, r.String(), "\n2 more rare sides bring -0.08 ± 0.0014\n")
}

// A side that cells exclude is not rare: there the density may be 0.
func TestRareSidesOfCells(t *testing.T) {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
	over := graph.Add(graph.Mul(0.3, x), graph.Sub(y, 0.7))
	up := graph.Greater(over, 0)
	m.Factor(graph.If(up, 0, graph.Log(over))) // of a negative number
	m.Factor(graph.If(graph.Greater(graph.Add(x, y), 5.6), -1e5, 0))
	d := vitest.Compile(t, m)
	h := d.Arrangement().Plane(up.Planes()[0])
	side, ok := up.Side()
	require.True(t, ok)
	cell, soft, err := family.Independent([]float64{0.1, 0.8}, []float64{0.9, 0.8}).Confine([]family.Side{{Hyperplane: h, Positive: side.Positive}})
	require.NoError(t, err)
	require.Empty(t, soft)
	for _, q := range []family.Q{cell, mixture.New([]float64{0, 0.5}, []family.Q{cell, cell})} {
		r := rareOf(t, d, q, 100000)
		require.Len(t, r.Sides, 1)
		require.Equal(t, "x + y > 5.6", r.Sides[0].Condition)
		// given x, y is a normal truncated from below, at 0.7 − 0.3·x
		prob, _ := family.Marginal(cell, 0).Expect(func(x float64) float64 {
			tail := func(y float64) float64 { return distuv.UnitNormal.CDF((0.8 - y) / 0.8) }
			return min(1, tail(5.6-x)/tail(0.7-0.3*x))
		})
		require.InEpsilon(t, prob, r.Sides[0].Prob, 0.2, "its law is that of 500 draws of x")
		vitest.Estimate(t, "missed", -1e5*prob, r.Missed, 0.5*1e5*prob)
	}
}
