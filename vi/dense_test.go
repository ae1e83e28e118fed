package vi

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
)

// dense is the model
//
//	log r(z) = log N(z; 0, I) + Σ_l 1[A_l·z + b_l > 0]·(w_l + v_l·z)
//
// whose guards have all latents and cross one another.
type dense struct {
	a, v [][]float64
	b, w []float64
}

// newDense draws a model of n latents and l guards, and a family whose mass all
// guards cut.
func newDense(n, l int, seed uint64) (dense, MeanField) {
	rng := rand.New(rand.NewPCG(seed, 0))
	vector := func(n int, scale float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = scale * rng.NormFloat64()
		}
		return x
	}
	d := dense{b: vector(l, 0.5), w: vector(l, 2)}
	for range l {
		d.a, d.v = append(d.a, vector(n, 1)), append(d.v, vector(n, 1.5))
	}
	sd := make([]float64, n)
	for i := range sd {
		sd[i] = 0.3 + 1.2*rng.Float64()
	}
	return d, NewMeanField(vector(n, 0.5), sd)
}

func (d dense) model() *graph.Model {
	m := graph.NewModel()
	z := make([]graph.Expr, len(d.a[0]))
	for i := range z {
		z[i] = m.Sample(fmt.Sprintf("z%d", i), graph.Normal(0, 1))
	}
	affine := func(c float64, a []float64) graph.Expr {
		sum := graph.Add(c, 0)
		for i, x := range a {
			sum = graph.Add(sum, graph.Mul(x, z[i]))
		}
		return sum
	}
	for l := range d.a {
		m.If(graph.Greater(affine(d.b[l], d.a[l]), 0), func() { m.Factor(affine(d.w[l], d.v[l])) }, nil)
	}
	return m
}

// logProb is log r without package graph.
func (d dense) logProb(z []float64) float64 {
	sum := 0.0
	for _, x := range z {
		sum += distuv.UnitNormal.LogProb(x)
	}
	for l := range d.a {
		if floats.Dot(d.a[l], z)+d.b[l] > 0 {
			sum += d.w[l] + floats.Dot(d.v[l], z)
		}
	}
	return sum
}

// elbo is the closed form. Under q, X = A·z + b is normal with mean m and standard
// deviation t, and V = v·z is jointly normal with it, with covariance
// k = Σ v_i A_i s_i². So with x = m/t
//
//	E[1[X > 0](w + V)] = (w + v·μ) Φ(x) + (k/t) φ(x)
func (d dense) elbo(theta []float64) float64 {
	q := FromTheta(theta)
	s := q.Scale(nil)
	sum := q.Entropy()
	for i, m := range q.Mu {
		sum -= 0.5 * (math.Log(2*math.Pi) + m*m + s[i]*s[i])
	}
	for l := range d.a {
		_, x, t, k := d.guard(l, q.Mu, s)
		sum += (d.w[l]+floats.Dot(d.v[l], q.Mu))*distuv.UnitNormal.CDF(x) + k/t*distuv.UnitNormal.Prob(x)
	}
	return sum
}

func (d dense) guard(l int, mu, s []float64) (m, x, t, k float64) {
	m = d.b[l]
	for i, a := range d.a[l] {
		m += a * mu[i]
		t += a * a * s[i] * s[i]
		k += d.v[l][i] * a * s[i] * s[i]
	}
	t = math.Sqrt(t)
	return m, m / t, t, k
}

// gradient is that of elbo, term by term, with respect to θ.
func (d dense) gradient(theta []float64) []float64 {
	q := FromTheta(theta)
	s := q.Scale(nil)
	g := make([]float64, len(theta))
	for i := range s {
		g[2*i], g[2*i+1] = -q.Mu[i], 1/s[i]-s[i]
	}
	for l := range d.a {
		m, x, t, k := d.guard(l, q.Mu, s)
		cdf, pdf := distuv.UnitNormal.CDF(x), distuv.UnitNormal.Prob(x)
		byX := (d.w[l]+floats.Dot(d.v[l], q.Mu))*pdf - k/t*x*pdf
		for i, a := range d.a[l] {
			byS := a * a * s[i] / t // ∂t/∂s_i
			g[2*i] += d.v[l][i]*cdf + byX*a/t
			g[2*i+1] += -byX*m/(t*t)*byS + 2*d.v[l][i]*a*s[i]/t*pdf - k/(t*t)*byS*pdf
		}
	}
	for i, r := range q.Rho {
		g[2*i+1] *= 1 / (1 + math.Exp(-r))
	}
	return g
}

// The oracle itself: its gradient is that of its value, and its value that of
// plain Monte Carlo.
func TestDenseClosedForm(t *testing.T) {
	for _, c := range denseCases {
		d, q := newDense(c.latents, c.guards, c.seed)
		theta := q.Theta()
		numeric := fd.Gradient(nil, d.elbo, theta, &fd.Settings{Formula: fd.Central, Step: 1e-5})
		require.InDeltaSlice(t, numeric, d.gradient(theta), 1e-8)

		rng := rand.New(rand.NewPCG(*seed, 1))
		var m moments
		s, z := q.Scale(nil), make([]float64, c.latents)
		for range 1000000 {
			for i := range z {
				z[i] = q.Mu[i] + s[i]*rng.NormFloat64()
			}
			m.add(d.logProb(z))
		}
		require.Less(t, math.Abs(m.mean+q.Entropy()-d.elbo(theta)), 5*m.se())
		require.Less(t, 5*m.se(), 0.05, "inconclusive")

		e, err := ELBO(mustCompile(t, d.model()), q, 200000, *seed)
		require.NoError(t, err)
		require.Less(t, math.Abs(e.Mean-d.elbo(theta)), 5*e.SE)
	}
}

type denseCase struct {
	latents, guards int
	seed            uint64
}

var denseCases = []denseCase{{3, 4, 1}, {4, 6, 2}, {5, 5, 3}}

func mustCompile(t testing.TB, m *graph.Model) *graph.Density {
	t.Helper()
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// boundaries are all forms of the Boundary estimator.
func boundaries() map[string]Boundary {
	all := map[string]Boundary{}
	for _, method := range []boundary.Method{boundary.Orthogonal, boundary.Elimination} {
		all[fmt.Sprintf("%v, all", method)] = Boundary{boundary.Settings{Method: method}}
		for _, by := range []boundary.Subsampling{boundary.Uniform, boundary.ByWeight} {
			for _, guards := range []int{1, 3} {
				s := boundary.Settings{Method: method, Guards: guards, By: by}
				all[fmt.Sprintf("%v, %d %v", method, guards, by)] = Boundary{s}
			}
		}
	}
	return all
}

// gradientOf takes a sixteenth of the draws in short runs; precision says what is
// still seen of an error.
func gradientOf(t testing.TB, d *graph.Density, q MeanField, e Estimator, draws int) GradientStats {
	t.Helper()
	if testing.Short() {
		draws /= 16
	}
	s, err := Gradient(d, q, e, GradientSettings{Draws: draws, Samples: 32, Seed: *seed})
	require.NoError(t, err)
	return s
}

// precision is the error that a test detects: four times as large in short runs.
func precision(detect float64) float64 {
	if testing.Short() {
		return 4 * detect
	}
	return detect
}

// Every form of the estimator has the closed form's gradient as its mean, in
// every component, to a fiftieth of the largest; reparameterization does not.
func TestDenseGradient(t *testing.T) {
	cases := denseCases
	if testing.Short() {
		cases = cases[:1]
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%d latents %d guards", c.latents, c.guards), func(t *testing.T) {
			model, q := newDense(c.latents, c.guards, c.seed)
			d := mustCompile(t, model.model())
			require.Equal(t, c.guards, d.Arrangement().Len())
			want := model.gradient(q.Theta())
			for name, e := range boundaries() {
				s := gradientOf(t, d, q, e, 20000)
				require.Less(t, maxZ(t, s, want, precision(0.02)), 5.0, name)
				t.Logf("%-26s Avg(V) %.3g, V(norm) %.3g", name, s.AvgVar, s.NormVar)
			}
			require.Greater(t, maxZ(t, gradientOf(t, d, q, Reparam{}, 4000), want, precision(0.02)), 5.0, "reparameterization alone must be rejected")
		})
	}
}
