package vitest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// Dense is the model
//
//	log r(z) = log N(z; 0, I) + Σ_l 1[A_l·z + b_l > 0]·(w_l + v_l·z)
//
// whose guards have all latents and cross one another.
type Dense struct {
	A, V [][]float64
	B, W []float64
}

// A DenseCase is the size and the seed of a Dense.
type DenseCase struct {
	Latents, Guards int
	Seed            uint64
}

// DenseCases are those of the tests.
var DenseCases = []DenseCase{{3, 4, 1}, {4, 6, 2}, {5, 5, 3}}

// NewDense draws a model, and means and standard deviations of a family whose mass
// all guards cut.
func NewDense(c DenseCase) (d Dense, mean, sd []float64) {
	rng := rand.New(rand.NewPCG(c.Seed, 0))
	vector := func(n int, scale float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = scale * rng.NormFloat64()
		}
		return x
	}
	d = Dense{B: vector(c.Guards, 0.5), W: vector(c.Guards, 2)}
	for range c.Guards {
		d.A, d.V = append(d.A, vector(c.Latents, 1)), append(d.V, vector(c.Latents, 1.5))
	}
	sd = make([]float64, c.Latents)
	for i := range sd {
		sd[i] = 0.3 + 1.2*rng.Float64()
	}
	return d, vector(c.Latents, 0.5), sd
}

// Model is the program.
func (d Dense) Model() *graph.Model {
	m := graph.NewModel()
	z := make([]graph.Expr, len(d.A[0]))
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
	for l := range d.A {
		m.If(graph.Greater(affine(d.B[l], d.A[l]), 0), func() { m.Factor(affine(d.W[l], d.V[l])) }, nil)
	}
	return m
}

// LogProb is log r without package graph.
func (d Dense) LogProb(z []float64) float64 {
	sum := 0.0
	for _, x := range z {
		sum += distuv.UnitNormal.LogProb(x)
	}
	for l := range d.A {
		if floats.Dot(d.A[l], z)+d.B[l] > 0 {
			sum += d.W[l] + floats.Dot(d.V[l], z)
		}
	}
	return sum
}

// ELBO is the closed form for a normal. X = A·z + b is normal with mean m and
// standard deviation t, and V = v·z is jointly normal with it, with covariance
// k = vᵀΣA. So with x = m/t
//
//	E[1[X > 0](w + V)] = (w + v·μ) Φ(x) + (k/t) φ(x)
func (d Dense) ELBO(mean []float64, cov mat.Symmetric) float64 {
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		panic("vitest: a covariance that is not positive")
	}
	sum := 0.5 * (float64(len(mean)) + chol.LogDet())
	for i, m := range mean {
		sum -= 0.5 * (m*m + cov.At(i, i))
	}
	for l := range d.A {
		a, v := mat.NewVecDense(len(mean), d.A[l]), mat.NewVecDense(len(mean), d.V[l])
		t := math.Sqrt(mat.Inner(a, cov, a))
		x := (d.B[l] + floats.Dot(d.A[l], mean)) / t
		sum += (d.W[l]+floats.Dot(d.V[l], mean))*distuv.UnitNormal.CDF(x) + mat.Inner(v, cov, a)/t*distuv.UnitNormal.Prob(x)
	}
	return sum
}

// Diagonal is ELBO of independent normals.
func (d Dense) Diagonal(mean, sd []float64) float64 {
	variance := make([]float64, len(sd))
	for i, s := range sd {
		variance[i] = s * s
	}
	return d.ELBO(mean, mat.NewDiagDense(len(sd), variance))
}

// Guard is the mean m and the standard deviation t of A_l·z + b_l under independent
// normals, x = m/t, and k.
func (d Dense) Guard(l int, mean, sd []float64) (m, x, t, k float64) {
	m = d.B[l]
	for i, a := range d.A[l] {
		m += a * mean[i]
		t += a * a * sd[i] * sd[i]
		k += d.V[l][i] * a * sd[i] * sd[i]
	}
	t = math.Sqrt(t)
	return m, m / t, t, k
}

// Gradient is that of Diagonal, term by term, with respect to (μ_0, s_0, μ_1, …).
func (d Dense) Gradient(mean, sd []float64) []float64 {
	g := make([]float64, 2*len(sd))
	for i, s := range sd {
		g[2*i], g[2*i+1] = -mean[i], 1/s-s
	}
	for l := range d.A {
		m, x, t, k := d.Guard(l, mean, sd)
		cdf, pdf := distuv.UnitNormal.CDF(x), distuv.UnitNormal.Prob(x)
		byX := (d.W[l]+floats.Dot(d.V[l], mean))*pdf - k/t*x*pdf
		for i, a := range d.A[l] {
			byS := a * a * sd[i] / t // ∂t/∂s_i
			g[2*i] += d.V[l][i]*cdf + byX*a/t
			g[2*i+1] += -byX*m/(t*t)*byS + 2*d.V[l][i]*a*sd[i]/t*pdf - k/(t*t)*byS*pdf
		}
	}
	return g
}
