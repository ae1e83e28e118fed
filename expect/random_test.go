//go:build long

package expect_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// Random programs with noise of every law, against quadrature by an interpreter that has quantiles and probabilities from
// elsewhere, and knows nothing of gradients: it takes differences.

type e = graph.Expr

// A noiseLaw has up to two parameters: r is any real number, + a positive one, p a probability.
type noiseLaw struct {
	kinds    string
	dist     func(a, b e) graph.Dist
	quantile func(u, a, b float64) float64 // of a continuous law
	prob     func(k, a, b float64) float64 // of whole numbers from 0 to last
	last     int
}

var noiseLaws = []noiseLaw{
	{"r+", func(a, b e) graph.Dist { return graph.Normal(a, b) }, func(u, a, b float64) float64 { return a + b*mathext.NormalQuantile(u) }, nil, 0},
	{"r+", func(a, b e) graph.Dist { return graph.LogNormal(a, b) }, func(u, a, b float64) float64 { return math.Exp(a + b*mathext.NormalQuantile(u)) }, nil, 0},
	{"r+", func(a, b e) graph.Dist { return graph.Logistic(a, b) }, func(u, a, b float64) float64 { return a + b*math.Log(u/(1-u)) }, nil, 0},
	{"r+", func(a, b e) graph.Dist { return graph.Laplace(a, b) }, func(u, a, b float64) float64 { return distuv.Laplace{Mu: a, Scale: b}.Quantile(u) }, nil, 0},
	{"r+", func(a, b e) graph.Dist { return graph.Cauchy(a, b) }, func(u, a, b float64) float64 { return a + b*math.Tan(math.Pi*(u-0.5)) }, nil, 0},
	{"r+", func(a, b e) graph.Dist { return graph.Gumbel(a, b) }, func(u, a, b float64) float64 { return a - b*math.Log(-math.Log(u)) }, nil, 0},
	{"+ ", func(a, _ e) graph.Dist { return graph.StudentsT(0.3, 1, a) }, func(u, a, _ float64) float64 { return distuv.StudentsT{Mu: 0.3, Sigma: 1, Nu: a}.Quantile(u) }, nil, 0},
	{"+ ", func(a, _ e) graph.Dist { return graph.HalfNormal(a) }, func(u, a, _ float64) float64 { return a * mathext.NormalQuantile(0.5*(1+u)) }, nil, 0},
	{"+ ", func(a, _ e) graph.Dist { return graph.HalfCauchy(a) }, func(u, a, _ float64) float64 { return a * math.Tan(0.5*math.Pi*u) }, nil, 0},
	{"+ ", func(a, _ e) graph.Dist { return graph.Exponential(a) }, func(u, a, _ float64) float64 { return -math.Log1p(-u) / a }, nil, 0},
	{"++", func(a, b e) graph.Dist { return graph.Gamma(a, b) }, func(u, a, b float64) float64 { return mathext.GammaIncRegInv(a, u) / b }, nil, 0},
	{"+ ", func(a, _ e) graph.Dist { return graph.ChiSquared(a) }, func(u, a, _ float64) float64 { return 2 * mathext.GammaIncRegInv(0.5*a, u) }, nil, 0},
	{"++", func(a, b e) graph.Dist { return graph.InverseGamma(a, b) }, func(u, a, b float64) float64 { return b / mathext.GammaIncRegCompInv(a, u) }, nil, 0},
	{"++", func(a, b e) graph.Dist { return graph.Beta(a, b) }, func(u, a, b float64) float64 { return mathext.InvRegIncBeta(a, b, u) }, nil, 0},
	{"++", func(a, b e) graph.Dist { return graph.Weibull(a, b) }, func(u, a, b float64) float64 { return b * math.Pow(-math.Log1p(-u), 1/a) }, nil, 0},
	{"  ", func(_, _ e) graph.Dist { return graph.Uniform(-1, 2) }, func(u, _, _ float64) float64 { return 3*u - 1 }, nil, 0},
	{"p ", func(a, _ e) graph.Dist { return graph.Bernoulli(a) }, nil, func(k, a, _ float64) float64 { return distuv.Bernoulli{P: a}.Prob(k) }, 1},
	{"p ", func(a, _ e) graph.Dist { return graph.Binomial(3, a) }, nil, func(k, a, _ float64) float64 { return distuv.Binomial{N: 3, P: a}.Prob(k) }, 3},
	{"++", func(a, b e) graph.Dist { return graph.Categorical(a, b, graph.Mul(1, a)) }, nil, func(k, a, b float64) float64 {
		return []float64{a, b, a}[int(k)] / (2*a + b)
	}, 2},
	{"+ ", func(a, _ e) graph.Dist { return graph.Truncated(graph.Poisson(a), 0, 4) }, nil, func(k, a, _ float64) float64 {
		p := distuv.Poisson{Lambda: a}
		return p.Prob(k) / p.CDF(4)
	}, 4},
	{"p ", func(a, _ e) graph.Dist { return graph.Truncated(graph.Geometric(a), 1, 5) }, nil, func(k, a, _ float64) float64 {
		if k < 1 {
			return 0
		}
		return a * math.Pow(1-a, k-1) / (1 - math.Pow(1-a, 5))
	}, 5},
	{"p ", func(a, _ e) graph.Dist { return graph.Truncated(graph.NegativeBinomial(2, a), 0, 4) }, nil, func(k, a, _ float64) float64 {
		p := func(k float64) float64 { return (k + 1) * a * a * math.Pow(1-a, k) }
		return p(k) / (p(0) + p(1) + p(2) + p(3) + p(4))
	}, 4},
	{"p ", func(a, _ e) graph.Dist { return graph.Truncated(graph.ZeroInflated(a, graph.Poisson(1.3)), 0, 4) }, nil, func(k, a, _ float64) float64 {
		p := distuv.Poisson{Lambda: 1.3}
		x := (1 - a) * p.Prob(k)
		if k == 0 {
			x += a
		}
		return x / (a + (1-a)*p.CDF(4))
	}, 4},
	{"p ", func(a, _ e) graph.Dist { return graph.Truncated(graph.Hurdle(a, graph.Poisson(1.3)), 0, 4) }, nil, func(k, a, _ float64) float64 {
		p := distuv.Poisson{Lambda: 1.3}
		x := (1 - a) * p.Prob(k) / (1 - p.Prob(0))
		if k == 0 {
			x = a
		}
		return x / (a + (1-a)*(p.CDF(4)-p.Prob(0))/(1-p.Prob(0)))
	}, 4},
	{"r ", func(a, _ e) graph.Dist { return graph.OrderedLogistic(a, -0.7, 0.8) }, nil, func(k, a, _ float64) float64 {
		cdf := func(x float64) float64 { return 1 / (1 + math.Exp(a-x)) }
		return []float64{cdf(-0.7), cdf(0.8) - cdf(-0.7), 1 - cdf(0.8)}[int(k)]
	}, 2},
	{"r+", func(a, b e) graph.Dist { return graph.IntervalCensored(graph.Normal(a, b), -0.7, 0.8) }, nil, func(k, a, b float64) float64 {
		cdf := distuv.Normal{Mu: a, Sigma: b}.CDF
		return []float64{cdf(-0.7), cdf(0.8) - cdf(-0.7), 1 - cdf(0.8)}[int(k)]
	}, 2},
}

// A number is an expression of the parameters t and the noise x, in the language and in Go.
type number struct {
	expr func(t, x []e) e
	at   func(t, x []float64) float64
}

// A guardian is a comparison a > b.
type guardian struct{ a, b number }

// A program is a random one: If(g0, If(g1, f0, f1), f2).
type program struct {
	rng    *rand.Rand
	laws   []*noiseLaw
	params [][2]number
	guards [2]guardian
	f      [3]number
	start  []float64 // t: a real number, and a positive one
	fine   int       // by how much the quadrature is finer
}

func (p *program) uniform(lo, hi float64) float64 { return lo + (hi-lo)*p.rng.Float64() }

// param is a random parameter of a law, of one of the kinds.
func (p *program) param(kind byte, before []int) number {
	c := p.uniform(0.6, 1.5)
	if kind == 'r' && len(before) > 0 && p.rng.IntN(3) == 0 {
		i := before[p.rng.IntN(len(before))]
		return number{func(_, x []e) e { return graph.Tanh(graph.Mul(c, x[i])) }, func(_, x []float64) float64 { return math.Tanh(c * x[i]) }}
	}
	if p.rng.IntN(3) == 0 {
		switch kind {
		case 'p':
			c = p.uniform(0.2, 0.8)
		case 'r':
			c -= 1
		}
		return number{func(_, _ []e) e { return graph.Add(c, 0) }, func(_, _ []float64) float64 { return c }}
	}
	switch kind {
	case 'r':
		return number{func(t, _ []e) e { return graph.Add(t[0], c-1) }, func(t, _ []float64) float64 { return t[0] + (c - 1) }}
	case '+':
		return number{func(t, _ []e) e { return graph.Mul(c, t[1]) }, func(t, _ []float64) float64 { return c * t[1] }}
	}
	return number{func(t, _ []e) e { return graph.Sigmoid(graph.Add(c-1, t[0])) }, func(t, _ []float64) float64 { return 1 / (1 + math.Exp(1-c-t[0])) }}
}

// guard is a random comparison, of continuous noise if there is some: affine, or not.
func (p *program) guard() guardian {
	a, b, c, form := p.uniform(0.5, 2), p.uniform(-1, 1), p.uniform(-0.5, 1), p.rng.IntN(4)
	var real []int
	for i, l := range p.laws {
		if l.quantile != nil {
			real = append(real, i)
		}
	}
	other := p.rng.IntN(len(p.laws))
	if len(real) == 0 { // of counts, beside which no parameter may stand
		level := float64(p.rng.IntN(2)) + 0.5
		return guardian{
			number{func(_, x []e) e { return x[other] }, func(_, x []float64) float64 { return x[other] }},
			number{func(_, _ []e) e { return graph.Add(level, 0) }, func(_, _ []float64) float64 { return level }},
		}
	}
	i := real[p.rng.IntN(len(real))]
	left := number{func(_, x []e) e { return graph.Mul(a, x[i]) }, func(_, x []float64) float64 { return a * x[i] }}
	if form == 1 {
		left = number{func(t, x []e) e { return graph.Mul(t[1], x[i]) }, func(t, x []float64) float64 { return t[1] * x[i] }}
	}
	if form == 2 {
		left = number{func(_, x []e) e { return graph.Tanh(x[i]) }, func(_, x []float64) float64 { return math.Tanh(x[i]) }}
		a = 1
	}
	right := number{func(t, _ []e) e { return graph.Add(c, graph.Mul(b, t[0])) }, func(t, _ []float64) float64 { return c + b*t[0] }}
	if other != i && form != 0 {
		right = number{func(t, x []e) e { return graph.Add(graph.Add(c, graph.Mul(b, t[0])), graph.Mul(0.5, x[other])) },
			func(t, x []float64) float64 { return c + b*t[0] + 0.5*x[other] }}
	}
	return guardian{left, right}
}

// leaf is a random bounded number.
func (p *program) leaf() number {
	i, a, b, c, d := p.rng.IntN(len(p.laws)), p.uniform(-1, 1), p.uniform(-1, 1), p.uniform(-2, 2), p.uniform(-0.5, 0.5)
	return number{
		func(t, x []e) e {
			return graph.Add(graph.Tanh(graph.Add(graph.Mul(a, x[i]), graph.Mul(b, t[0]))), graph.Add(c, graph.Mul(d, t[1])))
		},
		func(t, x []float64) float64 { return math.Tanh(a*x[i]+b*t[0]) + c + d*t[1] },
	}
}

func newProgram(seed uint64) *program {
	p := &program{fine: 1, rng: rand.New(rand.NewPCG(seed, 77))}
	p.start = []float64{p.uniform(-0.7, 0.7), p.uniform(0.7, 1.5)}
	n := []int{1, 1, 1, 1, 2, 2, 2, 2, 2, 3}[p.rng.IntN(10)]
	var before []int
	for i := range n {
		l := &noiseLaws[p.rng.IntN(len(noiseLaws))]
		if i == 0 {
			l = &noiseLaws[seed%uint64(len(noiseLaws))]
		}
		p.laws = append(p.laws, l)
		p.params = append(p.params, [2]number{p.param(l.kinds[0], before), p.param(l.kinds[1], before)})
		before = append(before, i)
	}
	p.guards = [2]guardian{p.guard(), p.guard()}
	p.f = [3]number{p.leaf(), p.leaf(), p.leaf()}
	return p
}

// expectation is the program in the language.
func (p *program) expectation() (*expect.Expectation, error) {
	m := graph.NewSimulation()
	t := []e{m.Param("t0", p.start[0]), m.Param("t1", p.start[1], graph.Positive())}
	var x []e
	for i, l := range p.laws {
		x = append(x, m.Sample(fmt.Sprint("x", i), l.dist(p.params[i][0].expr(t, x), p.params[i][1].expr(t, x))))
	}
	holds := func(g guardian) graph.Guard { return graph.Greater(g.a.expr(t, x), g.b.expr(t, x)) }
	f := graph.If(holds(p.guards[0]), graph.If(holds(p.guards[1]), p.f[0].expr(t, x), p.f[1].expr(t, x)), p.f[2].expr(t, x))
	return expect.Of(m, f)
}

// run is f, and which guards hold.
func (p *program) run(t, x []float64) (f float64, holds int) {
	for k, g := range p.guards {
		if g.a.at(t, x) > g.b.at(t, x) {
			holds |= 1 << k
		}
	}
	return p.f[[]int{2, 1, 2, 0}[holds]].at(t, x), holds
}

// integral is E[f] by midpoints, given the first noise. Between them it is cut, by bisection, where which guards hold
// changes, or in which order they do along the noise after it: holds has this.
func (p *program) integral(t, x []float64, known map[[4]float64]float64) (f float64, holds int) {
	i := len(x)
	if i == len(p.laws) {
		return p.run(t, x)
	}
	l := p.laws[i]
	a, b := p.params[i][0].at(t, x), p.params[i][1].at(t, x)
	if l.quantile == nil {
		for k := range l.last + 1 {
			g, h := p.integral(t, append(x, float64(k)), known)
			f += l.prob(float64(k), a, b) * g
			holds = 4*holds + h
		}
		return f, holds
	}
	at := func(u float64) (float64, int) {
		key := [4]float64{float64(i), u, a, b}
		q, ok := known[key]
		if !ok {
			if q = l.quantile(u, a, b); len(known) < 1<<20 {
				known[key] = q
			}
		}
		return p.integral(t, append(x, q), known)
	}
	cells, halvings := 64, 30
	for _, l := range p.laws[i+1:] {
		if l.quantile != nil {
			cells, halvings = 20, 20
		}
	}
	cells *= p.fine
	const eps = 1e-9
	_, now := at(eps)
	holds = now
	for c := range cells {
		lo, hi := float64(c)/float64(cells), float64(c+1)/float64(cells)
		_, right := at(hi - eps)
		for cuts := 0; now != right && cuts < 4; cuts++ {
			cut, end := lo, hi
			for range halvings {
				middle := (cut + end) / 2
				if _, h := at(middle); h == now {
					cut = middle
				} else {
					end = middle
				}
			}
			g, _ := at((lo + cut) / 2)
			f += (cut - lo) * g
			lo = end
			_, now = at(end)
			holds = 31*holds + now
		}
		g, _ := at((lo + hi) / 2)
		f += (hi - lo) * g
		now = right
	}
	return f, holds
}

// want is E[f] and its gradient, by differences of three lengths, which must agree, or they are made shorter and the quadrature finer.
func (p *program) want() (value float64, grad [2]float64) {
	value, _ = p.integral(p.start, nil, map[[4]float64]float64{})
	for i := range grad {
		by := func(h float64) float64 {
			at := func(h float64) float64 {
				t := []float64{p.start[0], p.start[1]}
				t[i] += h
				f, _ := p.integral(t, nil, map[[4]float64]float64{})
				return f
			}
			return (at(h) - at(-h)) / (2 * h)
		}
		for h := 1e-3; p.fine < 64; h /= 3 {
			grad[i] = by(h)
			if math.Abs(grad[i]-by(4*h)) < 4e-3 && math.Abs(grad[i]-by(16*h)) < 8e-3 {
				break
			}
			p.fine *= 3
		}
		p.fine = 1
	}
	return value, grad
}

var programs = flag.Int("programs", 0, "random programs to compare with quadrature; 0 for 60")

// pathGradient is the gradient without the boundary part.
func pathGradient(t *testing.T, ex *expect.Expectation, draws int, seed uint64) (grad [2]float64) {
	t.Helper()
	d := ex.Density()
	q, err := family.Prior{}.New(d)
	if err != nil {
		t.Fatal(err)
	}
	theta := q.Theta()
	for i, x := range ex.Values() {
		if theta[2*i], err = d.Coordinate(i).Inverse(x); err != nil {
			t.Fatal(err)
		}
	}
	q.Set(theta)
	r, err := gradient.NewRunner(d, q, gradient.Reparam{}, draws, seed)
	if err != nil {
		t.Fatal(err)
	}
	g, err := r.Estimate(q)
	if err != nil {
		t.Fatal(err)
	}
	for i := range grad {
		grad[i] = g[2*i] / d.Coordinate(i).Slope(theta[2*i])
	}
	return grad
}

func TestRandomSimulations(t *testing.T) {
	const draws = 2000
	var square, without float64
	count := 0
	n := uint64(*programs)
	if n == 0 {
		n = 60
	}
	for seed := range n {
		p := newProgram(seed)
		ex, err := p.expectation()
		if err != nil {
			t.Errorf("program %d: %v", seed, err)
			continue
		}
		got, err := ex.Estimate(context.Background(), draws, seed)
		if err != nil {
			t.Errorf("program %d: %v", seed, err)
			continue
		}
		path := pathGradient(t, ex, draws, seed)
		value, grad := p.want()
		for k, want := range []float64{value, grad[0], grad[1]} {
			found := got.Value
			if k > 0 {
				found = got.Gradient[k-1]
			}
			z := (found.Value - want) / math.Max(found.SE, 3e-3)
			if !(math.Abs(z) < 5) {
				t.Errorf("program %d, number %d: %v, want %v: z = %.1f", seed, k, found, want, z)
			}
			if found.SE > 6e-3 {
				square += z * z
				count++
				if k > 0 {
					z = (path[k-1] - want) / found.SE
				}
				without += z * z
			}
		}
	}
	mean := square / float64(count)
	t.Logf("Σz²/n of %d estimates is %.3f, and without the boundary part %.0f", count, mean, without/float64(count))
	if without < 20*float64(count) {
		t.Errorf("Σz²/n is %v without the boundary part, too", without/float64(count))
	}
	if math.Abs(mean-1) > 0.05+3*math.Sqrt(2/float64(count)) {
		t.Errorf("Σz²/n is %v of %d", mean, count)
	}
}
