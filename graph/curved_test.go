package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
)

// latents are what the guards of TestGuardForms compare: two real ones, two positive ones, two in intervals.
type latents struct{ x, y, a, b, u, v graph.Expr }

func sampleLatents(m *graph.Model) latents {
	return latents{
		m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(1, 2)),
		m.Sample("a", graph.Gamma(2, 1)), m.Sample("b", graph.LogNormal(0, 1)),
		m.Sample("u", graph.Uniform(0, 1)), m.Sample("v", graph.Uniform(-1, 3)),
	}
}

// Every form of guard holds where what it says is true, in as many surfaces as
// it needs, of which so many are curves.
func TestGuardForms(t *testing.T) {
	step := func(x graph.Expr) graph.Expr { return graph.If(graph.Greater(x, 0), 1, 0) }
	bit := func(holds bool) float64 {
		if holds {
			return 1
		}
		return 0
	}
	for _, c := range []struct {
		name           string
		planes, curves int
		guard          func(l latents) graph.Guard
		holds          func(x, y, a, b, u, v float64) bool
	}{
		{"positive against positive", 1, 0, func(l latents) graph.Guard { return graph.Greater(l.a, l.b) },
			func(x, y, a, b, u, v float64) bool { return a > b }},
		{"ratio of multiples", 1, 0, func(l latents) graph.Guard { return graph.Greater(graph.Mul(l.a, 3), graph.Mul(l.b, 0.7)) },
			func(x, y, a, b, u, v float64) bool { return 3*a > 0.7*b }},
		{"product of positives", 1, 0, func(l latents) graph.Guard { return graph.Greater(graph.Mul(l.a, l.b), 1.5) },
			func(x, y, a, b, u, v float64) bool { return a*b > 1.5 }},
		{"powers and roots", 1, 0, func(l latents) graph.Guard {
			return graph.Less(graph.Pow(l.a, 3), graph.Div(graph.Mul(2, graph.Sqrt(l.b)), l.a))
		}, func(x, y, a, b, u, v float64) bool { return a*a*a < 2*math.Sqrt(b)/a }},
		{"negative threshold of positives", 0, 0, func(l latents) graph.Guard { return graph.Greater(graph.Mul(l.a, l.b), -1) },
			func(x, y, a, b, u, v float64) bool { return true }},
		{"square", 2, 0, func(l latents) graph.Guard { return graph.Greater(graph.Square(l.x), 0.5) },
			func(x, y, a, b, u, v float64) bool { return x*x > 0.5 }},
		{"square below", 2, 0, func(l latents) graph.Guard { return graph.Less(graph.Square(graph.Sub(l.x, l.y)), 0.5) },
			func(x, y, a, b, u, v float64) bool { return (x-y)*(x-y) < 0.5 }},
		{"square above less than nothing", 0, 0, func(l latents) graph.Guard { return graph.Greater(graph.Square(l.x), -1) },
			func(x, y, a, b, u, v float64) bool { return true }},
		{"sign of a product", 2, 0, func(l latents) graph.Guard { return graph.Less(graph.Mul(l.x, l.y), 0) },
			func(x, y, a, b, u, v float64) bool { return x*y < 0 }},
		{"sign of a product with a positive", 1, 0, func(l latents) graph.Guard { return graph.Less(graph.Mul(l.a, l.y), 0) },
			func(x, y, a, b, u, v float64) bool { return a*y < 0 }},
		{"ratio", 2, 0, func(l latents) graph.Guard { return graph.Greater(graph.Div(l.x, l.y), 0.3) },
			func(x, y, a, b, u, v float64) bool { return x/y > 0.3 }},
		{"reciprocal", 2, 0, func(l latents) graph.Guard { return graph.Less(graph.Div(1, l.y), 0.8) },
			func(x, y, a, b, u, v float64) bool { return 1/y < 0.8 }},
		{"sigmoid of a sum", 1, 0, func(l latents) graph.Guard { return graph.Greater(graph.Sigmoid(graph.Add(l.x, l.y)), 0.8) },
			func(x, y, a, b, u, v float64) bool { return 1/(1+math.Exp(-x-y)) > 0.8 }},
		{"sigmoid above one", 0, 0, func(l latents) graph.Guard { return graph.Greater(graph.Sigmoid(graph.Add(l.x, l.y)), 1.5) },
			func(x, y, a, b, u, v float64) bool { return false }},
		{"tanh against tanh", 1, 0, func(l latents) graph.Guard { return graph.Greater(graph.Tanh(l.x), graph.Tanh(l.y)) },
			func(x, y, a, b, u, v float64) bool { return x > y }},
		{"logarithm", 1, 0, func(l latents) graph.Guard { return graph.Greater(graph.Log(graph.Add(l.y, 5)), 1.7) },
			func(x, y, a, b, u, v float64) bool { return math.Log(y+5) > 1.7 }},
		{"uniform against uniform", 1, 1, func(l latents) graph.Guard { return graph.Greater(l.u, l.v) },
			func(x, y, a, b, u, v float64) bool { return u > v }},
		{"sum of uniforms", 1, 1, func(l latents) graph.Guard { return graph.Greater(graph.Add(l.u, l.v), 1.2) },
			func(x, y, a, b, u, v float64) bool { return u+v > 1.2 }},
		{"positive against real", 1, 1, func(l latents) graph.Guard { return graph.Greater(graph.Add(l.a, l.x), 2) },
			func(x, y, a, b, u, v float64) bool { return a+x > 2 }},
		{"product above a number", 1, 1, func(l latents) graph.Guard { return graph.Greater(graph.Mul(l.x, l.y), 0.3) },
			func(x, y, a, b, u, v float64) bool { return x*y > 0.3 }},
		{"threshold with a scale", 1, 1, func(l latents) graph.Guard { return graph.Greater(graph.Add(l.x, graph.Mul(l.a, l.y)), 0.4) },
			func(x, y, a, b, u, v float64) bool { return x+a*y > 0.4 }},
		{"disc", 1, 1, func(l latents) graph.Guard {
			return graph.Less(graph.Add(graph.Square(l.x), graph.Square(graph.Sub(l.y, 1))), 1.1)
		}, func(x, y, a, b, u, v float64) bool { return x*x+(y-1)*(y-1) < 1.1 }},
		{"no closed form", 1, 1, func(l latents) graph.Guard {
			return graph.Greater(graph.Add(graph.Add(l.x, graph.Exp(l.x)), l.y), 1.3)
		}, func(x, y, a, b, u, v float64) bool { return x+math.Exp(x)+y > 1.3 }},
		{"polynomial", 2, 0, func(l latents) graph.Guard { return graph.Greater(graph.Add(graph.Square(l.x), graph.Mul(2, l.x)), 1) },
			func(x, y, a, b, u, v float64) bool { return x*x+2*x > 1 }},
		{"cube", 1, 1, func(l latents) graph.Guard { return graph.Less(graph.Pow(l.x, 3), graph.Mul(l.a, l.y)) },
			func(x, y, a, b, u, v float64) bool { return x*x*x < a*y }},
		{"roots of a polynomial, with a line that meets it", 2, 0, func(l latents) graph.Guard {
			return graph.Greater(graph.Add(graph.Square(l.x), graph.Mul(-3, l.x)), -2)
		}, func(x, y, a, b, u, v float64) bool { return (x-1)*(x-2) > 0 }},
		{"difference of squares", 2, 0, func(l latents) graph.Guard { return graph.Greater(graph.Square(l.x), graph.Square(l.y)) },
			func(x, y, a, b, u, v float64) bool { return x*x > y*y }},
		{"product of lines, expanded", 2, 0, func(l latents) graph.Guard {
			return graph.Less(graph.Sum(graph.Mul(l.x, l.y), graph.Mul(-0.1, l.x), graph.Mul(-0.3, l.y)), -0.03)
		}, func(x, y, a, b, u, v float64) bool { return (x-0.3)*(y-0.1) < 0 }},
		{"quadratic form of two lines", 2, 0, func(l latents) graph.Guard {
			xy := graph.Mul(l.x, l.y)
			return graph.Greater(graph.Sum(graph.Square(l.x), graph.Mul(-3, xy), graph.Mul(2, graph.Square(l.y)), graph.Neg(l.x), graph.Mul(2, l.y)), 0)
		}, func(x, y, a, b, u, v float64) bool { return (x-y-1)*(x-2*y) > 0 }},
		{"sum of squares above 0", 1, 1, func(l latents) graph.Guard {
			return graph.Greater(graph.Sum(graph.Square(l.x), graph.Mul(l.x, l.y), graph.Square(l.y)), 1)
		}, func(x, y, a, b, u, v float64) bool { return x*x+x*y+y*y > 1 }},
		{"polynomial of a positive", 2, 0, func(l latents) graph.Guard {
			return graph.Greater(graph.Add(graph.Square(l.a), graph.Mul(-3, l.a)), -2)
		}, func(x, y, a, b, u, v float64) bool { return (a-1)*(a-2) > 0 }},
		{"one latent without a closed form", 1, 0, func(l latents) graph.Guard { return graph.Less(graph.Add(l.x, graph.Exp(l.x)), 1.5) },
			func(x, y, a, b, u, v float64) bool { return x+math.Exp(x) < 1.5 }},
		{"logarithm below", 2, 0, func(l latents) graph.Guard { return graph.Less(graph.Log(l.x), 0.2) },
			func(x, y, a, b, u, v float64) bool { return math.Log(x) < 0.2 }},
		{"logarithms", 2, 0, func(l latents) graph.Guard { return graph.Greater(graph.Log(l.x), graph.Log(l.y)) },
			func(x, y, a, b, u, v float64) bool { return math.Log(x) > math.Log(y) }},
		{"logarithm below a latent", 2, 1, func(l latents) graph.Guard { return graph.Less(graph.Log(l.x), l.y) },
			func(x, y, a, b, u, v float64) bool { return math.Log(x) < y }},
		{"root", 2, 1, func(l latents) graph.Guard { return graph.Greater(graph.Add(graph.Sqrt(l.x), l.y), 0.5) },
			func(x, y, a, b, u, v float64) bool { return math.Sqrt(x)+y > 0.5 }},
		{"power that is not whole", 2, 1, func(l latents) graph.Guard { return graph.Less(graph.Pow(l.x, 1.7), l.y) },
			func(x, y, a, b, u, v float64) bool { return math.Pow(x, 1.7) < y }},
		{"power of a latent", 2, 1, func(l latents) graph.Guard { return graph.Less(graph.Pow(l.x, l.y), 0.7) },
			func(x, y, a, b, u, v float64) bool { return math.Pow(x, y) < 0.7 || x < 0 && false }},
		{"logarithm of 1 and more", 2, 1, func(l latents) graph.Guard { return graph.Greater(l.y, graph.Log1p(graph.Mul(2, l.x))) },
			func(x, y, a, b, u, v float64) bool { return y > math.Log1p(2*x) }},
		{"logarithm of a sum", 2, 2, func(l latents) graph.Guard { return graph.Less(graph.Log(graph.Add(l.x, l.a)), l.y) },
			func(x, y, a, b, u, v float64) bool { return math.Log(x+a) < y }},
		{"logarithm of a root", 3, 1, func(l latents) graph.Guard {
			return graph.Less(graph.Log(graph.Sub(graph.Sqrt(l.x), 0.5)), l.y)
		}, func(x, y, a, b, u, v float64) bool { return math.Log(math.Sqrt(x)-0.5) < y }},
		{"quotient by a root", 2, 1, func(l latents) graph.Guard { return graph.Greater(graph.Div(l.y, graph.Sqrt(l.x)), 0.5) },
			func(x, y, a, b, u, v float64) bool { return y/math.Sqrt(x) > 0.5 }},
		{"quantile of a real", 3, 1, func(l latents) graph.Guard { return graph.Less(graph.NormalQuantile(l.x), l.y) },
			func(x, y, a, b, u, v float64) bool { return math.Sqrt2*math.Erfinv(2*x-1) < y }},
		{"quantile above a number", 2, 0, func(l latents) graph.Guard { return graph.Greater(graph.NormalQuantile(l.x), -0.5) },
			func(x, y, a, b, u, v float64) bool { return math.Sqrt2*math.Erfinv(2*x-1) > -0.5 }},
		{"logarithm of a gamma function", 2, 1, func(l latents) graph.Guard { return graph.Greater(graph.Lgamma(l.x), l.y) },
			func(x, y, a, b, u, v float64) bool { f, _ := math.Lgamma(x); return x > 0 && f > y }},
		{"branch", 3, 0, func(l latents) graph.Guard {
			return graph.Greater(graph.If(graph.Greater(l.x, 0), l.y, graph.Mul(2, l.y)), 1)
		}, func(x, y, a, b, u, v float64) bool { return x > 0 && y > 1 || x <= 0 && 2*y > 1 }},
		{"step network", 2 + 4, 0, func(l latents) graph.Guard {
			h1, h2 := step(graph.Add(l.x, 0.3)), step(graph.Sub(l.y, 0.5))
			return graph.Greater(graph.Add(graph.Mul(l.x, h1), graph.Mul(l.y, h2)), 0.7)
		}, func(x, y, a, b, u, v float64) bool {
			return x*bit(x+0.3 > 0)+y*bit(y-0.5 > 0) > 0.7
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := graph.NewModel()
			l := sampleLatents(m)
			g := c.guard(l)
			m.Factor(graph.If(g, 1, 0))
			d, err := m.Compile()
			require.NoError(t, err)
			arr := d.Arrangement()
			curves := 0
			for k := range arr.Len() {
				if arr.Curve(k) != nil {
					curves++
				}
			}
			require.LessOrEqual(t, arr.Len(), c.planes)
			require.Equal(t, c.curves, curves)
			rng := rand.New(rand.NewPCG(1, 2))
			count := 0
			for range 2000 {
				z := make([]float64, d.Dim())
				for i := range z {
					z[i] = 1.5 * rng.NormFloat64()
				}
				v := d.Constrain(z)
				want := c.holds(v[0], v[1], v[2], v[3], v[4], v[5])
				require.Equal(t, want, g.Holds(arr.Signs(z)), "%v", v)
				count += int(bit(want))
			}
			if c.planes > 0 {
				require.Greater(t, count, 50)
				require.Less(t, count, 1950)
			}
		})
	}
}

// Forms with one zero set are one guard.
func TestCoincidentForms(t *testing.T) {
	for _, c := range []struct {
		name string
		all  func(l latents) []graph.Guard
	}{
		{"positive", func(l latents) []graph.Guard {
			return []graph.Guard{
				graph.Greater(l.a, l.b), graph.Greater(graph.Log(l.a), graph.Log(l.b)), graph.Greater(graph.Neg(l.b), graph.Neg(l.a)),
				graph.Less(l.b, l.a), graph.Greater(graph.Div(l.a, l.b), 1), graph.Greater(graph.Sub(l.a, l.b), 0),
				graph.Greater(graph.Square(l.a), graph.Square(l.b)), graph.Not(graph.Less(l.a, l.b)),
			}
		}},
		{"real", func(l latents) []graph.Guard {
			return []graph.Guard{
				graph.Greater(l.x, l.y), graph.Greater(graph.Exp(l.x), graph.Exp(l.y)), graph.Less(graph.Tanh(graph.Neg(l.x)), graph.Tanh(graph.Neg(l.y))),
				graph.Greater(graph.Mul(graph.Sub(l.x, l.y), l.a), 0), graph.Greater(graph.Mul(3, l.x), graph.Mul(3, l.y)),
			}
		}},
		{"curved", func(l latents) []graph.Guard {
			return []graph.Guard{
				graph.Greater(graph.Mul(l.x, l.y), 0.25), graph.Greater(graph.Mul(4, graph.Mul(l.y, l.x)), 1), graph.Less(0.25, graph.Mul(l.x, l.y)),
				graph.Not(graph.Less(graph.Mul(l.x, l.y), 0.25)), graph.Greater(graph.Tanh(graph.Sub(graph.Mul(l.x, l.y), 0.25)), 0),
			}
		}},
		{"uniform", func(l latents) []graph.Guard {
			return []graph.Guard{graph.Greater(l.v, l.u), graph.Less(graph.Mul(2, l.u), graph.Mul(2, l.v)), graph.Greater(graph.Sub(l.v, l.u), 0)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := graph.NewModel()
			guards := c.all(sampleLatents(m))
			for _, g := range guards {
				m.Factor(graph.If(g, 1, 0))
			}
			d, err := m.Compile()
			require.NoError(t, err)
			require.Equal(t, 1, d.Arrangement().Len())
			for _, g := range guards {
				side, ok := g.Side()
				require.True(t, ok)
				first, _ := guards[0].Side()
				require.Equal(t, first, side)
			}
		})
	}
}

// Kinks are what they say, of numbers too, and with branches within.
func TestKinkValues(t *testing.T) {
	require.Equal(t, 2.0, must(graph.Max(2, 1).IsConst()))
	require.Equal(t, -3.0, must(graph.Clip(-5, -3, 3).IsConst()))
	m := graph.NewModel()
	l := sampleLatents(m)
	jumping := graph.If(graph.Greater(l.x, 0.3), l.y, graph.Mul(2, l.a))
	for k, x := range []graph.Expr{
		graph.Max(l.x, l.y), graph.Min(l.a, l.b), graph.Abs(graph.Mul(l.x, l.y)), graph.Clip(l.x, -0.5, 0.5), graph.Max(l.u, l.v),
		graph.Min(jumping, l.b), graph.Max(graph.Abs(jumping), graph.Min(l.x, l.y)),
	} {
		m.Deterministic("d"+string(rune('0'+k)), x)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		z := make([]float64, d.Dim())
		for i := range z {
			z[i] = 1.5 * rng.NormFloat64()
		}
		c := d.Constrain(z)
		x, y, a, b, u, v := c[0], c[1], c[2], c[3], c[4], c[5]
		j := 2 * a
		if x > 0.3 {
			j = y
		}
		for k, want := range []float64{max(x, y), min(a, b), math.Abs(x * y), min(max(x, -0.5), 0.5), max(u, v), min(j, b), max(math.Abs(j), min(x, y))} {
			require.InDelta(t, want, d.DeterministicAt(nil, z)[k], 1e-12, "d%d at %v", k, c)
		}
	}
}

func must(x float64, ok bool) float64 {
	if !ok {
		panic("not a number")
	}
	return x
}

// Guards are written with the values of latents, curved ones too.
func TestCurvedGuardsAsWritten(t *testing.T) {
	m := graph.NewModel()
	l := sampleLatents(m)
	m.Factor(graph.If(graph.Greater(l.v, graph.Mul(2, l.u)), 1, 0))
	m.Factor(graph.If(graph.Less(graph.Add(l.x, graph.Mul(l.a, l.y)), 0.4), 1, 0))
	m.Factor(graph.If(graph.Greater(graph.Add(l.a, l.x), 2), 1, 0))
	d, err := m.Compile()
	require.NoError(t, err)
	var texts []string
	for _, g := range d.Guards() {
		texts = append(texts, g.String())
	}
	require.Equal(t, []string{"v - 2·u > 0", "x + y·a < 0.4", "x + a > 2"}, texts)
}

// Curves with a piece in common are refused in one term, for their guards would have to
// flip together there; those that cross are not, nor any in terms of their own.
func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		name   string
		guards func(l latents) []graph.Guard
		says   []string
	}{
		{"one curve in two forms", func(l latents) []graph.Guard {
			return []graph.Guard{
				graph.Greater(graph.Mul(l.x, l.y), 1), graph.Greater(graph.Mul(graph.Square(l.x), graph.Square(l.y)), 1),
			}
		}, []string{"square(x)·square(y) = 1", "x·y = 1", "have a part in common"}},
		{"one curve with a number that is rounded in two ways", func(l latents) []graph.Guard {
			one := 0.1
			return []graph.Guard{graph.Greater(graph.Mul(l.x, l.y), 0.3), graph.Greater(graph.Mul(l.x, l.y), one+0.2)}
		}, []string{"x·y = 0.3", "differ by rounding", "compute the numbers once"}},
		{"a line that no latent is solved for", func(l latents) []graph.Guard {
			rise := graph.Sub(graph.Exp(l.x), math.E) // 0 at x = 1, as x − 1 is
			return []graph.Guard{graph.Greater(graph.Add(graph.Mul(l.y, rise), l.x), 1)}
		}, []string{"x = 1 is a part of", "cannot be solved for x: it occurs more than once", "each by itself"}},
		{"a product of a curve and a line, expanded, and the line", func(l latents) []graph.Guard { // (x − 1)·(eˣ + y − 2)
			return []graph.Guard{
				graph.Greater(graph.Sum(graph.Mul(l.x, graph.Exp(l.x)), graph.Mul(l.x, l.y), graph.Mul(-2, l.x), graph.Neg(graph.Exp(l.x)), graph.Neg(l.y)), -2),
				graph.Greater(l.x, 1),
			}
		}, nil},
		{"curves that cross", func(l latents) []graph.Guard {
			return []graph.Guard{
				graph.Greater(graph.Mul(l.x, l.y), 1), graph.Greater(graph.Mul(l.a, l.y), 1), graph.Greater(l.x, l.y),
				graph.Greater(l.x, graph.Exp(l.y)), graph.Greater(graph.Mul(l.x, l.y), 2),
			}
		}, nil},
	} {
		compile := func(together bool) error {
			m := graph.NewModel()
			guards := c.guards(sampleLatents(m))
			if together {
				m.Factor(graph.If(graph.And(guards...), 1, 0))
			}
			for _, g := range guards {
				m.Factor(graph.If(g, 1, 0))
			}
			_, err := m.Compile()
			return err
		}
		if err := compile(false); c.says == nil || len(c.guards(sampleLatents(graph.NewModel()))) > 1 {
			require.NoError(t, err, c.name)
		}
		err := compile(true)
		if c.says == nil {
			require.NoError(t, err, c.name)
			continue
		}
		require.Error(t, err, c.name)
		t.Log(err)
		for _, s := range append(c.says, "curved_test.go") {
			require.ErrorContains(t, err, s, c.name)
		}
	}
}
