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
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/internal/programs"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
)

func TestMain(m *testing.M) { long.Main(m) }

// A reference is a family by its definition z = f_θ(e) alone, in dual numbers: what
// they differentiate knows no sweep, no adjoint and no closed form. e is ε and, for
// LowRank, η after it.
type reference struct {
	family  family.Family
	parents [][]int // of Structured and FullRank
	dim     int
	points  int // the first so many latents are parameters: z = μ
}

func newReference(f family.Family, d *graph.Density) reference {
	r := reference{f, make([][]int, d.Dim()), d.Dim(), d.Params()}
	switch f.(type) {
	case family.Structured:
		for i, list := range d.Parents() {
			r.parents[i] = slices.DeleteFunc(slices.Clone(list), func(j int) bool { return j < r.points })
		}
	case family.FullRank:
		for i := range r.parents {
			for j := r.points; j < i; j++ {
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
	clear(theta[2*r.dim:][:r.points*r.rank()])
	return theta
}

// latents is f_θ(e).
func (r reference) latents(theta, e []dual.Number) []dual.Number {
	z, more := make([]dual.Number, r.dim), theta[2*r.dim:]
	for i := range z {
		mu, s := theta[2*i], theta[2*i+1]
		if i < r.points {
			z[i], more = mu, more[r.rank():]
			continue
		}
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
// noise, of which orthogonal projection changes all, and elimination, where latents have parents,
// one coordinate: that of the last latent on the plane.
func (r reference) onto(h regions.Hyperplane, theta, e []float64) (point []float64, weight float64) {
	z, by := r.at(theta, e, false)
	a, phi := make([]float64, len(e)), h.At(z)
	for k := range a {
		for j, i := range h.Index {
			a[k] += h.Coef[j] * by[k][i]
		}
	}
	norm := floats.Norm(a, 2)
	point = slices.Clone(e)
	if r.edges() == 0 {
		floats.AddScaled(point, -phi/(norm*norm), a)
		return point, distuv.UnitNormal.Prob((phi-floats.Dot(a, e))/norm) / norm
	}
	pivot := h.Index[len(h.Index)-1]
	point[pivot] -= phi / a[pivot]
	return point, distuv.UnitNormal.Prob(point[pivot]) / math.Abs(a[pivot])
}

// plane adds what hyperplane l brings to the gradient at one sample, and returns the
// size of what was added up.
func (r reference) plane(t require.TestingT, g []float64, d *graph.Density, l int, theta, e []float64) (size float64) {
	h := d.Arrangement().Plane(l)
	point, w := r.onto(h, theta, e)
	z, _ := r.at(theta, point, false)
	require.InDelta(t, 0, h.At(z), 1e-9)
	normal := make([]float64, r.dim)
	for j, i := range h.Index {
		normal[i] = h.Coef[j]
	}
	return r.pull(t, g, d, l, theta, point, normal, w)
}

// pull adds w·Δ·(∂z/∂θ)ᵀnormal at the point of noise e, which is on plane l, by the whole
// density on both sides of it.
func (r reference) pull(t require.TestingT, g []float64, d *graph.Density, l int, theta, e, normal []float64, w float64) (size float64) {
	z, by := r.at(theta, e, true)
	signs := d.Arrangement().Signs(z)
	above, err := d.LogProbAt(z, signs.Force(l, true))
	require.NoError(t, err)
	below, err := d.LogProbAt(z, signs.Force(l, false))
	require.NoError(t, err)
	for k := range g {
		g[k] += w * (above - below) * floats.Dot(normal, by[k])
	}
	return w * (math.Abs(above) + math.Abs(below)) * (1 + floats.Norm(normal, 1)) // which is where rounding comes from
}

// curve is plane where Φ is not affine: all pieces of some latents, at roots of Φ that are
// found by scanning and bisection, with weights of the definition
//
//	w = ρ_i·h_i/|∂_iΦ|,   ρ_i = (∂_iΦ)²·v_i / Σ_j (∂_jΦ)²·v_j,
//
// v_i = 1/P_ii the variance of z_i given all others, h_i its density, and differences as ∂Φ. With η of LowRank among the
// others P is diag(1/s²).
func (r reference) curve(t require.TestingT, g []float64, d *graph.Density, l int, theta, e []float64, pivots []int) (size float64, points int) {
	c := d.Arrangement().Curve(l)
	phi, z, precision := valueOf(c), []float64(nil), r.inverse(theta, e)
	z, _ = r.at(theta, e, false)
	if r.rank() > 0 {
		precision.Zero()
		for i := r.points; i < r.dim; i++ {
			precision.Set(i, i, 1/(theta[2*i+1]*theta[2*i+1]))
		}
	}
	for _, i := range pivots {
		given := r.centre(theta, z, precision, i)
		if r.rank() > 0 {
			given = z[i] - theta[2*i+1]*e[i]
		}
		sd := 1 / math.Sqrt(precision.At(i, i))
		for _, root := range roots(func(x float64) float64 { return phi(with(z, i, x)) }, given-9*sd, given+9*sd) {
			at, normal, total := with(z, i, root), make([]float64, r.dim), 0.0
			for _, j := range c.Latents() {
				const h = 1e-5
				normal[j] = (phi(with(at, j, at[j]+h)) - phi(with(at, j, at[j]-h))) / (2 * h)
			}
			for _, j := range pivots {
				total += normal[j] * normal[j] / precision.At(j, j)
			}
			rho := normal[i] * normal[i] / precision.At(i, i) / total
			w := rho / math.Abs(normal[i]) * distuv.Normal{Mu: given, Sigma: sd}.Prob(root)
			noise := slices.Clone(e)
			if noise[i] += (root - z[i]) / theta[2*i+1]; r.rank() == 0 {
				noise = r.noiseOf(theta, e, at, precision)
			}
			size += r.pull(t, g, d, l, theta, noise, normal, w)
			points++
		}
	}
	return size, points
}

func with(z []float64, i int, x float64) []float64 {
	z = slices.Clone(z)
	z[i] = x
	return z
}

// valueOf is Φ of a curve.
func valueOf(c *regions.Curve) func(z []float64) float64 {
	b := c.Bind(1)
	return func(z []float64) float64 {
		for k, i := range c.Latents() {
			b.In[k] = z[i : i+1]
		}
		return b.Values()[0]
	}
}

// roots are where f changes its sign between lo and hi.
func roots(f func(x float64) float64, lo, hi float64) (list []float64) {
	const steps = 600
	left := f(lo) > 0
	for k := range steps {
		a, b := lo+(hi-lo)*float64(k)/steps, lo+(hi-lo)*float64(k+1)/steps
		right := f(b) > 0
		if left == right {
			continue
		}
		for range 70 {
			if mid := 0.5 * (a + b); f(mid) > 0 == left {
				a = mid
			} else {
				b = mid
			}
		}
		list, left = append(list, a), right
	}
	return list
}

// jacobian is ∂z/∂e, of latents that are no parameters.
func (r reference) jacobian(theta, e []float64) *mat.Dense {
	_, by := r.at(theta, e, false)
	j := mat.NewDense(r.dim-r.points, len(e), nil)
	for k := range by {
		j.SetCol(k, by[k][r.points:])
	}
	return j
}

// inverse is the precision of q, 0 of parameters.
func (r reference) inverse(theta, e []float64) *mat.Dense {
	j := r.jacobian(theta, e)
	var cov, inv mat.Dense
	cov.Mul(j, j.T())
	if err := inv.Inverse(&cov); err != nil {
		panic(err)
	}
	p := mat.NewDense(r.dim, r.dim, nil)
	p.Slice(r.points, r.dim, r.points, r.dim).(*mat.Dense).Copy(&inv)
	return p
}

// scaled is P(z − μ).
func (r reference) scaled(theta, z []float64, precision *mat.Dense) *mat.VecDense {
	x := mat.NewVecDense(r.dim, nil)
	for i := range z {
		x.SetVec(i, z[i]-theta[2*i])
	}
	var out mat.VecDense
	out.MulVec(precision, x)
	return &out
}

// centre is the mean of z_i given all others.
func (r reference) centre(theta, z []float64, precision *mat.Dense, i int) float64 {
	return z[i] - r.scaled(theta, z, precision).AtVec(i)/precision.At(i, i)
}

// noiseOf is the mean of the noise given z, JᵀP(z − μ): that which makes z where there is one.
func (r reference) noiseOf(theta, e, z []float64, precision *mat.Dense) []float64 {
	var out mat.VecDense
	out.MulVec(r.jacobian(theta, e).T(), r.scaled(theta, z, precision).SliceVec(r.points, r.dim))
	return out.RawVector().Data
}

// inside adds Σ (∂z/∂θ)ᵀ(∇log r − ∇log q), for Softplus without log q, whose
// entropy's gradient is exact.
func (r reference) inside(t require.TestingT, g []float64, d *graph.Density, theta, e []float64) {
	z, by := r.at(theta, e, true)
	v, err := d.GradAt(z, d.Arrangement().Signs(z))
	require.NoError(t, err)
	if r.family != (family.Softplus{}) {
		floats.Add(v, r.scaled(theta, z, r.inverse(theta, e)).RawVector().Data)
	}
	for k := range g {
		g[k] += floats.Dot(v, by[k])
	}
}

// noise is the noise of a batch of n samples, by sample, as a Sampler draws it: a row
// of η before one of ε, latents one after the other.
func (r reference) noise(rng *rand.Rand, n int) [][]float64 {
	e := make([][]float64, n)
	for b := range e {
		e[b] = make([]float64, r.dim+r.rank())
	}
	draw := func(first, last int) {
		if first == last {
			return
		}
		row := make([]float64, (last-first)*n)
		parallel.Normals(row, rng)
		for k, x := range row {
			e[k%n][first+k/n] = x
		}
	}
	draw(r.dim, r.dim+r.rank())
	draw(r.points, r.dim)
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

// A normalProgram is one whose discrete latents are not seen to be: normals stand in their coordinates, too.
type normalProgram struct{ *graph.Density }

func (normalProgram) Values(int) (values, cuts []float64) { return nil, nil }

// member is the member of f at θ, a normal.
func member(t require.TestingT, f family.Family, d *graph.Density, theta []float64) family.Q {
	q, err := f.New(normalProgram{d})
	require.NoError(t, err)
	q.Set(theta)
	return q
}

// sumsOf runs add on sums that are 0, and returns what they say of all parameters.
func sumsOf(p *Parts, n int, add func(sums []float64)) []float64 {
	sums := make([]float64, p.Sampler().Sums())
	add(sums)
	g := make([]float64, len(p.theta))
	p.FinishPart(g, sums, n)
	floats.Scale(float64(n), g)
	return g
}

// What random programs' hyperplanes and curves bring to the gradient, by latents and by
// parameters, one by one and together, and what the regions do, is what brute force says:
// for every family, at random parameters.
func TestPartsAreBruteForce(t *testing.T) {
	t.Parallel()
	for name := range families(1) {
		if !long.On() && name != "structured" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			counts := map[string]int{}
			rapid.Check(t, func(t *rapid.T) {
				p, d, rng := programs.Compiled(t, programs.Limits{Most: 5, Depth: 1, NoParams: name == family.Softplus{}.Name()})
				f := families(d.Dim())[name]
				r := newReference(f, d)
				if r.edges() > 0 || name != "structured" && name != "full rank" {
					counts["programs"]++
				}
				for _, h := range d.Arrangement().Planes() {
					if len(h.Index) > 1 {
						counts["dense"]++
					}
				}
				if name != (family.Softplus{}).Name() {
					counts["parameters"] += p.Params()
				}
				n := rapid.SampledFrom([]int{1, 2, 5}).Draw(t, "samples")
				parts, err := BindParts(d, member(t, f, d, r.theta(rng)), n, Boundary{})
				require.NoError(t, err)
				for range 2 { // buffers are used again
					counts["points on curves"] += compareParts(t, d, parts, r, r.theta(rng), n, rng.Uint64())
				}
			})
			t.Log(counts)
			for what, n := range counts {
				require.Greater(t, n, 10, what)
			}
		})
	}
}

func compareParts(t *rapid.T, d *graph.Density, p *Parts, r reference, theta []float64, n int, seed uint64) (points int) {
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
	pivots := map[int][]int{} // that share a curve
	for k, x := range p.jumps.Pieces() {
		if x.Curve != nil && p.surface.Reached(k) && !slices.Contains(pivots[x.Plane], x.Latent()) {
			pivots[x.Plane] = append(pivots[x.Plane], x.Latent())
		}
	}
	whole, sizes := make([]float64, len(theta)), 1e-10
	for l := range arr.Len() {
		want, size := make([]float64, len(theta)), 1.0
		accuracy := 1e-10
		if arr.Curve(l) != nil {
			accuracy = 1e-6 // of differences
		}
		for _, e := range noise {
			if arr.Curve(l) == nil {
				size += r.plane(t, want, d, l, theta, e)
				continue
			}
			more, n := r.curve(t, want, d, l, theta, e, pivots[l])
			size, points = size+more, points+n
		}
		size *= accuracy
		floats.Add(whole, want)
		sizes += size
		got := make([]float64, len(theta))
		if k, jumps := number[l]; jumps {
			got = sumsOf(p, n, func(sums []float64) { p.AddPlane(sums, k) })
		}
		require.InDeltaSlice(t, want, got, size, "plane %d", l)
	}
	require.InDeltaSlice(t, whole, sumsOf(p, n, p.AddBoundary), sizes)
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
	sizes += 1e-10 * floats.Norm(inside, math.Inf(1))
	require.InDeltaSlice(t, inside, sumsOf(p, n, p.AddInside), sizes, "inside the regions")
	floats.Add(whole, inside)
	require.NoError(t, p.Run(rand.New(rand.NewPCG(seed, 0)))) // AddInside has used up ∇log r
	require.InDeltaSlice(t, whole, sumsOf(p, n, p.AddAll), sizes, "the whole gradient")
	return points
}

// In random programs the gradient by the logits of discrete latents is Σ over each one's values of the whole
// density there, at every sample of the others: exactly.
func TestMassesAreBruteForce(t *testing.T) {
	t.Parallel()
	for name := range families(1) {
		if name == (family.Softplus{}).Name() || !long.On() && name != "structured" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			counts := map[string]int{}
			rapid.Check(t, func(t *rapid.T) {
				_, d, rng := programs.Compiled(t, programs.Limits{Most: 5, Depth: 1})
				f, rest := families(d.Dim())[name], 0
				for i := range d.Dim() {
					if values, _ := d.Values(i); values == nil {
						rest++
					}
				}
				if low, ok := f.(family.LowRank); ok {
					f = family.LowRank{Rank: min(low.Rank, rest)}
				}
				if rest == d.Dim() || rest == 0 {
					return
				}
				q, err := f.New(d)
				require.NoError(t, err)
				theta := make([]float64, len(q.Theta()))
				for k := range theta {
					if theta[k] = 0.6 * rng.NormFloat64(); q.Param(k).Symbol == "s" || q.Param(k).Symbol == "unit" {
						theta[k] = 0.3 + rng.Float64()
					}
				}
				q.Set(theta)
				const n = 3
				p, err := BindParts(d, q, n, Boundary{})
				require.NoError(t, err)
				sums, got := make([]float64, p.Sampler().Sums()), make([]float64, len(theta))
				require.NoError(t, p.Add(sums, rng))
				p.Sampler().Finish(got, sums, n)
				at := 0
				for at < len(theta) && q.Param(at).Symbol != "η" {
					at++
				}
				for at < len(theta) {
					i := q.Param(at).Latent
					values, cuts := d.Values(i)
					want, size := slopesOf(t, d, p, i, cuts, theta[at:][:len(values)], n)
					require.InDeltaSlice(t, want, got[at:][:len(values)], 1e-10*size, "latent %d", i)
					counts["discrete latents"]++
					at += len(values)
				}
			})
			t.Log(counts)
			require.Greater(t, counts["discrete latents"], programs.OfChecks(t, 20))
		})
	}
}

// slopesOf are Σ_samples π_k·(h_k − Σ_l π_l·h_l)/n for latent i with logits eta, and the size of what is added up.
func slopesOf(t require.TestingT, d *graph.Density, p *Parts, i int, cuts, eta []float64, n int) (want []float64, size float64) {
	want, size = make([]float64, len(eta)), 1
	ends := append(append([]float64{math.Inf(-1)}, cuts...), math.Inf(1))
	for b := range n {
		z, h, mean := make([]float64, d.Dim()), make([]float64, len(eta)), 0.0
		for j := range z {
			z[j] = p.ex.Z[j*n+b]
		}
		for k := range eta {
			lo, hi := max(ends[k], -9), min(ends[k+1], 9)
			z[i] = 0.5*lo + 0.5*hi
			log, err := d.LogProbAt(z, d.Arrangement().Signs(z))
			require.NoError(t, err)
			pi := math.Exp(eta[k] - floats.LogSumExp(eta))
			h[k] = log + 0.5*(z[i]*z[i]+math.Log(2*math.Pi)) - math.Log(pi/(normalMass(ends[k], ends[k+1])))
			mean += pi * h[k]
			size += math.Abs(log)
		}
		for k := range eta {
			want[k] += math.Exp(eta[k]-floats.LogSumExp(eta)) * (h[k] - mean) / float64(n)
		}
	}
	return want, size
}

// normalMass is that of a standard normal between lo and hi.
func normalMass(lo, hi float64) float64 {
	if lo > 0 {
		lo, hi = -hi, -lo
	}
	return distuv.UnitNormal.CDF(hi) - distuv.UnitNormal.CDF(lo)
}
