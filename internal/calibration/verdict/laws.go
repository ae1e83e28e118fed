package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// A space is where a latent lives.
type space int

const (
	line space = iota
	half
	unit
	interval
	counts
)

// A law is a distribution: its source text, how the language makes it, its log density and its
// draws. The last two share no code with the language.
type law struct {
	format string // of its parameters
	build  func(p []graph.Expr) graph.Dist
	log    func(x float64, p []float64) float64
	draw   func(rng *rand.Rand, p []float64) float64
	kinds  string // of its parameters: r real, p positive, u in (0, 1)
	space  space
	lo, hi float64 // of an interval
	most   int     // of a discrete latent: its largest value that counts
	letter string  // that names of latents begin with
}

type e = graph.Expr

func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func gamma(x float64) float64 { v, _ := math.Lgamma(x); return v }

var logTwoPi = math.Log(2 * math.Pi)

func logNormal(x, mu, sigma float64) float64 {
	r := (x - mu) / sigma
	return -0.5*(r*r+logTwoPi) - math.Log(sigma)
}

func logStudent(x, mu, sigma, nu float64) float64 {
	r := (x - mu) / sigma
	return gamma(0.5*(nu+1)) - gamma(0.5*nu) - 0.5*math.Log(nu*math.Pi) - math.Log(sigma) - 0.5*(nu+1)*math.Log1p(r*r/nu)
}

func logGamma(x, alpha, beta float64) float64 {
	return alpha*math.Log(beta) - gamma(alpha) + (alpha-1)*math.Log(x) - beta*x
}

func logPoisson(x, lambda float64) float64 { return x*math.Log(lambda) - lambda - gamma(x+1) }

func logChoose(n, k float64) float64 { return gamma(n+1) - gamma(k+1) - gamma(n-k+1) }

// logCDF is the log of the normal distribution function.
func logCDF(x float64) float64 {
	if x > -30 {
		return math.Log(0.5 * math.Erfc(-x/math.Sqrt2))
	}
	y := 1 / (x * x) // its asymptotic series
	return -0.5*(x*x+logTwoPi) - math.Log(-x) + math.Log1p(-y*(1-3*y*(1-5*y)))
}

// logBetween is log P(a < X < b) of a standard normal X.
func logBetween(a, b float64) float64 {
	if a > 0 {
		a, b = -b, -a
	}
	if mid := 0.5 * (a + b); (b-a)*max(1, -mid) < 1e-6 { // where the density is even
		return math.Log(b-a) + logNormal(mid, 0, 1)
	}
	high := logCDF(b)
	return high + math.Log1p(-math.Exp(logCDF(a)-high))
}

func drawPoisson(rng *rand.Rand, lambda float64) float64 {
	if !(lambda < 1e6) {
		return 1e6
	}
	return distuv.Poisson{Lambda: lambda, Src: rng}.Rand()
}

func drawGamma(rng *rand.Rand, alpha, beta float64) float64 {
	return max(distuv.Gamma{Alpha: alpha, Beta: beta, Src: rng}.Rand(), 1e-300)
}

func drawStudent(rng *rand.Rand, nu float64) float64 {
	return rng.NormFloat64() / math.Sqrt(drawGamma(rng, nu/2, nu/2))
}

// sigmoid is 1/(1 + e^(−x)).
func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

type (
	es = []graph.Expr
	fs = []float64
)

// locationScale are laws of μ + σ·X: X has the log density log, and draw draws it.
func locationScale(name string, build func(mu, sigma graph.Expr) graph.Dist, log func(r float64) float64, draw func(rng *rand.Rand) float64) law {
	sigma, logSigma := 1.0, 0.0 // mostly the same
	return law{
		format: name + "(%s, %s)", kinds: "rp", space: line,
		build: func(p es) graph.Dist { return build(p[0], p[1]) },
		log: func(x float64, p fs) float64 {
			if p[1] != sigma {
				sigma, logSigma = p[1], math.Log(p[1])
			}
			return log((x-p[0])/sigma) - logSigma
		},
		draw: func(rng *rand.Rand, p fs) float64 { return p[0] + p[1]*draw(rng) },
	}
}

// positiveLaw is a law of positive numbers with one or two parameters.
func positiveLaw(format, kinds string, build func(p es) graph.Dist, log func(x float64, p fs) float64, draw func(rng *rand.Rand, p fs) float64) law {
	return law{format: format, kinds: kinds, space: half, build: build, log: log, draw: draw}
}

// reals are laws on the line.
var reals = []law{
	locationScale("Normal", graph.Normal[e, e], func(r float64) float64 { return -0.5 * (r*r + logTwoPi) }, (*rand.Rand).NormFloat64),
	locationScale("Laplace", graph.Laplace[e, e], func(r float64) float64 { return -math.Abs(r) - math.Ln2 },
		func(rng *rand.Rand) float64 { return rng.ExpFloat64() - rng.ExpFloat64() }),
	locationScale("Logistic", graph.Logistic[e, e], func(r float64) float64 { r = math.Abs(r); return -r - 2*math.Log1p(math.Exp(-r)) },
		func(rng *rand.Rand) float64 { u := rng.Float64(); return math.Log(u / (1 - u)) }),
	locationScale("Gumbel", graph.Gumbel[e, e], func(r float64) float64 { return -r - math.Exp(-r) },
		func(rng *rand.Rand) float64 { return -math.Log(rng.ExpFloat64()) }),
	student(4), student(7),
	locationScale("Cauchy", graph.Cauchy[e, e], func(r float64) float64 { return -math.Log1p(r*r) - math.Log(math.Pi) },
		func(rng *rand.Rand) float64 { return drawStudent(rng, 1) }),
}

func student(nu float64) law {
	l := locationScale("StudentsT", func(mu, sigma e) graph.Dist { return graph.StudentsT(mu, sigma, nu) },
		func(r float64) float64 { return logStudent(r, 0, 1, nu) }, func(rng *rand.Rand) float64 { return drawStudent(rng, nu) })
	l.format = fmt.Sprintf("StudentsT(%%s, %%s, %g)", nu)
	return l
}

// positives are laws on the positive half line.
var positives = []law{
	positiveLaw("Exponential(%s)", "p", func(p es) graph.Dist { return graph.Exponential(p[0]) },
		func(x float64, p fs) float64 { return math.Log(p[0]) - p[0]*x }, func(rng *rand.Rand, p fs) float64 { return rng.ExpFloat64() / p[0] }),
	positiveLaw("Gamma(%s, %s)", "pp", func(p es) graph.Dist { return graph.Gamma(p[0], p[1]) },
		func(x float64, p fs) float64 { return logGamma(x, p[0], p[1]) }, func(rng *rand.Rand, p fs) float64 { return drawGamma(rng, p[0], p[1]) }),
	positiveLaw("LogNormal(%s, %s)", "rp", func(p es) graph.Dist { return graph.LogNormal(p[0], p[1]) },
		func(x float64, p fs) float64 { return logNormal(math.Log(x), p[0], p[1]) - math.Log(x) },
		func(rng *rand.Rand, p fs) float64 { return math.Exp(p[0] + p[1]*rng.NormFloat64()) }),
	positiveLaw("HalfNormal(%s)", "p", func(p es) graph.Dist { return graph.HalfNormal(p[0]) },
		func(x float64, p fs) float64 { return math.Ln2 + logNormal(x, 0, p[0]) }, func(rng *rand.Rand, p fs) float64 { return math.Abs(p[0] * rng.NormFloat64()) }),
	positiveLaw("Weibull(%s, %s)", "pp", func(p es) graph.Dist { return graph.Weibull(p[0], p[1]) }, logWeibull,
		func(rng *rand.Rand, p fs) float64 { return p[1] * math.Pow(rng.ExpFloat64(), 1/p[0]) }),
	positiveLaw("HalfCauchy(%s)", "p", func(p es) graph.Dist { return graph.HalfCauchy(p[0]) },
		func(x float64, p fs) float64 { return math.Ln2 + logStudent(x, 0, p[0], 1) }, func(rng *rand.Rand, p fs) float64 { return math.Abs(p[0] * drawStudent(rng, 1)) }),
	positiveLaw("InverseGamma(Add(%s, 2.5), %s)", "pp", func(p es) graph.Dist { return graph.InverseGamma(graph.Add(p[0], 2.5), p[1]) },
		func(x float64, p fs) float64 { return logGamma(1/x, p[0]+2.5, p[1]) - 2*math.Log(x) }, func(rng *rand.Rand, p fs) float64 { return 1 / drawGamma(rng, p[0]+2.5, p[1]) }),
}

func logWeibull(x float64, p fs) float64 {
	r := math.Log(x / p[1])
	return math.Log(p[0]/p[1]) + (p[0]-1)*r - math.Exp(p[0]*r)
}

var beta = law{
	format: "Beta(%s, %s)", kinds: "pp", space: unit,
	build: func(p es) graph.Dist { return graph.Beta(p[0], p[1]) },
	log: func(x float64, p fs) float64 {
		return gamma(p[0]+p[1]) - gamma(p[0]) - gamma(p[1]) + (p[0]-1)*math.Log(x) + (p[1]-1)*math.Log1p(-x)
	},
	draw: func(rng *rand.Rand, p fs) float64 {
		x := drawGamma(rng, p[0], 1)
		return x / (x + drawGamma(rng, p[1], 1))
	},
}

// uniform is a law on (lo, hi).
func uniform(lo, hi float64) law {
	return law{
		format: fmt.Sprintf("Uniform(%g, %g)", lo, hi), space: interval, lo: lo, hi: hi,
		build: func(es) graph.Dist { return graph.Uniform(lo, hi) },
		log:   func(float64, fs) float64 { return -math.Log(hi - lo) },
		draw:  func(rng *rand.Rand, _ fs) float64 { return lo + (hi-lo)*rng.Float64() },
	}
}

// truncated is a normal law within (lo, hi), which may be infinite above.
func truncated(lo, hi float64) law {
	return law{
		format: "Truncated(Normal(%s, %s), " + number(lo) + ", " + number(hi) + ")", kinds: "rp", space: interval, lo: lo, hi: hi,
		build: func(p es) graph.Dist { return graph.Truncated(graph.Normal(p[0], p[1]), lo, hi) },
		log: func(x float64, p fs) float64 {
			return logNormal(x, p[0], p[1]) - logBetween((lo-p[0])/p[1], (hi-p[0])/p[1])
		},
		draw: func(rng *rand.Rand, p fs) float64 {
			for range 1000 {
				if x := p[0] + p[1]*rng.NormFloat64(); x > lo && x < hi {
					return x
				}
			}
			return lo + (min(hi, lo+1)-lo)*rng.Float64()
		},
	}
}

func number(v float64) string {
	if math.IsInf(v, 0) {
		return fmt.Sprintf("math.Inf(%d)", map[bool]int{true: 1, false: -1}[v > 0])
	}
	return fmt.Sprintf("%g", v)
}

// mixture is one of two normals.
var mixture = law{
	format: "Mixture([]graph.Expr{%[1]s, Sub(1, %[1]s)}, Normal(%[2]s, %[3]s), Normal(%[4]s, %[5]s))", kinds: "urprp", space: line,
	build: func(p es) graph.Dist {
		return graph.Mixture([]graph.Expr{p[0], graph.Sub(1, p[0])}, graph.Normal(p[1], p[2]), graph.Normal(p[3], p[4]))
	},
	log: func(x float64, p fs) float64 {
		a, b := math.Log(p[0])+logNormal(x, p[1], p[2]), math.Log1p(-p[0])+logNormal(x, p[3], p[4])
		if a < b {
			a, b = b, a
		}
		if math.IsInf(b, -1) {
			return a
		}
		return a + math.Log1p(math.Exp(b-a))
	},
	draw: func(rng *rand.Rand, p fs) float64 {
		if rng.Float64() < p[0] {
			return p[1] + p[2]*rng.NormFloat64()
		}
		return p[3] + p[4]*rng.NormFloat64()
	},
}

// censored is a normal law of which what is above hi is seen as hi.
func censored(hi float64) law {
	return law{
		format: fmt.Sprintf("Censored(Normal(%%s, %%s), math.Inf(-1), %g)", hi), kinds: "rp", space: line,
		build: func(p es) graph.Dist { return graph.Censored(graph.Normal(p[0], p[1]), math.Inf(-1), hi) },
		log: func(x float64, p fs) float64 {
			if x == hi {
				return logBetween((hi-p[0])/p[1], math.Inf(1))
			}
			return logNormal(x, p[0], p[1])
		},
		draw: func(rng *rand.Rand, p fs) float64 { return min(hi, p[0]+p[1]*rng.NormFloat64()) },
	}
}

// grouped is a normal law of which the interval between these edges is seen.
func grouped(edges ...float64) law {
	list := ""
	for _, x := range edges {
		list += fmt.Sprintf(", %g", x)
	}
	return law{
		format: "IntervalCensored(Normal(%s, %s)" + list + ")", kinds: "rp", space: counts,
		build: func(p es) graph.Dist { return graph.IntervalCensored(graph.Normal(p[0], p[1]), edges...) },
		log: func(x float64, p fs) float64 {
			all := append(append([]float64{math.Inf(-1)}, edges...), math.Inf(1))
			return logBetween((all[int(x)]-p[0])/p[1], (all[int(x)+1]-p[0])/p[1])
		},
		draw: func(rng *rand.Rand, p fs) float64 {
			at, _ := slices.BinarySearch(edges, p[0]+p[1]*rng.NormFloat64())
			return float64(at)
		},
	}
}

// bernoulli is the law of 0 and 1.
var bernoulli = law{
	format: "Bernoulli(%s)", kinds: "u", space: counts, most: 1,
	build: func(p es) graph.Dist { return graph.Bernoulli(p[0]) },
	log: func(x float64, p fs) float64 {
		if x > 0 {
			return math.Log(p[0])
		}
		return math.Log1p(-p[0])
	},
	draw: func(rng *rand.Rand, p fs) float64 { return truth(rng.Float64() < p[0]) },
}

var poisson = law{
	format: "Poisson(%s)", kinds: "p", space: counts, most: 25,
	build: func(p es) graph.Dist { return graph.Poisson(p[0]) },
	log:   func(x float64, p fs) float64 { return logPoisson(x, p[0]) },
	draw:  func(rng *rand.Rand, p fs) float64 { return drawPoisson(rng, p[0]) },
}

// few is a Poisson law of at most 4.
var few = law{
	format: "Truncated(Poisson(%s), 0, 4)", kinds: "p", space: counts, most: 4,
	build: func(p es) graph.Dist { return graph.Truncated(graph.Poisson(p[0]), 0, 4) },
	log: func(x float64, p fs) float64 {
		sum := 0.0
		for k := range 5 { // relative to 4, or to 0
			sum += math.Exp(logPoisson(float64(k), p[0]) - logPoisson(truth(p[0] > 1)*4, p[0]))
		}
		return logPoisson(x, p[0]) - logPoisson(truth(p[0] > 1)*4, p[0]) - math.Log(sum)
	},
	draw: func(rng *rand.Rand, p fs) float64 {
		for range 1000 {
			if x := drawPoisson(rng, p[0]); x <= 4 {
				return x
			}
		}
		return 4
	},
}

// binomial is the law of n trials.
func binomial(n int) law {
	return law{
		format: fmt.Sprintf("Binomial(%d, %%s)", n), kinds: "u", space: counts, most: n,
		build: func(p es) graph.Dist { return graph.Binomial(n, p[0]) },
		log: func(x float64, p fs) float64 {
			v := logChoose(float64(n), x)
			if x > 0 {
				v += x * math.Log(p[0])
			}
			if left := float64(n) - x; left > 0 {
				v += left * math.Log1p(-p[0])
			}
			return v
		},
		draw: func(rng *rand.Rand, p fs) (x float64) {
			for range n {
				x += truth(rng.Float64() < p[0])
			}
			return x
		},
	}
}

// categorical has three values with these weights.
func categorical(w ...float64) law {
	return law{
		format: fmt.Sprintf("Categorical(%g, %g, %g)", w[0], w[1], w[2]), space: counts, most: 2,
		build: func(es) graph.Dist { return graph.Categorical(w...) },
		log:   func(x float64, _ fs) float64 { return math.Log(w[int(x)] / (w[0] + w[1] + w[2])) },
		draw: func(rng *rand.Rand, _ fs) float64 {
			u := rng.Float64() * (w[0] + w[1] + w[2])
			return truth(u > w[0]) + truth(u > w[0]+w[1])
		},
	}
}

var negativeBinomial = law{
	format: "NegativeBinomial(%s, %s)", kinds: "pu", space: counts,
	build: func(p es) graph.Dist { return graph.NegativeBinomial(p[0], p[1]) },
	log: func(x float64, p fs) float64 {
		return gamma(x+p[0]) - gamma(p[0]) - gamma(x+1) + p[0]*math.Log(p[1]) + x*math.Log1p(-p[1])
	},
	draw: func(rng *rand.Rand, p fs) float64 { return drawPoisson(rng, drawGamma(rng, p[0], p[1]/(1-p[1]))) },
}

// zeroInflated and hurdle are Poisson laws with more zeros.
var zeroInflated = law{
	format: "ZeroInflated(%s, Poisson(%s))", kinds: "up", space: counts,
	build: func(p es) graph.Dist { return graph.ZeroInflated(p[0], graph.Poisson(p[1])) },
	log: func(x float64, p fs) float64 {
		if x == 0 {
			return math.Log(p[0] + (1-p[0])*math.Exp(-p[1]))
		}
		return math.Log1p(-p[0]) + logPoisson(x, p[1])
	},
	draw: func(rng *rand.Rand, p fs) float64 { return drawPoisson(rng, p[1]) * truth(rng.Float64() > p[0]) },
}

var hurdle = law{
	format: "Hurdle(%s, Poisson(%s))", kinds: "up", space: counts,
	build: func(p es) graph.Dist { return graph.Hurdle(p[0], graph.Poisson(p[1])) },
	log: func(x float64, p fs) float64 {
		if x == 0 {
			return math.Log(p[0])
		}
		return math.Log1p(-p[0]) + logPoisson(x, p[1]) - math.Log(-math.Expm1(-p[1]))
	},
	draw: func(rng *rand.Rand, p fs) float64 {
		return max(1, drawPoisson(rng, p[1])) * truth(rng.Float64() > p[0])
	},
}

// graded is an ordered logistic law of four grades.
var graded = law{
	format: "OrderedLogistic(%s, -1.5, 0.25, 1)", kinds: "r", space: counts,
	build: func(p es) graph.Dist { return graph.OrderedLogistic(p[0], -1.5, 0.25, 1.0) },
	log: func(x float64, p fs) float64 {
		cuts := [...]float64{math.Inf(-1), -1.5, 0.25, 1, math.Inf(1)}
		a, b := cuts[int(x)]-p[0], cuts[int(x)+1]-p[0]
		if a > 0 { // the side that keeps its digits
			a, b = -b, -a
		}
		return math.Log(sigmoid(b) - sigmoid(a))
	},
	draw: func(rng *rand.Rand, p fs) float64 {
		u := rng.Float64()
		x := p[0] + math.Log(u/(1-u))
		return truth(x > -1.5) + truth(x > 0.25) + truth(x > 1)
	},
}
