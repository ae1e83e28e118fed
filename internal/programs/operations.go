package programs

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// An operation is a function in both readings.
type operation struct {
	arity int
	build func(a ...graph.Expr) graph.Expr
	value func(a ...float64) float64 // nil of kinks
}

func unary(build func(a graph.Expr) graph.Expr, value func(a float64) float64) operation {
	return operation{1, func(a ...graph.Expr) graph.Expr { return build(a[0]) }, func(a ...float64) float64 { return value(a[0]) }}
}

func binary(build func(a, b graph.Expr) graph.Expr, value func(a, b float64) float64) operation {
	return operation{2, func(a ...graph.Expr) graph.Expr { return build(a[0], a[1]) }, func(a ...float64) float64 { return value(a[0], a[1]) }}
}

type e = graph.Expr

// operations are the functions of the language: by themselves, for what guards compare;
// and such that they take any real arguments, where the bare function does not, and come
// in a form that is simplified, where there is one.
var operations = map[string]operation{
	"add":    binary(graph.Add[e, e], func(a, b float64) float64 { return a + b }),
	"sub":    binary(graph.Sub[e, e], func(a, b float64) float64 { return a - b }),
	"mul":    binary(graph.Mul[e, e], func(a, b float64) float64 { return a * b }),
	"over":   binary(graph.Div[e, e], func(a, b float64) float64 { return a / b }),
	"pow":    binary(graph.Pow[e, e], math.Pow),
	"neg":    unary(graph.Neg[e], func(a float64) float64 { return -a }),
	"exp":    unary(graph.Exp[e], math.Exp),
	"log":    unary(graph.Log[e], math.Log),
	"expm1":  unary(graph.Expm1[e], math.Expm1),
	"sqrt":   unary(graph.Sqrt[e], math.Sqrt),
	"square": unary(graph.Square[e], func(a float64) float64 { return a * a }),
	"sin":    unary(graph.Sin[e], math.Sin),
	"cos":    unary(graph.Cos[e], math.Cos),
	"tanh":   unary(graph.Tanh[e], math.Tanh),
	"sigm":   unary(graph.Sigmoid[e], sigmoid),
	"softp":  unary(graph.Softplus[e], softplus),
	"sum":    {3, func(a ...e) e { return graph.Sum(a...) }, func(a ...float64) float64 { return a[0] + a[1] + a[2] }},

	"max":    {2, func(a ...e) e { return graph.Max(a[0], a[1]) }, nil},
	"min":    {2, func(a ...e) e { return graph.Min(a[0], a[1]) }, nil},
	"abs":    {1, func(a ...e) e { return graph.Abs(a[0]) }, nil},
	"switch": {4, func(a ...e) e { return graph.Switch(a[0], a[1:]...) }, func(a ...float64) float64 { return a[1+int(a[0])] }},
	"clip":   {3, func(a ...e) e { return graph.Clip(a[0], a[1], a[2]) }, nil},

	"affine": binary(func(a, b e) e { return graph.Sub(graph.Mul(3, a), graph.Add(graph.Div(b, -4), 1)) },
		func(a, b float64) float64 { return 3*a + b/4 - 1 }),
	"div": binary(func(a, b e) e { return graph.Div(a, graph.Add(graph.Square(b), 1)) },
		func(a, b float64) float64 { return a / (b*b + 1) }),
	"recip": unary(func(a e) e { return graph.Div(2, graph.Mul(-3, graph.Add(graph.Square(a), 1))) },
		func(a float64) float64 { return -2 / (3 * (a*a + 1)) }),
	"divexp": binary(func(a, b e) e { return graph.Div(a, graph.Mul(2, graph.Exp(graph.Tanh(b)))) },
		func(a, b float64) float64 { return a / (2 * math.Exp(math.Tanh(b))) }),
	"powtame": binary(func(a, b e) e { return graph.Pow(graph.Add(graph.Softplus(a), 0.1), graph.Tanh(b)) },
		func(a, b float64) float64 { return math.Pow(softplus(a)+0.1, math.Tanh(b)) }),
	"pow3":     unary(func(a e) e { return graph.Pow(graph.Tanh(a), 3) }, func(a float64) float64 { return math.Pow(math.Tanh(a), 3) }),
	"2pow":     unary(func(a e) e { return graph.Pow(2, graph.Sin(a)) }, func(a float64) float64 { return math.Pow(2, math.Sin(a)) }),
	"expt":     unary(func(a e) e { return graph.Exp(graph.Tanh(a)) }, func(a float64) float64 { return math.Exp(math.Tanh(a)) }),
	"log2":     unary(func(a e) e { return graph.Log(graph.Add(graph.Square(a), 0.5)) }, func(a float64) float64 { return math.Log(a*a + 0.5) }),
	"log3e":    unary(func(a e) e { return graph.Log(graph.Mul(3, graph.Exp(a))) }, func(a float64) float64 { return math.Log(3) + a }),
	"logs":     unary(func(a e) e { return graph.Log(graph.Div(graph.Sigmoid(a), 2)) }, func(a float64) float64 { return -softplus(-a) - math.Ln2 }),
	"log1s":    unary(func(a e) e { return graph.Log1p(graph.Neg(graph.Sigmoid(a))) }, func(a float64) float64 { return -softplus(a) }),
	"log1q":    unary(func(a e) e { return graph.Log1p(graph.Square(a)) }, func(a float64) float64 { return math.Log1p(a * a) }),
	"expm1sin": unary(func(a e) e { return graph.Expm1(graph.Sin(a)) }, func(a float64) float64 { return math.Expm1(math.Sin(a)) }),
	"sqrt1":    unary(func(a e) e { return graph.Sqrt(graph.Add(1, graph.Square(a))) }, func(a float64) float64 { return math.Sqrt(1 + a*a) }),
	"sq": unary(func(a e) e { return graph.Square(graph.Mul(-2, graph.Tanh(a))) },
		func(a float64) float64 { return 4 * math.Pow(math.Tanh(a), 2) }),
	"erf":   unary(graph.Erf[e], math.Erf),
	"ncdf":  unary(graph.NormalCDF[e], distuv.UnitNormal.CDF),
	"lncdf": unary(func(a e) e { return graph.LogNormalCDF(graph.Mul(3, graph.Tanh(a))) }, func(a float64) float64 { return math.Log(distuv.UnitNormal.CDF(3 * math.Tanh(a))) }),
	"nquant": unary(func(a e) e { return graph.NormalQuantile(graph.Sigmoid(graph.Mul(3, graph.Tanh(a)))) },
		func(a float64) float64 { return distuv.UnitNormal.Quantile(sigmoid(3 * math.Tanh(a))) }),
	"lgamma": unary(func(a e) e { return graph.Lgamma(graph.Add(graph.Square(a), 0.1)) },
		func(a float64) float64 { v, _ := math.Lgamma(a*a + 0.1); return v }),
	"lse": binary(func(a, b e) e { return graph.LogSumExp(graph.Tanh(a), b, graph.Neg(b)) },
		func(a, b float64) float64 {
			b = math.Abs(b)
			return b + math.Log1p(math.Exp(-2*b)+math.Exp(math.Tanh(a)-b))
		}),
	"lde": binary(func(a, b e) e { return graph.LogDiffExp(graph.Add(2, graph.Tanh(a)), graph.Tanh(b)) },
		func(a, b float64) float64 { return math.Log(math.Exp(2+math.Tanh(a)) - math.Exp(math.Tanh(b))) }),
	"cdf": binary(func(a, b e) e { return graph.CDF(graph.Gamma(1.5, graph.Exp(graph.Tanh(a))), graph.Exp(graph.Tanh(b))) },
		func(a, b float64) float64 {
			return distuv.Gamma{Alpha: 1.5, Beta: math.Exp(math.Tanh(a))}.CDF(math.Exp(math.Tanh(b)))
		}),
	"lcdf": binary(func(a, b e) e { return graph.LogCDF(graph.Logistic(a, 2), b) }, func(a, b float64) float64 { return -softplus((a - b) / 2) }),
	"lccdf": unary(func(a e) e { return graph.LogCCDF(graph.Exponential(graph.Exp(graph.Tanh(a))), 2) },
		func(a float64) float64 { return -2 * math.Exp(math.Tanh(a)) }),
	"moments": binary(func(a, b e) e {
		return graph.Add(graph.Mean(graph.Normal(a, 2)), graph.Variance(graph.Gamma(graph.Exp(graph.Tanh(b)), 2)))
	}, func(a, b float64) float64 { return a + math.Exp(math.Tanh(b))/4 }),
	"forward": binary(func(a, b e) e {
		return graph.ForwardSum([]e{a, b}, [][]e{{b, a}, {graph.Add(a, 1), b}}, [][]e{{a, {}}, graph.Numbers(-1, math.Inf(-1))})
	}, func(a, b float64) float64 { // over three paths of two states: 0 0, 0 1, 1 0
		x, y, z := a+b+a+a+1, a+b+b, b+a-1+a+1
		most := max(x, y, z)
		return most + math.Log(math.Exp(x-most)+math.Exp(y-most)+math.Exp(z-most))
	}),
	"tan": unary(func(a e) e { return graph.Tan(graph.Tanh(a)) }, func(a float64) float64 { return math.Tan(math.Tanh(a)) }),
}

// values are the operations that values are made of.
var values = []string{"add", "sub", "mul", "neg", "sum", "sin", "cos", "tanh", "sigm", "softp", "affine", "div", "recip", "divexp", "powtame",
	"pow3", "2pow", "expt", "log2", "log3e", "logs", "log1s", "log1q", "expm1sin", "sqrt1", "sq", "tan", "forward", "erf", "ncdf", "lncdf", "nquant",
	"lgamma", "lse", "lde", "cdf", "lcdf", "lccdf", "moments"}

func sigmoid(x float64) float64 {
	if x < 0 {
		return math.Exp(x) / (1 + math.Exp(x))
	}
	return 1 / (1 + math.Exp(-x))
}

func softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
