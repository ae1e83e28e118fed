package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// exactTails are P(X ≤ x) and P(X > x) of each law in arithmetic of b bits, straight
// from the definition: the smaller one is right where b is more than twice its digits.
var exactTails = map[string]func(b bits, x num, p []num) (below, above num){
	"Normal": func(b bits, x num, p []num) (below, above num) {
		return exactNormalTails(b, b.div(b.sub(x, p[0]), p[1]))
	},
	"Logistic": func(b bits, x num, p []num) (below, above num) {
		e := b.exp(b.div(b.sub(p[0], x), p[1]))
		return b.div(b.num(1), b.add(b.num(1), e)), b.div(e, b.add(b.num(1), e))
	},
	"Laplace": func(b bits, x num, p []num) (below, above num) {
		r := b.div(b.sub(x, p[0]), p[1])
		half := b.times(0.5, b.exp(b.neg(b.abs(r))))
		if r.Sign() < 0 {
			return half, b.sub(b.num(1), half)
		}
		return b.sub(b.num(1), half), half
	},
	"StudentsT": func(b bits, x num, p []num) (below, above num) {
		t := b.div(b.sub(x, p[0]), p[1])
		w := b.div(p[2], b.add(p[2], b.mul(t, t)))
		tail, _ := exactBetaTails(b, w, b.times(0.5, p[2]), b.num(0.5))
		tail = b.times(0.5, tail)
		if t.Sign() < 0 {
			return tail, b.sub(b.num(1), tail)
		}
		return b.sub(b.num(1), tail), tail
	},
	"Cauchy": func(b bits, x num, p []num) (below, above num) {
		angle := b.div(b.atan(b.div(b.sub(x, p[0]), p[1])), b.constants().pi)
		return b.add(b.num(0.5), angle), b.sub(b.num(0.5), angle)
	},
	"Gumbel": func(b bits, x num, p []num) (below, above num) {
		below = b.exp(b.neg(b.expAny(b.div(b.sub(p[0], x), p[1]))))
		return below, b.sub(b.num(1), below)
	},
	"LogNormal": func(b bits, x num, p []num) (below, above num) {
		return exactNormalTails(b, b.div(b.sub(b.log(x), p[0]), p[1]))
	},
	"HalfNormal": func(b bits, x num, p []num) (below, above num) {
		_, above = exactNormalTails(b, b.div(x, p[0]))
		above = b.times(2, above)
		return b.sub(b.num(1), above), above
	},
	"Exponential": func(b bits, x num, p []num) (below, above num) { return exactDecay(b, b.mul(p[0], x)) },
	"Weibull": func(b bits, x num, p []num) (below, above num) {
		return exactDecay(b, b.exp(b.mul(p[0], b.log(b.div(x, p[1])))))
	},
	"HalfCauchy": func(b bits, x num, p []num) (below, above num) {
		below = b.times(2, b.div(b.atan(b.div(x, p[0])), b.constants().pi))
		return below, b.sub(b.num(1), below)
	},
	"Gamma": func(b bits, x num, p []num) (below, above num) { return exactGammaTails(b, p[0], b.mul(p[1], x)) },
	"ChiSquared": func(b bits, x num, p []num) (below, above num) {
		return exactGammaTails(b, b.times(0.5, p[0]), b.times(0.5, x))
	},
	"InverseGamma": func(b bits, x num, p []num) (below, above num) {
		below, above = exactGammaTails(b, p[0], b.div(p[1], x))
		return above, below
	},
	"Beta": func(b bits, x num, p []num) (below, above num) { return exactBetaTails(b, x, p[0], p[1]) },
	"Uniform": func(b bits, x num, p []num) (below, above num) {
		return b.div(b.sub(x, p[0]), b.sub(p[1], p[0])), b.div(b.sub(p[1], x), b.sub(p[1], p[0]))
	},
}

func exactNormalTails(b bits, z num) (below, above num) {
	tail := b.upper(b.abs(z))
	if z.Sign() < 0 {
		return tail, b.sub(b.num(1), tail)
	}
	return b.sub(b.num(1), tail), tail
}

// exactDecay are 1 − e⁻ˣ and e⁻ˣ.
func exactDecay(b bits, x num) (below, above num) {
	above = b.exp(b.neg(x))
	return b.sub(b.num(1), above), above
}

// exactGammaTails are P(a, x) and Q(a, x), by the power series of the first.
func exactGammaTails(b bits, a, x num) (below, above num) {
	sum, term, k := b.num(1), b.num(1), a
	for term.MantExp(nil) > sum.MantExp(nil)-int(b) {
		k = b.add(k, b.num(1))
		term = b.div(b.mul(term, x), k)
		sum = b.add(sum, term)
	}
	log := b.sub(b.sub(b.mul(a, b.log(x)), x), b.lgamma(b.add(a, b.num(1))))
	below = b.mul(b.exp(log), sum)
	return below, b.sub(b.num(1), below)
}

// exactBetaTails are I_x(a, b) and what is left of 1, by the power series of the one that
// converges faster.
func exactBetaTails(b bits, x, alpha, beta num) (below, above num) {
	one := b.num(1)
	if x.Cmp(b.num(0.5)) > 0 {
		above, below = exactBetaTails(b, b.sub(one, x), beta, alpha)
		return below, above
	}
	sum, term, k := one, one, b.num(0)
	for term.MantExp(nil) > sum.MantExp(nil)-int(b) {
		k = b.add(k, one)
		top := b.add(b.sub(b.add(alpha, beta), one), k)
		term = b.div(b.mul(b.mul(term, x), top), b.add(alpha, k))
		sum = b.add(sum, term)
	}
	log := b.add(b.mul(alpha, b.log(x)), b.mul(beta, b.log(b.sub(one, x))))
	log = b.add(log, b.sub(b.lgamma(b.add(alpha, beta)), b.add(b.lgamma(b.add(alpha, one)), b.lgamma(beta))))
	below = b.mul(b.exp(log), sum)
	return below, b.sub(one, below)
}

// atan is the arc tangent, by its series at a small multiple.
func (b bits) atan(x num) num {
	const halvings = 20
	w := b + 2*halvings
	for range halvings {
		root := w.new().Sqrt(w.add(w.num(1), w.mul(x, x)))
		x = w.div(x, w.add(w.num(1), root))
	}
	sum, power, square := w.num(0), x, w.mul(x, x)
	for k := 1.0; power.Sign() != 0 && power.MantExp(nil) > x.MantExp(nil)-int(w); k += 2 {
		sum = w.add(sum, w.div(power, w.num(k)))
		power = w.neg(w.mul(power, square))
	}
	return b.new().Set(w.times(1<<halvings, sum))
}

// exactCounts is the sum of the log probabilities of whole numbers from low to high.
func exactCounts(b bits, name string, low, high float64, p []num) num {
	sum := b.num(0)
	for k := low; k <= high; k++ {
		sum = b.add(sum, b.exp(exactLog[name](b, b.num(k), p)))
	}
	return sum
}

// tailsOf are the exact tails at x, of whole numbers at v.
func tailsOf(b bits, l law, v float64, x num, p []num) (below, above num) {
	if l.space != discrete {
		return exactTails[l.name](b, x, p)
	}
	numbers := make([]float64, len(p))
	for i, v := range p {
		numbers[i], _ = v.Float64()
	}
	low, high := values(l.name, numbers)
	if math.IsInf(high, 1) || high > 1000 {
		below = exactCounts(b, l.name, low, v, p)
		return below, b.sub(b.num(1), below)
	}
	return exactCounts(b, l.name, low, v, p), exactCounts(b, l.name, v+1, high, p)
}

// tailPoint draws parameters and a value that may lie far out.
func (s source) tailPoint(l law) (p []float64, x float64) {
	for i, kind := range []byte(l.kinds) {
		z := s.within(1, 3)
		switch {
		case kind == 'c' && l.space == discrete:
			z = 1 + float64(s.IntN(60))
		case kind == 'c' && i == 1:
			z = p[0] + math.Exp(z)
		}
		p = append(p, number(kind, z))
	}
	centre, width := typical(l.name, p)
	switch low, high := values(l.name, p); {
	case l.space == discrete:
		x = math.Round(min(max(centre+width*s.within(1, 5, 12), low), high, 300))
	case l.space == interval:
		x = p[0] + (p[1]-p[0])*sigmoid(s.within(3, 30))
	case l.space == line:
		x = centre + width*s.within(1, 5, 25)
	case l.space == unit:
		x = min(sigmoid(centre+width*s.within(1, 5, 10)), 1-0x1p-50)
	default:
		x = math.Exp(centre + width*s.within(1, 3, 5))
	}
	return p, x
}

// Both tails of each distribution function, and their gradients by each parameter and
// by x, are right to a relative 1e-12, or as well as their inputs are known.
func TestExactTails(t *testing.T) {
	skipShort(t)
	keepExact(t)
	for _, l := range laws() {
		b, points := bits(1600), long.Or(1, 6)
		switch {
		case slices.Contains([]string{"Normal", "LogNormal", "HalfNormal"}, l.name):
			b = 5400 // for a cancellation of e¹⁸⁰⁰
		case l.space == discrete:
			b, points = 900, long.Or(1, 4)
		}
		t.Run(l.name, func(t *testing.T) {
			s := source{rand.New(rand.NewPCG(3, 9))}
			for range points {
				p, x := s.tailPoint(l)
				for _, upper := range []bool{false, true} {
					l.compareTail(t, b, p, x, upper)
				}
			}
		})
	}
}

// compareTail compares a tail with the exact one. Inputs are the parameters that are not
// constants and, of a continuous law, x.
func (l law) compareTail(t *testing.T, b bits, p []float64, x float64, upper bool) {
	t.Helper()
	f := graph.LogCDF[graph.Expr]
	if upper {
		f = graph.LogCCDF[graph.Expr]
	}
	if _, high := values(l.name, p); l.space == discrete && x == high && upper {
		return // log 0
	}
	kind := map[space]string{discrete: "c", line: "r", half: "p", unit: "u", interval: "r"}[l.space]
	last := len(p)
	compareExact(t, b, t.Name(), fmt.Sprint(t.Name(), " upper: ", upper), l.kinds+kind, append(slices.Clone(p), x), underflow, func(m *graph.Model, p []graph.Expr) {
		m.Factor(f(l.make(p[:last]), p[last]))
	}, func(p []num) num {
		below, above := tailsOf(b, l, x, p[last], p[:last])
		if upper {
			below = above
		}
		if below.Sign() <= 0 || below.MantExp(nil) < -int(b)/2 {
			return b.num(-2e300) // of 1 less next to nothing
		}
		return b.log(below)
	})
}

// compareExact compares the log density that add makes of inputs p, and its gradient by
// their coordinates, with the exact one, apart from what is negligible. Of the kinds of
// inputs c stays a number.
func compareExact(t *testing.T, b bits, group, what, kinds string, p []float64, negligible float64, add func(m *graph.Model, p []graph.Expr), exact func(p []num) num) {
	t.Helper()
	var pt point
	var params []graph.Expr
	var z []float64
	m := graph.NewModel()
	for i, v := range p {
		kind := kinds[i]
		if kind == 'c' {
			pt.in = append(pt.in, input{kind, false, v})
			params = append(params, graph.Add(v, 0))
			continue
		}
		e := m.Sample(fmt.Sprint("z", i), graph.Normal(0, 1))
		m.Factor(graph.Add(graph.Mul(0.5, graph.Square(e)), 0.5*math.Log(2*math.Pi)))
		switch kind {
		case 'p':
			v, e = math.Log(v), graph.Exp(e)
		case 'u':
			v, e = math.Log(v)-math.Log1p(-v), graph.Sigmoid(e)
		}
		z, params, pt.in = append(z, v), append(params, e), append(pt.in, input{kind, true, v})
	}
	add(m, params)
	d, err := m.Compile()
	require.NoError(t, err, what)

	f := func(b bits, v []num) num {
		args := slices.Clone(v)
		for i, in := range pt.in {
			switch in.kind {
			case 'p':
				args[i] = b.exp(v[i])
			case 'u':
				args[i] = b.div(b.num(1), b.add(b.num(1), b.exp(b.neg(v[i]))))
			}
		}
		return exact(args)
	}
	list := pt.exactNumbers(t, b, group, fmt.Sprint(what, " ", pt), f)
	if list[0].want < -1e300 { // the reference does not reach so far
		return
	}
	value, err := d.LogProb(z)
	require.NoError(t, err, what)
	slopes, err := d.GradAt(z, d.Arrangement().Signs(z))
	require.NoError(t, err, what)
	for i, got := range append([]float64{value}, slopes...) {
		if a := (answer{exactNumber: list[i], negligible: negligible}); !a.accepts(got) {
			t.Errorf("%s%v: component %d is %v, not %v: off by %.2g, and rounding changes it by %.2g", what, pt, i, got, a.want, got-a.want, a.slack)
		}
	}
}

// Moments against gonum's, and where that has none, R's or the sums that they are.
func TestMoments(t *testing.T) {
	type moments interface {
		Mean() float64
		Variance() float64
	}
	value := func(x graph.Expr) float64 {
		v, known := x.IsConst()
		require.True(t, known)
		return v
	}
	for _, c := range []struct {
		d    graph.Dist
		want moments
	}{
		{graph.Normal(-1.5, 2.5), distuv.Normal{Mu: -1.5, Sigma: 2.5}},
		{graph.Logistic(-1.5, 2.5), distuv.Logistic{Mu: -1.5, S: 2.5}},
		{graph.Laplace(-1.5, 2.5), distuv.Laplace{Mu: -1.5, Scale: 2.5}},
		{graph.StudentsT(-1.5, 2.5, 4.5), distuv.StudentsT{Mu: -1.5, Sigma: 2.5, Nu: 4.5}},
		{graph.Gumbel(-1.5, 2.5), distuv.GumbelRight{Mu: -1.5, Beta: 2.5}},
		{graph.LogNormal(-1.5, 0.5), distuv.LogNormal{Mu: -1.5, Sigma: 0.5}},
		{graph.HalfNormal(2.5), known{2.5 * math.Sqrt(2/math.Pi), 2.5 * 2.5 * (1 - 2/math.Pi)}},
		{graph.Exponential(2.5), distuv.Exponential{Rate: 2.5}},
		{graph.Gamma(1.5, 2.5), distuv.Gamma{Alpha: 1.5, Beta: 2.5}},
		{graph.ChiSquared(2.5), distuv.ChiSquared{K: 2.5}},
		{graph.InverseGamma(3.5, 2.5), distuv.InverseGamma{Alpha: 3.5, Beta: 2.5}},
		{graph.Weibull(1.5, 2.5), distuv.Weibull{K: 1.5, Lambda: 2.5}},
		{graph.Beta(1.5, 2.5), distuv.Beta{Alpha: 1.5, Beta: 2.5}},
		{graph.Uniform(-1.5, 2.5), distuv.Uniform{Min: -1.5, Max: 2.5}},
		{graph.Poisson(2.5), distuv.Poisson{Lambda: 2.5}},
		{graph.Bernoulli(0.3), distuv.Bernoulli{P: 0.3}},
		{graph.Binomial(7, 0.3), distuv.Binomial{N: 7, P: 0.3}},
		{graph.Geometric(0.3), known{1 / 0.3, 0.7 / 0.09}},
		{graph.NegativeBinomial(2.5, 0.3), known{2.5 * 0.7 / 0.3, 2.5 * 0.7 / 0.09}},
		{graph.Categorical(1.0, 2, 0.5), known{3 / 3.5, 4/3.5 - 9/3.5/3.5}},
	} {
		require.InEpsilon(t, c.want.Mean(), value(graph.Mean(c.d)), 1e-12, "%v", c.d)
		require.InEpsilon(t, c.want.Variance(), value(graph.Variance(c.d)), 1e-12, "%v", c.d)
	}
	for _, d := range []graph.Dist{graph.Cauchy(0, 1), graph.HalfCauchy(1), graph.StudentsT(0, 1, 1), graph.InverseGamma(1, 1)} {
		require.True(t, math.IsNaN(value(graph.Mean(d))), "%v", d)
		require.True(t, math.IsNaN(value(graph.Variance(d))), "%v", d)
	}
	d := graph.OrderedLogistic(0.3, orderedCuts...)
	mean, square := 0.0, 0.0
	for k := range 4 {
		p := value(graph.CDF(d, k)) - value(graph.CDF(d, k-1))
		mean, square = mean+p*float64(k), square+p*float64(k*k)
	}
	require.InEpsilon(t, mean, value(graph.Mean(d)), 1e-12)
	require.InEpsilon(t, square-mean*mean, value(graph.Variance(d)), 1e-12)
}

type known struct{ mean, variance float64 }

func (k known) Mean() float64     { return k.mean }
func (k known) Variance() float64 { return k.variance }

// distance is √n times the greatest distance between the empirical distribution of xs
// and that of d: Kolmogorov and Smirnov's statistic. It sorts xs. The distribution function
// rises, so what is between two values need not be looked at where even a step there
// would not be greater.
func distance(t *testing.T, d graph.Dist, xs []float64) float64 {
	t.Helper()
	slices.Sort(xs)
	values, last := xs[:0:0], []int(nil) // the values, and how many draws are up to each
	for i, x := range xs {
		if i+1 == len(xs) || xs[i+1] != x {
			values, last = append(values, x), append(last, i+1)
		}
	}
	n, worst := float64(len(xs)), 0.0
	before := func(k int) float64 { // the share of draws below value k
		if k == 0 {
			return 0
		}
		return float64(last[k-1]) / n
	}
	at := func(k int) float64 {
		p := constant(t, graph.CDF(d, values[k]))
		worst = max(worst, math.Abs(p-float64(last[k])/n))
		if before(k) == float64(last[k]-1)/n { // also just below it, where there is no mass
			worst = max(worst, math.Abs(p-before(k)))
		}
		return p
	}
	var between func(i, j int, atI, atJ float64)
	between = func(i, j int, atI, atJ float64) {
		if j-i < 2 || atJ-float64(last[i])/n <= worst && before(j)-atI <= worst {
			return
		}
		mid := (i + j) / 2
		atMid := at(mid)
		between(i, mid, atI, atMid)
		between(mid, j, atMid, atJ)
	}
	end := len(values) - 1
	between(0, end, at(0), at(end))
	return math.Sqrt(n) * worst
}

// replicates are n draws of what is observed under a law.
func replicates(t *testing.T, l law, p []float64, n int) []float64 {
	t.Helper()
	d, rng, xs := observed(t, l, p), rand.New(rand.NewPCG(8, uint64(n))), make([]float64, n)
	for i := range xs {
		d.Replicate(xs[i:i+1], []float64{0}, rng)
	}
	return xs
}

// extremes are parameters at which a sampler may do something else: small and large shapes,
// and where values leave the numbers.
var extremes = map[string][][]float64{
	"Normal":           {{0, 1e-300}, {-1e200, 1e250}},
	"Logistic":         {{0, 1e-300}, {0, 1e300}},
	"Laplace":          {{0, 1e-300}, {0, 1e300}},
	"StudentsT":        {{0, 1, 0.1}, {3, 0.5, 200}, {0, 1, 1e7}},
	"Cauchy":           {{0, 1e-250}, {0, 1e250}},
	"Gumbel":           {{0, 1e-300}, {0, 1e300}},
	"LogNormal":        {{0, 1e-6}, {5, 100}},
	"HalfNormal":       {{1e-300}, {1e300}},
	"Exponential":      {{1e-300}, {1e300}},
	"Gamma":            {{0.01, 3}, {0.1, 1}, {0.999, 1}, {1.001, 1}, {1e6, 1e3}, {3, 1e-300}},
	"ChiSquared":       {{0.02}, {0.5}, {1e6}},
	"Beta":             {{0.01, 3}, {3, 0.3}, {1, 1}, {0.1, 0.2}, {1e4, 3}, {1e5, 1e5}},
	"HalfCauchy":       {{1e-250}, {1e250}},
	"Weibull":          {{0.01, 1}, {0.1, 3}, {200, 1}, {1e6, 1}},
	"InverseGamma":     {{0.01, 3}, {0.1, 1}, {1e6, 1e3}},
	"Uniform":          {{-1e300, 1e300}, {0, 1e-300}},
	"Poisson":          {{0.1}, {9.9}, {10.1}, {3000}, {1e7}},
	"Bernoulli":        {{0.999}},
	"Binomial":         {{1, 0.5}, {24, 0.7}, {26, 0.5}, {1000, 0.0006}, {1000, 0.9994}, {5000, 0.2}, {1e6, 0.5}, {1e9, 1e-9}},
	"Geometric":        {{0.02}, {1e-12}, {1 - 1e-6}},
	"NegativeBinomial": {{0.05, 0.3}, {0.01, 1e-3}, {1000, 0.999}, {1e6, 0.5}, {3, 1e-6}},
	"Categorical":      {{1e-300, 1, 1e-5}, {1e300, 1e300, 1e299}},
	"OrderedLogistic":  {{-40}, {2}, {40}},
}

// 10⁵ draws of each distribution have its distribution function, wherever the parameters
// lie, and not that of parameters that are a little smaller.
func TestDrawsHaveTheirDistribution(t *testing.T) {
	skipShort(t)
	for _, l := range laws() {
		require.Contains(t, extremes, l.name)
		for i, p := range long.Or(l.params[:1], slices.Concat(l.params, extremes[l.name])) {
			xs := replicates(t, l, p, 100000)
			require.Less(t, distance(t, l.make(numbers(p)), xs), kolmogorovLimit, "%s%v", l.name, p)
			for k, kind := range []byte(l.kinds) {
				if wrong := slices.Clone(p); i == 0 && (kind == 'p' || kind == 'u') {
					wrong[k] *= 0.9
					require.Greater(t, distance(t, l.make(numbers(wrong)), xs), kolmogorovLimit, "%s%v passes as %v", l.name, p, wrong)
				}
			}
		}
	}
}
