package events

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/weighted"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// of are the events of n weighted draws of q.
func of(t testing.TB, d *graph.Density, q family.Q, n int, seed uint64) Events {
	t.Helper()
	s, err := weighted.Draw(context.Background(), d, q, n, seed)
	require.NoError(t, err)
	return Of(s)
}

// The posterior of areas, which is its prior, in unconstrained coordinates.
var areaMean, areaSD = []float64{0.3, -0.2, 0.4, 0.5, 0.1, -0.4, 0.2}, []float64{0.8, 1.3, 0.5, 0.9, 1.1, 0.7, 0.6}

// areas has two guards on x, one on y and r each, and on[t] for a sum of steps.
func areas(t testing.TB, dense bool) *graph.Density {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(areaMean[0], areaSD[0]))
	y := m.Sample("y", graph.Normal(areaMean[1], areaSD[1]))
	r := m.Sample("r", graph.LogNormal(areaMean[2], areaSD[2]))
	m.Name("low", graph.Less(x, -0.5))
	m.Name("high", graph.Greater(x, 0.5))
	m.Name("y", graph.Greater(y, 0.1))
	m.Name("not y", graph.Not(graph.Greater(y, 0.1)))
	m.Name("big", graph.Greater(r, 2))
	m.Name("always", graph.Greater(1, 0))
	m.Name("far", graph.Greater(x, 9))
	if dense {
		var level graph.Expr
		for k := range 4 {
			level = graph.Add(level, m.Sample(fmt.Sprintf("step%d", k), graph.Normal(areaMean[3+k], areaSD[3+k])))
			m.Name("on", graph.Greater(level, 0.2))
		}
	}
	return vitest.Compile(t, m)
}

// exactly is the posterior of areas as a proposal, and near one that is a little off.
func exactly(d *graph.Density) family.Q {
	return family.Independent(areaMean[:d.Dim()], areaSD[:d.Dim()])
}

func near(d *graph.Density) family.Q {
	mean, sd := slices.Clone(areaMean[:d.Dim()]), slices.Clone(areaSD[:d.Dim()])
	for i := range mean {
		mean[i] += 0.15 * sd[i] * float64(i%3-1)
		sd[i] *= 1.15
	}
	return family.Independent(mean, sd)
}

func one(t testing.TB, e Events, name string) graph.Guard {
	guards := e.s.Density().Named(name)
	require.NotEmpty(t, guards, name)
	return guards[0]
}

// above is P(latent i > c) in unconstrained coordinates.
func above(i int, c float64) float64 { return distuv.UnitNormal.CDF((areaMean[i] - c) / areaSD[i]) }

// By draws of the posterior itself the probabilities of sides are exact, and by those of another distribution right.
func TestSides(t *testing.T) {
	d := areas(t, true)
	var byName map[string]SideProb
	sides := func(e Events) {
		byName = map[string]SideProb{}
		list := e.Sides()
		require.Len(t, list, d.Arrangement().Len())
		for l, s := range list {
			require.Equal(t, l, s.Plane)
			for _, g := range s.Guards {
				require.Equal(t, l, g.Side.Plane)
				require.Regexp(t, `^events_test.go:\d+$`, g.Place())
				byName[g.Name()] = s
			}
		}
	}
	want := map[string]float64{"low": above(0, -0.5), "high": above(0, 0.5), "big": above(2, math.Log(2)), "far": above(0, 9)}
	mean, variance := 0.0, 0.0
	for k, name := range []string{"on[0]", "on[1]", "on[2]", "on[3]"} {
		mean += areaMean[3+k]
		variance += areaSD[3+k] * areaSD[3+k]
		want[name] = distuv.UnitNormal.CDF((mean - 0.2) / math.Sqrt(variance))
	}
	sides(of(t, d, exactly(d), 2000, *seed))
	require.Len(t, byName["y"].Guards, 2, "and its negation")
	require.Equal(t, "x > -0.5", byName["low"].Condition)
	require.Equal(t, "r > 2", byName["big"].Condition)
	for name, p := range want {
		require.InDelta(t, p, byName[name].Prob.Value, 1e-9, name)
		require.Less(t, byName[name].Prob.SE, 1e-7, name)
	}
	sides(of(t, d, near(d), 20000, *seed))
	for name, p := range want {
		vitest.Estimate(t, name, p, byName[name].Prob, 0.02)
	}
}

// The list is complete but for what is too rare, in order, and each entry is a product of interval
// probabilities.
func TestTopRegions(t *testing.T) {
	d := areas(t, false)
	a := d.Arrangement()
	inside := map[regions.Signs][]float64{} // a point of each region
	for rng := rand.New(rand.NewPCG(1, 2)); len(inside) < 4*2*2; {
		z := make([]float64, d.Dim())
		for i := range z {
			z[i] = 10 * rng.NormFloat64()
		}
		inside[a.Signs(z)] = z
	}
	e := of(t, d, near(d), 20000, *seed)
	top, err := e.TopRegions(1000)
	require.NoError(t, err)
	require.Len(t, top, 3*2*2, "none beyond 9")
	sum := 0.0
	for k, r := range top {
		require.Contains(t, inside, r.Signs)
		if k > 0 {
			require.LessOrEqual(t, r.Prob.Value, top[k-1].Prob.Value)
		}
		sum += r.Prob.Value
		z := inside[r.Signs]
		want := 1.0
		switch {
		case z[0] > 0.5:
			want *= above(0, 0.5)
		case z[0] > -0.5:
			want *= above(0, -0.5) - above(0, 0.5)
		default:
			want *= 1 - above(0, -0.5)
		}
		for i, c := range map[int]float64{1: 0.1, 2: math.Log(2)} {
			if z[i] > c {
				want *= above(i, c)
			} else {
				want *= 1 - above(i, c)
			}
		}
		vitest.Estimate(t, r.Signs.String(), want, r.Prob, 0.03)
	}
	require.InDelta(t, 1, sum, 1e-9)
	few, err := e.TopRegions(3)
	require.NoError(t, err)
	require.Equal(t, top[:3], few)
	_, err = e.TopRegions(0)
	require.ErrorContains(t, err, "events: 0 most probable regions")
}

// standardErrors asks that an estimate's standard errors are those of independent repetitions.
func standardErrors(t *testing.T, exact float64, estimate func(seed uint64) mc.Estimate) {
	t.Helper()
	const repeats = 400
	var m, claimed, z mc.Moments
	for k := range uint64(repeats) {
		p := estimate(*seed + k)
		m.Add(p.Value)
		claimed.Add(p.SE * p.SE)
		z.Add((p.Value - exact) / p.SE)
	}
	require.InDelta(t, 1, m.Variance()/claimed.Mean, 5*math.Sqrt(2./repeats), "variance over that of standard errors")
	require.Less(t, math.Abs(z.Mean), 5/math.Sqrt(repeats))
}

func TestStandardErrors(t *testing.T) {
	d := areas(t, false)
	for name, f := range map[string]func(e Events) (mc.Estimate, error){
		"region": func(e Events) (mc.Estimate, error) {
			top, err := e.TopRegions(100)
			for _, r := range top { // that of high, y and big
				if g := []graph.Guard{one(t, e, "high"), one(t, e, "y"), one(t, e, "big")}; g[0].Holds(r.Signs) && g[1].Holds(r.Signs) && g[2].Holds(r.Signs) {
					return r.Prob, err
				}
			}
			return mc.Estimate{}, errNever
		},
		"given": func(e Events) (mc.Estimate, error) { return e.ProbGiven(one(t, e, "high"), one(t, e, "y")) },
		"both":  func(e Events) (mc.Estimate, error) { return e.Prob(graph.And(one(t, e, "high"), one(t, e, "y"))) },
		"side":  func(e Events) (mc.Estimate, error) { return e.ProbNamed("high", 0) },
	} {
		if !long.On() && name != "region" && name != "given" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			exact := map[string]float64{"region": above(0, 0.5) * above(1, 0.1) * above(2, math.Log(2)), "given": above(0, 0.5), "both": above(0, 0.5) * above(1, 0.1), "side": above(0, 0.5)}[name]
			standardErrors(t, exact, func(seed uint64) mc.Estimate {
				p, err := f(of(t, d, near(d), 500, seed))
				require.NoError(t, err)
				return p
			})
		})
	}
}

// And, Or and Not of guards.
func TestProbOfFormulas(t *testing.T) {
	d := areas(t, false)
	e := of(t, d, near(d), 20000, *seed)
	low, high, y, big := one(t, e, "low"), one(t, e, "high"), one(t, e, "y"), one(t, e, "big")
	x1, x2 := above(0, -0.5), above(0, 0.5)
	py, pb := above(1, 0.1), above(2, math.Log(2))
	for i, c := range []struct {
		g    graph.Guard
		want float64
	}{
		{graph.And(low, high), 0},
		{graph.Or(low, high), 1 - x1 + x2},
		{graph.And(graph.Not(low), graph.Not(high)), x1 - x2},
		{graph.And(high, y, big), x2 * py * pb},
		{graph.Or(graph.And(high, y), graph.And(low, big)), x2*py + (1-x1)*pb},
		{graph.And(y, one(t, e, "not y")), 0},
		{one(t, e, "always"), 1},
		{graph.Not(one(t, e, "always")), 0},
	} {
		got, err := e.Prob(c.g)
		require.NoError(t, err)
		vitest.Estimate(t, fmt.Sprint(i), c.want, got, 0.03)
		if c.want == 0 || c.want == 1 {
			require.Equal(t, c.want, got.Value)
		}
	}
}

func TestProbGiven(t *testing.T) {
	d := areas(t, false)
	e := of(t, d, near(d), 20000, *seed)
	low, high, y, far := one(t, e, "low"), one(t, e, "high"), one(t, e, "y"), one(t, e, "far")
	for i, c := range []struct {
		g, given graph.Guard
		want     float64
	}{
		{high, graph.Not(low), above(0, 0.5) / above(0, -0.5)},
		{high, y, above(0, 0.5)},
		{high, one(t, e, "always"), above(0, 0.5)},
		{high, graph.Or(high, low), above(0, 0.5) / (above(0, 0.5) + 1 - above(0, -0.5))},
		{low, high, 0},
		{high, high, 1},
	} {
		got, err := e.ProbGiven(c.g, c.given)
		require.NoError(t, err)
		vitest.Estimate(t, fmt.Sprint(i), c.want, got, 0.05)
	}
	for _, never := range []graph.Guard{far, graph.And(low, high), graph.Not(one(t, e, "always"))} {
		_, err := e.ProbGiven(y, never)
		require.ErrorIs(t, err, errNever)
	}
	other := graph.NewModel()
	stranger := graph.Greater(other.Sample("x", graph.Normal(0, 1)), 0)
	for _, pair := range [][2]graph.Guard{{stranger, y}, {y, stranger}} {
		_, err := e.ProbGiven(pair[0], pair[1])
		require.ErrorContains(t, err, "another model")
	}
}

// The most probable path is the best of all assignments of the guards, and has the probability that it has if it is asked for.
func TestMostProbablePath(t *testing.T) {
	d := areas(t, true)
	e := of(t, d, near(d), 5000, *seed)
	low, high, y, big := one(t, e, "low"), one(t, e, "high"), one(t, e, "y"), one(t, e, "big")
	guards := []graph.Guard{low, y, graph.Or(high, big), one(t, e, "always"), d.Named("on")[2], graph.And(y, big), one(t, e, "not y")}
	best, at := mc.Estimate{}, []bool(nil)
	sum := 0.0
	for bits := range 1 << len(guards) {
		holds, literals := make([]bool, len(guards)), make([]graph.Guard, len(guards))
		for i, g := range guards {
			if holds[i] = bits>>i&1 == 1; holds[i] {
				literals[i] = g
			} else {
				literals[i] = graph.Not(g)
			}
		}
		prob, err := e.Prob(graph.And(literals...))
		require.NoError(t, err)
		sum += prob.Value
		if prob.Value > best.Value {
			best, at = prob, holds
		}
	}
	require.InDelta(t, 1, sum, 1e-12)
	path, err := e.MostProbablePath(guards)
	require.NoError(t, err)
	require.Equal(t, at, path.Holds)
	require.Equal(t, best, path.Prob)

	none, err := e.MostProbablePath(nil)
	require.NoError(t, err)
	require.Empty(t, none.Holds)
	require.InDelta(t, 1, none.Prob.Value, 1e-12)
	other := graph.NewModel()
	_, err = e.MostProbablePath([]graph.Guard{guards[0], graph.Greater(other.Sample("x", graph.Normal(0, 1)), 0)})
	require.ErrorContains(t, err, "guard 1 of the path belongs to another model")
}

// A path is not each guard's own more probable side: here each guard alone is
// more probably false, but one of them always holds.
func TestPathIsJoint(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0.06, 1))
	guards := []graph.Guard{
		graph.Less(x, -0.1), graph.And(graph.Greater(x, -0.1), graph.Less(x, 0.1)), graph.Greater(x, 0.1),
	}
	e := of(t, vitest.Compile(t, m), family.Independent([]float64{0.06}, []float64{1}), 10000, *seed)
	path, err := e.MostProbablePath(guards)
	require.NoError(t, err)
	require.Equal(t, []bool{false, false, true}, path.Holds)
	require.Less(t, path.Prob.Value, 0.5)
	vitest.Estimate(t, "path", distuv.UnitNormal.CDF(-0.04), path.Prob, 0.03)
}

func TestProbNamed(t *testing.T) {
	d := areas(t, true)
	e := of(t, d, near(d), 1000, *seed)
	for i, g := range d.Named("on") {
		want, err := e.Prob(g)
		require.NoError(t, err)
		got, err := e.ProbNamed("on", i)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, i := range []int{-1, 4} {
		_, err := e.ProbNamed("on", i)
		require.ErrorContains(t, err, "there are 4 of that name")
	}
	_, err := e.ProbNamed("off", 0)
	require.ErrorContains(t, err, `no guard "off"`)
	require.ErrorContains(t, err, `"on"`)
}

// Guards on latents of every scale, with and without a name.
func TestProb(t *testing.T) {
	m, guards := transformed()
	e := of(t, vitest.Compile(t, m), family.Independent([]float64{0, 0, 0.4, 0, 0}, []float64{1.1, 1, 0.9, 1.2, 1.9}), 20000, *seed)
	phi := distuv.UnitNormal.CDF
	x, r := phi(-0.5), 1-distuv.Gamma{Alpha: 2, Beta: 1}.CDF(2)
	dense := phi(-1 / math.Sqrt(5))
	for name, want := range map[string]float64{
		"x > 0.5": x, "x < 0.5": 1 - x, "not x": 1 - x, "2x - y > 1": dense, "1 > 2x - y": 1 - dense,
		"r > 2": r, "p < 0.3": distuv.Beta{Alpha: 2, Beta: 2}.CDF(0.3), "u > 1": 0.5,
		"always": 1, "never": 0, "x and not x": 0, "x and y": x / 2, "x or not r": 1 - (1-x)*r,
	} {
		got, err := e.Prob(guards[name])
		require.NoError(t, err, name)
		vitest.Estimate(t, name, want, got, 0.03)
	}
	require.Len(t, guards, 13)

	other := graph.NewModel()
	_, err := e.Prob(graph.Greater(other.Sample("x", graph.Normal(0, 1)), 0))
	require.ErrorContains(t, err, "another model")
}

// transformed is a model of five latents, of which three are transformed, and guards
// over them.
func transformed() (*graph.Model, map[string]graph.Guard) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(0, 1))
	r := m.Sample("r", graph.Gamma(2, 1))
	p := m.Sample("p", graph.Beta(2, 2))
	u := m.Sample("u", graph.Uniform(-1, 3))
	return m, map[string]graph.Guard{
		"x > 0.5":     graph.Greater(x, 0.5),
		"x < 0.5":     graph.Less(x, 0.5),
		"2x - y > 1":  graph.Greater(graph.Sub(graph.Mul(2, x), y), 1),
		"1 > 2x - y":  graph.Less(graph.Sub(graph.Mul(2, x), y), 1),
		"r > 2":       graph.Greater(r, 2),
		"p < 0.3":     graph.Less(p, 0.3),
		"u > 1":       graph.Greater(u, 1),
		"always":      graph.Greater(r, -1),
		"never":       graph.Less(r, 0),
		"x and y":     graph.And(graph.Greater(x, 0.5), graph.Less(y, 0)),
		"x or not r":  graph.Or(graph.Greater(x, 0.5), graph.Not(graph.Greater(r, 2))),
		"not x":       graph.Not(graph.Greater(x, 0.5)),
		"x and not x": graph.And(graph.Greater(x, 0.5), graph.Less(x, 0.5)),
	}
}

// Latents that are not independent. The orthant probability of two normals with correlation ρ is 1/4 + arcsin(ρ)/2π.
func TestLinkedLatents(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(graph.Mul(0.6, x), 0.8))
	w := m.Sample("w", graph.Normal(0.3, 1))
	gx, gy, gw := graph.Greater(x, 0), graph.Greater(y, 0), graph.Greater(w, 0)
	sum, high := graph.Greater(graph.Add(x, y), 1), graph.Greater(y, 0.5)
	d := vitest.Compile(t, m)
	q, err := family.Structured{}.New(d)
	require.NoError(t, err)
	q.Set([]float64{0, 1.1, 0, 0.8, 0.3, 1, 0.6}) // y = 0.6·x + 0.8·ε
	e := of(t, d, q, 20000, *seed)
	orthant, phi := 0.25+math.Asin(0.6)/(2*math.Pi), distuv.UnitNormal.CDF
	for name, c := range map[string]struct {
		g    graph.Guard
		want float64
	}{
		"high": {high, phi(-0.5)}, "sum": {sum, phi(-1 / math.Sqrt(1+1+2*0.6))},
		"apart": {graph.And(gx, gw), 0.5 * phi(0.3)}, "orthant": {graph.And(gx, gy), orthant},
	} {
		got, err := e.Prob(c.g)
		require.NoError(t, err)
		vitest.Estimate(t, name, c.want, got, 0.025)
	}
	given, err := e.ProbGiven(gy, gx)
	require.NoError(t, err)
	vitest.Estimate(t, "given", 2*orthant, given, 0.05) // 0.5 of independent latents would not pass

	path, err := e.MostProbablePath([]graph.Guard{gx, gy, gw})
	require.NoError(t, err)
	require.Equal(t, path.Holds[0], path.Holds[1])
	require.True(t, path.Holds[2])
	vitest.Estimate(t, "path", orthant*phi(0.3), path.Prob, 0.03)
}

// Guards that are made after the model was compiled can be asked for, and change
// nothing about the density.
func TestGuardsMadeLater(t *testing.T) {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.Normal(0.3, 0.8)), m.Sample("y", graph.Normal(-0.2, 1.3))
	low := m.Name("low", graph.Less(x, -0.5))
	m.Factor(graph.If(low, 0, 0))
	d := vitest.Compile(t, m)
	e := of(t, d, family.Independent([]float64{0.35, -0.1}, []float64{0.85, 1.4}), 40000, *seed)
	sides := e.Sides()
	high := graph.Greater(x, 1.25)
	p, err := e.Prob(high)
	require.NoError(t, err)
	vitest.Estimate(t, "high", above(0, 1.25), p, 0.01)
	both, err := e.Prob(graph.Or(graph.And(low, graph.Greater(y, 2)), high))
	require.NoError(t, err)
	vitest.Estimate(t, "either", above(0, 1.25)+above(1, 2)*(1-above(0, -0.5)), both, 0.02)
	given, err := e.ProbGiven(high, graph.Greater(x, 0.3))
	require.NoError(t, err)
	vitest.Estimate(t, "high given x > 0.3", 2*above(0, 1.25), given, 0.03)
	crossing := graph.Greater(graph.Add(x, y), 0.4)
	given, err = e.ProbGiven(crossing, high)
	require.NoError(t, err)
	exact := quad.Fixed(func(z float64) float64 {
		return distuv.Normal{Mu: 0.3, Sigma: 0.8}.Prob(z) * distuv.UnitNormal.CDF((z-0.2-0.4)/1.3)
	}, 1.25, 7, 200, nil, 0)
	vitest.Estimate(t, "crossing given high", exact/above(0, 1.25), given, 0.04)
	path, err := e.MostProbablePath([]graph.Guard{low, high, graph.Greater(x, -0.5), crossing})
	require.NoError(t, err)
	require.Equal(t, []bool{false, false, true, false}, path.Holds)

	require.Equal(t, sides, e.Sides())
	regions, err := e.TopRegions(5)
	require.NoError(t, err)
	require.Len(t, regions, 2)
	late := graph.Greater(m.Sample("late", graph.Normal(0, 1)), 0)
	_, err = e.Prob(late)
	require.ErrorContains(t, err, `latent "late" was sampled after the model was compiled`)
	other := graph.NewModel()
	_, err = e.ProbGiven(low, graph.Greater(other.Sample("x", graph.Normal(0, 1)), 0))
	require.ErrorContains(t, err, "another model")
}

// A curve's probability is that of the weighted draws: x·y > 0 of independent normals, and of one in whose sign the other has
// more mass.
func TestCurves(t *testing.T) {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
	m.Name("same sign", graph.Greater(graph.Mul(x, y), 0))
	m.Factor(graph.If(graph.Greater(graph.Mul(x, y), 0), 1, 0))
	e := of(t, vitest.Compile(t, m), family.Independent([]float64{0, 0}, []float64{1.1, 1.1}), 20000, *seed)
	got, err := e.ProbNamed("same sign", 0)
	require.NoError(t, err)
	vitest.Estimate(t, "same sign", math.E/(1+math.E), got, 0.025)
	not, err := e.Prob(graph.Not(e.s.Density().Named("same sign")[0]))
	require.NoError(t, err)
	require.InDelta(t, 1, got.Value+not.Value, 1e-12)
}

// The path of a switch with a thousand named states: each draw evaluates them
// together, in time linear in the states.
func TestPathOfManyStates(t *testing.T) {
	long.Skip(t)
	const steps = 1000
	m := graph.NewModel()
	level, on := m.Sample("level[0]", graph.Normal(0, 1)), graph.Guard{}
	for k := 1; k < steps; k++ {
		level = m.Sample(fmt.Sprintf("level[%d]", k), graph.Normal(level, 1))
		on = m.Name("on", graph.Or(graph.Greater(level, 3), graph.And(on, graph.Greater(level, -3))))
	}
	d := vitest.Compile(t, m)
	q, err := family.Structured{}.New(d)
	require.NoError(t, err)
	path, err := of(t, d, q, 100, 1).MostProbablePath(d.Named("on"))
	require.NoError(t, err)
	require.Len(t, path.Holds, steps-1)
}
