package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/internal/truncnorm"
)

// intervalMasses are the probabilities of the intervals of latent i's coordinate, which is standard normal.
func intervalMasses(d *Density, i int) (masses []float64) {
	_, cuts := d.Values(i)
	lo := math.Inf(-1)
	for _, hi := range append(cuts, math.Inf(1)) {
		masses = append(masses, math.Exp(truncnorm.LogMass(lo, hi)))
		lo = hi
	}
	return masses
}

// The values of a discrete latent are those of its prior, their intervals have the prior's
// probabilities, and counts go on until 1e-12 is left.
func TestDiscreteValues(t *testing.T) {
	m := NewModel()
	for name, prior := range map[string]Dist{
		"bernoulli": Bernoulli(0.2), "binomial": Binomial(6, 0.3), "poisson": Poisson(3.5),
		"geometric": Geometric(0.4), "failures": NegativeBinomial(2.5, 0.3),
	} {
		m.Sample(name, prior)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		first float64
		n     int // 0 for as many as it takes
		prob  func(k float64) float64
	}{
		"bernoulli": {0, 2, distuv.Bernoulli{P: 0.2}.Prob},
		"binomial":  {0, 7, distuv.Binomial{N: 6, P: 0.3}.Prob},
		"poisson":   {0, 0, distuv.Poisson{Lambda: 3.5}.Prob},
		"geometric": {1, 0, func(k float64) float64 { return 0.4 * math.Pow(0.6, k-1) }},
		"failures": {0, 0, func(k float64) float64 {
			a, _ := math.Lgamma(k + 2.5)
			b, _ := math.Lgamma(k + 1)
			c, _ := math.Lgamma(2.5)
			return math.Exp(a - b - c + 2.5*math.Log(0.3) + k*math.Log(0.7))
		}},
	} {
		i, _ := d.Latent(name)
		values, cuts := d.Values(i)
		require.Len(t, cuts, len(values)-1, name)
		if c.n > 0 {
			require.Len(t, values, c.n, name)
		}
		total := 0.0
		for j, got := range intervalMasses(d, i) {
			require.Equal(t, c.first+float64(j), values[j], name)
			want := c.prob(values[j])
			if j < len(values)-1 {
				assert.InEpsilon(t, want, got, 1e-9, "%s = %v", name, values[j])
			}
			total += want
		}
		assert.InDelta(t, 1, total, 2e-12, name)
		for _, v := range values {
			u, err := d.Coordinate(i).Inverse(v)
			require.NoError(t, err)
			require.Equal(t, v, d.Coordinate(i).Value(u), name)
		}
		for j, cut := range cuts { // ties are on the − side
			require.Equal(t, values[j], d.Coordinate(i).Value(cut), name)
			require.Equal(t, values[j+1], d.Coordinate(i).Value(math.Nextafter(cut, 9)), name)
		}
		_, err := d.Coordinate(i).Inverse(0.5)
		require.ErrorContains(t, err, "cannot be 0.5")
	}
	values, cuts := func() (a, b []float64) {
		m := NewModel()
		m.Sample("x", Normal(0, 1))
		d, err := m.Compile()
		require.NoError(t, err)
		return d.Values(0)
	}()
	require.Nil(t, values)
	require.Nil(t, cuts)
}

// A prior whose parameters are latents has its mass in log r: the sum over the values, each
// times its interval, is the density of the others.
func TestDiscreteMasses(t *testing.T) {
	for name, c := range map[string]struct {
		prior func(p Expr) Dist
		prob  func(p, k float64) float64
	}{
		"binomial":    {func(p Expr) Dist { return Binomial(4, p) }, func(p, k float64) float64 { return distuv.Binomial{N: 4, P: p}.Prob(k) }},
		"categorical": {func(p Expr) Dist { return Categorical(Mul(0.5, p), Sub(1, p), Mul(0.5, p)) }, func(p, k float64) float64 { return []float64{p / 2, 1 - p, p / 2}[int(k)] }},
		"truncated Poisson": {func(p Expr) Dist { return Truncated(Poisson(Mul(3, p)), 1, 4) }, func(p, k float64) float64 {
			d := distuv.Poisson{Lambda: 3 * p}
			return d.Prob(k) / (d.Prob(1) + d.Prob(2) + d.Prob(3) + d.Prob(4))
		}},
	} {
		m := NewModel()
		p := m.Sample("p", Beta(2, 3))
		m.Sample("k", c.prior(p))
		d, err := m.Compile()
		require.NoError(t, err, name)
		masses := intervalMasses(d, 1)
		values, _ := d.Values(1)
		for _, u := range []float64{-3, -0.4, 0, 2} {
			z := []float64{u, 0}
			prob, total := d.Coordinate(0).Value(u), 0.0
			prior := distuv.Beta{Alpha: 2, Beta: 3}.LogProb(prob) + math.Log(prob*(1-prob))
			for j, mass := range masses {
				z[1], err = d.Coordinate(1).Inverse(values[j])
				require.NoError(t, err)
				logProb, err := d.LogProb(z)
				require.NoError(t, err)
				joint := logProb - distuv.UnitNormal.LogProb(z[1]) + math.Log(mass)
				assert.InDelta(t, prior+math.Log(c.prob(prob, values[j])), joint, 1e-9, "%s = %v", name, values[j])
				total += math.Exp(joint)
			}
			assert.InEpsilon(t, math.Exp(prior), total, 1e-9, name)
		}
	}
}

// Ancestral draws of a discrete latent follow its prior, given its parameters.
func TestDiscreteDraws(t *testing.T) {
	m := NewModel()
	x := m.Sample("x", Normal(0, 1))
	m.Sample("k", Binomial(3, If(Greater(x, 0), 0.8, 0.1)))
	m.Sample("n", Poisson(2))
	d, err := m.Compile()
	require.NoError(t, err)
	const n = 100_000
	rng := rand.New(rand.NewPCG(1, 2))
	counts, poisson := map[bool][]float64{true: make([]float64, 4), false: make([]float64, 4)}, make([]float64, 40)
	for range n {
		v := d.Constrain(d.PriorDraw(nil, rng))
		counts[v[0] > 0][int(v[1])]++
		poisson[int(v[2])]++
	}
	for side, p := range map[bool]float64{true: 0.8, false: 0.1} {
		all := floats.Sum(counts[side])
		for k, c := range counts[side] {
			want := distuv.Binomial{N: 3, P: p}.Prob(float64(k))
			assert.InDelta(t, want, c/all, 5*math.Sqrt(want*(1-want)/all))
		}
	}
	for k, c := range poisson {
		want := distuv.Poisson{Lambda: 2}.Prob(float64(k))
		assert.InDelta(t, want, c/n, 5*math.Sqrt(want*(1-want)/n)+1e-9)
	}
}

// Comparisons, sums and choices of discrete latents are what they are of numbers.
func TestDiscreteValuesInPrograms(t *testing.T) {
	m := NewModel()
	k, n, x := m.Sample("k", Binomial(3, 0.4)), m.Sample("n", Poisson(1.5)), m.Sample("x", Normal(0, 1))
	sum := Add(Mul(2, k), Sub(1, n))
	type check struct {
		got  Guard
		want func(k, n, x float64) bool
	}
	checks := []check{
		{Equal(k, 2), func(k, _, _ float64) bool { return k == 2 }},
		{Equal(k, 2.5), func(_, _, _ float64) bool { return false }},
		{Equal(k, n), func(k, n, _ float64) bool { return k == n }},
		{Equal(sum, 3), func(k, n, _ float64) bool { return 2*k+1-n == 3 }},
		{Equal(Mul(0.1, k), 0.3), func(k, _, _ float64) bool { return k == 3 }}, // 0.1·3 is not 0.3
		{Greater(Mul(0.1, k), 0.3), func(_, _, _ float64) bool { return false }},
		{Less(k, 2), func(k, _, _ float64) bool { return k < 2 }},
		{Less(2, k), func(k, _, _ float64) bool { return k > 2 }},
		{Greater(k, -1), func(_, _, _ float64) bool { return true }},
		{Greater(Mul(-1, k), -0.5), func(k, _, _ float64) bool { return k == 0 }},
		{Greater(x, sum), func(k, n, x float64) bool { return x > 2*k+1-n }},
		{Greater(Mul(k, x), 1), func(k, _, x float64) bool { return k*x > 1 }},
		{Equal(If(Equal(k, 1), 5, 6), 5), func(k, _, _ float64) bool { return k == 1 }},
	}
	for i, c := range checks {
		m.Name(fmt.Sprintf("check %d", i), c.got)
	}
	m.Deterministic("chosen", Switch(k, 10, 20, 30, 40))
	m.Deterministic("by sum", Switch(Add(k, If(Greater(x, 0), 1, 0)), Neg(x), Expr{}, k, Mul(3, x), Numbers(7)[0]))
	m.Deterministic("sum", sum)
	d, err := m.Compile()
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		z := d.PriorDraw(nil, rng)
		v := d.Constrain(z)
		signs := d.Arrangement().Signs(z)
		for i, c := range checks {
			g := d.Named(fmt.Sprintf("check %d", i))
			require.Equal(t, c.want(v[0], v[1], v[2]), Holding(nil, g, signs)[0], "check %d at %v", i, v)
		}
		by := v[0]
		if v[2] > 0 {
			by++
		}
		require.Equal(t, []float64{10 * (v[0] + 1), []float64{-v[2], 0, v[0], 3 * v[2], 7}[int(by)], 2*v[0] + 1 - v[1]}, d.DeterministicAt(nil, z))
	}
}

// Discrete latents in a plate are those of the loop.
func TestDiscreteInPlate(t *testing.T) {
	xs := []float64{0.3, -1.2, 2}
	loop, plate := NewModel(), NewModel()
	for i, x := range xs {
		k := loop.Sample(fmt.Sprintf("k[%d]", i), Bernoulli(0.3))
		loop.Observe("x", Normal(Switch(k, -1, 1), If(Equal(k, 1), 1, 2)), x)
	}
	plate.Plate(len(xs), func(p *Plate) {
		k := p.Sample("k", Bernoulli(0.3))
		p.Observe("x", Normal(Switch(k, -1, 1), If(Equal(k, 1), 1, 2)), xs)
	})
	a, err := loop.Compile()
	require.NoError(t, err)
	b, err := plate.Compile()
	require.NoError(t, err)
	require.Equal(t, a.Fingerprint(), b.Fingerprint())
	require.Equal(t, a.Latents(), b.Latents())
	for _, z := range [][]float64{{0, 0, 0}, {2, -1, 0.6}, {-1, 1, 3}} {
		want, err := a.LogProb(z)
		require.NoError(t, err)
		got, err := b.LogProb(z)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// Counts whose parameters are latents are taken up to where 1e-12 of the prior is left, and
// not much further: a Poisson of a Gamma is a negative binomial, and the others have bounds.
func TestLastValue(t *testing.T) {
	last := func(sample func(m *Model) Expr) float64 {
		m := NewModel()
		n := sample(m)
		d, err := m.Compile()
		require.NoError(t, err)
		values, _ := d.Values(d.Dim() - 1)
		require.NotEmpty(t, n)
		for k, v := range values {
			require.Equal(t, float64(k)+values[0], v)
		}
		return values[len(values)-1]
	}
	left := func(d Dist, k float64) float64 {
		v, _ := Exp(LogCCDF(d, k)).IsConst()
		return v
	}
	for name, c := range map[string]struct {
		sample func(m *Model) Expr
		prior  func(k float64) float64 // P(X > k)
		most   float64
	}{
		"of a gamma": {func(m *Model) Expr { return m.Sample("n", Poisson(m.Sample("rate", Gamma(2, 1)))) },
			func(k float64) float64 { return left(NegativeBinomial(2, 0.5), k) }, 150},
		"of a multiple": {func(m *Model) Expr { return m.Sample("n", Poisson(Mul(0.1, m.Sample("rate", Gamma(2, 1))))) },
			func(k float64) float64 { return left(NegativeBinomial(2, 1/1.1), k) }, 60},
		"of a branch": {func(m *Model) Expr { return m.Sample("n", Poisson(If(Greater(m.Sample("z", Normal(0, 1)), 0), 3, 5))) },
			func(k float64) float64 { return left(Poisson(3), k)/2 + left(Poisson(5), k)/2 }, 40},
		"geometric": {func(m *Model) Expr {
			return m.Sample("n", Geometric(Add(0.2, Mul(0.5, Sigmoid(m.Sample("z", Normal(0, 1)))))))
		},
			func(k float64) float64 { return left(Geometric(0.25), k) }, 140},
		"negative binomial": {func(m *Model) Expr {
			return m.Sample("n", NegativeBinomial(m.Sample("r", Uniform(1, 4)), Div(1, Add(1, m.Sample("odds", Uniform(0, 2))))))
		}, func(k float64) float64 { return left(NegativeBinomial(1, 0.6), k) }, 150},
	} {
		k := last(c.sample)
		require.Less(t, c.prior(k), 1e-12, name)
		require.Less(t, k, c.most, name)
	}
}

func TestDiscreteErrors(t *testing.T) {
	for want, program := range map[string]func(m *Model){
		"of the first 4096 values, and a discrete latent needs a last one: write Truncated(Poisson(…), 0, n)": func(m *Model) {
			m.Sample("n", Poisson(m.Sample("rate", HalfCauchy(1))))
		},
		"latent n: Geometric: with these latents as parameters 1e-12 of the prior may lie beyond any": func(m *Model) {
			m.Sample("n", Geometric(m.Sample("p", Beta(m.Sample("a", Gamma(2, 1)), 1))))
		},
		"latent n: Poisson has more than 4096 values that matter": func(m *Model) { m.Sample("n", Poisson(1e7)) },
		"Equal: x = 1 holds with probability 0":                   func(m *Model) { Equal(m.Sample("x", Normal(0, 1)), 1) },
		"Equal: x = k holds with probability 0": func(m *Model) {
			Equal(m.Sample("x", Normal(0, 1)), m.Sample("k", Bernoulli(0.5)))
		},
		"Switch: k is from 0 to 3, and there are 3 values": func(m *Model) { Switch(m.Sample("k", Binomial(3, 0.5)), 1, 2, 3) },
		"Switch: x varies continuously":                    func(m *Model) { Switch(m.Sample("x", Normal(0, 1)), 1, 2) },
		"Switch: 5 of 2 values":                            func(m *Model) { Switch(Numbers(5)[0], m.Sample("x", Normal(0, 1)), Expr{}) },
		"latent k: Bernoulli: p = 2":                       func(m *Model) { m.Sample("k", Bernoulli(2)) },
	} {
		m := NewModel()
		program(m)
		err := m.Err()
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "discrete_test.go:")
	}
}

func TestDiscreteConditions(t *testing.T) {
	m := NewModel()
	m.Sample("k", Bernoulli(0.3))
	n := m.Sample("n", Binomial(3, 0.3))
	m.Name("several", Greater(n, 1))
	d, err := m.Compile()
	require.NoError(t, err)
	var got []string
	for _, g := range d.Guards() {
		got = append(got, g.String()+" | "+g.Condition(false)+" | "+g.Equation())
	}
	require.Equal(t, []string{
		"k = 1 | k = 0 | k between 0 and 1",
		"n > 0 | n = 0 | n between 0 and 1", "n > 1 | n < 2 | n between 1 and 2", "n = 3 | n < 3 | n between 2 and 3",
		"n > 1 | n < 2 | n between 1 and 2",
	}, got)
}
