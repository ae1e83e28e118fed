package gradient_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// learned is a program of dim latents and three parameters, one of each kind, which stand in
// priors, in factors, and as thresholds in guards.
func learned(dim int) *graph.Model {
	m := graph.NewModel()
	cut := m.Param("cut", 0.3)
	bend := m.Param("bend", 0.5, graph.Between(-1, 2))
	z := []graph.Expr{}
	rate := m.Param("rate", 0.9, graph.Positive())
	for i := range dim {
		mean := graph.Expr{}
		if i > 0 {
			mean = graph.Mul(bend, z[i-1])
		}
		z = append(z, m.Sample(fmt.Sprintf("z%d", i), graph.Normal(mean, rate)))
	}
	last := z[dim-1]
	g := []graph.Guard{
		graph.Greater(graph.Sum(z...), cut),
		graph.Greater(graph.Sub(last, graph.Mul(0.25, z[0])), graph.Sub(-0.4, graph.Mul(0.3, cut))),
		graph.Less(z[0], graph.Mul(0.7, cut)),
	}
	m.Factor(graph.If(g[0], graph.Add(0.8, graph.Mul(1.5, graph.Sin(z[0]))), graph.Mul(bend, last)))
	m.If(graph.And(g[1], graph.Not(g[2])), func() { m.Factor(graph.Sub(graph.Mul(z[0], rate), 1)) }, func() { m.Factor(graph.Mul(0.5, cut)) })
	m.Observe("y", graph.Normal(graph.If(g[2], last, graph.Tanh(last)), rate), 0.4)
	return m
}

// learnedProblem is learned at given parameters, in coordinates.
func learnedProblem(dim int, u []float64) quadratureProblem {
	cut, bend, rate := u[0], -1+3/(1+math.Exp(-u[1])), math.Exp(u[2])
	bell := func(d, sd float64) float64 { return -0.5*d*d/(sd*sd) - math.Log(sd) - 0.5*math.Log(2*math.Pi) }
	p := quadratureProblem{parents: make([][]int, dim)}
	ones, slanted := slices.Repeat([]float64{1}, dim), make([]float64, dim)
	slanted[dim-1]++
	slanted[0] -= 0.25
	p.guards = append(p.guards, affine(-cut, ones...), affine(0.4+0.3*cut, slanted...), affine(-0.7*cut, 1))
	if dim == 2 { // no guard, but where the first two cross
		p.guards = append(p.guards, affine(-(0.4+1.3*cut)/1.25, 1))
	}
	p.logProb = func(z []float64) (sum float64) {
		last := z[dim-1]
		for i, x := range z {
			mean := 0.0
			if i > 0 {
				mean = bend * z[i-1]
			}
			sum += bell(x-mean, rate)
		}
		if p.guards[0].At(z) > 0 {
			sum += 0.8 + 1.5*math.Sin(z[0])
		} else {
			sum += bend * last
		}
		low := !(p.guards[2].At(z) > 0)
		if p.guards[1].At(z) > 0 && !low {
			sum += z[0]*rate - 1
		} else {
			sum += 0.5 * cut
		}
		if low {
			return sum + bell(0.4-last, rate)
		}
		return sum + bell(0.4-math.Tanh(last), rate)
	}
	return p
}

// The gradient by latents and by parameters is that of the ELBO by quadrature, in
// three dimensions only that by parameters; reparameterization alone is not.
func TestParameterGradient(t *testing.T) {
	t.Parallel()
	const params = 3
	for dim := 1; dim <= long.Or(1, 3); dim++ {
		d := vitest.Compile(t, learned(dim))
		require.Equal(t, params, d.Params())
		require.Equal(t, []string{"cut", "bend", "rate"}, d.Latents()[:params])
		u := []float64{0.25, 0.2, -0.3}
		rng := rand.New(rand.NewPCG(3, uint64(dim)))
		problem := learnedProblem(dim, u)
		for range 100 {
			z := slices.Clone(u)
			for range dim {
				z = append(z, 1.5*rng.NormFloat64())
			}
			got, err := d.LogProb(z)
			require.NoError(t, err)
			require.InDelta(t, problem.logProb(z[params:]), got, 1e-12)
		}
		members := map[string]family.Q{}
		for name, f := range everyFamily(dim) {
			if f == (family.MeanField{}) && dim < 3 || f == (family.FullRank{}) && dim > 1 || f == (family.LowRank{Rank: 1}) && dim == 2 {
				q, err := f.New(d)
				require.NoError(t, err)
				members[name] = q
			}
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			t.Run(fmt.Sprintf("%d %s", dim, name), func(t *testing.T) {
				q := members[name]
				theta := make([]float64, len(q.Theta()))
				for k := range theta {
					switch at := q.Param(k); {
					case at.Latent < params && at.Symbol == "μ":
						theta[k] = u[at.Latent]
					case at.Latent < params && at.Symbol == "U":
					case at.Symbol == "s" || at.Symbol == "unit":
						theta[k] = 0.5 + 0.4*rng.Float64()
					default:
						theta[k] = 0.4 * rng.NormFloat64()
					}
				}
				q.Set(theta)
				require.Negative(t, q.Fault())
				for i := range params {
					require.Equal(t, u[i], q.Mean(i))
					require.Zero(t, q.SD(i))
				}
				checkParameters(t, d, q, dim)
			})
		}
	}
}

func checkParameters(t *testing.T, d *graph.Density, q family.Q, dim int) {
	const params = 3
	width, accuracy := 0.2, 1e-4
	if dim == 3 {
		width, accuracy = 1, 5e-3
	}
	own := map[float64]grid{} // by width: at q's parameters
	gridAt := func(width float64, u []float64) grid {
		var base []float64
		for i := range params {
			base = append(base, q.Mean(i))
		}
		if g, known := own[width]; known && slices.Equal(u, base) {
			return g
		}
		p := learnedProblem(dim, u)
		for i := params; i < q.Dim(); i++ {
			p.theta = append(p.theta, q.Mean(i), 1.2*q.SD(i)) // the same nodes for all θ nearby
		}
		g := p.grid(width)
		if slices.Equal(u, base) {
			own[width] = g
		}
		return g
	}
	value := func(width float64, theta []float64) (sum float64) {
		at := q.Clone()
		at.Set(theta)
		var u []float64
		for i := range params {
			u = append(u, theta[2*i])
		}
		g := gridAt(width, u)
		all := append(slices.Clone(u), make([]float64, dim)...)
		for k, z := range g.z {
			copy(all[params:], z)
			log := at.LogProb(all)
			if w := g.w[k] * math.Exp(log); w > 0 {
				sum += w * (g.logR[k] - log)
			}
		}
		return sum
	}
	known := len(q.Theta())
	if dim == 3 {
		known = 2 * params
	}
	slope := func(width float64) []float64 {
		want := make([]float64, known)
		for k := range want {
			const h = 1e-4
			to := slices.Clone(q.Theta())
			to[k] += h
			up := value(width, to)
			to[k] -= 2 * h
			want[k] = (up - value(width, to)) / (2 * h)
			if of := q.Param(k); of.Latent < params && of.Symbol != "μ" {
				require.Zero(t, want[k], "%v", of)
			}
		}
		return want
	}
	want := slope(width)
	require.InDeltaSlice(t, slope(1.6*width), want, accuracy, "the quadrature has not converged")
	exact := value(width, q.Theta())
	e, err := check.ELBO(d, q, 100000, *gradient.Seed)
	require.NoError(t, err)
	require.Less(t, math.Abs(e.Value-exact), 5*e.SE+accuracy)

	n := vitest.Draws(1 << 17)
	j := judge{want: want, unit: slices.Repeat([]float64{1}, known), detect: vitest.Precision(0.08) * floats.Norm(want, 2), accuracy: accuracy}
	s := sampled(t, d, q, gradient.Boundary{}, n)
	worst := j.largest(t, "boundary", s.Mean, s.SE)
	require.Less(t, worst, 5.0)
	s = sampled(t, d, q, gradient.Reparam{}, n)
	for k := 2 * params; k < known; k++ { // by parameters alone
		s.Mean[k] = want[k]
	}
	rejected := j.largest(t, "reparam", s.Mean, s.SE)
	require.Greater(t, rejected, 5.0, "reparameterization alone must be rejected")
	t.Logf("ELBO %.4f, |z| ≤ %.2f; reparameterization rejected at %.0f", exact, worst, rejected)
}

// A parameter has no score: where it moves no guard its gradient by Score is that of
// Boundary, and where it does Score refuses.
func TestScoreOfParameters(t *testing.T) {
	d := vitest.Compile(t, learned(1))
	q, err := family.MeanField{}.New(d)
	require.NoError(t, err)
	_, err = gradient.NewRunner(d, q, gradient.Score{}, 4, 1)
	require.ErrorContains(t, err, "parameter cut has no score, and moves the guard z0 - cut > 0 (param_test.go:")
	_, err = family.Softplus{}.New(d)
	require.ErrorContains(t, err, "3 parameters")

	m := graph.NewModel()
	level := m.Param("level", 0.4)
	rate := m.Param("rate", 0.8, graph.Positive())
	x := m.Sample("x", graph.Normal(level, rate))
	y := m.Sample("y", graph.Normal(graph.Mul(0.5, x), 1))
	m.Factor(graph.If(graph.Greater(graph.Mul(x, y), 0.3), graph.Mul(level, y), graph.Sub(rate, x)))
	d = vitest.Compile(t, m)
	for _, f := range []family.Family{family.MeanField{}, family.FullRank{}, family.LowRank{Rank: 1}, family.Structured{}} {
		q, err := f.New(d)
		require.NoError(t, err)
		q.Place([]float64{0.3, -0.2, 0.4, -0.1}, []float64{1, 1, 0.8, 0.9})
		n := vitest.Draws(1 << 16)
		exact, score := sampled(t, d, q, gradient.Boundary{}, n), sampled(t, d, q, gradient.Score{}, 4*n)
		for k := range exact.Mean {
			se := math.Hypot(exact.SE[k], score.SE[k])
			require.Less(t, math.Abs(exact.Mean[k]-score.Mean[k]), 5*se+1e-12, "%s: %d: %v, score %v", f.Name(), k, exact, score)
			if k < 4 && k%2 == 0 {
				require.Greater(t, math.Abs(exact.Mean[k]), 5*se, "%s: nothing to see", f.Name())
			}
		}
	}
}

// A threshold that is transformed makes a guard that is not affine. Given h, the height of the step, and q = Normal(m, s²)
//
//	E[log r] = … + h·Φ((m − c)/s),   c = eᵘ.
func TestTransformedThreshold(t *testing.T) {
	const h, u, mean, sd = 1.7, -0.4, 0.3, 0.8
	m := graph.NewModel()
	cut := m.Param("cut", 1, graph.Positive())
	z := m.Sample("z", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(z, cut), h, 0))
	d := vitest.Compile(t, m)
	at := (mean - math.Exp(u)) / sd
	density := math.Exp(-at*at/2) / math.Sqrt(2*math.Pi) / sd
	want := []float64{-h * density * math.Exp(u), 0, h*density - mean, -h*density*at - sd + 1/sd}
	for _, f := range []family.Family{family.MeanField{}, family.FullRank{}, family.LowRank{Rank: 1}, family.Sequence{Parents: "[[],[]]"}} {
		q, err := f.New(d)
		require.NoError(t, err)
		theta := slices.Clone(q.Theta())
		copy(theta, []float64{u, 1, mean, sd})
		for k := 4; k < len(theta); k++ {
			theta[k] = 0
		}
		q.Set(theta)
		s := sampled(t, d, q, gradient.Boundary{}, 1<<16)
		j := judge{want: want, unit: []float64{1, 1, 1, 1}, detect: 0.05}
		require.Less(t, j.largest(t, f.Name(), s.Mean, s.SE), 5.0, "%s: %v ± %v, want %v", f.Name(), s.Mean, s.SE, want)
		s = sampled(t, d, q, gradient.Reparam{}, 1<<10)
		require.Zero(t, s.Mean[0])
	}
}

// A parameter in a guard that is not affine has no noise in a family of low rank: its row of U
// has no gradient, and stays 0.
func TestLowRankParameterHasNoNoise(t *testing.T) {
	m := graph.NewModel()
	cut := m.Param("cut", 1, graph.Positive())
	z := m.Sample("z", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(z, cut), 1.7, 0))
	d := vitest.Compile(t, m)
	q, err := family.LowRank{Rank: 1}.New(d)
	require.NoError(t, err)
	q.Set([]float64{-0.4, 1, 0.3, 0.6, 0, 0.5})
	s := sampled(t, d, q, gradient.Boundary{}, 1<<10)
	for k, x := range s.Mean {
		switch of := q.Param(k); {
		case of.Latent == 0 && of.Symbol != "μ":
			require.Zero(t, x, of.Symbol)
		default:
			require.NotZero(t, x, of.Symbol)
		}
	}
}
