package graph_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// latentOf is the model of one latent x with the given prior.
func latentOf(t *testing.T, l law, p []float64) *graph.Density {
	t.Helper()
	m := graph.NewModel()
	m.Sample("x", l.make(numbers(p)))
	return mustCompile(t, m)
}

// kolmogorov is √n times the greatest distance between the empirical
// distribution of the sorted coordinates u and the integral of exp(log r), which
// is taken piece by piece between them.
func kolmogorov(t *testing.T, d *graph.Density, u []float64) float64 {
	t.Helper()
	const pieces, order = 300, 12
	n := len(u)
	at := make([]int, pieces+1) // the ends of the pieces, by rank
	for k := range at {
		at[k] = k * (n - 1) / pieces
	}
	x, err := d.Executor(pieces*order, graph.Compute{Out: true})
	require.NoError(t, err)
	weight := make([]float64, pieces*order)
	for k := range pieces {
		quad.Legendre{}.FixedLocations(x.Z[k*order:(k+1)*order], weight[k*order:(k+1)*order], u[at[k]], u[at[k+1]])
	}
	require.NoError(t, x.Run())
	cdf, worst := 0.0, 0.0
	for k := range pieces {
		for j := k * order; j < (k+1)*order; j++ {
			cdf += weight[j] * math.Exp(x.Out[j])
		}
		worst = max(worst, math.Abs(cdf-float64(at[k+1])/float64(n)))
	}
	return math.Sqrt(float64(n)) * worst
}

// kolmogorovLimit is exceeded with probability 2·exp(−2·limit²) = 6e-7, as five
// standard errors are.
const kolmogorovLimit = 2.74

// Draws from each prior, in the unconstrained coordinate, have the distribution
// that log r has: by Kolmogorov and Smirnov's test of 12000 draws, with the
// distribution function integrated from log r. The same draws are rejected for
// every parameter at half its value, and every location moved by a quarter of
// the scale.
func TestPriorDrawsHaveTheirDensity(t *testing.T) {
	skipShort(t)
	extreme := map[string][][]float64{
		"Gamma":     {{0.001, 3}, {0.999, 1}, {1e6, 1e3}},
		"Beta":      {{0.001, 0.002}, {1, 1}},
		"StudentsT": {{3, 0.5, 200}},
	}
	for _, l := range laws() {
		if l.space == discrete {
			continue
		}
		for seed, p := range slices.Concat(l.params, extreme[l.name]) {
			d := latentOf(t, l, p)
			rng := rand.New(rand.NewPCG(uint64(seed), 5))
			u := make([]float64, 12000)
			for i := range u {
				d.PriorDraw(u[i:i+1], rng)
				require.True(t, finite(u[i]), "%s%v: %v", l.name, p, u[i])
			}
			slices.Sort(u)
			require.Less(t, kolmogorov(t, d, u), kolmogorovLimit, "%s%v", l.name, p)

			if seed >= len(l.params) {
				continue // the coordinate may not show all parameters
			}
			for k, kind := range []byte(l.kinds) {
				wrong := slices.Clone(p)
				switch kind {
				case 'r':
					wrong[k] += 0.25 * p[k+1]
				case 'p':
					wrong[k] *= 0.5
				default:
					continue // a bound changes the values, not the coordinate
				}
				require.Greater(t, kolmogorov(t, latentOf(t, l, wrong), u), kolmogorovLimit, "%s%v passes as %v", l.name, p, wrong)
			}
		}
	}
}

// The test above sees a sampler that is wrong only in its tails' weight: normal
// draws are not those of four degrees of freedom.
func TestKolmogorovSeesTails(t *testing.T) {
	i := slices.IndexFunc(laws(), func(l law) bool { return l.name == "StudentsT" })
	rng := rand.New(rand.NewPCG(1, 5))
	u := make([]float64, 12000)
	for i := range u {
		u[i] = rng.NormFloat64()
	}
	slices.Sort(u)
	require.Greater(t, kolmogorov(t, latentOf(t, laws()[i], []float64{0, 1, 4}), u), kolmogorovLimit)
	require.Less(t, kolmogorov(t, latentOf(t, laws()[0], []float64{0, 1}), u), kolmogorovLimit)
}

// observed is the model of an observation x from the given law, and of a latent
// that it does not use.
func observed(t *testing.T, l law, p []float64) *graph.Density {
	t.Helper()
	m := graph.NewModel()
	m.Sample("z", graph.Normal(0, 1))
	x := 0.5
	switch l.space {
	case interval:
		x = p[0]
	case discrete:
		x = 1
	}
	m.Observe("x", l.make(numbers(p)), x)
	return mustCompile(t, m)
}

// A continuous replicate is the prior's draw, transformed: from one stream, the
// same number. Where the transform rounds to an edge or overflows, it is the
// nearest number that the support has, so that it can be data.
func TestReplicateIsTheTransformedDraw(t *testing.T) {
	skipShort(t)
	edges := map[string][][]float64{
		"Gamma": {{0.001, 3}}, "ChiSquared": {{0.002}}, "LogNormal": {{0, 1000}},
		"Beta": {{0.001, 0.002}, {1e4, 1e-4}}, "Uniform": {{-1e-3, 1e17}, {0.1, 0.1 + 1e-16}},
	}
	moved := map[string]int{}
	for _, l := range laws() {
		if l.space == discrete {
			continue
		}
		for seed, p := range slices.Concat(l.params, edges[l.name]) {
			asPrior, asData := latentOf(t, l, p), observed(t, l, p)
			one, two := rand.New(rand.NewPCG(7, uint64(seed))), rand.New(rand.NewPCG(7, uint64(seed)))
			for range 1000 {
				x := asPrior.Constrain(asPrior.PriorDraw(nil, one))[0]
				y := asData.Replicate(nil, []float64{0.3}, two)
				_, err := asData.WithData(map[string][]float64{"x": y})
				require.NoError(t, err, "%s%v", l.name, p)
				if x == y[0] {
					continue
				}
				moved[l.name]++
				switch {
				case math.IsInf(x, 1):
					require.Equal(t, math.MaxFloat64, y[0], l.name)
				default:
					require.True(t, x == 0 || x == 1, "%s%v: %v became %v", l.name, p, x, y[0])
					require.InDelta(t, x, y[0], 2e-16, l.name)
				}
			}
		}
	}
	for _, name := range []string{"Gamma", "ChiSquared", "LogNormal", "Beta"} {
		require.Positive(t, moved[name], "%s met no edge", name)
	}
}

// chiSquared is the probability that Pearson's statistic of counts in cells of
// the given probabilities is as large as it is. Neighbouring cells are joined
// until 25 draws are expected in each; the last one takes what is left.
func chiSquared(draws []float64, pmf func(k float64) float64, from float64) float64 {
	count := map[float64]float64{}
	for _, x := range draws {
		count[x]++
	}
	type cell struct{ expected, seen float64 }
	var cells []cell
	open, left := cell{}, cell{float64(len(draws)), float64(len(draws))}
	for k := from; left.expected > 25; k++ {
		open.expected += float64(len(draws)) * pmf(k)
		open.seen += count[k]
		if open.expected >= 25 {
			cells = append(cells, open)
			left.expected, left.seen = left.expected-open.expected, left.seen-open.seen
			open = cell{}
		}
	}
	last := &cells[len(cells)-1]
	last.expected, last.seen = last.expected+left.expected, last.seen+left.seen
	stat := 0.0
	for _, c := range cells {
		stat += (c.seen - c.expected) * (c.seen - c.expected) / c.expected
	}
	return distuv.ChiSquared{K: float64(len(cells) - 1)}.Survival(stat)
}

// Replicates of each discrete distribution have its probabilities: by Pearson's
// chi-squared test of 40000 draws, with the reference of dist_test.go. The same
// draws are rejected for every parameter 20 % smaller.
func TestReplicatesHaveTheirProbabilities(t *testing.T) {
	skipShort(t)
	const alpha = 5.7e-7 // as five standard errors have
	params := map[string][][]float64{
		"Poisson":          {{1}, {9.9}, {10.1}, {120}, {3000}},
		"Bernoulli":        {{0.5}, {0.06}, {0.97}},
		"Binomial":         {{7, 0.3}, {1, 0.5}, {24, 0.7}, {26, 0.5}, {160, 0.9}, {1000, 0.0006}, {1000, 0.9994}, {5000, 0.2}},
		"Geometric":        {{0.5}, {0.02}, {0.9}},
		"NegativeBinomial": {{3, 0.4}, {0.7, 0.05}, {40, 0.9}, {0.05, 0.3}},
	}
	for _, l := range laws() {
		if l.space != discrete {
			continue
		}
		from := 0.0
		if l.name == "Geometric" {
			from = 1
		}
		for seed, p := range params[l.name] {
			d := observed(t, l, p)
			rng := rand.New(rand.NewPCG(uint64(seed), 9))
			draws := make([]float64, 40000)
			for i := range draws {
				d.Replicate(draws[i:i+1], []float64{0}, rng)
			}
			pmf := func(p []float64) func(float64) float64 {
				return func(k float64) float64 { return math.Exp(l.log(k, p)) }
			}
			require.Greater(t, chiSquared(draws, pmf(p), from), alpha, "%s%v", l.name, p)
			for k, kind := range []byte(l.kinds) {
				if kind == 'c' {
					continue
				}
				wrong := slices.Clone(p)
				wrong[k] *= 0.8
				require.Less(t, chiSquared(draws, pmf(wrong), from), alpha, "%s%v passes as %v", l.name, p, wrong)
			}
		}
	}
}

// guarded is z, in a branch that keeps Compile from knowing that z leaves the
// range of a parameter.
func guarded(z graph.Expr) graph.Expr {
	return graph.If(graph.And(graph.Greater(z, 1e301), graph.Less(z, 1e302)), 0.5, z)
}

// Draws at parameters that rounding has taken to the edge of their range are
// finite and in the support; at parameters that have no meaning they are NaN.
func TestDrawsAtTheEdge(t *testing.T) {
	values := map[byte]map[float64]bool{ // has a meaning?
		'r': {-1e300: true, 1e300: true},
		'p': {0: true, 1e-300: true, 1e300: true, -1: false},
		'u': {0: true, 1: true, 1e-300: true, -0.1: false, 1.1: false},
	}
	for _, l := range laws() {
		for k, kind := range []byte(l.kinds) {
			if kind == 'c' {
				continue
			}
			m := graph.NewModel()
			p := numbers(l.params[0])
			p[k] = guarded(m.Sample("z", graph.Normal(0, 1)))
			m.Observe("x", l.make(p), observed(t, l, l.params[0]).Data()[0])
			d := mustCompile(t, m)
			rng := rand.New(rand.NewPCG(1, uint64(k)))
			for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				require.True(t, math.IsNaN(d.Replicate(nil, []float64{v}, rng)[0]), "%s, parameter %d = %v", l.name, k, v)
			}
			for v, meant := range values[kind] {
				if v == 0 && (l.name == "Geometric" || l.name == "NegativeBinomial" && kind == 'u' || l.name == "StudentsT" && k == 2) {
					meant = false // no success ever comes; no normal part is left
				}
				for range 20 {
					y := d.Replicate(nil, []float64{v}, rng)
					require.Equal(t, meant, !math.IsNaN(y[0]), "%s, parameter %d = %v: %v", l.name, k, v, y)
					if meant {
						_, err := d.WithData(map[string][]float64{"x": y})
						require.NoError(t, err, "%s, parameter %d = %v", l.name, k, v)
					}
				}
			}
		}
	}
}

// A prior's parameters that leave their range make its draws NaN, and those that
// underflow to the edge do not.
func TestPriorDrawAtTheEdge(t *testing.T) {
	for _, l := range laws() {
		for k, kind := range []byte(l.kinds) {
			if l.space == discrete || kind != 'p' || l.name == "StudentsT" && k == 2 {
				continue
			}
			m := graph.NewModel()
			z := m.Sample("z", graph.Normal(0, 1))
			p, q := numbers(l.params[0]), numbers(l.params[0])
			p[k], q[k] = guarded(z), graph.Exp(graph.Sub(-800, graph.Square(z)))
			m.Sample("signed", l.make(p))
			m.Sample("tiny", l.make(q))
			d := mustCompile(t, m)
			rng := rand.New(rand.NewPCG(2, uint64(k)))
			for range 50 {
				u := d.PriorDraw(nil, rng)
				require.Equal(t, u[0] < 0, math.IsNaN(u[1]), "%s: %v", l.name, u)
				x := d.Constrain(u)
				require.True(t, finite(u[2]) && finite(x[2]), "%s: %v, %v", l.name, u[2], x[2])
			}
		}
	}
}
