package boundary_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
)

// Rapid's models are the same at each run; -rapid.seed varies them.
func TestMain(m *testing.M) {
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

// program is a random program with guards.
func program(t *rapid.T) (*graph.Density, *rand.Rand) {
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

// normalProb is the standard normal density.
func normalProb(x float64) float64 { return math.Exp(-0.5*x*x) / math.Sqrt(2*math.Pi) }

// onto moves ε onto a·ε + c = 0, in the coordinates that a has, and returns the
// weight there.
func onto(eps []float64, index []int, a []float64, c float64, method boundary.Method) float64 {
	norm2, dist, pivot := 0.0, c, 0
	for k, i := range index {
		norm2 += a[k] * a[k]
		dist += a[k] * eps[i]
		if math.Abs(a[k]) > math.Abs(a[pivot]) {
			pivot = k
		}
	}
	if method == boundary.Elimination {
		eps[index[pivot]] -= dist / a[pivot]
		return normalProb(eps[index[pivot]]) / math.Abs(a[pivot])
	}
	for k, i := range index {
		eps[i] -= dist * a[k] / norm2
	}
	return normalProb(c/math.Sqrt(norm2)) / math.Sqrt(norm2)
}

// brute adds one sample's part of BouContr to the gradients, by evaluating the
// whole density on both sides of every guard, and to size the sizes of all that
// it adds.
func brute(t *rapid.T, d *graph.Density, method boundary.Method, eps, mu, s, gMu, gScale []float64) (size float64) {
	dim := len(mu)
	for l, h := range d.Arrangement().Planes() {
		a, c := make([]float64, len(h.Index)), h.At(mu)
		for k, i := range h.Index {
			a[k] = h.Coef[k] * s[i]
		}
		point, z := append([]float64(nil), eps...), make([]float64, dim)
		w := onto(point, h.Index, a, c, method)
		for i := range z {
			z[i] = mu[i] + s[i]*point[i]
		}
		require.InDelta(t, 0, h.At(z), 1e-9)
		signs := d.Arrangement().Signs(z)
		above, err := d.LogProbAt(z, signs.Force(l, true))
		require.NoError(t, err)
		below, err := d.LogProbAt(z, signs.Force(l, false))
		require.NoError(t, err)
		size += w * (math.Abs(above) + math.Abs(below)) // which is where rounding comes from
		for k, i := range h.Index {
			gMu[i] += w * (above - below) * h.Coef[k]
			gScale[i] += w * (above - below) * h.Coef[k] * point[i]
		}
	}
	return size
}

// The jumps of random programs, with guards on one latent and on several, that
// share latents, nest, coincide, and decide one another's sides, are those of the
// whole density with the sign of one guard forced to either side.
func TestJumpsAreBruteForce(t *testing.T) {
	planes, shared := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		d, rng := program(t)
		dim, arr := d.Dim(), d.Arrangement()
		n := rapid.SampledFrom([]int{1, 2, 5}).Draw(t, "samples")
		method := rapid.SampledFrom([]boundary.Method{boundary.Orthogonal, boundary.Elimination}).Draw(t, "method")
		planes += arr.Len()
		shared += len(d.Guards()) - arr.Len()
		jumps, err := boundary.NewJumps(d)
		require.NoError(t, err)
		require.Equal(t, arr.Len(), jumps.Len())
		b, err := jumps.Bind(d, n, boundary.Settings{Method: method})
		require.NoError(t, err)
		for range 2 { // buffers are used again
			mu, s, eps := make([]float64, dim), make([]float64, dim), make([]float64, dim*n)
			for i := range mu {
				mu[i], s[i] = 0.5*rng.NormFloat64(), 0.3+rng.Float64()
			}
			x := b.Samples()
			for k := range eps {
				eps[k] = rng.NormFloat64()
				x.Z[k] = mu[k/n] + s[k/n]*eps[k]
			}
			arr.SignBatch(x.Signs, x.Z, n)
			want, got, size := make([]float64, 2*dim), make([]float64, 2*dim), 1.0
			one, z := make([]float64, dim), make([]float64, dim)
			b.Locate(mu, s)
			require.NoError(t, b.Run(eps, nil))
			for k := range n {
				for i := range one {
					one[i], z[i] = eps[i*n+k], x.Z[i*n+k]
				}
				size += brute(t, d, method, one, mu, s, want[:dim], want[dim:])
				inside, err := d.GradAt(z, arr.Signs(z))
				require.NoError(t, err)
				for i, g := range inside {
					require.InDelta(t, g, x.Grad[i*n+k], 1e-11*(1+math.Abs(g)), "gradient at a sample")
				}
			}
			b.AddGradient(got[:dim], got[dim:])
			require.InDeltaSlice(t, want, got, 1e-10*size)
		}
	})
	require.Greater(t, planes, 50)
	require.Greater(t, shared, 5)
}

// Where guards are drawn, the mean over the draws is the sum over all.
func TestSubsampling(t *testing.T) {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(x, 0.5), 2, y))
	m.Factor(graph.If(graph.Greater(x, y), 1.5, 0))
	m.Factor(graph.If(graph.Less(graph.Add(x, y), 4), x, -1))
	m.Factor(graph.If(graph.Less(x, 1e6), 1, 2)) // no weight at all
	m.Factor(graph.If(graph.Less(y, 0), 1, 1))   // no jump at all
	d, err := m.Compile()
	require.NoError(t, err)
	jumps, err := boundary.NewJumps(d)
	require.NoError(t, err)
	mu, s, eps := []float64{0.2, -0.1}, []float64{0.8, 1.3}, []float64{0.4, -0.7}
	gradient := func(settings boundary.Settings, runs int) (mean, se []float64) {
		b, err := jumps.Bind(d, 1, settings)
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(1, 2))
		var sum, squares [4]float64
		b.Locate(mu, s)
		for range runs {
			for i := range eps {
				b.Samples().Z[i] = mu[i] + s[i]*eps[i]
			}
			d.Arrangement().SignBatch(b.Samples().Signs, b.Samples().Z, 1)
			var g [4]float64
			require.NoError(t, b.Run(eps, rng))
			b.AddGradient(g[:2], g[2:])
			for i, x := range g {
				sum[i] += x
				squares[i] += x * x
			}
		}
		for i := range sum {
			m := sum[i] / float64(runs)
			mean = append(mean, m)
			se = append(se, math.Sqrt((squares[i]/float64(runs)-m*m)/float64(runs)))
		}
		return mean, se
	}
	for _, method := range []boundary.Method{boundary.Orthogonal, boundary.Elimination} {
		want, _ := gradient(boundary.Settings{Method: method}, 1)
		for _, by := range []boundary.Subsampling{boundary.Uniform, boundary.ByWeight} {
			for _, guards := range []int{1, 3, 7} {
				mean, se := gradient(boundary.Settings{Method: method, Guards: guards, By: by}, 100000)
				for i := range want {
					require.Less(t, math.Abs(mean[i]-want[i]), 5*se[i], "%v, %d %v", method, guards, by)
					require.Less(t, 5*se[i], 0.05, "inconclusive")
				}
			}
		}
	}
}

// No mass on any guard, or no guard with a jump, gives zero and no NaN.
func TestNoMass(t *testing.T) {
	for name, build := range map[string]func(m *graph.Model, x graph.Expr){
		"far":  func(m *graph.Model, x graph.Expr) { m.Factor(graph.If(graph.Less(x, 1e9), x, graph.Log(x))) },
		"idle": func(m *graph.Model, x graph.Expr) { m.If(graph.Less(x, 0), nil, nil); graph.Greater(x, 1) },
		"far and infinite": func(m *graph.Model, x graph.Expr) {
			m.Factor(graph.If(graph.Less(x, -1e9), graph.Exp(graph.Square(x)), x))
		},
	} {
		m := graph.NewModel()
		build(m, m.Sample("x", graph.Normal(0, 1)))
		d, err := m.Compile()
		require.NoError(t, err)
		jumps, err := boundary.NewJumps(d)
		require.NoError(t, err)
		for _, by := range []boundary.Subsampling{boundary.Uniform, boundary.ByWeight} {
			for _, guards := range []int{0, 1} {
				b, err := jumps.Bind(d, 2, boundary.Settings{Guards: guards, By: by})
				require.NoError(t, err)
				b.Locate([]float64{0}, []float64{1})
				d.Arrangement().SignBatch(b.Samples().Signs, b.Samples().Z, 2)
				g := make([]float64, 2)
				require.NoError(t, b.Run([]float64{0, 0}, rand.New(rand.NewPCG(1, 2))))
				b.AddGradient(g[:1], g[1:])
				require.Equal(t, []float64{0, 0}, g, "%s, %d %v", name, guards, by)
			}
		}
	}
}

// A model's jumps are compiled once, for all its data; and not for another's.
func TestJumpsAreCompiledOnce(t *testing.T) {
	build := func() *graph.Density {
		m := graph.NewModel()
		x := m.Sample("x", graph.Normal(0, 1))
		m.Observe("y", graph.Normal(graph.If(graph.Greater(x, 0), 1, -1), 1), 0.5)
		d, err := m.Compile()
		require.NoError(t, err)
		return d
	}
	d := build()
	jumps, err := boundary.NewJumps(d)
	require.NoError(t, err)
	next, err := d.WithData(map[string][]float64{"y": {2}})
	require.NoError(t, err)
	again, err := boundary.NewJumps(next)
	require.NoError(t, err)
	require.Same(t, jumps, again)
	require.Positive(t, jumps.Nodes())
	g, err := jumps.Graph(3)
	require.NoError(t, err)
	require.NotNil(t, g.G)

	// The jump at 0 is log N(y; 1, 1) − log N(y; −1, 1) = 2y.
	for _, c := range []struct {
		d *graph.Density
		y float64
	}{{d, 0.5}, {next, 2}} {
		b, err := jumps.Bind(c.d, 1, boundary.Settings{})
		require.NoError(t, err)
		b.Locate([]float64{0}, []float64{1})
		require.NoError(t, b.Run([]float64{0}, nil))
		g := make([]float64, 2)
		b.AddGradient(g[:1], g[1:])
		require.InDelta(t, 2*c.y*normalProb(0), g[0], 1e-12)
	}
	_, err = jumps.Bind(build(), 1, boundary.Settings{})
	require.ErrorContains(t, err, "another model")
	for _, s := range []boundary.Settings{{Guards: -1}, {Method: 2}, {By: 2}} {
		require.Error(t, s.Validate())
		_, err = jumps.Bind(d, 1, s)
		require.Error(t, err)
	}
	require.Equal(t, "orthogonal elimination uniform by weight",
		fmt.Sprint(boundary.Orthogonal, " ", boundary.Elimination, " ", boundary.Uniform, " ", boundary.ByWeight))
}
