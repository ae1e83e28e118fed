package gradient

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/programs"
	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// A confinedReference is a confined family by its definition z = f_θ(ε) alone. What
// differentiates it are differences.
type confinedReference struct {
	parents [][]int
	sides   []family.Side
}

// latent is the conditional mean of latent i, its scale and its interval in units of
// that.
func (r confinedReference) latent(i int, theta, z []float64) (m, s, alpha, beta float64) {
	n := len(r.parents)
	m, s, alpha, beta = theta[2*i], theta[2*i+1], math.Inf(-1), math.Inf(1)
	b := theta[2*n:]
	for k, list := range r.parents {
		for _, j := range list {
			if k == i {
				m += b[0] * (z[j] - theta[2*j])
			}
			b = b[1:]
		}
	}
	for _, side := range r.sides {
		last := len(side.Index) - 1
		if side.Index[last] != i {
			continue
		}
		at := append([]float64(nil), z...)
		at[i] = 0
		bound := (-side.At(at)/side.Coef[last] - m) / s
		if side.Positive == (side.Coef[last] > 0) {
			alpha = max(alpha, bound)
		} else {
			beta = min(beta, bound)
		}
	}
	return m, s, alpha, beta
}

func (r confinedReference) at(theta, e []float64) []float64 {
	z := make([]float64, len(e))
	for i := range z {
		m, s, alpha, beta := r.latent(i, theta, z)
		z[i] = m + s*truncnorm.At(e[i], alpha, beta)
	}
	return z
}

// onto is the noise of the point on h, and the weight there.
func (r confinedReference) onto(h regions.Hyperplane, theta, e []float64) (point []float64, weight float64) {
	z, last := r.at(theta, e), len(h.Index)-1
	i, a := h.Index[last], h.Coef[last]
	m, s, alpha, beta := r.latent(i, theta, z)
	t := (z[i] - h.At(z)/a - m) / s
	if t-alpha < 1e-12*(1+math.Abs(t)) || beta-t < 1e-12*(1+math.Abs(t)) { // on a side's own plane, or outside
		return e, 0
	}
	point = append([]float64(nil), e...)
	point[i] = truncnorm.Quantile(truncnorm.CDF(t, alpha, beta), math.Inf(-1), math.Inf(1))
	if t > 0 {
		point[i] = -truncnorm.Quantile(truncnorm.CDF(-t, -beta, -alpha), math.Inf(-1), math.Inf(1))
	}
	return point, math.Exp(truncnorm.LogProb(t, alpha, beta)) / (s * math.Abs(a))
}

// pull adds Σ v·∂z/∂θ, at fixed noise.
func (r confinedReference) pull(g, v, theta, e []float64) {
	along := func(x []float64) float64 { return floats.Dot(v, r.at(x, e)) }
	floats.Add(g, fd.Gradient(nil, along, theta, &fd.Settings{Formula: fd.Central, Step: 1e-5}))
}

// confinedCase is a random program with a random member of a confined family: random
// parents, and the sides on which one of its draws is of some of the guards.
func confinedCase(t *rapid.T) (*graph.Density, *rand.Rand, confinedReference, *family.Confined) {
	_, d, rng := programs.Compiled(t, programs.Limits{Most: 5, Depth: 1, Affine: true, NoParams: true})
	r := confinedReference{parents: make([][]int, d.Dim())}
	for i := range r.parents {
		for j := range i {
			if rng.IntN(2) == 0 {
				r.parents[i] = append(r.parents[i], j)
			}
		}
	}
	q := family.Sequential(r.parents)
	q.Set(r.theta(rng))
	z := make([]float64, d.Dim())
	q.Rand(z, rng)
	signs := d.Arrangement().Signs(z)
	var sides []family.Side
	for l, h := range d.Arrangement().Planes() {
		if rng.IntN(2) == 0 {
			sides = append(sides, family.Side{Hyperplane: h, Positive: signs.Positive(l)})
		}
	}
	c, soft, err := q.Confine(sides)
	require.NoError(t, err)
	for k, side := range sides {
		if len(soft) > 0 && soft[0] == k {
			soft = soft[1:]
			continue
		}
		r.sides = append(r.sides, side)
	}
	return d, rng, r, c
}

func (r confinedReference) theta(rng *rand.Rand) (theta []float64) {
	for range r.parents {
		theta = append(theta, 0.5*rng.NormFloat64(), 0.3+rng.Float64())
	}
	for _, list := range r.parents {
		for range list {
			theta = append(theta, 0.7*rng.NormFloat64())
		}
	}
	return theta
}

// What guards bring to the gradient, one by one and together, and what the regions do, is
// what brute force says, where some latents are confined and some guards soft.
func TestConfinedPartsAreBruteForce(t *testing.T) {
	var confined, dense, curved, pivots, idle int
	rapid.Check(t, func(t *rapid.T) {
		d, rng, r, q := confinedCase(t)
		n := rapid.SampledFrom([]int{1, 2, 5, 8}).Draw(t, "samples")
		p, err := BindParts(d, q, n, Boundary{})
		require.NoError(t, err)
		for range 2 { // buffers are used again
			theta := r.theta(rng)
			q.Set(theta)
			p.Locate(q)
			seed := rng.Uint64()
			require.NoError(t, p.Run(rand.New(rand.NewPCG(seed, 0))))
			noise := reference{dim: d.Dim()}.noise(rand.New(rand.NewPCG(seed, 0)), n)
			inside, sizes := make([]float64, len(theta)), 1.0
			for b, e := range noise {
				z := r.at(theta, e)
				v, err := d.GradAt(z, d.Arrangement().Signs(z))
				require.NoError(t, err)
				score := fd.Gradient(nil, q.LogProb, z, &fd.Settings{Formula: fd.Central, Step: 1e-6})
				for i := range z {
					require.InDelta(t, z[i], p.ex.Z[i*n+b], 1e-11*(1+math.Abs(z[i])), "latent %d", i)
				}
				sizes += floats.Norm(v, 1) + floats.Norm(score, 1)
				floats.Sub(v, score)
				r.pull(inside, v, theta, e)
			}
			number := map[int]int{}
			for k := range p.Planes() {
				number[p.Number(k)] = k
			}
			whole := make([]float64, len(theta))
			for l, h := range d.Arrangement().Planes() {
				want, size, reached := make([]float64, len(theta)), 1.0, false
				for _, e := range noise {
					point, w := r.onto(h, theta, e)
					if w == 0 {
						continue
					}
					reached = true
					z := r.at(theta, point)
					if w > 1e-13 { // else it is so far out that its noise has no digits
						require.InDelta(t, 0, h.At(z), 1e-7)
					}
					signs := d.Arrangement().Signs(z)
					above, err := d.LogProbAt(z, signs.Force(l, true))
					require.NoError(t, err)
					below, err := d.LogProbAt(z, signs.Force(l, false))
					require.NoError(t, err)
					v := make([]float64, len(z))
					for k, i := range h.Index {
						v[i] = w * (above - below) * h.Coef[k]
					}
					r.pull(want, v, theta, point)
					size += w * (math.Abs(above) + math.Abs(below))
				}
				sizes += size
				floats.Add(whole, want)
				got := make([]float64, len(theta))
				if k, jumps := number[l]; jumps {
					got = sumsOf(p, n, func(sums []float64) { p.AddPlane(sums, k) })
					if !p.surface.Reached(k) {
						require.False(t, reached)
						idle++
					}
					if s := p.surface.(interface{ Curved(k int) bool }); s.Curved(k) && reached {
						curved++
					}
					if len(h.Index) > 1 {
						dense++
					}
					for _, side := range r.sides {
						if last := side.Index[len(side.Index)-1]; reached && last == h.Index[len(h.Index)-1] {
							pivots++
						}
					}
				}
				require.InDeltaSlice(t, want, got, 1e-6*size, "plane %d", l)
			}
			confined += len(r.sides)
			require.InDeltaSlice(t, whole, sumsOf(p, n, p.AddBoundary), 1e-6*sizes)
			require.InDeltaSlice(t, inside, sumsOf(p, n, p.AddInside), 1e-6*sizes, "inside the regions")
			floats.Add(whole, inside)
			require.NoError(t, p.Run(rand.New(rand.NewPCG(seed, 0))))
			require.InDeltaSlice(t, whole, sumsOf(p, n, p.AddAll), 1e-6*sizes, "the whole gradient")
		}
	})
	for name, n := range map[string]int{"sides": confined, "dense guards": dense, "curves": curved, "pivots that are confined": pivots, "guards that are not reached": idle} {
		require.Greater(t, n, 20, name)
	}
}

// Without sides, a confined family is its normal, bit for bit.
func TestConfinedByNothing(t *testing.T) {
	model, _, _ := vitest.NewDense(vitest.DenseCases[2])
	d := vitest.Compile(t, model.Model())
	for _, f := range []family.Family{family.MeanField{}, family.Structured{}, family.FullRank{}} {
		q, err := f.New(chain{d})
		require.NoError(t, err)
		c, _, err := q.(*family.Normal).Confine(nil)
		require.NoError(t, err)
		for _, n := range []int{1, 33} {
			for _, e := range []Estimator{Boundary{Method: family.Elimination}, Reparam{}, Score{}} {
				if f == (family.MeanField{}) && e.Name() == "boundary" {
					continue // which eliminates another latent
				}
				want, err := NewRunner(d, q, e, n, 1)
				require.NoError(t, err)
				got, err := NewRunner(d, c, e, n, 1)
				require.NoError(t, err)
				a, err := want.Estimate(q)
				require.NoError(t, err)
				b, err := got.Estimate(c)
				require.NoError(t, err)
				require.Equal(t, a, b, "%s, %s", f.Name(), e.Name())
			}
		}
	}
}

// An estimate allocates nothing.
func TestConfinedEstimateDoesNotAllocate(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	model, _, _ := vitest.NewDense(vitest.DenseCases[2])
	d := vitest.Compile(t, model.Model())
	f, err := family.Structured{}.New(chain{d})
	require.NoError(t, err)
	q, _, err := f.(*family.Normal).Confine([]family.Side{
		{Hyperplane: regions.Hyperplane{Index: []int{1}, Coef: []float64{1}}, Positive: true},
		{Hyperplane: regions.Hyperplane{Index: []int{1, 3}, Coef: []float64{1, -1}, Const: 1}, Positive: true},
	})
	require.NoError(t, err)
	for _, n := range []int{1, 16, 33} {
		for _, e := range []Estimator{Boundary{}, SingleGuard(), Reparam{}, Score{}} {
			r, err := NewRunner(d, q, e, n, 1)
			require.NoError(t, err)
			require.Zero(t, testing.AllocsPerRun(20, func() { _, err = r.Estimate(q) }), "%v, %d samples", e, n)
			require.NoError(t, err)
		}
	}
}
