package boundary

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/regions"
)

// Base is the distribution of each coordinate of ε; coordinates are
// independent. gonum's distuv.Normal, Laplace, Logistic, StudentsT and Uniform
// are bases. Prob is the density and Quantile its inverse distribution function.
type Base interface {
	Prob(x float64) float64
	Quantile(p float64) float64
}

// An Integrand evaluates a vector field F at points on hyperplane number plane.
// Points has shape (n, N): N points as columns. The result has the same shape.
type Integrand func(plane int, points *tensor.Dense) (*tensor.Dense, error)

// An Estimate is a Monte Carlo mean and its standard error.
type Estimate struct{ Mean, SE float64 }

// IntegralSettings are the settings of Integral. The zero value works.
type IntegralSettings struct {
	Samples int    // points on each hyperplane; 1000 if 0
	Seed    uint64 // fixes the result
}

// Integral estimates for each hyperplane Σ the flux ∫ q F·dΣ of the field F
// through it, weighted with the density q(ε) = Π base(ε_i); dΣ points to the
// positive side of the hyperplane. It is Theorem 3 of Lee, Yu and Yang (NeurIPS
// 2018) by coordinate elimination, and needs no model. dim is n.
//
// It returns an error if a hyperplane has no normal or does not fit dim, if the
// integrand fails or returns another shape, or if a value is not finite.
func Integral(planes []regions.Hyperplane, dim int, base Base, f Integrand, s IntegralSettings) ([]Estimate, error) {
	n := s.Samples
	if n == 0 {
		n = 1000
	}
	if n < 2 {
		return nil, fmt.Errorf("boundary: %d samples; a standard error needs 2", n)
	}
	out := make([]Estimate, len(planes))
	for l, h := range planes {
		p, err := newProjection(h, dim)
		if err != nil {
			return nil, fmt.Errorf("boundary: hyperplane %d: %w", l, err)
		}
		rng := rand.New(rand.NewPCG(s.Seed, uint64(l)))
		if out[l], err = p.integrate(l, n, base, f, rng); err != nil {
			return nil, fmt.Errorf("boundary: hyperplane %d (%v): %w", l, h, err)
		}
	}
	return out, nil
}

func (p Projection) integrate(l, n int, base Base, f Integrand, rng *rand.Rand) (Estimate, error) {
	points := tensor.New(tensor.WithShape(p.dim, n), tensor.WithBacking(make([]float64, p.dim*n)))
	eps := points.Data().([]float64)
	for i := range p.dim {
		for b := range n {
			if i != p.pivot {
				eps[i*n+b] = base.Quantile(openUniform(rng))
			}
		}
	}
	w := make([]float64, n)
	for b := range n {
		x := p.solve(func(i int) float64 { return eps[i*n+b] })
		eps[p.pivot*n+b], w[b] = x, base.Prob(x)
	}
	field, err := f(l, points)
	if err != nil {
		return Estimate{}, err
	}
	if field == nil {
		return Estimate{}, fmt.Errorf("the integrand returned no tensor, want shape (%d, %d)", p.dim, n)
	}
	v, ok := field.Data().([]float64)
	if !ok || len(v) != p.dim*n || !field.Shape().Eq(tensor.Shape{p.dim, n}) {
		return Estimate{}, fmt.Errorf("the integrand returned shape %v, want (%d, %d) of float64", field.Shape(), p.dim, n)
	}
	flux := make([]float64, n)
	normal := p.Normal()
	for _, i := range p.h.Index {
		for b := range flux {
			if w[b] != 0 {
				flux[b] += w[b] * normal[i] * v[i*n+b]
			}
		}
	}
	mean, sd := stat.MeanStdDev(flux, nil)
	if math.IsNaN(sd) || math.IsInf(mean, 0) {
		return Estimate{}, fmt.Errorf("the flux is not finite")
	}
	return Estimate{mean, stat.StdErr(sd, float64(n))}, nil
}

// openUniform is uniform on (0, 1), without 0.
func openUniform(rng *rand.Rand) float64 {
	for {
		if u := rng.Float64(); u > 0 {
			return u
		}
	}
}
