package events

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// areas are the events of two guards on x, one on y and r each, and on[t] for a
// sum of steps.
func areas(t *testing.T, dense bool) Events {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(0, 1))
	r := m.Sample("r", graph.Gamma(2, 1))
	low := m.Name("low", graph.Less(x, -0.5))
	m.Name("high", graph.Greater(x, 0.5))
	m.Name("y", graph.Greater(y, 0.1))
	m.Name("not y", graph.Not(graph.Greater(y, 0.1)))
	m.Name("big", graph.Greater(r, 2))
	m.Name("always", graph.Greater(1, 0))
	m.Name("far", graph.Greater(x, 9))
	m.Factor(graph.If(low, 1, 0))
	if dense {
		var level graph.Expr
		for k := range 4 {
			level = graph.Add(level, m.Sample(fmt.Sprintf("step%d", k), graph.Normal(0, 1)))
			m.Name("on", graph.Greater(level, 0.2))
		}
	}
	d := vitest.Compile(t, m)
	mu := []float64{0.3, -0.2, 0.4, 0.5, 0.1, -0.4, 0.2}[:d.Dim()]
	sd := []float64{0.8, 1.3, 0.5, 0.9, 1.1, 0.7, 0.6}[:d.Dim()]
	return Of(d, family.Independent(mu, sd))
}

// draw is a draw of q.
func (e Events) draw(rng *rand.Rand) []float64 {
	z := make([]float64, e.q.Dim())
	e.q.Rand(z, rng)
	return z
}

func one(t *testing.T, p Events, name string) graph.Guard {
	guards := p.d.Named(name)
	require.NotEmpty(t, guards, name)
	return guards[0]
}

// above is P(latent i > c) in unconstrained coordinates.
func above(p Events, i int, c float64) float64 {
	return distuv.UnitNormal.CDF((p.q.Mean(i) - c) / p.q.SD(i))
}

func TestSides(t *testing.T) {
	p := areas(t, true)
	sides := p.Sides()
	require.Len(t, sides, p.d.Arrangement().Len())
	byName := map[string]SideProb{}
	for l, s := range sides {
		require.Equal(t, l, s.Plane)
		for _, g := range s.Guards {
			require.Equal(t, l, g.Side.Plane)
			require.Regexp(t, `^events_test.go:\d+$`, g.Place())
			byName[g.Name()] = s
		}
	}
	require.Len(t, byName["y"].Guards, 2, "and its negation")
	require.Equal(t, "x > -0.5", byName["low"].Condition)
	require.InDelta(t, above(p, 0, -0.5), byName["low"].Prob, 1e-15)
	require.Equal(t, "r > 2", byName["big"].Condition)
	require.InDelta(t, above(p, 2, math.Log(2)), byName["big"].Prob, 1e-15)
	mean, variance := 0.0, 0.0
	for k, name := range []string{"on[0]", "on[1]", "on[2]", "on[3]"} {
		mean += p.q.Mean(3 + k)
		variance += p.q.SD(3+k) * p.q.SD(3+k)
		require.InDelta(t, distuv.UnitNormal.CDF((mean-0.2)/math.Sqrt(variance)), byName[name].Prob, 1e-12, name)
	}
}

// The exact list is complete, in order, and each entry is a product of interval
// probabilities.
func TestTopRegionsExact(t *testing.T) {
	p := areas(t, false)
	a := p.d.Arrangement()
	inside := map[regions.Signs][]float64{} // a point of each region
	for rng := rand.New(rand.NewPCG(1, 2)); len(inside) < 4*2*2; {
		z := make([]float64, p.d.Dim())
		for i := range z {
			z[i] = 10 * rng.NormFloat64()
		}
		inside[a.Signs(z)] = z
	}
	top, err := p.TopRegions(1000, 0, 0)
	require.NoError(t, err)
	require.Len(t, top, len(inside))
	sum := 0.0
	for k, r := range top {
		require.Zero(t, r.Prob.SE)
		require.Contains(t, inside, r.Signs)
		if k > 0 {
			require.LessOrEqual(t, r.Prob.Value, top[k-1].Prob.Value*(1+1e-12))
		}
		sum += r.Prob.Value
		z := inside[r.Signs]
		want := 1.0
		x := p.d.Constrain(z)
		switch {
		case x[0] > 9:
			want *= above(p, 0, 9)
		case x[0] > 0.5:
			want *= above(p, 0, 0.5) - above(p, 0, 9)
		case x[0] > -0.5:
			want *= above(p, 0, -0.5) - above(p, 0, 0.5)
		default:
			want *= 1 - above(p, 0, -0.5)
		}
		for i, c := range map[int]float64{1: 0.1, 2: math.Log(2)} {
			if z[i] > c {
				want *= above(p, i, c)
			} else {
				want *= 1 - above(p, i, c)
			}
		}
		require.InEpsilon(t, want, r.Prob.Value, 1e-9)
	}
	require.InDelta(t, 1, sum, 1e-12)
	few, err := p.TopRegions(3, 0, 0)
	require.NoError(t, err)
	require.Equal(t, top[:3], few)
	_, err = p.TopRegions(0, 0, 0)
	require.Error(t, err)
}

// One guard on each of 60 latents: the best of 2⁶⁰ regions come at once, and
// are the ones with the fewest and cheapest signs against the odds.
func TestTopRegionsOfMany(t *testing.T) {
	m := graph.NewModel()
	const n = 60
	mu, sd := make([]float64, n), make([]float64, n)
	for i := range n {
		m.Name("g", graph.Greater(m.Sample(fmt.Sprint("x", i), graph.Normal(0, 1)), 0))
		mu[i], sd[i] = 2+0.01*float64(i), 1
	}
	p := Of(vitest.Compile(t, m), family.Independent(mu, sd))
	top, err := p.TopRegions(n+2, 0, 0)
	require.NoError(t, err)
	best := 0.0
	for i := range n {
		best += math.Log(above(p, i, 0))
	}
	require.InDelta(t, best, math.Log(top[0].Prob.Value), 1e-10)
	require.Equal(t, 1, top[1].Signs.Len()-n+1)
	require.False(t, top[1].Signs.Positive(0))
	require.False(t, top[2].Signs.Positive(1))
	for k := 1; k < len(top); k++ {
		require.LessOrEqual(t, top[k].Prob.Value, top[k-1].Prob.Value*(1+1e-12))
	}
}

// Where latents link guards, probabilities are estimates with honest errors: the
// same as with many more draws, and as the exact probability of what is exact.
func TestTopRegionsCounted(t *testing.T) {
	p := areas(t, true)
	top, err := p.TopRegions(1_000_000, 20_000, *seed)
	require.NoError(t, err)
	again, err := p.TopRegions(1_000_000, 20_000, *seed)
	require.NoError(t, err)
	require.Equal(t, top, again)

	const n = 400_000
	count := map[regions.Signs]float64{}
	rng := mc.NewRand(*seed + 99)
	for range n {
		count[p.d.Arrangement().Signs(p.draw(rng))]++
	}
	sum, checked := 0.0, 0
	for _, r := range top {
		sum += r.Prob.Value
		if f := count[r.Signs] / n; f > 1e-3 {
			checked++
			se := math.Hypot(r.Prob.SE, math.Sqrt(f*(1-f)/n))
			require.Less(t, math.Abs(f-r.Prob.Value), 5*se, "%v", r.Signs)
			require.Less(t, r.Prob.SE, 0.1*r.Prob.Value+0.001, "inconclusive")
			require.NotZero(t, r.Prob.SE)
		}
	}
	require.Greater(t, checked, 30)
	require.InDelta(t, 1, sum, 1e-9, "the patterns of each group sum to one")
	for _, draws := range []int{0, 1} {
		_, err = p.TopRegions(1, draws, 0)
		require.ErrorContains(t, err, "counted")
	}
}

// The standard errors are those of independent repetitions.
func TestTopRegionsStandardError(t *testing.T) {
	p := areas(t, true)
	var m, claimed mc.Moments
	const repeats = 400
	first := regions.Signs{}
	for k := range uint64(repeats) {
		top, err := p.TopRegions(100_000, 500, *seed+k)
		require.NoError(t, err)
		if k == 0 {
			first = top[0].Signs
		}
		i := slices.IndexFunc(top, func(r RegionProb) bool { return r.Signs == first })
		require.GreaterOrEqual(t, i, 0)
		m.Add(top[i].Prob.Value)
		claimed.Add(top[i].Prob.SE)
	}
	ratio := math.Sqrt(m.Variance()) / claimed.Mean
	require.InDelta(t, 1, ratio, 5/math.Sqrt(2*repeats), "standard deviation over standard error")
}

// And, Or and Not of guards that each look at one latent are exact.
func TestProbExact(t *testing.T) {
	p := areas(t, false)
	low, high, y, big := one(t, p, "low"), one(t, p, "high"), one(t, p, "y"), one(t, p, "big")
	x1, x2 := above(p, 0, -0.5), above(p, 0, 0.5)
	py, pb := above(p, 1, 0.1), above(p, 2, math.Log(2))
	for _, c := range []struct {
		g    graph.Guard
		want float64
	}{
		{graph.And(low, high), 0},
		{graph.Or(low, high), 1 - x1 + x2},
		{graph.And(graph.Not(low), graph.Not(high)), x1 - x2},
		{graph.And(high, y, big), x2 * py * pb},
		{graph.Or(graph.And(high, y), graph.And(low, big)), x2*py + (1-x1)*pb},
		{graph.And(y, one(t, p, "not y")), 0},
	} {
		got, err := p.Prob(c.g)
		require.NoError(t, err)
		require.InDelta(t, c.want, got, 1e-14)
	}
}

func TestProbGiven(t *testing.T) {
	p := areas(t, false)
	low, high, y, far := one(t, p, "low"), one(t, p, "high"), one(t, p, "y"), one(t, p, "far")
	for _, c := range []struct {
		g, given graph.Guard
		want     float64
	}{
		{high, graph.Not(low), above(p, 0, 0.5) / above(p, 0, -0.5)},
		{high, y, above(p, 0, 0.5)},
		{high, far, 1},
		{y, far, above(p, 1, 0.1)}, // given what happens once in 10²⁷ draws
		{high, one(t, p, "always"), above(p, 0, 0.5)},
		{high, graph.Or(high, low), above(p, 0, 0.5) / (above(p, 0, 0.5) + 1 - above(p, 0, -0.5))},
		{low, high, 0},
	} {
		got, err := p.ProbGiven(c.g, c.given)
		require.NoError(t, err)
		require.InDelta(t, c.want, got.Value, 1e-12)
		require.Zero(t, got.SE)
	}
	_, err := p.ProbGiven(y, graph.And(low, high))
	require.ErrorContains(t, err, "probability 0")
	_, err = p.ProbGiven(y, graph.Not(one(t, p, "always")))
	require.ErrorContains(t, err, "probability 0")
	other := graph.NewModel()
	stranger := graph.Greater(other.Sample("x", graph.Normal(0, 1)), 0)
	for _, pair := range [][2]graph.Guard{{stranger, y}, {y, stranger}} {
		got, err := p.ProbGiven(pair[0], pair[1])
		require.ErrorContains(t, err, "another model")
		require.True(t, math.IsNaN(got.Value))
	}
}

// Guards on sums of latents: the orthant probability of two normals with
// correlation ρ is 1/4 + arcsin(ρ)/2π.
func TestProbGivenCounted(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(0, 1))
	a, b := graph.Greater(graph.Add(x, y), 0), graph.Greater(graph.Add(graph.Mul(2, x), y), 0)
	rare := graph.Greater(graph.Add(x, y), 3.5)
	never := graph.Greater(graph.Add(x, y), 20)
	p := Of(vitest.Compile(t, m), family.Independent([]float64{0, 0}, []float64{1, 1}))
	rho := 3 / math.Sqrt(10)
	got, err := p.ProbGiven(b, a)
	require.NoError(t, err)
	require.Less(t, math.Abs(got.Value-2*(0.25+math.Asin(rho)/(2*math.Pi))), 5*got.SE)
	require.Less(t, got.SE, 0.003)
	require.Greater(t, got.SE, 0.0005)

	few, err := p.ProbGiven(b, rare)
	require.NoError(t, err)
	require.Greater(t, few.SE, 0.0005, "fewer draws, and a larger error than their agreement suggests")
	require.Less(t, math.Abs(few.Value-1), 5*few.SE)

	_, err = p.ProbGiven(b, never)
	require.ErrorContains(t, err, "none of 100000 draws")
	joint, err := p.Prob(graph.And(a, b))
	require.NoError(t, err)
	require.InDelta(t, 0.25+math.Asin(rho)/(2*math.Pi), joint, 5*0.0016)
}

// The most probable path by brute force over the guards' assignments.
func TestMostProbablePath(t *testing.T) {
	p := areas(t, false)
	low, high, y, big := one(t, p, "low"), one(t, p, "high"), one(t, p, "y"), one(t, p, "big")
	guards := []graph.Guard{low, y, graph.Or(high, big), one(t, p, "always"), high, graph.And(y, big), one(t, p, "not y")}
	best, at := 0.0, []bool(nil)
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
		prob, err := p.Prob(graph.And(literals...))
		require.NoError(t, err)
		sum += prob
		if prob > best {
			best, at = prob, holds
		}
	}
	require.InDelta(t, 1, sum, 1e-12)
	path, err := p.MostProbablePath(guards, 0, 0)
	require.NoError(t, err)
	require.Equal(t, at, path.Holds)
	require.InDelta(t, best, path.Prob.Value, 1e-12)
	require.Zero(t, path.Prob.SE)

	none, err := p.MostProbablePath(nil, 0, 0)
	require.NoError(t, err)
	require.Empty(t, none.Holds)
	require.Equal(t, 1.0, none.Prob.Value)
}

// A path is not each guard's own more probable side: here each guard alone is
// more probably false, but one of them always holds.
func TestPathIsJoint(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	guards := []graph.Guard{
		graph.Less(x, -0.1), graph.And(graph.Greater(x, -0.1), graph.Less(x, 0.1)), graph.Greater(x, 0.1),
	}
	p := Of(vitest.Compile(t, m), family.Independent([]float64{0.01}, []float64{1}))
	path, err := p.MostProbablePath(guards, 0, 0)
	require.NoError(t, err)
	require.Equal(t, []bool{false, false, true}, path.Holds)
	prob, err := p.Prob(guards[2])
	require.NoError(t, err)
	require.Less(t, prob, 0.5)
	require.InDelta(t, prob, path.Prob.Value, 1e-14)
}

// Linked guards are counted; those beside them stay exact.
func TestMostProbablePathCounted(t *testing.T) {
	p := areas(t, true)
	guards := append(p.d.Named("on"), one(t, p, "y"))
	path, err := p.MostProbablePath(guards, 50_000, *seed)
	require.NoError(t, err)
	require.Len(t, path.Holds, 5)
	require.False(t, path.Holds[4], "y is more probably below")

	const n = 400_000
	count := map[string]float64{}
	rng := mc.NewRand(*seed + 5)
	for range n {
		s := p.d.Arrangement().Signs(p.draw(rng))
		key := ""
		for _, g := range guards {
			key += map[bool]string{true: "+", false: "-"}[g.Holds(s)]
		}
		count[key]++
	}
	want, key := 0.0, ""
	for _, h := range path.Holds {
		key += map[bool]string{true: "+", false: "-"}[h]
	}
	for _, c := range count {
		want = max(want, c/n)
	}
	require.Equal(t, want, count[key]/n, "another path is more frequent")
	se := math.Hypot(path.Prob.SE, math.Sqrt(want/n))
	require.Less(t, math.Abs(path.Prob.Value-want), 5*se)
	require.Less(t, se, 0.003)

	_, err = p.MostProbablePath(guards, 0, 0)
	require.ErrorContains(t, err, "counted")
	other := graph.NewModel()
	_, err = p.MostProbablePath([]graph.Guard{guards[0], graph.Greater(other.Sample("x", graph.Normal(0, 1)), 0)}, 9, 0)
	require.ErrorContains(t, err, "guard 1 of the path belongs to another model")
}

func TestProbNamed(t *testing.T) {
	p := areas(t, true)
	for i, g := range p.d.Named("on") {
		want, err := p.Prob(g)
		require.NoError(t, err)
		got, err := p.ProbNamed("on", i)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, i := range []int{-1, 4} {
		v, err := p.ProbNamed("on", i)
		require.ErrorContains(t, err, "there are 4 of that name")
		require.True(t, math.IsNaN(v))
	}
	_, err := p.ProbNamed("off", 0)
	require.ErrorContains(t, err, `no guard "off"`)
	require.ErrorContains(t, err, `"on"`)
}

func TestProb(t *testing.T) {
	m, guards := transformed()
	mu, s := []float64{0.3, -0.2, 0.4, -0.5, 0.6}, []float64{0.8, 1.3, 0.5, 0.9, 1.1}
	e := Of(vitest.Compile(t, m), family.Independent(mu, s))
	phi := distuv.UnitNormal.CDF
	x := phi((mu[0] - 0.5) / s[0]) // P(x > 0.5)
	y := phi(-mu[1] / s[1])        // P(y < 0)
	dense := phi((2*mu[0] - mu[1] - 1) / math.Hypot(2*s[0], s[1]))
	r := phi((mu[2] - math.Log(2)) / s[2])
	for name, c := range map[string]struct{ want, tol float64 }{
		"x > 0.5":     {x, 1e-12},
		"x < 0.5":     {1 - x, 1e-12},
		"not x":       {1 - x, 1e-12},
		"2x - y > 1":  {dense, 1e-12},
		"1 > 2x - y":  {1 - dense, 1e-12},
		"r > 2":       {r, 1e-12},
		"p < 0.3":     {phi((math.Log(0.3/0.7) - mu[3]) / s[3]), 1e-12},
		"u > 1":       {phi(mu[4] / s[4]), 1e-12},
		"always":      {1, 0},
		"never":       {0, 0},
		"x and not x": {0, 0},
		"x and y":     {x * y, 5 * 0.0016},
		"x or not r":  {1 - (1-x)*r, 5 * 0.0016},
	} {
		got, err := e.Prob(guards[name])
		require.NoError(t, err, name)
		require.InDelta(t, c.want, got, c.tol, name)
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

// Latents that are not independent: what links them is counted, what it leaves apart
// stays exact. The orthant probability of two normals with correlation ρ is
// 1/4 + arcsin(ρ)/2π.
func TestLinkedLatents(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(graph.Mul(0.5, x), 1))
	w := m.Sample("w", graph.Normal(0, 1))
	gx, gy, gw := graph.Greater(x, 0), graph.Greater(y, 0), graph.Greater(w, 0)
	sum, high := graph.Greater(graph.Add(x, y), 1), graph.Greater(y, 0.5)
	d := vitest.Compile(t, m)
	q, err := family.Structured{}.New(d)
	require.NoError(t, err)
	q.Set([]float64{0, 1, 0, 0.8, 0.3, 1, 0.6}) // y = 0.6·x + 0.8·ε
	e := Of(d, q)
	prob := func(g graph.Guard) float64 {
		v, err := e.Prob(g)
		require.NoError(t, err)
		return v
	}
	orthant, phi := 0.25+math.Asin(0.6)/(2*math.Pi), distuv.UnitNormal.CDF
	require.InDelta(t, phi(-0.5), prob(high), 1e-14)
	require.InDelta(t, phi(-1/math.Sqrt(1+1+2*0.6)), prob(sum), 1e-14)
	require.InDelta(t, 0.5*phi(0.3), prob(graph.And(gx, gw)), 1e-14)
	require.InDelta(t, orthant, prob(graph.And(gx, gy)), 5*0.0016)

	given, err := e.ProbGiven(gy, gx)
	require.NoError(t, err)
	require.Less(t, math.Abs(given.Value-2*orthant), 5*given.SE)
	require.Less(t, 5*given.SE, 0.05, "inconclusive: independent latents would pass")
	apart, err := e.ProbGiven(gw, gx)
	require.NoError(t, err)
	require.Equal(t, mc.Estimate{Value: prob(gw)}, apart)

	path, err := e.MostProbablePath([]graph.Guard{gx, gy, gw}, 20_000, *seed)
	require.NoError(t, err)
	require.Equal(t, path.Holds[0], path.Holds[1])
	require.True(t, path.Holds[2])
	require.Less(t, math.Abs(path.Prob.Value-orthant*phi(0.3)), 5*path.Prob.SE)

	top, err := e.TopRegions(100, 20_000, *seed)
	require.NoError(t, err)
	all := 0.0
	for _, r := range top {
		all += r.Prob.Value
		require.NotZero(t, r.Prob.SE)
	}
	require.InDelta(t, 1, all, 1e-9)
	_, err = e.TopRegions(1, 0, 0)
	require.ErrorContains(t, err, "counted")
}

// Guards that are made after the model was compiled can be asked for, and change
// nothing about the density.
func TestGuardsMadeLater(t *testing.T) {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
	low := m.Name("low", graph.Less(x, -0.5))
	m.Factor(graph.If(low, 1, 0))
	d := vitest.Compile(t, m)
	e := Of(d, family.Independent([]float64{0.3, -0.2}, []float64{0.8, 1.3}))
	sides := e.Sides()
	high := graph.Greater(x, 1.25)
	p, err := e.Prob(high)
	require.NoError(t, err)
	require.InEpsilon(t, distuv.UnitNormal.CDF((0.3-1.25)/0.8), p, 1e-12)
	both, err := e.Prob(graph.Or(graph.And(low, graph.Greater(y, 2)), high))
	require.NoError(t, err)
	require.InEpsilon(t, p+above(e, 1, 2)*distuv.UnitNormal.CDF((-0.5-0.3)/0.8), both, 1e-12)
	given, err := e.ProbGiven(high, graph.Greater(x, 0.3))
	require.NoError(t, err)
	require.InEpsilon(t, 2*p, given.Value, 1e-12)
	require.Zero(t, given.SE)
	crossing := graph.Greater(graph.Add(x, y), 0.4) // not parallel to the others: estimated
	given, err = e.ProbGiven(crossing, high)
	require.NoError(t, err)
	exact := 0.0
	for z := 1.25005; z < 6; z += 1e-4 {
		exact += 1e-4 / 0.8 * distuv.UnitNormal.Prob((z-0.3)/0.8) * distuv.UnitNormal.CDF((z-0.2-0.4)/1.3)
	}
	vitest.Estimate(t, "given", exact/p, given, 0.03)
	path, err := e.MostProbablePath([]graph.Guard{low, high, graph.Greater(x, -0.5), crossing}, 1000, 1)
	require.NoError(t, err)
	require.Equal(t, []bool{false, false, true, false}, path.Holds)

	require.Equal(t, sides, e.Sides())
	regions, err := e.TopRegions(5, 1000, 1)
	require.NoError(t, err)
	require.Len(t, regions, 2)
	late := graph.Greater(m.Sample("late", graph.Normal(0, 1)), 0)
	_, err = e.Prob(late)
	require.ErrorContains(t, err, `latent "late" was sampled after the model was compiled`)
	other := graph.NewModel()
	_, err = e.ProbGiven(low, graph.Greater(other.Sample("x", graph.Normal(0, 1)), 0))
	require.ErrorContains(t, err, "another model")
}

// The path of a switch with a thousand named states: each draw evaluates them
// together, in time linear in the states.
func TestPathOfManyStates(t *testing.T) {
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
	path, err := Of(d, q).MostProbablePath(d.Named("on"), 100, 1)
	require.NoError(t, err)
	require.Len(t, path.Holds, steps-1)
}

// Without a density or a distribution that suits it, there is an error.
func TestWithoutADensity(t *testing.T) {
	d := vitest.Smooth(t)
	var zero Events
	for _, e := range []Events{zero, Of(nil, family.Independent(nil, nil)), Of(d, nil), Of(d, family.Independent([]float64{1}, []float64{1}))} {
		var g graph.Guard
		_, err := e.Prob(g)
		require.ErrorContains(t, err, "events: ")
		_, err = e.ProbGiven(g, g)
		require.ErrorContains(t, err, "events: ")
		_, err = e.ProbNamed("on", 0)
		require.ErrorContains(t, err, "events: ")
		_, err = e.TopRegions(1, 2, 1)
		require.ErrorContains(t, err, "events: ")
		_, err = e.MostProbablePath(nil, 2, 1)
		require.ErrorContains(t, err, "events: ")
		require.Panics(t, func() { e.Sides() })
	}
}
