package family

import (
	"fmt"
	"slices"
)

// MeanField are independent normals, one for each latent. θ is (μ_0, s_0, μ_1,
// …); both move in units of s.
type MeanField struct{}

// Name implements Family.
func (MeanField) Name() string { return "mean field" }

// StepSize implements Family.
func (MeanField) StepSize() float64 { return relative }

// New implements Family.
func (f MeanField) New(p Program) (Q, error) { return besideMasses(f, p) }

func (f MeanField) normal(p Program) (Q, error) {
	return newNormal(f, make([][]int, p.Dim())).Points(p.Params()), nil
}

// Structured are the sequential normals whose parents are the program's own: a
// latent's conditional mean is linear in those that its prior depends on. The
// cost is linear in the number of dependencies. Dependencies that only the data
// make are not in it. θ is (μ_0, s_0, μ_1, …) and the coefficients B.
type Structured struct{}

// Name implements Family.
func (Structured) Name() string { return "structured" }

// StepSize implements Family.
func (Structured) StepSize() float64 { return relative }

// New implements Family.
func (f Structured) New(p Program) (Q, error) { return besideMasses(f, p) }

func (f Structured) normal(p Program) (Q, error) {
	parents := slices.Clone(p.Parents())
	for i, list := range parents {
		first, _ := slices.BinarySearch(list, p.Params())
		parents[i] = list[first:]
	}
	return newNormal(f, parents).Points(p.Params()), nil
}

// FullRank are all normals. θ is (μ_0, s_0, μ_1, …) and the coefficients B of each
// latent on all before it, so that the cost is quadratic in the latents.
type FullRank struct{}

// mostFullRank is the number of latents that FullRank takes: a gigabyte of
// coefficients in an iteration's buffers.
const mostFullRank = 8192

// Name implements Family.
func (FullRank) Name() string { return "full rank" }

// StepSize implements Family.
func (FullRank) StepSize() float64 { return relative }

// New implements Family.
func (f FullRank) New(p Program) (Q, error) { return besideMasses(f, p) }

func (f FullRank) normal(p Program) (Q, error) {
	n := p.Dim()
	if n > mostFullRank {
		return nil, fmt.Errorf("full rank: %d latents have %d correlations; it takes at most %d latents: use Structured or LowRank",
			n, n*(n-1)/2, mostFullRank)
	}
	parents := make([][]int, n)
	for i := range parents {
		for j := p.Params(); j < i; j++ {
			parents[i] = append(parents[i], j)
		}
	}
	return newNormal(f, parents).Points(p.Params()), nil
}

// Softplus are independent normals as the paper has them: θ is (μ_0, ρ_0, μ_1, …)
// with scales s = log(1 + exp ρ), steps are absolute, in μ and ρ, and the entropy's
// gradient is exact.
type Softplus struct{}

// Name implements Family.
func (Softplus) Name() string { return "softplus mean field" }

// StepSize implements Family: that of the paper's runs.
func (Softplus) StepSize() float64 { return 0.01 }

// New implements Family. It is an error if the program has parameters.
func (f Softplus) New(p Program) (Q, error) {
	if n := p.Params(); n > 0 {
		return nil, fmt.Errorf("%s: the program has %d parameters, of which the paper's family knows nothing: use MeanField", f.Name(), n)
	}
	return f.standard(p.Dim()), nil
}

// standard is the member with means 0 and scales 1.
func (f Softplus) standard(n int) *Normal {
	q := newNormal(f, make([][]int, n))
	q.inv, q.slope = nil, make([]float64, n)
	q.Place(make([]float64, n), slices.Repeat([]float64{1}, n))
	return q
}

// Independent is the member of MeanField with the given means and standard
// deviations. It panics if they are not as many. Numbers that no normal has, such
// as a standard deviation of −1, are an error of Check, and so of what uses the
// member.
func Independent(mean, sd []float64) *Normal {
	q := newNormal(MeanField{}, make([][]int, len(mean)))
	q.Place(mean, sd)
	return q
}

// At is the member of Softplus at θ = (μ_0, ρ_0, μ_1, …). It panics if θ has an
// odd length.
func (f Softplus) At(theta []float64) *Normal {
	q := f.standard(len(theta) / 2)
	q.Set(theta)
	return q
}
