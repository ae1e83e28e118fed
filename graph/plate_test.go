package graph_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/programs"
)

// A plate has the density of the written loop: the same bits of values, gradients,
// jumps, and draws, and the same program in all else that can be asked.
func TestPlatesAreLoops(t *testing.T) {
	long.Skip(t)
	compiled, plates, planes := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := programs.Draw(t, anyProgram())
		d, err := p.Model().Compile()
		e, wrong := p.Loops(nil).Compile()
		require.Equal(t, wrong == nil, err == nil, "%v and %v", err, wrong)
		if err != nil {
			return
		}
		compiled++
		t.Logf("%v", p)
		plates += p.Plates()
		planes += d.Arrangement().Len()
		requireSameDensity(t, d, e, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "points"), 0)))
	})
	t.Logf("%d programs, %d plates, %d planes", compiled, plates, planes)
	require.Greater(t, plates, compiled/2)
	require.Greater(t, planes, compiled)
}

// A Switch among what is the same in all rows has its guards in each row, as in a loop.
func TestSwitchInAPlate(t *testing.T) {
	build := func(rows func(m *graph.Model, k graph.Expr)) *graph.Density {
		m := graph.NewModel()
		rows(m, m.Sample("k", graph.Binomial(2, 0.4)))
		return mustCompile(t, m)
	}
	ys := []float64{1, 2, 3}
	plate := build(func(m *graph.Model, k graph.Expr) {
		m.Plate(3, func(p *graph.Plate) { p.Observe("y", graph.Normal(graph.Switch(k, 1.0, 5, 2), 1), ys) })
	})
	loop := build(func(m *graph.Model, k graph.Expr) {
		for _, y := range ys {
			m.Observe("y", graph.Normal(graph.Switch(k, 1.0, 5, 2), 1), y)
		}
	})
	requireSameDensity(t, plate, loop, rand.New(rand.NewPCG(1, 2)))
}

// requireSameDensity compares two densities, bit for bit.
func requireSameDensity(t fataler, d, e *graph.Density, rng *rand.Rand) {
	t.Helper()
	require.Equal(t, e.Latents(), d.Latents())
	require.Equal(t, e.Fingerprint(), d.Fingerprint())
	require.Equal(t, e.Data(), d.Data())
	require.Equal(t, e.Observations(), d.Observations())
	require.Equal(t, e.Deterministics(), d.Deterministics())
	require.Equal(t, e.GuardNames(), d.GuardNames())
	require.Equal(t, e.Parents(), d.Parents())
	require.Equal(t, e.Engine().Switches(), d.Engine().Switches())
	require.Equal(t, fmt.Sprint(e.Guards()), fmt.Sprint(d.Guards()))
	for _, name := range e.GuardNames() {
		want, got := e.Named(name), d.Named(name)
		require.Equal(t, len(want), len(got))
		s := e.Arrangement().Signs(e.PriorDraw(nil, rand.New(rand.NewPCG(1, 2))))
		for k := range want {
			require.Equal(t, want[k].Planes(), got[k].Planes())
			require.Equal(t, want[k].Holds(s), got[k].Holds(s))
		}
	}
	require.Equal(t, slices.Collect(planesOf(e)), slices.Collect(planesOf(d)))
	drawn, err := d.Program().DOT()
	require.NoError(t, err)
	want, err := e.Program().DOT()
	require.NoError(t, err)
	if string(want) != string(drawn) {
		t.Fatalf("DOT differs")
	}
	seed := rng.Uint64()
	z := d.PriorDraw(nil, rand.New(rand.NewPCG(seed, 1)))
	same(t, e.PriorDraw(nil, rand.New(rand.NewPCG(seed, 1))), z)
	same(t, e.Replicate(nil, z, rand.New(rand.NewPCG(seed, 2))), d.Replicate(nil, z, rand.New(rand.NewPCG(seed, 2))))
	same(t, e.DeterministicAt(nil, z), d.DeterministicAt(nil, z))
	for _, n := range []int{1, 3} {
		x, y := executorOf(t, d, n), executorOf(t, e, n)
		for i := range x.Z {
			x.Z[i] = 2 * rng.NormFloat64()
		}
		for i := range x.Signs {
			x.Signs[i] = float64(rng.IntN(2))
		}
		copy(y.Z, x.Z)
		copy(y.Signs, x.Signs)
		require.NoError(t, x.Run())
		require.NoError(t, y.Run())
		same(t, y.Out, x.Out)
		same(t, y.Grad, x.Grad)
	}
	same(t, jumpsAt(t, e, seed), jumpsAt(t, d, seed))
}

func planesOf(d *graph.Density) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, h := range d.Arrangement().Planes() {
			if !yield(h.String()) {
				return
			}
		}
	}
}

// same compares numbers by their bits.
func same(t fataler, want, got []float64) {
	t.Helper()
	require.Equal(t, len(want), len(got))
	for i := range want {
		if math.IsNaN(want[i]) && math.IsNaN(got[i]) {
			continue
		}
		require.Equal(t, math.Float64bits(want[i]), math.Float64bits(got[i]), "%d: %v, want %v", i, got[i], want[i])
	}
}

func executorOf(t fataler, d *graph.Density, n int) *graph.Executor {
	t.Helper()
	x, err := d.Executor(n, graph.Compute{Out: true, Grad: true})
	require.NoError(t, err)
	return x
}

// jumpsAt are the jumps of d on all planes, at points and signs from a seed.
func jumpsAt(t fataler, d *graph.Density, seed uint64) []float64 {
	t.Helper()
	made, err := derive.Cached(d.Engine(), "all jumps", func() (any, error) {
		b := d.Engine().Builder()
		outs := make([]ir.ID, d.Arrangement().Len())
		for l, h := range d.Arrangement().Planes() {
			points := map[int]ir.ID{}
			outs[l] = b.Jump(l, ir.Substitution{Latent: func(i int) (ir.ID, bool) {
				if _, known := points[i]; !known && slices.Contains(h.Index, i) {
					points[i] = b.Point()
				}
				x, ok := points[i]
				return x, ok
			}})
		}
		return b.Compile(outs)
	})
	require.NoError(t, err)
	const n = 2
	x, err := d.Engine().Executor(made.(*graph.Program), n, graph.Compute{Out: true, Grad: true})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(seed, 3))
	for _, in := range [][]float64{x.Z, x.Points} {
		for i := range in {
			in[i] = rng.NormFloat64()
		}
	}
	for i := range x.Signs {
		x.Signs[i] = float64(rng.IntN(2))
	}
	require.NoError(t, x.Run())
	return append(x.Out, x.Grad...)
}

// Mistakes in plates are errors of Compile that name the line in the body, what is
// wrong there, and in which row, if it is wrong in one. Each case's mistake stands on
// the line above its return.
func TestPlateErrors(t *testing.T) {
	two, three := []float64{1, 2}, []float64{1, 2, 3}
	other := graph.NewModel().Sample("x", graph.Normal(0, 1))
	type P = graph.Plate
	in := func(body func(m *graph.Model, z graph.Expr, p *P) string) func(m *graph.Model, z graph.Expr) string {
		return func(m *graph.Model, z graph.Expr) (line string) {
			m.Plate(3, func(p *P) { line = body(m, z, p) })
			return line
		}
	}
	for _, c := range []struct {
		name  string
		says  []string
		build func(m *graph.Model, z graph.Expr) string
	}{
		{"negative size", []string{"plate of -1 rows"}, func(m *graph.Model, _ graph.Expr) string {
			m.Plate(-1, func(*P) {})
			return lineAbove()
		}},
		{"no body", []string{"without a body"}, func(m *graph.Model, _ graph.Expr) string {
			m.Plate(3, nil)
			return lineAbove()
		}},
		{"short column", []string{"Data: 2 values for 3 rows"}, in(func(_ *graph.Model, _ graph.Expr, p *P) string {
			p.Data(two)
			return lineAbove()
		})},
		{"short observations", []string{`"y": 2 values for 3 rows`}, in(func(_ *graph.Model, z graph.Expr, p *P) string {
			p.Observe("y", graph.Normal(z, 1), two)
			return lineAbove()
		})},
		{"column of the rows of the outer plate", []string{"3 values for 6 rows"}, in(func(_ *graph.Model, _ graph.Expr, p *P) (line string) {
			p.Plate(2, func(q *P) {
				q.Data(three)
				line = lineAbove()
			})
			return line
		})},
		{"index outside", []string{"row 1 has the index 2 into 1 values"}, in(func(_ *graph.Model, z graph.Expr, p *P) string {
			p.Index([]graph.Expr{z}, []int{0, 2, 0})
			return lineAbove()
		})},
		{"impossible observation", []string{`"y"`, "2.5", "whole number", "in row 1 of the plate"}, in(func(_ *graph.Model, z graph.Expr, p *P) string {
			p.Observe("y", graph.Poisson(graph.Exp(z)), []float64{1, 2.5, 3})
			return lineAbove()
		})},
		{"scale of one row", []string{"sigma = 0", "positive", "in row 2 of the plate"}, in(func(_ *graph.Model, z graph.Expr, p *P) string {
			p.Observe("y", graph.Normal(z, p.Data([]float64{1, 1, 0})), three)
			return lineAbove()
		})},
		{"infinite datum", []string{"+Inf is not finite", "row 0"}, in(func(_ *graph.Model, z graph.Expr, p *P) string {
			p.Factor(graph.Add(z, p.Data([]float64{math.Inf(1), 1, 1})))
			return lineAbove()
		})},
		{"prior of a nested row", []string{"latent a[0,1]", "sigma = -1", "row 0,1"}, in(func(_ *graph.Model, z graph.Expr, p *P) (line string) {
			p.Plate(2, func(q *P) {
				s := q.Data([]float64{1, -1, 1, 1, 1, 1})
				q.Sample("a", graph.Normal(z, s))
				line = lineAbove()
			})
			return line
		})},
		{"name of a latent taken", []string{`"a[1]" is already taken`}, func(m *graph.Model, _ graph.Expr) (line string) {
			m.Sample("a[1]", graph.Normal(0, 1))
			m.Plate(3, func(p *P) {
				p.Sample("a", graph.Normal(0, 1))
				line = lineAbove()
			})
			return line
		}},
		{"name twice", []string{`"a[0]" is already taken`}, in(func(_ *graph.Model, _ graph.Expr, p *P) string {
			p.Sample("a", graph.Normal(0, 1))
			p.Sample("a", graph.Normal(0, 1))
			return lineAbove()
		})},
		{"no name", []string{"latent needs a name"}, in(func(_ *graph.Model, _ graph.Expr, p *P) string {
			p.Sample("", graph.Normal(0, 1))
			return lineAbove()
		})},
		{"discrete latent", []string{"Poisson has more than 4096 values that matter", "a[0]"}, in(func(_ *graph.Model, _ graph.Expr, p *P) string {
			p.Sample("a", graph.Poisson(1e8))
			return lineAbove()
		})},
		{"value of another model", []string{"another model"}, in(func(_ *graph.Model, _ graph.Expr, p *P) string {
			p.Factor(other)
			return lineAbove()
		})},
		{"not a value", []string{"Factor takes an expression or a number, not a string"}, in(func(_ *graph.Model, _ graph.Expr, p *P) string {
			p.Factor("z")
			return lineAbove()
		})},
		{"value outside the body", []string{"value of a plate", "Collect"}, func(m *graph.Model, z graph.Expr) string {
			var x graph.Expr
			m.Plate(3, func(p *P) { x = p.Data(three) })
			m.Factor(graph.Add(x, z))
			return lineAbove()
		}},
		{"value in a distribution outside the body", []string{"value of a plate", "Collect"}, func(m *graph.Model, z graph.Expr) string {
			var x graph.Expr
			m.Plate(3, func(p *P) { x = p.Data(three) })
			m.Observe("y", graph.Normal(x, 1), 0)
			return lineAbove()
		}},
		{"value in another plate", []string{"value of a plate", "Collect"}, func(m *graph.Model, z graph.Expr) (line string) {
			var x graph.Expr
			m.Plate(3, func(p *P) { x = p.Data(three) })
			m.Plate(3, func(p *P) {
				p.Factor(x)
				line = lineAbove()
			})
			return line
		}},
		{"value of an inner plate", []string{"plate inside this one", "Collect"}, in(func(_ *graph.Model, _ graph.Expr, p *P) string {
			var x graph.Expr
			p.Plate(2, func(q *P) { x = q.Sample("a", graph.Normal(0, 1)) })
			p.Factor(x)
			return lineAbove()
		})},
		{"guard outside the body", []string{"guard of a plate", "Named"}, func(m *graph.Model, z graph.Expr) string {
			var g graph.Guard
			m.Plate(3, func(p *P) { g = graph.Greater(z, p.Data(three)) })
			m.If(g, func() {}, nil)
			return lineAbove()
		}},
		{"method of the model", []string{"Sample of the model", "that of the plate"}, in(func(m *graph.Model, _ graph.Expr, _ *P) string {
			m.Sample("a", graph.Normal(0, 1))
			return lineAbove()
		})},
		{"plate of the model in a plate", []string{"Plate of the model"}, in(func(m *graph.Model, _ graph.Expr, _ *P) string {
			m.Plate(2, func(*P) {})
			return lineAbove()
		})},
		{"parameter in a plate", []string{`parameter "p" in the body of a plate`, "before the plate"}, in(func(m *graph.Model, _ graph.Expr, _ *P) string {
			m.Param("p", 1)
			return lineAbove()
		})},
		{"compiled in a plate", []string{"Compile of the model", "after the plate"}, in(func(m *graph.Model, _ graph.Expr, _ *P) string {
			_, _ = m.Compile()
			return lineAbove()
		})},
		{"method after the body", []string{"Sample of a plate is called outside its body"}, func(m *graph.Model, _ graph.Expr) string {
			var q *P
			m.Plate(3, func(p *P) { q = p })
			q.Sample("a", graph.Normal(0, 1))
			return lineAbove()
		}},
		{"column after the body", []string{"Data of a plate is called outside its body"}, func(m *graph.Model, _ graph.Expr) string {
			var q *P
			m.Plate(3, func(p *P) { q = p })
			q.Data(three)
			return lineAbove()
		}},
		{"outer method in an inner body", []string{"Factor of a plate", "inside it"}, in(func(_ *graph.Model, z graph.Expr, p *P) (line string) {
			p.Plate(2, func(*P) {
				p.Factor(z)
				line = lineAbove()
			})
			return line
		})},
		{"guard that cannot be solved", []string{"z - exp(z) = 0 cannot be solved", "row 0"}, in(func(_ *graph.Model, z graph.Expr, p *P) string {
			g := graph.Greater(graph.Exp(z), graph.Mul(p.Data(three), z))
			line := lineAbove()
			p.If(g, func() { p.Factor(z) }, nil)
			return line
		})},
		{"guard on NaN", []string{"NaN"}, in(func(_ *graph.Model, z graph.Expr, p *P) string {
			p.If(graph.Greater(p.Data([]float64{1, math.NaN(), 1}), 0), func() { p.Factor(z) }, nil)
			return lineAbove()
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := graph.NewModel()
			z := m.Sample("z", graph.Normal(0, 1))
			line := c.build(m, z)
			_, err := m.Compile()
			require.Error(t, err)
			t.Log(err)
			for _, s := range append(c.says, line) {
				require.ErrorContains(t, err, s)
			}
		})
	}
}

// The guard of a plate is no guard of a density.
func TestGuardOfAPlate(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	var g graph.Guard
	m.Plate(2, func(p *graph.Plate) {
		g = p.Name("on", graph.Greater(z, p.Data([]float64{1, 2})))
		p.If(g, func() { p.Factor(z) }, nil)
	})
	d, err := m.Compile()
	require.NoError(t, err)
	require.Len(t, d.Named("on"), 2)
	require.False(t, g.Of(d))
	_, err = d.ArrangementWith(g)
	require.ErrorContains(t, err, "each row")
	_, ok := g.Side()
	require.False(t, ok)
	require.PanicsWithValue(t, "graph: a guard of a plate is another one in each row: give it a name, and ask Density.Named",
		func() { g.Holds(d.Arrangement().Signs([]float64{0})) })
}

// Every function that makes a value, a guard or a distribution, and every method that adds to
// a program, is one that random programs have: a new one is not forgotten there. Vectors in
// plates are not, for their latents have other names in a loop (TestVectorsInPlates).
func TestRandomProgramsKnowTheLanguage(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	sources, err := filepath.Glob("../internal/programs/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	var drawn strings.Builder // where the generator takes functions from
	for _, name := range append(sources, "dist_test.go") {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		drawn.Write(text)
	}
	found := 0
	known := func(what, name string) {
		found++
		require.True(t, strings.Contains(drawn.String(), what), "%s: draw it in internal/programs", name)
	}
	// Densities of random programs are nowhere 0, as those of Require are, and their observations are independent given the latents.
	notOfPrograms := []string{"Model.Compile", "Model.CompileObjective", "Model.Err", "Model.Observed", "Model.Require", "Plate.SampleVector"}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			if f.Recv != nil {
				if of := typeName(f.Recv.List[0].Type); slices.Contains([]string{"Model", "Plate", "Hidden"}, of) &&
					!slices.Contains(notOfPrograms, of+"."+f.Name.Name) {
					known("."+f.Name.Name+"(", of+"."+f.Name.Name)
				}
				continue
			}
			if f.Type.Results == nil || len(f.Type.Results.List) != 1 {
				continue
			}
			made := typeName(f.Type.Results.List[0].Type)
			if slices.Contains([]string{"Expr", "Guard", "Dist", "VectorDist", "ParamOption"}, made) {
				known("graph."+f.Name.Name, f.Name.Name)
			}
		}
	}
	require.Greater(t, found, 90)
}

// typeName is the name of a type, of what it points to, or of its elements.
func typeName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return typeName(x.X)
	case *ast.ArrayType:
		return typeName(x.Elt)
	case *ast.Ident:
		return x.Name
	}
	return ""
}
