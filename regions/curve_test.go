package regions

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"
)

// elementary is a Function for tests.
type elementary struct {
	name                string
	value, slope        func(x float64) float64
	inverse             func(y float64) float64
	even, positive      bool
	increasing, nothing bool
}

func (f elementary) String() string             { return f.name }
func (f elementary) Value(x float64) float64    { return f.value(x) }
func (f elementary) Slope(x, _ float64) float64 { return f.slope(x) }
func (f elementary) Increasing() bool           { return f.increasing }
func (f elementary) Positive() bool             { return f.positive }
func (f elementary) Inverse(y float64) (x [2]float64, roots int) {
	switch {
	case f.nothing:
		return x, 0
	case f.even:
		return [2]float64{f.inverse(y), -f.inverse(y)}, 2
	}
	return [2]float64{f.inverse(y)}, 1
}

var (
	exp    = elementary{name: "exp", value: math.Exp, slope: math.Exp, inverse: math.Log, positive: true, increasing: true}
	tanh   = elementary{name: "tanh", value: math.Tanh, slope: func(x float64) float64 { y := math.Tanh(x); return 1 - y*y }, inverse: math.Atanh, increasing: true}
	square = elementary{name: "square", value: func(x float64) float64 { return x * x }, slope: func(x float64) float64 { return 2 * x }, inverse: math.Sqrt, even: true}
	sin    = elementary{name: "sin", value: math.Sin, slope: math.Cos, nothing: true}
)

func coordinate(i int) Step             { return Step{Kind: Coordinate, A: i} }
func apply(f Function, a int) Step      { return Step{Kind: Apply, F: f, A: a} }
func times(a, b int) Step               { return Step{Kind: Times, A: a, B: b} }
func sum(c float64, terms ...Term) Step { return Step{Kind: Affine, Const: c, Terms: terms} }

// curves are forms of Φ, as a function and as steps, with what they can be solved for and the most roots.
var curves = []struct {
	name   string
	f      func(z []float64) float64
	steps  []Step
	pivots []int
	roots  []int
}{
	{"x·y − 0.3", func(z []float64) float64 { return z[0]*z[1] - 0.3 },
		[]Step{coordinate(0), coordinate(1), times(0, 1), sum(-0.3, Term{2, 1})}, []int{0, 1}, []int{1, 1}},
	{"x + eʸ·w − 0.4", func(z []float64) float64 { return z[0] + math.Exp(z[1])*z[2] - 0.4 },
		[]Step{coordinate(0), coordinate(1), apply(exp, 1), coordinate(2), times(2, 3), sum(-0.4, Term{0, 1}, Term{4, 1})}, []int{0, 1, 2}, []int{1, 1, 1}},
	{"disc", func(z []float64) float64 { return z[0]*z[0] + z[1]*z[1] - 1.5 },
		[]Step{coordinate(0), apply(square, 0), coordinate(1), apply(square, 2), sum(-1.5, Term{1, 1}, Term{3, 1})}, []int{0, 1}, []int{2, 2}},
	{"tanh(x)/(1 + eʸ) − 0.2", func(z []float64) float64 { return math.Tanh(z[0])/(1+math.Exp(z[1])) - 0.2 },
		[]Step{coordinate(0), apply(tanh, 0), coordinate(1), apply(exp, 2), sum(1, Term{3, 1}), {Kind: Over, A: 1, B: 4}, sum(-0.2, Term{5, 1})}, []int{0, 1}, []int{1, 1}},
	{"twice, affinely: eˣ·y + eˣ − 2", func(z []float64) float64 { return math.Exp(z[0])*z[1] + math.Exp(z[0]) - 2 },
		[]Step{coordinate(0), apply(exp, 0), coordinate(1), times(1, 2), sum(-2, Term{3, 1}, Term{1, 1})}, []int{0, 1}, []int{1, 1}},
	{"no closed form: x + eˣ + y", func(z []float64) float64 { return z[0] + math.Exp(z[0]) + z[1] },
		[]Step{coordinate(0), apply(exp, 0), coordinate(1), sum(0, Term{0, 1}, Term{1, 1}, Term{2, 1})}, []int{0, 1}, []int{1, 1}},
	{"falling, no closed form: 3 − x − eˣ·eʸ", func(z []float64) float64 { return 3 - z[0] - math.Exp(z[0])*math.Exp(z[1]) },
		[]Step{coordinate(0), apply(exp, 0), coordinate(1), apply(exp, 2), times(1, 3), sum(3, Term{0, -1}, Term{4, -1})}, []int{0, 1}, []int{1, 1}},
	{"not for x: x·y − sin x", func(z []float64) float64 { return z[0]*z[1] - math.Sin(z[0]) },
		[]Step{coordinate(0), apply(sin, 0), coordinate(1), times(0, 2), sum(0, Term{3, 1}, Term{1, -1})}, []int{1}, []int{0, 1}},
	{"quadratic: x² + x·y − 1", func(z []float64) float64 { return z[0]*z[0] + z[0]*z[1] - 1 },
		[]Step{coordinate(0), apply(square, 0), coordinate(1), times(0, 2), sum(-1, Term{1, 1}, Term{3, 1})}, []int{0, 1}, []int{2, 1}},
	{"quadratic that may be linear: x²·y + 2x − 1", func(z []float64) float64 { return z[0]*z[0]*z[1] + 2*z[0] - 1 },
		[]Step{coordinate(0), times(0, 0), coordinate(1), times(1, 2), sum(-1, Term{0, 2}, Term{3, 1})}, []int{0, 1}, []int{2, 1}},
	{"cube: x³ − y", func(z []float64) float64 { return z[0]*z[0]*z[0] - z[1] },
		[]Step{coordinate(0), sum(3), {Kind: Power, A: 0, B: 1}, coordinate(1), sum(0, Term{2, 1}, Term{3, -1})}, []int{0, 1}, []int{1, 1}},
	{"fourth power: x⁴ − y", func(z []float64) float64 { return z[0]*z[0]*z[0]*z[0] - z[1] },
		[]Step{coordinate(0), sum(4), {Kind: Power, A: 0, B: 1}, coordinate(1), sum(0, Term{2, 1}, Term{3, -1})}, []int{0, 1}, []int{2, 1}},
	{"power: (eˣ)ʸ − 2", func(z []float64) float64 { return math.Pow(math.Exp(z[0]), z[1]) - 2 },
		[]Step{coordinate(0), apply(exp, 0), coordinate(1), {Kind: Power, A: 1, B: 2}, sum(-2, Term{3, 1})}, []int{0, 1}, []int{1, 1}},
}

// Values, slopes and roots of curves are those of the function, and no root is missing: where
// the function changes its sign along a latent there is one.
func TestCurves(t *testing.T) {
	const n = 200
	for _, c := range curves {
		t.Run(c.name, func(t *testing.T) {
			curve := NewCurve(c.steps)
			require.Equal(t, c.pivots, curve.Pivots())
			b := curve.Bind(n)
			rng := rand.New(rand.NewPCG(3, 4))
			for k := range b.In {
				b.In[k] = make([]float64, n)
				for i := range b.In[k] {
					b.In[k][i] = 1.5 * rng.NormFloat64()
				}
			}
			point := func(i int) []float64 {
				z := make([]float64, len(b.In))
				for k := range z {
					z[k] = b.In[k][i]
				}
				return z
			}
			values := append([]float64(nil), b.Values()...)
			slopes := b.Slopes()
			for i := range n {
				require.InDelta(t, c.f(point(i)), values[i], 1e-12*(1+math.Abs(values[i])))
				for k, g := range fd.Gradient(nil, c.f, point(i), &fd.Settings{Formula: fd.Central}) {
					require.InDelta(t, g, slopes[k][i], 1e-6*(1+math.Abs(g)))
				}
			}
			for _, k := range curve.Pivots() {
				require.Equal(t, c.roots[k], curve.Roots(k))
				roots := b.Solve(k)
				found := 0
				for i := range n {
					z := point(i)
					var at []float64
					for r := range curve.Roots(k) {
						if x := roots[r*n+i]; !math.IsNaN(x) {
							z[k] = x
							slope := fd.Gradient(nil, c.f, z, &fd.Settings{Formula: fd.Central})[k]
							require.InDelta(t, 0, c.f(z), 1e-12*(1+math.Abs(slope))*(1+math.Abs(x)), "%v", z)
							at = append(at, x)
						}
					}
					found += len(at)
					crossings, was := 0, math.NaN()
					for x := -12.0; x <= 12; x += 0.01 {
						z[k] = x
						v := c.f(z)
						if v*was < 0 {
							crossings++
						}
						was = v
					}
					inside := 0
					for _, x := range at {
						if math.Abs(x) < 12 {
							inside++
						}
					}
					require.Equal(t, crossings, inside, "latent %d, %v: %v", k, point(i), at)
				}
				require.Greater(t, found, n/10)
			}
		})
	}
}

// What cannot be solved says why.
func TestWhyNot(t *testing.T) {
	wave := NewCurve([]Step{coordinate(0), apply(sin, 0), coordinate(1), times(0, 2), sum(0, Term{3, 1}, Term{1, -1})})
	require.Contains(t, wave.WhyNot(0), "more than once")
	require.Empty(t, wave.WhyNot(1))
	alone := NewCurve([]Step{coordinate(0), apply(sin, 0), sum(-0.5, Term{1, 1})})
	require.Contains(t, alone.WhyNot(0), "sin(…) has no inverse")
	require.Empty(t, alone.Pivots())
}

// Roots are found far away, and where the function is flat beyond them or has no value.
func TestRootsFarAway(t *testing.T) {
	log := elementary{name: "log", value: math.Log, slope: func(x float64) float64 { return 1 / x }, inverse: math.Exp, increasing: true}
	for _, c := range []struct {
		name string
		a, b Function
		f    func(x float64) float64
		want []float64 // of the other latent
	}{
		{"x + eˣ", nil, exp, func(x float64) float64 { return x + math.Exp(x) }, []float64{-1e12, -700, -1, 0, 3, 1e12, 1e300}},
		{"tanh x + eˣ", tanh, exp, func(x float64) float64 { return math.Tanh(x) + math.Exp(x) }, []float64{-2, -0.999, 0.3, 1e9}},
		{"x + log x", nil, log, func(x float64) float64 { return x + math.Log(x) }, []float64{-600, 0, 1e9}},
	} {
		steps := []Step{coordinate(0)}
		first := 0
		if c.a != nil {
			steps, first = append(steps, apply(c.a, 0)), 1
		}
		steps = append(steps, apply(c.b, 0), coordinate(1))
		n := len(steps)
		curve := NewCurve(append(steps, sum(0, Term{first, 1}, Term{n - 2, 1}, Term{n - 1, -1})))
		require.Equal(t, []int{0, 1}, curve.Pivots(), c.name)
		b := curve.Bind(1)
		for _, y := range c.want {
			b.In[0], b.In[1] = []float64{1}, []float64{y}
			b.Values()
			x := b.Solve(0)[0]
			if y == -2 {
				require.True(t, math.IsNaN(x), "%v: no root", c.name)
				continue
			}
			require.InDelta(t, y, c.f(x), 1e-11*math.Max(math.Abs(y), 1), "%s = %v at %v", c.name, y, x)
		}
	}
}

// A curve in an arrangement: signs of batches are those of points, and the tangent has its value and slopes.
func TestCurvesInArrangements(t *testing.T) {
	a := NewArrangement(3)
	f := a.AddFeature([]Step{coordinate(0), coordinate(2), times(0, 1)})
	g := a.AddFeature([]Step{coordinate(2), apply(exp, 0)})
	first, err := a.Add(Hyperplane{Index: []int{f}, Coef: []float64{2}, Const: -0.6})
	require.NoError(t, err)
	again, err := a.Add(Hyperplane{Index: []int{f}, Coef: []float64{-1}, Const: 0.3})
	require.NoError(t, err)
	require.Equal(t, Side{Plane: first.Plane, Positive: false}, again)
	mixed, err := a.Add(Hyperplane{Index: []int{1, f, g}, Coef: []float64{1, 0.5, -1}, Const: 0.1})
	require.NoError(t, err)
	_, err = a.Add(Hyperplane{Index: []int{1}, Coef: []float64{1}})
	require.NoError(t, err)
	_, err = a.Add(Hyperplane{Index: []int{g + 1}, Coef: []float64{1}})
	require.ErrorIs(t, err, ErrMalformed)
	require.Equal(t, 3, a.Len())
	require.Equal(t, []int{0, 1, 2}, a.Latents(mixed.Plane))
	require.Nil(t, a.Curve(2))
	value := func(z []float64) float64 { return z[1] + 0.5*z[0]*z[2] - math.Exp(z[2]) + 0.1 }

	const n = 64
	rng := rand.New(rand.NewPCG(5, 6))
	z, signs := make([]float64, 3*n), make([]float64, 3*n)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	a.SignBatch(signs, z, n)
	for s := range n {
		at := []float64{z[s], z[n+s], z[2*n+s]}
		one := a.Signs(at)
		for l := range 3 {
			require.Equal(t, one.Positive(l), signs[l*n+s] == 1)
			require.Equal(t, one.Positive(l), a.At(l, at) > 0)
		}
		require.Equal(t, value(at) > 0, one.Positive(mixed.Plane) == mixed.Positive)
		tangent := a.Tangent(mixed.Plane, at)
		scale := a.At(mixed.Plane, at) / value(at) // of the canonical form
		require.InDelta(t, a.At(mixed.Plane, at), tangent.At(at), 1e-12)
		for k, slope := range fd.Gradient(nil, value, at, &fd.Settings{Formula: fd.Central}) {
			require.InDelta(t, slope*scale, tangent.Coef[k], 1e-6*(1+math.Abs(slope)))
		}
	}
	if !testing.Short() { // the race detector, which runs short tests, lets pools forget
		require.Zero(t, testing.AllocsPerRun(10, func() { a.SignBatch(signs, z, n) }))
	}
}
