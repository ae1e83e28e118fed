package gradient_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// A curvedProblem is a program of independent latents with guards that are not affine,
// with the guards in plain Go.
type curvedProblem struct {
	priors []prior
	guards []curvedGuard
	curves int // of the guards' planes that stay curved
	// cuts are where log r is not smooth along latent i given those before, or, for
	// an earlier latent, where integrals over later ones are not smooth in it.
	cuts func(i int, z, v []float64) []float64
}

// A prior is a distribution with the map from unconstrained coordinates.
type prior struct {
	graph.Dist
	constrain func(u float64) float64
}

type curvedGuard struct {
	guard func(x []graph.Expr) graph.Guard
	holds func(v []float64) bool
}

func standard() prior { return prior{graph.Normal(0, 1), func(u float64) float64 { return u }} }

func positive(d graph.Dist) prior { return prior{d, math.Exp} }

func upTo(b float64) prior {
	return prior{graph.Uniform(0, b), func(u float64) float64 { return b / (1 + math.Exp(-u)) }}
}

// greater is the guard of an expression above a number.
func greater(c float64, e func(x []graph.Expr) graph.Expr, value func(v []float64) float64) curvedGuard {
	return curvedGuard{
		func(x []graph.Expr) graph.Guard { return graph.Greater(e(x), c) }, func(v []float64) bool { return value(v) > c },
	}
}

func product(c float64) curvedGuard {
	return greater(c, func(x []graph.Expr) graph.Expr { return graph.Mul(x[0], x[1]) }, func(v []float64) float64 { return v[0] * v[1] })
}

func circle() curvedGuard {
	return greater(1, func(x []graph.Expr) graph.Expr { return graph.Add(graph.Square(x[0]), graph.Square(x[1])) },
		func(v []float64) float64 { return v[0]*v[0] + v[1]*v[1] })
}

// around are points that close in on x, where an integral has a square root.
func around(x float64) []float64 {
	list := []float64{x}
	for step := 0.4; step > 1e-3; step /= 8 {
		list = append(list, x-step, x+step)
	}
	return list
}

func circleCuts(i int, z []float64) []float64 {
	if i == 0 {
		return append(around(-1), around(1)...)
	}
	half := math.Sqrt(max(0, 1-z[0]*z[0]))
	return []float64{-half, half}
}

// alone is the root of x + eˣ = y.
func alone(y float64) float64 {
	lo, hi := -1e6, 1e6
	for range 100 {
		if mid := 0.5 * (lo + hi); mid+math.Exp(mid) > y {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}

func curvedProblems() map[string]curvedProblem {
	two := []prior{standard(), standard()}
	// last are the cuts of a guard that is solved for the last latent.
	last := func(of int, root func(z, v []float64) float64) func(i int, z, v []float64) []float64 {
		return func(i int, z, v []float64) []float64 {
			if i < of {
				return nil
			}
			return []float64{root(z, v)}
		}
	}
	products := func(c float64) curvedProblem {
		return curvedProblem{two, []curvedGuard{product(c)}, 1, func(i int, z, _ []float64) []float64 {
			if i == 0 {
				return around(0)
			}
			return []float64{c / z[0]}
		}}
	}
	signs := products(0)
	signs.curves = 0
	problems := edgeProblems()
	maps.Copy(problems, map[string]curvedProblem{
		"a product of one sign":    products(0.3),
		"a product of either sign": products(-0.5),
		"two of one sign":          signs,
		"outside a circle":         {two, []curvedGuard{circle()}, 1, func(i int, z, _ []float64) []float64 { return circleCuts(i, z) }},
		"a gamma above a log-normal": {[]prior{positive(graph.Gamma(2, 1)), positive(graph.LogNormal(0.2, 0.6))}, []curvedGuard{{
			func(x []graph.Expr) graph.Guard { return graph.Greater(x[0], x[1]) },
			func(v []float64) bool { return v[0] > v[1] },
		}}, 0, last(1, func(z, _ []float64) float64 { return z[0] })},
		"a positive one and a real": {[]prior{positive(graph.LogNormal(0, 0.5)), standard(), standard()}, []curvedGuard{{
			func(x []graph.Expr) graph.Guard { return graph.Greater(graph.Mul(x[0], x[1]), x[2]) },
			func(v []float64) bool { return v[0]*v[1] > v[2] },
		}}, 1, func(i int, _, v []float64) []float64 {
			switch i {
			case 1: // steep where the first is large
				return []float64{-4 / v[0], -1.5 / v[0], 0, 1.5 / v[0], 4 / v[0]}
			case 2:
				return []float64{v[0] * v[1]}
			}
			return nil
		}},
		"a threshold, not centred": {[]prior{standard(), positive(graph.LogNormal(-0.5, 0.5)), standard()}, []curvedGuard{
			greater(0.4, func(x []graph.Expr) graph.Expr { return graph.Add(x[0], graph.Mul(x[1], x[2])) }, func(v []float64) float64 { return v[0] + v[1]*v[2] }),
		}, 1, func(i int, _, v []float64) []float64 {
			switch i {
			case 0:
				return around(0.4)
			case 2:
				return []float64{(0.4 - v[0]) / v[1]}
			}
			return nil
		}},
		"a sum of two bounded ones": {[]prior{upTo(2), upTo(3)}, []curvedGuard{
			greater(1.7, func(x []graph.Expr) graph.Expr { return graph.Add(x[0], x[1]) }, func(v []float64) float64 { return v[0] + v[1] }),
		}, 1, func(i int, z, v []float64) []float64 {
			if i == 0 {
				return around(math.Log(1.7 / 0.3)) // beyond it the sum is larger anyway
			}
			p := (1.7 - v[0]) / 3
			return []float64{math.Log(p / (1 - p))}
		}},
		"a positive one and a normal one": {[]prior{positive(graph.Gamma(2, 1)), standard()}, []curvedGuard{
			greater(1.5, func(x []graph.Expr) graph.Expr { return graph.Add(x[0], x[1]) }, func(v []float64) float64 { return v[0] + v[1] }),
		}, 1, last(1, func(_, v []float64) float64 { return 1.5 - v[0] })},
		"a ratio and another": {[]prior{standard(), positive(graph.LogNormal(0, 0.5)), standard()}, []curvedGuard{
			greater(0.5, func(x []graph.Expr) graph.Expr { return graph.Add(graph.Div(x[0], x[1]), x[2]) }, func(v []float64) float64 { return v[0]/v[1] + v[2] }),
		}, 1, func(i int, _, v []float64) []float64 {
			switch i {
			case 0:
				return around(0)
			case 1: // steep where the second is small
				return []float64{math.Log(math.Abs(v[0])) - 1, math.Log(math.Abs(v[0])), math.Log(math.Abs(v[0])) + 1}
			}
			return []float64{0.5 - v[0]/v[1]}
		}},
		"a ratio to what has any sign": {two, []curvedGuard{
			greater(0.5, func(x []graph.Expr) graph.Expr { return graph.Add(graph.Div(x[1], x[0]), x[1]) }, func(v []float64) float64 { return v[1]/v[0] + v[1] }),
		}, 1, func(i int, z, _ []float64) []float64 {
			if i == 0 {
				return append(around(0), around(-1)...)
			}
			return []float64{0.5 * z[0] / (1 + z[0])} // y·(1 + x) = 0.5·x
		}},
		"without a closed form": {two, []curvedGuard{
			greater(1, func(x []graph.Expr) graph.Expr { return graph.Sum(x[0], graph.Exp(x[0]), x[1]) }, func(v []float64) float64 { return v[0] + math.Exp(v[0]) + v[1] }),
		}, 1, last(1, func(z, _ []float64) float64 { return 1 - z[0] - math.Exp(z[0]) })},
		"without a closed form, and all but straight": {two, []curvedGuard{
			greater(1, func(x []graph.Expr) graph.Expr { return graph.Sum(x[0], graph.Exp(x[0]), graph.Mul(0.1, x[1])) },
				func(v []float64) float64 { return v[0] + math.Exp(v[0]) + 0.1*v[1] }),
		}, 1, func(i int, z, _ []float64) []float64 {
			if i == 0 {
				return []float64{-0.3, -0.15, -0.05, 0, 0.05, 0.15, 0.3}
			}
			return []float64{10 * (1 - z[0] - math.Exp(z[0]))}
		}},
		"twice without a closed form": {two, []curvedGuard{
			greater(1, func(x []graph.Expr) graph.Expr { return graph.Sum(x[0], graph.Exp(x[0]), x[1], graph.Exp(x[1])) },
				func(v []float64) float64 { return v[0] + math.Exp(v[0]) + v[1] + math.Exp(v[1]) }),
		}, 1, last(1, func(z, _ []float64) float64 { return alone(1 - z[0] - math.Exp(z[0])) })},
		"a logarithm with an edge": {two, []curvedGuard{
			greater(0.3, func(x []graph.Expr) graph.Expr { return graph.Sub(x[1], graph.Log(x[0])) }, func(v []float64) float64 { return v[1] - math.Log(v[0]) }),
		}, 1, func(i int, z, _ []float64) []float64 {
			if i == 0 {
				return around(0)
			}
			return []float64{0.3 + math.Log(z[0])}
		}},
		"a root with an edge": {two, []curvedGuard{
			greater(0.5, func(x []graph.Expr) graph.Expr { return graph.Add(x[1], graph.Sqrt(x[0])) }, func(v []float64) float64 { return v[1] + math.Sqrt(v[0]) }),
		}, 1, func(i int, z, _ []float64) []float64 {
			if i == 0 {
				return around(0)
			}
			return []float64{0.5 - math.Sqrt(z[0])}
		}},
		"a logarithm of a sum, without a closed form": {two, []curvedGuard{
			greater(0.2, func(x []graph.Expr) graph.Expr { return graph.Add(x[0], graph.Log(graph.Add(x[0], x[1]))) },
				func(v []float64) float64 { return v[0] + math.Log(v[0]+v[1]) }),
		}, 1, func(i int, z, _ []float64) []float64 {
			if i == 0 {
				return nil
			}
			return []float64{-z[0], math.Exp(0.2-z[0]) - z[0]}
		}},
		"a product, expanded, beside a factor": {two, []curvedGuard{
			greater(-0.06, func(x []graph.Expr) graph.Expr {
				return graph.Sum(graph.Mul(x[0], x[1]), graph.Mul(-0.2, x[0]), graph.Mul(-0.3, x[1]))
			}, func(v []float64) float64 { return v[0]*v[1] - 0.2*v[0] - 0.3*v[1] }),
			greater(0.3, func(x []graph.Expr) graph.Expr { return x[0] }, func(v []float64) float64 { return v[0] }),
		}, 0, func(i int, z, _ []float64) []float64 { return []float64{[]float64{0.3, 0.2}[i]} }},
		"in one dimension, without a closed form": {[]prior{standard()}, []curvedGuard{
			greater(2, func(x []graph.Expr) graph.Expr { return graph.Add(x[0], graph.Exp(x[0])) }, func(v []float64) float64 { return v[0] + math.Exp(v[0]) }),
		}, 0, func(int, []float64, []float64) []float64 { return []float64{alone(2)} }},
		"in one dimension, a square of a positive one": {[]prior{positive(graph.Gamma(2, 1))}, []curvedGuard{
			greater(0.3, func(x []graph.Expr) graph.Expr { return graph.Square(graph.Sub(x[0], 1.1)) }, func(v []float64) float64 { return (v[0] - 1.1) * (v[0] - 1.1) }),
		}, 0, func(int, []float64, []float64) []float64 {
			return []float64{math.Log(1.1 - math.Sqrt(0.3)), math.Log(1.1 + math.Sqrt(0.3))}
		}},
		"a parabola": {two, []curvedGuard{
			greater(-0.4, func(x []graph.Expr) graph.Expr { return graph.Sub(graph.Square(x[0]), x[1]) }, func(v []float64) float64 { return v[0]*v[0] - v[1] }),
		}, 1, last(1, func(z, _ []float64) float64 { return z[0]*z[0] + 0.4 })},
		"on a branch": {two, []curvedGuard{
			greater(0.3, func(x []graph.Expr) graph.Expr {
				return graph.If(graph.Greater(x[0], 0.2), graph.Mul(x[0], x[1]), graph.Sub(x[1], x[0]))
			}, func(v []float64) float64 {
				if v[0] > 0.2 {
					return v[0] * v[1]
				}
				return v[1] - v[0]
			}),
		}, 1, func(i int, z, _ []float64) []float64 {
			switch {
			case i == 0:
				return []float64{0.2}
			case z[0] > 0.2:
				return []float64{0.3 / z[0]}
			}
			return []float64{0.3 + z[0]}
		}},
		"a step network": {two, []curvedGuard{
			greater(0.4, func(x []graph.Expr) graph.Expr { // y + x·step(x + y)
				return graph.Add(x[1], graph.Mul(x[0], graph.If(graph.Greater(graph.Add(x[0], x[1]), 0), 1, 0)))
			}, func(v []float64) float64 {
				if v[0]+v[1] > 0 {
					return v[1] + v[0]
				}
				return v[1]
			}),
		}, 0, func(i int, z, _ []float64) []float64 {
			if i == 0 {
				return []float64{-0.4}
			}
			return []float64{-z[0], 0.4 - z[0], 0.4}
		}},
		"of kinks": {two, []curvedGuard{
			greater(0.5, func(x []graph.Expr) graph.Expr { return graph.Max(x[1], graph.Mul(x[0], graph.Abs(x[1]))) },
				func(v []float64) float64 { return max(v[1], v[0]*math.Abs(v[1])) }),
			greater(0.1, func(x []graph.Expr) graph.Expr {
				return graph.Min(graph.Add(x[0], x[1]), graph.Clip(graph.Sub(x[0], x[1]), -1, 0.7))
			}, func(v []float64) float64 { return min(v[0]+v[1], max(-1, min(0.7, v[0]-v[1]))) }),
		}, 2, func(i int, z, _ []float64) []float64 {
			if i == 0 {
				return append(around(0), -1, 0.1, 1)
			}
			return []float64{0, 0.5, 0.5 / z[0], -0.5 / z[0], 0.1 - z[0], z[0] - 0.1}
		}},
		"curves that cross, and a line": {two, []curvedGuard{
			product(0.3), circle(), greater(0.2, func(x []graph.Expr) graph.Expr { return graph.Add(x[0], x[1]) }, func(v []float64) float64 { return v[0] + v[1] }),
		}, 2, func(i int, z, _ []float64) []float64 {
			cuts := circleCuts(i, z)
			if i == 0 {
				return append(append(cuts, around(0)...), -math.Sqrt(0.9), -math.Sqrt(0.1), math.Sqrt(0.1), math.Sqrt(0.9), -0.6, 0.8)
			}
			return append(cuts, 0.3/z[0], 0.2-z[0])
		}},
	})
	return problems
}

// edgeProblems are guards on curves that end where a function begins to have a value.
func edgeProblems() map[string]curvedProblem {
	type e = graph.Expr
	// above is the guard e(b, a) > c, which is a = root(b) on its curve.
	above := func(c float64, form func(b, a e) e, value func(b, a float64) float64, root func(b float64) float64, edges ...float64) curvedProblem {
		guard := greater(c, func(x []e) e { return form(x[0], x[1]) }, func(v []float64) float64 { return value(v[0], v[1]) })
		return curvedProblem{[]prior{standard(), standard()}, []curvedGuard{guard}, 1, func(i int, z, _ []float64) (cuts []float64) {
			if i == 1 {
				return []float64{root(z[0])}
			}
			for _, edge := range edges {
				cuts = append(cuts, around(edge)...)
			}
			return cuts
		}}
	}
	log := func(x float64) float64 { // which has no value at 0, where nodes of quadrature may be
		if x == 0 {
			return math.NaN()
		}
		return math.Log(x)
	}
	log1p := func(x float64) float64 { return log(1 + x) }
	entropy := func(b float64) float64 { return b * log(b) }
	logit := func(b float64) float64 { return log(b) - log1p(-b) }
	lgamma := func(b float64) float64 {
		y, _ := math.Lgamma(b)
		return y
	}
	return map[string]curvedProblem{
		"b·log b > a": above(0, func(b, a e) e { return graph.Sub(graph.Mul(b, graph.Log(b)), a) },
			func(b, a float64) float64 { return b*log(b) - a }, entropy, 0),
		"log b > a/b": above(0, func(b, a e) e { return graph.Sub(graph.Log(b), graph.Div(a, b)) },
			func(b, a float64) float64 { return log(b) - a/b }, entropy, 0),
		"log b < a/b": above(0, func(b, a e) e { return graph.Sub(graph.Div(a, b), graph.Log(b)) },
			func(b, a float64) float64 { return a/b - log(b) }, entropy, 0),
		"log b + a/b > 1": above(1, func(b, a e) e { return graph.Add(graph.Log(b), graph.Div(a, b)) },
			func(b, a float64) float64 { return log(b) + a/b }, func(b float64) float64 { return b - entropy(b) }, 0),
		"log b > a/b²": above(0, func(b, a e) e { return graph.Sub(graph.Log(b), graph.Div(a, graph.Square(b))) },
			func(b, a float64) float64 { return log(b) - a/(b*b) }, func(b float64) float64 { return b * entropy(b) }, 0),
		"a·log b > 1": above(1, func(b, a e) e { return graph.Mul(a, graph.Log(b)) },
			func(b, a float64) float64 { return a * log(b) }, func(b float64) float64 { return 1 / log(b) }, 0, 1),
		"a·log(b − 0.3) > 1": above(1, func(b, a e) e { return graph.Mul(a, graph.Log(graph.Sub(b, 0.3))) },
			func(b, a float64) float64 { return a * log(b-0.3) }, func(b float64) float64 { return 1 / log(b-0.3) }, 0.3, 1.3),
		"a·log(−b) > 1": above(1, func(b, a e) e { return graph.Mul(a, graph.Log(graph.Neg(b))) },
			func(b, a float64) float64 { return a * log(-b) }, func(b float64) float64 { return 1 / log(-b) }, 0, -1),
		"a·log1p(b) > 0.5": above(0.5, func(b, a e) e { return graph.Mul(a, graph.Log1p(b)) },
			func(b, a float64) float64 { return a * log1p(b) }, func(b float64) float64 { return 0.5 / log1p(b) }, -1, 0),
		"(b − 0.3)·log(b − 0.3) > a": above(0, func(b, a e) e {
			return graph.Sub(graph.Mul(graph.Sub(b, 0.3), graph.Log(graph.Sub(b, 0.3))), a)
		}, func(b, a float64) float64 { return entropy(b-0.3) - a }, func(b float64) float64 { return entropy(b - 0.3) }, 0.3),
		"b·(1 − b)·logit b > a": above(0, func(b, a e) e {
			return graph.Sub(graph.Mul(graph.Mul(b, graph.Sub(1, b)), graph.Sub(graph.Log(b), graph.Log1p(graph.Neg(b)))), a)
		}, func(b, a float64) float64 { return b*(1-b)*logit(b) - a }, func(b float64) float64 { return b * (1 - b) * logit(b) }, 0, 1),
		"a/√b + b > 0.5": above(0.5, func(b, a e) e { return graph.Add(graph.Mul(a, graph.Pow(b, -0.5)), b) },
			func(b, a float64) float64 { return a/math.Sqrt(b) + b }, func(b float64) float64 { return (0.5 - b) * math.Sqrt(b) }, 0),
		"√b·log b − b⁻¹ᐟ³ > a": above(0, func(b, a e) e {
			return graph.Sub(graph.Mul(graph.Pow(b, 1.0/3), graph.Sub(graph.Mul(graph.Sqrt(b), graph.Log(b)), a)), 1)
		}, func(b, a float64) float64 { return math.Cbrt(b)*(math.Sqrt(b)*log(b)-a) - 1 },
			func(b float64) float64 { return math.Sqrt(b)*log(b) - 1/math.Cbrt(b) }, 0),
		"log b + exp(b⁻¹·⁷) > a·eᵇ": above(0, func(b, a e) e {
			return graph.Sub(graph.Add(graph.Log(b), graph.Exp(graph.Pow(b, -1.7))), graph.Mul(a, graph.Exp(b)))
		}, func(b, a float64) float64 { return log(b) + math.Exp(math.Pow(b, -1.7)) - a*math.Exp(b) },
			func(b float64) float64 { return (log(b) + math.Exp(math.Pow(b, -1.7))) / math.Exp(b) }, 0, 0.4, 0.9),
		"a·(0.8 − b)·exp(b⁻¹·⁷) + 4·b² + 0.1 > 0": above(0, func(b, a e) e {
			return graph.Add(graph.Add(graph.Mul(graph.Mul(a, graph.Sub(0.8, b)), graph.Exp(graph.Pow(b, -1.7))), graph.Mul(4, graph.Square(b))), 0.1)
		}, func(b, a float64) float64 { return a*(0.8-b)*math.Exp(math.Pow(b, -1.7)) + 4*b*b + 0.1 },
			func(b float64) float64 { return -(4*b*b + 0.1) / ((0.8 - b) * math.Exp(math.Pow(b, -1.7))) }, 0, 0.8),
		"the quantile of b > a": above(0, func(b, a e) e { return graph.Sub(graph.NormalQuantile(b), a) },
			func(b, a float64) float64 { return math.Sqrt2*math.Erfinv(2*b-1) - a }, func(b float64) float64 { return math.Sqrt2 * math.Erfinv(2*b-1) }, 0, 1),
		"log Γ(b) > a + 1": above(1, func(b, a e) e { return graph.Sub(graph.Lgamma(b), a) },
			func(b, a float64) float64 {
				if b < 0 {
					return math.NaN()
				}
				return lgamma(b) - a
			}, func(b float64) float64 { return lgamma(b) - 1 }, 0),
		"c·log(a + b) > 0.3": {[]prior{standard(), standard(), standard()}, []curvedGuard{
			greater(0.3, func(x []e) e { return graph.Mul(x[2], graph.Log(graph.Add(x[0], x[1]))) }, func(v []float64) float64 { return v[2] * log(v[0]+v[1]) }),
		}, 1, func(i int, z, _ []float64) []float64 {
			switch i {
			case 1:
				return []float64{-z[0], 0.01 - z[0], 1 - z[0]}
			case 2:
				return []float64{0.3 / log(z[0]+z[1])}
			}
			return nil
		}},
	}
}

// model is the program: guards choose between factors that use the first and the last
// latent, alone and together.
func (p curvedProblem) model() *graph.Model {
	m := graph.NewModel()
	var x []graph.Expr
	for i, d := range p.priors {
		x = append(x, m.Sample(string(rune('a'+i)), d.Dist))
	}
	var all []graph.Guard
	for _, g := range p.guards {
		all = append(all, g.guard(x))
		m.Factor(graph.If(all[len(all)-1], graph.Add(1.2, graph.Mul(0.5, x[0])), graph.Mul(-0.3, x[len(x)-1])))
	}
	m.Factor(graph.If(graph.And(all...), graph.Mul(0.8, x[0]), 0.4))
	return m
}

// factor is what model adds to the priors.
func (p curvedProblem) factor(v []float64) (sum float64) {
	all := true
	for _, g := range p.guards {
		if g.holds(v) {
			sum += 1.2 + 0.5*v[0]
		} else {
			sum -= 0.3 * v[len(v)-1]
			all = false
		}
	}
	if all {
		return sum + 0.8*v[0]
	}
	return sum + 0.4
}

// grid are nodes for q.
func (p curvedProblem) grid(t *testing.T, q family.Q, width float64) (g grid) {
	var log []*graph.Executor // of each latent alone
	var mean, sd []float64
	for i, d := range p.priors {
		mean, sd = append(mean, q.Mean(i)), append(sd, q.SD(i))
		m := graph.NewModel()
		m.Sample("x", d.Dist)
		ex, err := vitest.Compile(t, m).Executor(1, graph.Compute{Out: true})
		require.NoError(t, err)
		log = append(log, ex)
	}
	z, v := make([]float64, len(p.priors)), make([]float64, len(p.priors))
	var along func(i int, w, logR float64)
	along = func(i int, w, logR float64) {
		if i == len(z) {
			g.z, g.w, g.logR = append(g.z, slices.Clone(z)), append(g.w, w), append(g.logR, logR+p.factor(v))
			return
		}
		reach := 6.0
		if len(z) == 3 {
			reach = 5
		}
		lo, hi := mean[i]-reach*sd[i], mean[i]+reach*sd[i]
		edges := []float64{lo, hi}
		for x := lo + width*sd[i]; x < hi; x += width * sd[i] {
			edges = append(edges, x)
		}
		for _, c := range p.cuts(i, z, v) {
			if c > lo && c < hi {
				edges = append(edges, c)
			}
		}
		slices.Sort(edges)
		for k := 1; k < len(edges); k++ {
			half, mid := 0.5*(edges[k]-edges[k-1]), 0.5*(edges[k]+edges[k-1])
			for n, node := range curveNodes {
				z[i] = mid + half*node
				v[i] = p.priors[i].constrain(z[i])
				log[i].Z[0] = z[i]
				require.NoError(t, log[i].Run())
				along(i+1, w*half*curveWeights[n], logR+log[i].Out[0])
			}
		}
	}
	along(0, 1, 0)
	return g
}

var curveNodes, curveWeights = func() (x, w []float64) {
	x, w = make([]float64, 8), make([]float64, 8)
	quad.Legendre{}.FixedLocations(x, w, -1, 1)
	return x, w
}()

// curvedMembers are members of families at random parameters.
func curvedMembers(t *testing.T, d *graph.Density) (members map[string]family.Q) {
	members = map[string]family.Q{}
	dim := d.Dim()
	for name, f := range map[string]family.Family{"mean field": family.MeanField{}, "full rank": family.FullRank{}, "low rank": family.LowRank{Rank: 1}} {
		q, err := f.New(d)
		require.NoError(t, err)
		members[name] = q
	}
	chain := make([][]int, dim)
	for i := 1; i < dim; i++ {
		chain[i] = []int{i - 1}
	}
	members["sequential"] = family.Sequential(chain)
	for k, name := range slices.Sorted(maps.Keys(members)) {
		q, rng := members[name], rand.New(rand.NewPCG(7, uint64(k)))
		theta := slices.Clone(q.Theta())
		for k := range theta {
			switch x := rng.NormFloat64(); {
			case k >= 2*dim:
				theta[k] = 0.5 * x
			case k%2 == 0:
				theta[k] = 0.3 * x
			default:
				theta[k] = 0.6 + 0.4*rng.Float64()
			}
		}
		q.Set(theta)
	}
	return members
}

// The gradient with guards that are not affine is that of the ELBO by quadrature, for
// every kind of curve and family; reparameterization alone is not.
func TestCurvedGradient(t *testing.T) {
	t.Parallel()
	problems := curvedProblems()
	some := []string{"mean field", "full rank"}
	for k, name := range slices.Sorted(maps.Keys(problems)) {
		p := problems[name]
		if !long.On() && k%8 > 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			d := vitest.Compile(t, p.model())
			curves := 0
			for l := range d.Arrangement().Len() {
				if d.Arrangement().Curve(l) != nil {
					curves++
				}
			}
			require.Equal(t, p.curves, curves)
			members := curvedMembers(t, d)
			for _, name := range slices.Sorted(maps.Keys(members)) {
				if !long.On() && name != some[k%len(some)] || len(p.priors) == 3 && !slices.Contains(some, name) {
					continue // all of them with -tags long, and in two dimensions
				}
				estimators := []gradient.Boundary{{}}
				if len(p.guards) > 1 {
					estimators = append(estimators, gradient.Boundary{Guards: 2}, gradient.Boundary{Guards: 3, By: boundary.ByWeight})
				}
				t.Run(name, func(t *testing.T) { p.check(t, d, members[name], estimators...) })
			}
		})
	}
}

func (p curvedProblem) check(t *testing.T, d *graph.Density, q family.Q, estimators ...gradient.Boundary) {
	width, accuracy := 1.2, 1e-3
	if len(p.priors) == 3 {
		width = 2.4
	}
	fine, coarse := p.grid(t, q, width), p.grid(t, q, 1.6*width)
	rng := rand.New(rand.NewPCG(3, 0))
	for range 20 {
		k := rng.IntN(len(fine.z))
		got, err := d.LogProb(fine.z[k])
		require.NoError(t, err)
		require.InDelta(t, fine.logR[k], got, 1e-9*(1+math.Abs(got)), "%v", fine.z[k])
	}
	want := fine.gradient(q)
	require.InDeltaSlice(t, coarse.gradient(q), want, accuracy, "the quadrature has not converged")

	n := vitest.Draws(1 << 15)
	j := judge{want: want, unit: slices.Repeat([]float64{1}, len(want)), detect: vitest.Precision(0.1) * floats.Norm(want, 2), accuracy: accuracy}
	worst := 0.0
	for _, e := range estimators {
		s := sampled(t, d, q, e, n)
		z := j.largest(t, e.Name(), s.Mean, s.SE)
		require.Less(t, z, 5.0, e.Name())
		worst = max(worst, z)
		j.detect = 0
	}
	s := sampled(t, d, q, gradient.Reparam{}, n)
	rejected := j.largest(t, "reparam", s.Mean, s.SE)
	require.Greater(t, rejected, 5.0, "reparameterization alone must be rejected")
	s = sampled(t, d, q, gradient.Score{}, n)
	score := j.largest(t, "score", s.Mean, s.SE)
	require.Less(t, score, 5.0, "score")
	t.Logf("%d nodes, |z| ≤ %.2f, score %.2f; reparameterization rejected at %.0f", len(fine.w), worst, score, rejected)
}

// The curve b = e¹ᐟᵃ comes nearer to b = 0 than a number of any other size than b can tell: near a = 0 there is a
// fortieth of it.
func TestCurveNextToEdge(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	problems := edgeProblems()
	for _, name := range []string{"a·log b > 1", "a·log(b − 0.3) > 1"} {
		p := problems[name]
		d := vitest.Compile(t, p.model())
		q, err := family.MeanField{}.New(d)
		require.NoError(t, err)
		q.Place([]float64{0.3, -0.3}, []float64{0.8, 0.6})
		want := p.grid(t, q, 0.4).gradient(q)
		require.InDeltaSlice(t, want, p.grid(t, q, 0.6).gradient(q), 2e-3, "the quadrature has not converged")
		s := sampled(t, d, q, gradient.Boundary{}, 1<<19)
		j := judge{want: want, unit: slices.Repeat([]float64{1}, len(want)), accuracy: 2e-3}
		t.Log(name, want, s.Mean, s.SE)
		require.Less(t, j.largest(t, name, s.Mean, s.SE), 5.0, name)
	}
}

// At z1·z2 > 0 each of the factors is a piece of the surface. With w = 1 where it holds, and independent
// normals of μ = (0.5, 0.15) and s = 1, the part of the gradient that the guard brings to μ_2 is
//
//	φ(μ_2)·(2Φ(μ_1) − 1) = 0.151,
//
// and the prior brings −μ_2. Who solves for z1 alone has 0 for the guard.
func TestProductOfOneSign(t *testing.T) {
	for name, form := range map[string]func(x, y graph.Expr) graph.Guard{
		"x·y > 0":    func(x, y graph.Expr) graph.Guard { return graph.Greater(graph.Mul(x, y), 0) },
		"x·y > 1e-6": func(x, y graph.Expr) graph.Guard { return graph.Greater(graph.Mul(x, y), 1e-6) }, // a curve
		"x/y > 0":    func(x, y graph.Expr) graph.Guard { return graph.Greater(graph.Div(x, y), 0) },
		"both signs": func(x, y graph.Expr) graph.Guard {
			return graph.Or(graph.And(graph.Greater(x, 0), graph.Greater(y, 0)), graph.And(graph.Less(x, 0), graph.Less(y, 0)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := graph.NewModel()
			x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
			m.Factor(graph.If(form(x, y), 1, 0))
			d := vitest.Compile(t, m)
			mean, sd := []float64{0.5, 0.15}, []float64{1, 1}
			members := []family.Q{family.Sequential([][]int{nil, nil})}
			for _, f := range []family.Family{family.MeanField{}, family.FullRank{}} {
				q, err := f.New(d)
				require.NoError(t, err)
				members = append(members, q)
			}
			for _, q := range members {
				q.Place(mean, sd)
				const guard = 0.151
				s := sampled(t, d, q, gradient.Boundary{}, 1<<18)
				require.Less(t, 5*s.SE[2], guard/5, "inconclusive")
				require.Less(t, math.Abs(s.Mean[2]+mean[1]-guard), 5*s.SE[2]+5e-4, "%v", q.Family())
				require.Greater(t, s.Mean[2]+mean[1], 5*s.SE[2], "0 must be rejected")
				t.Logf("%v: %.4f ± %.4f", q.Family().Name(), s.Mean[2]+mean[1], s.SE[2])
			}
		})
	}
}

// Where a guard ends finitely at the edge of a logarithm's domain, the boundary goes on along the edge: the gradient by b's mean of
// normals N(−0.3, 0.6) of a and N(0.3, 0.8) of b is that of quadrature, and the edges of √b and eᵇ are no exception.
func TestEdgesOfLogarithms(t *testing.T) {
	type e = graph.Expr
	log := func(x e) e { return graph.Log(x) }
	for k, c := range []struct {
		name  string
		want  float64
		guard func(a, b e) graph.Guard
		holds func(a, b float64) bool
	}{
		{"b·log b > a", 0.0766, func(a, b e) graph.Guard { return graph.Greater(graph.Mul(b, log(b)), a) }, func(a, b float64) bool { return b*math.Log(b) > a }},
		{"log b > a/b", 0.0766, func(a, b e) graph.Guard { return graph.Greater(log(b), graph.Div(a, b)) }, func(a, b float64) bool { return math.Log(b) > a/b }},
		{"log b < a/b", -0.212, func(a, b e) graph.Guard { return graph.Less(log(b), graph.Div(a, b)) }, func(a, b float64) bool { return math.Log(b) < a/b }},
		{"log b + a/b > 1", -0.287, func(a, b e) graph.Guard { return graph.Greater(graph.Add(log(b), graph.Div(a, b)), 1) }, func(a, b float64) bool { return math.Log(b)+a/b > 1 }},
		{"log b > a/b²", 0.087, func(a, b e) graph.Guard { return graph.Greater(log(b), graph.Div(a, graph.Square(b))) }, func(a, b float64) bool { return math.Log(b) > a/(b*b) }},
		{"a·log b > 1", -0.3122, func(a, b e) graph.Guard { return graph.Greater(graph.Mul(a, log(b)), 1) }, func(a, b float64) bool { return a*math.Log(b) > 1 }},
		{"log b > a", math.NaN(), func(a, b e) graph.Guard { return graph.Greater(log(b), a) }, func(a, b float64) bool { return math.Log(b) > a }},
		{"√b > a/b", math.NaN(), func(a, b e) graph.Guard { return graph.Greater(graph.Sqrt(b), graph.Div(a, b)) }, func(a, b float64) bool { return math.Sqrt(b) > a/b }},
		{"exp b > a/b", math.NaN(), func(a, b e) graph.Guard { return graph.Greater(graph.Exp(b), graph.Div(a, b)) }, func(a, b float64) bool { return math.Exp(b) > a/b }},
	} {
		if !long.On() && k%3 > 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			m := graph.NewModel()
			a, b := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 1))
			m.Factor(graph.If(c.guard(a, b), 1, 0))
			d := vitest.Compile(t, m)
			q, err := family.MeanField{}.New(d)
			require.NoError(t, err)
			q.Place([]float64{-0.3, 0.3}, []float64{0.6, 0.8})
			prob, n := 0.0, 4000 // −μ_b + E[1{holds}·(b − μ_b)/s²], at midpoints
			for i := range n {
				z := 16*(float64(i)+0.5)/float64(n) - 8
				for j := range n / 4 {
					w := 16*(float64(j)+0.5)/float64(n/4) - 8
					if c.holds(-0.3+0.6*w, 0.3+0.8*z) {
						prob += 16 * 16 / float64(n*n/4) * math.Exp(-0.5*(z*z+w*w)) / (2 * math.Pi) * z / 0.8
					}
				}
			}
			exact := prob - 0.3
			if !math.IsNaN(c.want) {
				require.InDelta(t, c.want, exact, 1e-3)
			}
			s := sampled(t, d, q, gradient.Boundary{}, 1<<17)
			t.Logf("%.4f ± %.4f, exactly %.4f", s.Mean[2], s.SE[2], exact)
			require.Less(t, 5*s.SE[2], 0.05, "inconclusive")
			require.InDelta(t, exact, s.Mean[2], 5*s.SE[2]+1e-3)
		})
	}
}
