package check

import (
	"math"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
)

func sharesOf(t testing.TB, d *graph.Density, q family.Q, samples int) GuardShares {
	t.Helper()
	s, err := SharesByGuard(d, q, samples, *seed)
	require.NoError(t, err)
	total := s.RepShare
	for _, g := range s.Guards {
		total += g.Share
	}
	require.InDelta(t, 1, total, 1e-12)
	return s
}

// byTheta sums what the guards bring, by θ.
func (s GuardShares) byTheta(n int) (sum []float64) {
	sum = make([]float64, n)
	for _, g := range s.Guards {
		for k, i := range g.Params {
			sum[i] += g.Mean[k]
		}
	}
	return sum
}

// What the guards bring one by one is the whole boundary term of the same draws.
func TestSharesAddUp(t *testing.T) {
	model, mean, sd := vitest.NewDense(vitest.DenseCases[1])
	dense := vitest.Compile(t, model.Model())
	temperature, d := vitest.Paper(t, "temperature")
	type memberOf struct {
		d *graph.Density
		q family.Q
	}
	cases := []memberOf{{dense, softplus(mean, sd)}, {dense, family.Independent(mean, sd)}, {d, family.Softplus{}.At(temperature.ThetaInit)}}
	qs, _ := correlated(t, dense, mean, sd)
	for _, q := range qs {
		cases = append(cases, memberOf{dense, q})
	}
	for _, c := range cases {
		s := sharesOf(t, c.d, c.q, 2048)
		check, err := CheckBias(c.d, c.q, BiasSettings{Samples: 2048, Seed: *seed})
		require.NoError(t, err)
		require.Equal(t, check.Samples, s.Samples)
		got := s.byTheta(len(c.q.Theta()))
		scale := floats.Norm(got, math.Inf(1))
		require.Positive(t, scale)
		for i, x := range check.Components {
			require.InDelta(t, x.Term.Value, got[i], 1e-12*scale, x.Name)
		}
	}
}

// The proposition's only guard, in closed form.
func TestSharesOfTheProposition(t *testing.T) {
	_, d := vitest.Paper(t, "proposition")
	theta := 0.7
	s := sharesOf(t, d, softplus([]float64{theta}, []float64{1}), 20000)
	term := -10.5 * distuv.UnitNormal.Prob(theta)
	g := s.Guards[0]
	require.Equal(t, "z = 0", g.Equation)
	require.InDelta(t, term, g.Mean[0], 1e-12)
	require.InDelta(t, -theta*term*slope(1), g.Mean[1], 1e-12)
	norm := math.Hypot(term, theta*term*slope(1))
	require.InDelta(t, norm, g.Norm.Value, 1e-12)
	vitest.Estimate(t, "RepGrad", theta, s.RepGrad, 0.1) // the gradient by ρ is 0 at scale 1
	require.InDelta(t, norm/(norm+theta), g.Share, 0.01)
}

// In temperature a noise latent, and in influenza each f, has one guard: its
// golden BouContr is that guard's.
func TestSharesAreGolden(t *testing.T) {
	for name, own := range map[string]string{"temperature": "noise", "influenza": "f"} {
		spec, d := vitest.Paper(t, name)
		exact := spec.Golden.Exact.BouContr
		scale := floats.Norm(exact, math.Inf(1))
		s := sharesOf(t, d, family.Softplus{}.At(spec.ThetaInit), 330000)
		checked := 0
		for k, g := range s.Guards {
			if k > 0 {
				require.LessOrEqual(t, g.Share, s.Guards[k-1].Share)
			}
			if g.Equation == "theta0 = 18" { // where the heater is off on both sides
				require.Empty(t, g.Params)
				require.Zero(t, g.Norm)
				continue
			}
			require.Len(t, g.Params, 2)
			i := g.Params[0] / 2
			if !strings.Contains(spec.Latents[i], own) {
				continue
			}
			checked++
			for j := range 2 {
				require.Less(t, 5*g.SE[j], 0.5*scale, "inconclusive")
				require.LessOrEqual(t, math.Abs(g.Mean[j]-exact[2*i+j]), 5*g.SE[j]+1e-9*scale, "%s: %s", name, g.Equation)
			}
			norm := math.Hypot(exact[2*i], exact[2*i+1])
			require.Less(t, math.Abs(g.Norm.Value-norm), 6*g.Norm.SE+1e-9*scale, "%s: %s", name, g.Equation) // of 15 degrees of freedom
		}
		require.Greater(t, checked, 10)
	}
}

// Guards on several latents: the closed form of each one's boundary part.
func TestSharesOfDenseGuards(t *testing.T) {
	model, mean, scale := vitest.NewDense(vitest.DenseCases[1])
	d := vitest.Compile(t, model.Model())
	s := sharesOf(t, d, softplus(mean, scale), 400000)
	require.Len(t, s.Guards, 6)
	for _, g := range s.Guards {
		// planes are in the order of the guards
		l := g.Plane
		m, x, norm, k := model.Guard(l, mean, scale)
		pdf := distuv.UnitNormal.Prob(x)
		byX := (model.W[l]+floats.Dot(model.V[l], mean))*pdf - k/norm*x*pdf
		largest := 0.0
		want := make([]float64, 8)
		for i, a := range model.A[l] {
			byS := a * a * scale[i] / norm
			whole := -byX*m/(norm*norm)*byS + 2*model.V[l][i]*a*scale[i]/norm*pdf - k/(norm*norm)*byS*pdf
			want[2*i] = byX * a / norm
			want[2*i+1] = (whole - model.V[l][i]*a*scale[i]/norm*pdf) * slope(scale[i])
			largest = max(largest, math.Abs(want[2*i]), math.Abs(want[2*i+1]))
		}
		for j, w := range want {
			require.Less(t, 5*g.SE[j], 0.1*largest, "inconclusive")
			require.LessOrEqual(t, math.Abs(g.Mean[j]-w), 5*g.SE[j], "guard %d, component %d", l, j)
		}
	}
}

// At textmsg's start every guard's part is 0 by symmetry, with noise: its norm
// must not be the noise's.
func TestSharesOfNoise(t *testing.T) {
	spec, d := vitest.Paper(t, "textmsg")
	s := sharesOf(t, d, family.Softplus{}.At(spec.ThetaInit), 20000)
	for _, g := range s.Guards {
		require.Positive(t, g.SE[0])
		require.Less(t, math.Abs(g.Mean[0]), 5*g.SE[0])
		require.Less(t, g.Norm.Value, 5*g.SE[0]+5*g.SE[1])
	}
	require.Greater(t, s.RepShare, 0.97)
}

func TestSharesWithoutGuards(t *testing.T) {
	d := vitest.Smooth(t)
	s := sharesOf(t, d, priorStart(d), 1000)
	require.Empty(t, s.Guards)
	require.Equal(t, 1.0, s.RepShare)
}

func TestSharesProcessors(t *testing.T) {
	_, d := vitest.Paper(t, "temperature")
	q := priorStart(d)
	many := sharesOf(t, d, q, 2000)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one, err := SharesByGuard(d, q, 2000, *seed)
	require.NoError(t, err)
	require.Equal(t, many.Guards[0].Mean, one.Guards[0].Mean)
	require.Equal(t, many.String(), one.String())
}

func TestSharesErrors(t *testing.T) {
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(z, 0.5), graph.Log(graph.Sub(z, 0.5)), 0))
	d := vitest.Compile(t, m)
	q := family.Independent([]float64{0}, []float64{1})
	_, err := SharesByGuard(d, q, 0, 1)
	require.EqualError(t, err, "check: 0 samples")
	_, err = SharesByGuard(d, family.Independent(nil, nil), 10, 1)
	require.Error(t, err)
	_, err = SharesByGuard(d, q, 1000, 1)
	require.ErrorContains(t, err, "check: the jump of log r at z = 0.5 (shares_test.go:")
}

func TestSharesString(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Name("far", graph.Greater(x, 4))
	graph.Less(x, 2)
	guards := vitest.Compile(t, m).GuardsByPlane()
	s := GuardShares{RepGrad: mc.Estimate{Value: 3, SE: 0.01}, RepShare: 0.75, Guards: []GuardShare{
		{Equation: "x = 4", Guards: guards[0], Norm: mc.Estimate{Value: 0.9, SE: 0.02}, Share: 0.225},
		{Equation: "x = 2", Guards: guards[1], Norm: mc.Estimate{Value: 0.1, SE: 0}, Share: 0.025},
	}}
	require.Equal(t, `part of the gradient  where                         norm  share
inside the regions                              3 ± 0.01  75.0%
x = 4                 far shares_test.go:###  0.9 ± 0.02  22.5%
x = 2                 shares_test.go:###             0.1   2.5%
`, regexp.MustCompile(`\.go:\d{3}`).ReplaceAllString(s.String(), ".go:###"))
	for range sharesShown {
		s.Guards = append(s.Guards, s.Guards[1])
	}
	require.Contains(t, s.String(), "\n2 more guards share 5.0%\n")
}
