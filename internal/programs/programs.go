// Package programs writes random programs for tests: guards on one latent and on
// several, that share latents, nest, coincide, and decide one another's sides.
//
//	rapid draws the shape ─▶ If(a·z + c > 0, sin(If(…)), z²) ─▶ *graph.Density
package programs

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
)

// Main is the TestMain of a package: rapid's programs are the same at each run, unless
// -rapid.seed varies them.
func Main(m *testing.M) {
	flag.Parse()
	fixed := true
	flag.Visit(func(f *flag.Flag) { fixed = fixed && f.Name != "rapid.seed" })
	if fixed {
		if err := flag.Set("rapid.seed", "1"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// Random is a random program with guards, compiled, and a source of numbers that
// go with it. Its latents are up to five, and half of those after the first have
// a prior that depends on the one before.
func Random(t *rapid.T) (*graph.Density, *rand.Rand) {
	g := &generator{t: t, rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "numbers"), 0)), m: graph.NewModel()}
	for i := range rapid.IntRange(1, 5).Draw(t, "latents") {
		mean := graph.Add(0, 0)
		if i > 0 && g.pick(2, "prior") == 1 {
			mean = graph.If(g.guard(0), 1, graph.Mul(0.5, g.z[i-1]))
		}
		g.z = append(g.z, g.m.Sample(fmt.Sprintf("z%d", i), graph.Normal(mean, 1)))
	}
	g.m.Factor(graph.If(g.guard(0), g.value(1), g.value(2)))
	g.block(2)
	d, err := g.m.Compile()
	require.NoError(t, err)
	return d, g.rng
}

// generator writes random programs.
type generator struct {
	t      *rapid.T
	rng    *rand.Rand // for numbers, which are to be in general position
	m      *graph.Model
	z      []graph.Expr
	forms  []graph.Expr // of guards made so far
	values []graph.Expr // results of ifs, which others may use
}

func (g *generator) pick(n int, label string) int { return rapid.IntRange(0, n-1).Draw(g.t, label) }

// form is an affine form: of one latent, of several, or a multiple of one that a
// guard has already, of either sign.
func (g *generator) form() graph.Expr {
	kind := g.pick(3, "form")
	if kind == 2 && len(g.forms) > 0 {
		return graph.Mul(g.rng.NormFloat64(), g.forms[g.pick(len(g.forms), "again")])
	}
	sum := graph.Add(0.7*g.rng.NormFloat64(), 0)
	if kind == 0 {
		return graph.Add(sum, graph.Mul(g.rng.NormFloat64(), g.z[g.pick(len(g.z), "axis")]))
	}
	for i := range g.z {
		if i == 0 || g.pick(2, "dense") == 1 {
			sum = graph.Add(sum, graph.Mul(g.rng.NormFloat64(), g.z[i]))
		}
	}
	return sum
}

func (g *generator) guard(depth int) graph.Guard {
	if depth > 0 {
		switch g.pick(6, "guard") {
		case 0:
			return graph.And(g.guard(depth-1), g.guard(depth-1))
		case 1:
			return graph.Or(g.guard(depth-1), graph.Not(g.guard(depth-1)))
		}
	}
	f := g.form()
	g.forms = append(g.forms, f)
	if g.pick(2, "less") == 1 {
		return graph.Less(f, 0)
	}
	return graph.Greater(f, 0)
}

func (g *generator) value(depth int) graph.Expr {
	z := g.z[g.pick(len(g.z), "latent")]
	switch kind := g.pick(7, "value"); {
	case depth == 0 || kind == 0:
		return graph.Add(g.rng.NormFloat64(), graph.Mul(g.rng.NormFloat64(), z))
	case kind == 1:
		return graph.Sin(g.value(depth - 1))
	case kind == 2:
		return graph.Mul(g.value(depth-1), g.value(depth-1))
	case kind == 3 && len(g.values) > 0:
		return g.values[g.pick(len(g.values), "shared")]
	case kind == 4:
		return graph.Exp(graph.Mul(0.1, z))
	case kind == 5:
		return graph.If(g.guard(0), graph.Log(graph.Exp(z)), graph.Sqrt(graph.Add(1, graph.Square(z))))
	}
	v := graph.If(g.guard(1), g.value(depth-1), g.value(depth-1))
	g.values = append(g.values, v)
	return v
}

func (g *generator) block(depth int) {
	for range 1 + g.pick(2, "terms") {
		switch kind := g.pick(4, "block"); {
		case kind == 0 && depth > 0:
			g.m.If(g.guard(1), func() { g.block(depth - 1) }, func() { g.block(depth - 1) })
		case kind == 1 && depth > 0:
			g.m.If(g.guard(0), nil, func() { g.block(depth - 1) })
		case kind == 2:
			g.m.Factor(g.value(2))
		default:
			g.m.Observe("y", graph.Normal(g.value(2), 0.5+g.rng.Float64()), g.rng.NormFloat64())
		}
	}
}
