package boundary_test

import (
	"errors"
	"flag"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/regions"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// field makes an integrand of a vector field.
func field(f func(eps []float64) []float64) boundary.Integrand {
	return func(_ int, points *tensor.Dense) (*tensor.Dense, error) {
		dim, n := points.Shape()[0], points.Shape()[1]
		in, out := points.Data().([]float64), make([]float64, dim*n)
		eps := make([]float64, dim)
		for b := range n {
			for i := range eps {
				eps[i] = in[i*n+b]
			}
			for i, v := range f(eps) {
				out[i*n+b] = v
			}
		}
		return tensor.New(tensor.WithShape(dim, n), tensor.WithBacking(out)), nil
	}
}

func constantField(u ...float64) func([]float64) []float64 {
	return func([]float64) []float64 { return u }
}

func scaled(u []float64, by float64) []float64 {
	v := append([]float64(nil), u...)
	floats.Scale(by, v)
	return v
}

func plane(c float64, coef ...float64) regions.Hyperplane {
	h := regions.Hyperplane{Const: c}
	for i, a := range coef {
		if a != 0 {
			h.Index, h.Coef = append(h.Index, i), append(h.Coef, a)
		}
	}
	return h
}

// requireEstimate accepts what is within 5 standard errors and the error of want;
// 5 of them show an error of 0.01, where fluxes are of the order of 1.
func requireEstimate(t *testing.T, want, wantError float64, got boundary.Estimate, what ...any) {
	t.Helper()
	require.LessOrEqual(t, math.Abs(got.Mean-want), 5*got.SE+wantError, what...)
	require.Less(t, 5*got.SE, 0.01, "inconclusive")
}

// For a normal base the surface integrals have closed forms. On a·ε + c = 0, of
// unit normal m = a/‖a‖ and at distance h = c/‖a‖, the density of q across is
// φ(h), and along the plane ε = −h·m plus a standard normal of n − 1 dimensions.
// The divergence theorem says the same of the half space.
func TestNormalFlux(t *testing.T) {
	u := []float64{0.3, -1.2, 0.7}
	planes := []regions.Hyperplane{
		plane(0.4, 1, -2, 0.5), plane(-1.5, 0, 3, 0), plane(1, -1, 0, -0.2), plane(0, 0.1, 0.2, -0.05), plane(2, 1, 1, 1),
	}
	type closed func(m []float64, h float64) float64
	for name, c := range map[string]struct {
		f    func(eps []float64) []float64
		want closed // over φ(h)
	}{
		"constant": {constantField(u...), func(m []float64, _ float64) float64 { return floats.Dot(u, m) }},
		"identity": {func(eps []float64) []float64 { return eps }, func(_ []float64, h float64) float64 { return -h }},
		"linear": {func(e []float64) []float64 { return []float64{e[1], 2 * e[2], -e[0]} }, func(m []float64, h float64) float64 {
			return -h * (m[0]*m[1] + 2*m[1]*m[2] - m[2]*m[0])
		}},
		"square": {func(e []float64) []float64 { return scaled(u, floats.Dot(e, e)) }, func(m []float64, h float64) float64 {
			return floats.Dot(u, m) * (2 + h*h)
		}},
		"radial": {func(e []float64) []float64 { return scaled(e, floats.Dot(e, e)) }, func(_ []float64, h float64) float64 {
			return -h * (2 + h*h)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := boundary.Integral(planes, 3, distuv.UnitNormal, field(c.f), boundary.IntegralSettings{Samples: 400000, Seed: *seed})
			require.NoError(t, err)
			require.Len(t, got, len(planes))
			for l, p := range planes {
				normal := make([]float64, 3)
				for k, i := range p.Index {
					normal[i] = p.Coef[k]
				}
				norm := floats.Norm(normal, 2)
				want := c.want(scaled(normal, 1/norm), p.Const/norm) * distuv.UnitNormal.Prob(p.Const/norm)
				requireEstimate(t, want, 1e-12, got[l], "plane %d", l)
				if len(p.Index) == 1 && name == "constant" {
					require.InDelta(t, want, got[l].Mean, 1e-12, "without variance")
				}
			}
		})
	}
}

// With F = ∇Φ and ‖∇Φ‖ = 1 the flux is the density of Φ at 0, whatever the base:
// here of Φ = 0.6·ε_0 − 0.8·ε_1 + x, by convolution.
func TestFluxIsADensity(t *testing.T) {
	for name, base := range bases() {
		for _, x := range []float64{-0.7, 0, 1.3} {
			want := integrate(func(e float64) float64 { return base.Prob(e) * base.Prob((0.6*e+x)/0.8) / 0.8 })
			got, err := boundary.Integral([]regions.Hyperplane{plane(x, 0.6, -0.8)}, 2, base,
				field(constantField(0.6, -0.8)), boundary.IntegralSettings{Samples: 60000, Seed: *seed})
			require.NoError(t, err)
			requireEstimate(t, want, 1e-4, got[0], name)
		}
	}
}

func bases() map[string]boundary.Base {
	return map[string]boundary.Base{
		"normal":   distuv.Normal{Mu: 0.3, Sigma: 1.2},
		"laplace":  distuv.Laplace{Mu: 0.2, Scale: 0.8},
		"logistic": distuv.Logistic{Mu: -0.1, S: 0.6},
		"student":  distuv.StudentsT{Mu: 0, Sigma: 1, Nu: 4},
		"uniform":  distuv.Uniform{Min: -2, Max: 2.5},
	}
}

// integrate is ∫ f by the midpoint rule, to about 1e-4 where f jumps.
func integrate(f func(x float64) float64) float64 {
	const h, reach = 1e-3, 60
	sum := 0.0
	for x := -reach + h/2; x < reach; x += h {
		sum += h * f(x)
	}
	return sum
}

// Other bases against a quadrature along the line, which knows nothing of pivots:
// by its arc length from the point nearest to 0.
func TestFluxOfOtherBases(t *testing.T) {
	f := func(e []float64) []float64 { return []float64{math.Cos(e[0]), 1 + math.Sin(e[0]-e[1])} }
	lines := []regions.Hyperplane{plane(0.5, 1, 0), plane(-0.6, 2, 1), plane(0.9, -0.3, 0.5), plane(0, 1, -1)}
	for name, base := range bases() {
		t.Run(name, func(t *testing.T) {
			got, err := boundary.Integral(lines, 2, base, field(f), boundary.IntegralSettings{Samples: 60000, Seed: *seed})
			require.NoError(t, err)
			for l, p := range lines {
				a := make([]float64, 2)
				for k, i := range p.Index {
					a[i] = p.Coef[k]
				}
				norm := floats.Norm(a, 2)
				mx, my, h := a[0]/norm, a[1]/norm, p.Const/norm
				want := integrate(func(s float64) float64 {
					e := []float64{-h*mx - s*my, -h*my + s*mx}
					v := f(e)
					return base.Prob(e[0]) * base.Prob(e[1]) * (v[0]*mx + v[1]*my)
				})
				requireEstimate(t, want, 1e-6, got[l], "line %d", l)
			}
		})
	}
}

func TestIntegralIsRepeatable(t *testing.T) {
	lines := []regions.Hyperplane{plane(0.5, 1, 0.5), plane(-0.6, 2, 1)}
	run := func(planes []regions.Hyperplane, s boundary.IntegralSettings) []boundary.Estimate {
		got, err := boundary.Integral(planes, 2, distuv.UnitNormal, field(func(e []float64) []float64 { return e }), s)
		require.NoError(t, err)
		return got
	}
	want := run(lines, boundary.IntegralSettings{Seed: 1})
	require.Equal(t, want, run(lines, boundary.IntegralSettings{Seed: 1, Samples: 1000}))
	require.Equal(t, want[:1], run(lines[:1], boundary.IntegralSettings{Seed: 1}), "planes have streams of their own")
	require.NotEqual(t, want, run(lines, boundary.IntegralSettings{Seed: 2}))
	require.Empty(t, run(nil, boundary.IntegralSettings{}))
}

// Where the base has no mass the field may be infinite.
func TestNoMassNoFlux(t *testing.T) {
	got, err := boundary.Integral([]regions.Hyperplane{plane(-5, 1, 0)}, 2, distuv.Uniform{Min: -1, Max: 1},
		field(constantField(math.Inf(1), math.NaN())), boundary.IntegralSettings{})
	require.NoError(t, err)
	require.Equal(t, []boundary.Estimate{{}}, got)
}

func TestIntegralErrors(t *testing.T) {
	mistake := errors.New("no field here")
	ones := field(constantField(1, 1))
	shaped := func(v any, shape ...int) boundary.Integrand {
		return func(int, *tensor.Dense) (*tensor.Dense, error) {
			return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v)), nil
		}
	}
	good := plane(0.5, 1, 0.5)
	for name, c := range map[string]struct {
		planes []regions.Hyperplane
		f      boundary.Integrand
		n      int
		is     error
		has    string
	}{
		"no normal":      {[]regions.Hyperplane{good, {Const: 1}}, ones, 10, regions.ErrNoNormal, "hyperplane 1"},
		"not finite":     {[]regions.Hyperplane{plane(math.NaN(), 1)}, ones, 10, regions.ErrNotFinite, "hyperplane 0"},
		"dimension":      {[]regions.Hyperplane{plane(0, 1, 1, 1)}, ones, 10, nil, "2 dimensions"},
		"integrand":      {[]regions.Hyperplane{good}, func(int, *tensor.Dense) (*tensor.Dense, error) { return nil, mistake }, 10, mistake, "hyperplane 0"},
		"transposed":     {[]regions.Hyperplane{good}, shaped(make([]float64, 20), 10, 2), 10, nil, "(10, 2)"},
		"vector":         {[]regions.Hyperplane{good}, shaped(make([]float64, 20), 20), 10, nil, "shape"},
		"too short":      {[]regions.Hyperplane{good}, shaped(make([]float64, 10), 1, 10), 10, nil, "shape"},
		"float32":        {[]regions.Hyperplane{good}, shaped(make([]float32, 20), 2, 10), 10, nil, "float64"},
		"no result":      {[]regions.Hyperplane{good}, func(int, *tensor.Dense) (*tensor.Dense, error) { return nil, nil }, 10, nil, "shape"},
		"NaN":            {[]regions.Hyperplane{good}, field(constantField(math.NaN(), 1)), 10, nil, "not finite"},
		"infinite":       {[]regions.Hyperplane{good}, field(constantField(math.Inf(1), 1)), 10, nil, "not finite"},
		"one sample":     {[]regions.Hyperplane{good}, ones, 1, nil, "1 samples"},
		"negative":       {[]regions.Hyperplane{good}, ones, -5, nil, "-5 samples"},
		"negative index": {[]regions.Hyperplane{{Index: []int{-1}, Coef: []float64{1}}}, ones, 10, regions.ErrMalformed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := boundary.Integral(c.planes, 2, distuv.UnitNormal, c.f, boundary.IntegralSettings{Samples: c.n})
			require.Error(t, err)
			require.Nil(t, got)
			require.ErrorContains(t, err, c.has)
			require.Regexp(t, "^boundary: ", err.Error())
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		})
	}
}
