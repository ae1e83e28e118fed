package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// fiveLatents are what the guards of TestGuardsAreThoseOfALoop compare: three real latents, a count up to 2 and a switch.
type fiveLatents struct{ a, b, y, k, h graph.Expr }

func logit(p graph.Expr) graph.Expr { return graph.Log(graph.Div(p, graph.Sub(1, p))) }

// A guard holds where it does in a loop of float64, also where it compares what is infinite or has no value: for some values of
// discrete latents, beyond the edge of a function's domain, and where what has no value cancels. So the log density is that loop's.
func TestGuardsAreThoseOfALoop(t *testing.T) {
	for _, c := range []struct {
		name  string
		guard func(l fiveLatents) graph.Guard
		holds func(a, b, y, k, h float64) bool
	}{
		{"ab > log k", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Mul(l.a, l.b), graph.Log(l.k)) },
			func(a, b, y, k, h float64) bool { return a*b > math.Log(k) }},
		{"exp ab > k", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Exp(graph.Mul(l.a, l.b)), l.k) },
			func(a, b, y, k, h float64) bool { return math.Exp(a*b) > k }},
		{"ab < log k", func(l fiveLatents) graph.Guard { return graph.Less(graph.Mul(l.a, l.b), graph.Log(l.k)) },
			func(a, b, y, k, h float64) bool { return a*b < math.Log(k) }},
		{"not ab > log k-1", func(l fiveLatents) graph.Guard {
			return graph.Not(graph.Greater(graph.Mul(l.a, l.b), graph.Log(graph.Sub(l.k, 1))))
		},
			func(a, b, y, k, h float64) bool { return !(a*b > math.Log(k-1)) }},
		{"a > log k", func(l fiveLatents) graph.Guard { return graph.Greater(l.a, graph.Log(l.k)) },
			func(a, b, y, k, h float64) bool { return a > math.Log(k) }},
		{"a + log k > 0", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Add(l.a, graph.Log(l.k)), 0) },
			func(a, b, y, k, h float64) bool { return a+math.Log(k) > 0 }},
		{"a > 1/k", func(l fiveLatents) graph.Guard { return graph.Greater(l.a, graph.Div(1, l.k)) },
			func(a, b, y, k, h float64) bool { return a > 1/k }},
		{"a > -1/k", func(l fiveLatents) graph.Guard { return graph.Greater(l.a, graph.Div(-1, l.k)) },
			func(a, b, y, k, h float64) bool { return a > -1/k }},
		{"a² > 1/k", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Square(l.a), graph.Div(1, l.k)) },
			func(a, b, y, k, h float64) bool { return a*a > 1/k }},
		{"a² < 1/k", func(l fiveLatents) graph.Guard { return graph.Less(graph.Square(l.a), graph.Div(1, l.k)) },
			func(a, b, y, k, h float64) bool { return a*a < 1/k }},
		{"a/k > 1", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Div(l.a, l.k), 1) },
			func(a, b, y, k, h float64) bool { return a/k > 1 }},
		{"ab/k > 1", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Div(graph.Mul(l.a, l.b), l.k), 1) },
			func(a, b, y, k, h float64) bool { return a*b/k > 1 }},
		{"b/(k-1) > a", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Div(l.b, graph.Sub(l.k, 1)), l.a) },
			func(a, b, y, k, h float64) bool { return b/(k-1) > a }},
		{"k > 1/h", func(l fiveLatents) graph.Guard { return graph.Greater(l.k, graph.Div(1, l.h)) },
			func(a, b, y, k, h float64) bool { return k > 1/h }},
		{"1/k > 1/h", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Div(1, l.k), graph.Div(1, l.h)) },
			func(a, b, y, k, h float64) bool { return 1/k > 1/h }},
		{"log k > log h", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Log(l.k), graph.Log(l.h)) },
			func(a, b, y, k, h float64) bool { return math.Log(k) > math.Log(h) }},
		{"a/k > b/h", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Div(l.a, l.k), graph.Div(l.b, l.h)) },
			func(a, b, y, k, h float64) bool { return a/k > b/h }},
		{"h·log k > a", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Mul(l.h, graph.Log(l.k)), l.a) },
			func(a, b, y, k, h float64) bool { return h*math.Log(k) > a }},
		{"a·log k > b", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Mul(l.a, graph.Log(l.k)), l.b) },
			func(a, b, y, k, h float64) bool { return a*math.Log(k) > b }},
		{"sqrt y + 1 > sqrt y", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Add(graph.Sqrt(l.y), 1), graph.Sqrt(l.y)) },
			func(a, b, y, k, h float64) bool { return math.Sqrt(y)+1 > math.Sqrt(y) }},
		{"sqrt y + a > sqrt y", func(l fiveLatents) graph.Guard {
			return graph.Greater(graph.Add(graph.Sqrt(l.y), l.a), graph.Sqrt(l.y))
		},
			func(a, b, y, k, h float64) bool { return math.Sqrt(y)+a > math.Sqrt(y) }},
		{"log y + a > log y + b", func(l fiveLatents) graph.Guard {
			return graph.Greater(graph.Add(graph.Log(l.y), l.a), graph.Add(l.b, graph.Log(l.y)))
		},
			func(a, b, y, k, h float64) bool { return math.Log(y)+a > math.Log(y)+b }},
		{"sqrt y + 1 > If(h, sqrt y, 0)", func(l fiveLatents) graph.Guard {
			return graph.Greater(graph.Add(graph.Sqrt(l.y), 1), graph.If(graph.Equal(l.h, 1), graph.Sqrt(l.y), 0))
		},
			func(a, b, y, k, h float64) bool {
				x := 0.0
				if h == 1 {
					x = math.Sqrt(y)
				}
				return math.Sqrt(y)+1 > x
			}},
		{"If(h, sqrt y, a)+1 > If(h, sqrt y, a)", func(l fiveLatents) graph.Guard {
			x := graph.If(graph.Equal(l.h, 1), graph.Sqrt(l.y), l.a)
			return graph.Greater(graph.Add(x, 1), x)
		},
			func(a, b, y, k, h float64) bool { return !(h == 1 && y < 0) }},
		{"not sqrt y + 1 > sqrt y", func(l fiveLatents) graph.Guard {
			return graph.Not(graph.Greater(graph.Add(graph.Sqrt(l.y), 1), graph.Sqrt(l.y)))
		},
			func(a, b, y, k, h float64) bool { return !(math.Sqrt(y)+1 > math.Sqrt(y)) }},
		{"pow(a,2.5) > 1", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Pow(l.a, 2.5), 1) },
			func(a, b, y, k, h float64) bool { return math.Pow(a, 2.5) > 1 }},
		{"b/pow(a,2.5) > 1.05", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Div(l.b, graph.Pow(l.a, 2.5)), 1.05) },
			func(a, b, y, k, h float64) bool { return b/math.Pow(a, 2.5) > 1.05 }},
		{"1.05 < b·pow(a,-2.5)", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Mul(l.b, graph.Pow(l.a, -2.5)), 1.05) },
			func(a, b, y, k, h float64) bool { return b*math.Pow(a, -2.5) > 1.05 }},
		{"pow(a,-2.5) > 1.05", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Pow(l.a, -2.5), 1.05) },
			func(a, b, y, k, h float64) bool { return math.Pow(a, -2.5) > 1.05 }},
		{"pow(a,-2.5) < 1.05", func(l fiveLatents) graph.Guard { return graph.Less(graph.Pow(l.a, -2.5), 1.05) },
			func(a, b, y, k, h float64) bool { return math.Pow(a, -2.5) < 1.05 }},
		{"2/pow(a,2.5) > 1.05", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Div(2, graph.Pow(l.a, 2.5)), 1.05) },
			func(a, b, y, k, h float64) bool { return 2/math.Pow(a, 2.5) > 1.05 }},
		{"log b − logit b + .75 > 0", func(l fiveLatents) graph.Guard {
			return graph.Greater(graph.Add(graph.Sub(graph.Log(l.b), logit(l.b)), 0.75), 0)
		},
			func(a, b, y, k, h float64) bool {
				return math.Log(b)-math.Log(b/(1-b))+.75 > 0
			}},
		{"log b − logit b + a > 0", func(l fiveLatents) graph.Guard {
			return graph.Greater(graph.Add(graph.Sub(graph.Log(l.b), logit(l.b)), l.a), 0)
		},
			func(a, b, y, k, h float64) bool {
				return math.Log(b)-math.Log(b/(1-b))+a > 0
			}},
		{"logit b > .75", func(l fiveLatents) graph.Guard { return graph.Greater(logit(l.b), 0.75) },
			func(a, b, y, k, h float64) bool { return math.Log(b/(1-b)) > .75 }},
		{"logit b < .75", func(l fiveLatents) graph.Guard { return graph.Less(logit(l.b), 0.75) },
			func(a, b, y, k, h float64) bool { return math.Log(b/(1-b)) < .75 }},
		{"(b + 1)·log b > a", func(l fiveLatents) graph.Guard {
			return graph.Greater(graph.Mul(graph.Add(l.b, 1), graph.Log(l.b)), l.a)
		},
			func(a, b, y, k, h float64) bool { return (b+1)*math.Log(b) > a }},
		{"(2·b + 1)²/√(2·b + 1) > a·(2·b + 1)", func(l fiveLatents) graph.Guard {
			u := graph.Add(graph.Mul(2, l.b), 1)
			return graph.Greater(graph.Pow(u, 1.5), graph.Mul(l.a, u))
		}, func(a, b, y, k, h float64) bool { return math.Pow(2*b+1, 1.5) > a*(2*b+1) }},
		{"a·sqrt(k-1) > b", func(l fiveLatents) graph.Guard {
			return graph.Greater(graph.Mul(l.a, graph.Sqrt(graph.Sub(l.k, 1))), l.b)
		},
			func(a, b, y, k, h float64) bool { return a*math.Sqrt(k-1) > b }},
		{"pow(a,k) > 0.5", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Pow(l.a, l.k), 0.5) },
			func(a, b, y, k, h float64) bool { return math.Pow(a, k) > 0.5 }},
		{"pow(k,a) > 0.5", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Pow(l.k, l.a), 0.5) },
			func(a, b, y, k, h float64) bool { return math.Pow(k, a) > 0.5 }},
		{"pow(a,k-1) > b", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Pow(l.a, graph.Sub(l.k, 1)), l.b) },
			func(a, b, y, k, h float64) bool { return math.Pow(a, k-1) > b }},
		{"lgamma(k) > a", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Lgamma(l.k), l.a) },
			func(a, b, y, k, h float64) bool { return lgamma(k) > a }},
		{"Equal log k, log h", func(l fiveLatents) graph.Guard { return graph.Equal(graph.Log(l.k), graph.Log(l.h)) },
			func(a, b, y, k, h float64) bool { return math.Log(k) == math.Log(h) }},
		{"Equal k/h, 1", func(l fiveLatents) graph.Guard { return graph.Equal(graph.Div(l.k, l.h), 1) },
			func(a, b, y, k, h float64) bool { return k/h == 1 }},
		{"k/h > 1", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Div(l.k, l.h), 1) },
			func(a, b, y, k, h float64) bool { return k/h > 1 }},
		{"a > k·Inf-ish", func(l fiveLatents) graph.Guard { return graph.Greater(l.a, graph.Mul(l.k, 1e308)) },
			func(a, b, y, k, h float64) bool { return a > k*1e308 }},
		{"exp(a) > k-1", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Exp(l.a), graph.Sub(l.k, 1)) },
			func(a, b, y, k, h float64) bool { return math.Exp(a) > k-1 }},
		{"a > log(k-1)", func(l fiveLatents) graph.Guard { return graph.Greater(l.a, graph.Log(graph.Sub(l.k, 1))) },
			func(a, b, y, k, h float64) bool { return a > math.Log(k-1) }},
		{"(a+1/k)·b > 0", func(l fiveLatents) graph.Guard {
			return graph.Greater(graph.Mul(graph.Add(l.a, graph.Div(1, l.k)), l.b), 0)
		},
			func(a, b, y, k, h float64) bool { return (a+1/k)*b > 0 }},
		{"b/(a+1/k) > 0.5", func(l fiveLatents) graph.Guard {
			return graph.Greater(graph.Div(l.b, graph.Add(l.a, graph.Div(1, l.k))), 0.5)
		},
			func(a, b, y, k, h float64) bool { return b/(a+1/k) > 0.5 }},
		{"exp(a/k) > 0.5", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Exp(graph.Div(l.a, l.k)), 0.5) },
			func(a, b, y, k, h float64) bool { return math.Exp(a/k) > 0.5 }},
		{"sigmoid(a/k) > 0.7", func(l fiveLatents) graph.Guard { return graph.Greater(graph.Sigmoid(graph.Div(l.a, l.k)), 0.7) },
			func(a, b, y, k, h float64) bool { return 1/(1+math.Exp(-a/k)) > 0.7 }},
		{"exp(-a²/k) > 0.5", func(l fiveLatents) graph.Guard {
			return graph.Greater(graph.Exp(graph.Neg(graph.Div(graph.Square(l.a), l.k))), 0.5)
		},
			func(a, b, y, k, h float64) bool { return math.Exp(-a*a/k) > 0.5 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := graph.NewModel()
			l := fiveLatents{
				m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1)),
				m.Sample("k", graph.Binomial(2, 0.5)), m.Sample("h", graph.Bernoulli(0.5)),
			}
			g := c.guard(l)
			m.Factor(graph.If(g, 1, 0))
			d := mustCompile(t, m)
			rng := rand.New(rand.NewPCG(1, 2))
			const n = 600
			count := 0
			for range n {
				z, want := make([]float64, d.Dim()), 0.0
				for i := range z {
					z[i] = 1.5 * rng.NormFloat64()
					want += logNormalPDF(z[i], 0, 1)
				}
				v := d.Constrain(z)
				holds := c.holds(v[0], v[1], v[2], v[3], v[4])
				require.Equal(t, holds, g.Holds(d.Arrangement().Signs(z)), "%v", v)
				if holds {
					count++
					want++
				}
				close12(t, want, logProb(t, d, z...), v)
			}
			require.Greater(t, count, n/50)
			require.Less(t, count, n-n/50)
		})
	}
}

// A number that is NaN whatever the latents are is an error of the program.
func TestNaNInGuard(t *testing.T) {
	m := graph.NewModel()
	k := m.Sample("k", graph.Binomial(2, 0.5))
	m.Factor(graph.If(graph.Greater(graph.Div(math.NaN(), k), 1), 1, 0))
	_, err := m.Compile()
	require.ErrorContains(t, err, "the number NaN is not finite")
	require.ErrorContains(t, err, "infinite_test.go")
}
