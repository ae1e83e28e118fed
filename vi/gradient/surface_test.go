package gradient

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/num/dual"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/programs"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
)

func TestMain(m *testing.M) { programs.Main(m) }

// A reference is a family by its definition z = f_θ(e) alone, in dual numbers: what
// they differentiate knows no sweep, no adjoint and no closed form. e is ε and, for
// LowRank, η after it.
type reference struct {
	family  family.Family
	parents [][]int // of Structured and FullRank
	dim     int
}

func newReference(f family.Family, d *graph.Density) reference {
	r := reference{f, make([][]int, d.Dim()), d.Dim()}
	switch f.(type) {
	case family.Structured:
		r.parents = d.Parents()
	case family.FullRank:
		for i := range r.parents {
			for j := range i {
				r.parents[i] = append(r.parents[i], j)
			}
		}
	}
	return r
}

func (r reference) rank() int {
	f, _ := r.family.(family.LowRank)
	return f.Rank
}

func (r reference) edges() (n int) {
	for _, list := range r.parents {
		n += len(list)
	}
	return n
}

// theta draws parameters: (μ_0, s_0, …) with ρ in place of s for Softplus, then B
// by latent and parent, or U by latent and column.
func (r reference) theta(rng *rand.Rand) (theta []float64) {
	for range r.dim {
		mu, s := 0.5*rng.NormFloat64(), 0.3+rng.Float64()
		if r.family == (family.Softplus{}) {
			s = math.Log(math.Expm1(s))
		}
		theta = append(theta, mu, s)
	}
	for range r.edges() + r.dim*r.rank() {
		theta = append(theta, 0.7*rng.NormFloat64())
	}
	return theta
}

// latents is f_θ(e).
func (r reference) latents(theta, e []dual.Number) []dual.Number {
	z, more := make([]dual.Number, r.dim), theta[2*r.dim:]
	for i := range z {
		mu, s := theta[2*i], theta[2*i+1]
		if r.family == (family.Softplus{}) {
			s = dual.Log(dual.Add(dual.Number{Real: 1}, dual.Exp(s)))
		}
		z[i] = dual.Add(mu, dual.Mul(s, e[i]))
		for _, j := range r.parents[i] {
			z[i] = dual.Add(z[i], dual.Mul(more[0], dual.Sub(z[j], theta[2*j])))
			more = more[1:]
		}
		for k := range r.rank() {
			z[i] = dual.Add(z[i], dual.Mul(more[0], e[r.dim+k]))
			more = more[1:]
		}
	}
	return z
}

func duals(x []float64) []dual.Number {
	out := make([]dual.Number, len(x))
	for i, v := range x {
		out[i].Real = v
	}
	return out
}

// at is f_θ(e), and its derivatives with respect to each of by, which is θ or e.
func (r reference) at(theta, e []float64, byTheta bool) (z []float64, by [][]float64) {
	t, n := duals(theta), duals(e)
	along := n
	if byTheta {
		along = t
	}
	for k := range along {
		along[k].Emag = 1
		z, by = z[:0], append(by, nil)
		for _, x := range r.latents(t, n) {
			z, by[k] = append(z, x.Real), append(by[k], x.Emag)
		}
		along[k].Emag = 0
	}
	return z, by
}

// onto moves e onto h, and returns the weight there. Φ = ã·e + c̃ is standard normal
// noise, of which orthogonal projection changes all and elimination one coordinate:
// that of the last latent on the plane if others depend on it, else the largest.
func (r reference) onto(h regions.Hyperplane, theta, e []float64, m family.Method) (point []float64, weight float64) {
	z, by := r.at(theta, e, false)
	a, phi := make([]float64, len(e)), h.At(z)
	for k := range a {
		for j, i := range h.Index {
			a[k] += h.Coef[j] * by[k][i]
		}
	}
	norm := floats.Norm(a, 2)
	point = slices.Clone(e)
	if m == family.Orthogonal {
		floats.AddScaled(point, -phi/(norm*norm), a)
		return point, distuv.UnitNormal.Prob((phi-floats.Dot(a, e))/norm) / norm
	}
	pivot := h.Index[len(h.Index)-1]
	if r.edges() == 0 {
		for _, i := range h.Index {
			if math.Abs(a[i]) > math.Abs(a[pivot]) {
				pivot = i
			}
		}
	}
	point[pivot] -= phi / a[pivot]
	return point, distuv.UnitNormal.Prob(point[pivot]) / math.Abs(a[pivot])
}

// plane adds what hyperplane l brings to the gradient at one sample, by the whole
// density on both sides of it, and returns the size of what was added up.
func (r reference) plane(t require.TestingT, g []float64, d *graph.Density, l int, theta, e []float64, m family.Method) (size float64) {
	h := d.Arrangement().Plane(l)
	point, w := r.onto(h, theta, e, m)
	z, by := r.at(theta, point, true)
	require.InDelta(t, 0, h.At(z), 1e-9)
	signs := d.Arrangement().Signs(z)
	above, err := d.LogProbAt(z, signs.Force(l, true))
	require.NoError(t, err)
	below, err := d.LogProbAt(z, signs.Force(l, false))
	require.NoError(t, err)
	for k := range g {
		for j, i := range h.Index {
			g[k] += w * (above - below) * h.Coef[j] * by[k][i]
		}
	}
	return w * (math.Abs(above) + math.Abs(below)) // which is where rounding comes from
}

// inside adds Σ (∂z/∂θ)ᵀ(∇log r − ∇log q), for Softplus without log q, whose
// entropy's gradient is exact.
func (r reference) inside(t require.TestingT, g []float64, d *graph.Density, theta, e []float64) {
	z, by := r.at(theta, e, true)
	v, err := d.GradAt(z, d.Arrangement().Signs(z))
	require.NoError(t, err)
	if r.family != (family.Softplus{}) {
		floats.Add(v, r.precision(theta, e))
	}
	for k := range g {
		g[k] += floats.Dot(v, by[k])
	}
}

// precision is −∇log q = Σ⁻¹(z − μ), with Σ = JJᵀ for J = ∂z/∂e.
func (r reference) precision(theta, e []float64) []float64 {
	z, by := r.at(theta, e, false)
	j := mat.NewDense(r.dim, len(e), nil)
	x := mat.NewVecDense(r.dim, nil)
	for k := range by {
		j.SetCol(k, by[k])
	}
	for i := range z {
		x.SetVec(i, z[i]-theta[2*i])
	}
	var cov mat.Dense
	cov.Mul(j, j.T())
	var out mat.VecDense
	if err := out.SolveVec(&cov, x); err != nil {
		panic(err)
	}
	return out.RawVector().Data
}

// noise is the noise of a batch of n samples, by sample, as a Sampler draws it: η
// before ε, latents one after the other.
func (r reference) noise(rng *rand.Rand, n int) [][]float64 {
	e := make([][]float64, n)
	for b := range e {
		e[b] = make([]float64, r.dim+r.rank())
	}
	for k := range r.rank() {
		for b := range e {
			e[b][r.dim+k] = rng.NormFloat64()
		}
	}
	for i := range r.dim {
		for b := range e {
			e[b][i] = rng.NormFloat64()
		}
	}
	return e
}

// families are all of them, for a program of so many latents.
func families(dim int) map[string]family.Family {
	all := map[string]family.Family{}
	for _, f := range []family.Family{
		family.Softplus{}, family.MeanField{}, family.Structured{}, family.FullRank{}, family.LowRank{Rank: 1 + dim/2},
	} {
		all[f.Name()] = f
	}
	return all
}

// member is the member of f at θ.
func member(t require.TestingT, f family.Family, d *graph.Density, theta []float64) family.Q {
	q, err := f.New(d)
	require.NoError(t, err)
	q.Set(theta)
	return q
}

// sumsOf runs add on sums that are 0, and returns what they say of all parameters.
func sumsOf(p *Parts, n int, add func(sums []float64)) []float64 {
	sums := make([]float64, p.Sampler().Sums())
	add(sums)
	params := make([]int, len(sums)) // in all families there is a sum for each
	for k := range params {
		params[k] = k
	}
	g := make([]float64, len(params))
	p.Sampler().FinishSome(g, params, sums, n)
	floats.Scale(float64(n), g)
	return g
}

// What random programs' hyperplanes bring to the gradient, one by one and
// together, and what the regions do, is what brute force says: for every family,
// at random parameters, with the samples moved either way.
func TestPartsAreBruteForce(t *testing.T) {
	for name := range families(1) {
		t.Run(name, func(t *testing.T) {
			dense, several, edges := 0, 0, 0
			rapid.Check(t, func(t *rapid.T) {
				d, rng := programs.Random(t)
				f := families(d.Dim())[name]
				r := newReference(f, d)
				edges += r.edges()
				for _, h := range d.Arrangement().Planes() {
					if len(h.Index) > 1 {
						dense++
					}
				}
				if d.Arrangement().Len() > 1 {
					several++
				}
				n := rapid.SampledFrom([]int{1, 2, 5}).Draw(t, "samples")
				m := rapid.SampledFrom([]family.Method{family.Orthogonal, family.Elimination}).Draw(t, "method")
				p, err := BindParts(d, member(t, f, d, r.theta(rng)), n, Boundary{Method: m})
				require.NoError(t, err)
				for range 2 { // buffers are used again
					compareParts(t, d, p, r, r.theta(rng), n, m, rng.Uint64())
				}
			})
			require.Greater(t, dense, 20)
			require.Greater(t, several, 10)
			if name == "structured" || name == "full rank" {
				require.Greater(t, edges, 10)
			}
		})
	}
}

func compareParts(t *rapid.T, d *graph.Density, p *Parts, r reference, theta []float64, n int, m family.Method, seed uint64) {
	p.Locate(member(t, r.family, d, theta))
	require.NoError(t, p.Run(rand.New(rand.NewPCG(seed, 0))))
	noise := r.noise(rand.New(rand.NewPCG(seed, 0)), n)
	arr := d.Arrangement()
	for b, e := range noise {
		z, _ := r.at(theta, e, false)
		for i := range z {
			require.InDelta(t, z[i], p.ex.Z[i*n+b], 1e-12*(1+math.Abs(z[i])), "latent %d", i)
		}
		inside, err := d.GradAt(z, arr.Signs(z))
		require.NoError(t, err)
		for i, g := range inside {
			require.InDelta(t, g, p.ex.Grad[i*n+b], 1e-11*(1+math.Abs(g)), "gradient at a sample")
		}
	}

	number := map[int]int{} // of the hyperplanes where log r jumps
	for k := range p.Planes() {
		number[p.Number(k)] = k
	}
	whole, sizes := make([]float64, len(theta)), 1.0
	for l := range arr.Len() {
		want, size := make([]float64, len(theta)), 1.0
		for _, e := range noise {
			size += r.plane(t, want, d, l, theta, e, m)
		}
		floats.Add(whole, want)
		sizes += size
		got := make([]float64, len(theta))
		if k, jumps := number[l]; jumps {
			got = sumsOf(p, n, func(sums []float64) {
				p.AddPlane(sums, k)
				cleared := slices.Clone(sums)
				p.ClearPlane(cleared, k)
				require.Zero(t, floats.Norm(cleared, 1))
			})
			for i, x := range got {
				require.True(t, x == 0 || slices.Contains(p.Params(k), i), "parameter %d of plane %d", i, l)
			}
		}
		require.InDeltaSlice(t, want, got, 1e-10*size, "plane %d", l)
	}
	require.InDeltaSlice(t, whole, sumsOf(p, n, p.AddBoundary), 1e-10*sizes)
	if !p.surface.Seeds() { // then planes are added in turn
		inTurn := sumsOf(p, n, func(sums []float64) {
			for k := range p.Planes() {
				p.AddPlane(sums, k)
			}
		})
		require.Equal(t, inTurn, sumsOf(p, n, p.AddBoundary))
	}

	inside := make([]float64, len(theta))
	for _, e := range noise {
		r.inside(t, inside, d, theta, e)
	}
	sizes += floats.Norm(inside, math.Inf(1))
	require.InDeltaSlice(t, inside, sumsOf(p, n, p.AddInside), 1e-10*sizes, "inside the regions")
	floats.Add(whole, inside)
	require.NoError(t, p.Run(rand.New(rand.NewPCG(seed, 0)))) // AddInside has used up ∇log r
	require.InDeltaSlice(t, whole, sumsOf(p, n, p.AddAll), 1e-10*sizes, "the whole gradient")
}

// How a family's own method moves samples is one of the two.
func TestOwnMethod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, rng := programs.Random(t)
		for name, f := range families(d.Dim()) {
			r := newReference(f, d)
			q := member(t, f, d, r.theta(rng))
			gradient := func(m family.Method) []float64 {
				p, err := BindParts(d, q, 3, Boundary{Method: m})
				require.NoError(t, err)
				require.NoError(t, p.Run(rand.New(rand.NewPCG(1, 2))))
				return sumsOf(p, 3, p.AddAll)
			}
			like := family.Orthogonal
			if r.edges() > 0 {
				like = family.Elimination
			}
			require.Equal(t, gradient(like), gradient(family.Own), name)
		}
	})
}
