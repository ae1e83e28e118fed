package gradient

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
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
	points  int // the first so many latents are parameters: z = μ
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
		if z[i] = m; i >= r.points {
			z[i] = m + s*truncnorm.At(e[i], alpha, beta)
		}
	}
	return z
}

// noiseOf is ε with z = f_θ(ε), and log q.
func (r confinedReference) noiseOf(theta, z []float64) (e []float64, log float64) {
	e = make([]float64, len(z))
	for i := r.points; i < len(z); i++ {
		m, s, alpha, beta := r.latent(i, theta, z)
		t := (z[i] - m) / s
		e[i] = noiseAt(t, alpha, beta)
		log += truncnorm.LogProb(t, alpha, beta) - math.Log(s)
	}
	return e, log
}

// noiseAt is ε with t = T(ε; α, β), by the tail that is small.
func noiseAt(t, alpha, beta float64) float64 {
	if t > 0 {
		return -truncnorm.Quantile(truncnorm.CDF(-t, -beta, -alpha), math.Inf(-1), math.Inf(1))
	}
	return truncnorm.Quantile(truncnorm.CDF(t, alpha, beta), math.Inf(-1), math.Inf(1))
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
	point[i] = noiseAt(t, alpha, beta)
	return point, math.Exp(truncnorm.LogProb(t, alpha, beta)) / (s * math.Abs(a))
}

// pull adds Σ v·∂z/∂θ, at fixed noise.
func (r confinedReference) pull(g, v, theta, e []float64) {
	along := func(x []float64) float64 { return floats.Dot(v, r.at(x, e)) }
	floats.Add(g, fd.Gradient(nil, along, theta, &fd.Settings{Formula: fd.Central, Step: 1e-5}))
}

// confinedCase is a random program with a random member of a confined family: random
// parents, and the sides on which one of its draws is of some of the affine guards and, if
// there are few of those, of slanted planes that are no guards.
func confinedCase(t *rapid.T, limits programs.Limits) (*graph.Density, *rand.Rand, confinedReference, family.Q) {
	_, d, rng := programs.Compiled(t, limits)
	r := confinedReference{parents: make([][]int, d.Dim()), points: d.Params()}
	for i := r.points; i < d.Dim(); i++ {
		for j := r.points; j < i; j++ {
			if rng.IntN(2) == 0 {
				r.parents[i] = append(r.parents[i], j)
			}
		}
	}
	q := family.Sequential(r.parents).Points(r.points)
	q.Set(r.theta(rng))
	z := make([]float64, d.Dim())
	q.Rand(z, rng)
	signs := d.Arrangement().Signs(z)
	var sides []family.Side
	for l, h := range d.Arrangement().Planes() {
		if rng.IntN(2) == 0 && d.Arrangement().Curve(l) == nil {
			sides = append(sides, family.Side{Hyperplane: h, Positive: signs.Positive(l)})
		}
	}
	for len(sides) < 2 && !limits.Affine {
		h := regions.Hyperplane{Const: rng.NormFloat64()}
		for i := range d.Dim() {
			if rng.IntN(2) == 0 || i == d.Dim()-1 {
				h.Index, h.Coef = append(h.Index, i), append(h.Coef, rng.NormFloat64())
			}
		}
		sides = append(sides, family.Side{Hyperplane: h, Positive: h.At(z) > 0})
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

// curve is what the points on a curve bring: in each of the latents that have pieces, all roots
// of Φ in the interval I that the sides leave to it given all others, by scanning and bisection.
// With the normal n that q is without sides, the weight at a root is
//
//	w = ρ_i/|∂_iΦ|·h_i(z_i)·q(z_b)/q(z),   ρ_i = (∂_iΦ)²·v_i / Σ_j (∂_jΦ)²·v_j,
//
// h_i the density of n, given all others, in I, at the sample's z_i, and v_j the variance of n
// given all others. Its mean over z_i is that of ρ_i/|∂_iΦ|·q(z_b,i | others).
func (r confinedReference) curve(t require.TestingT, g []float64, d *graph.Density, l int, theta, e []float64, pivots []int) (size float64, points int) {
	normal := reference{family: family.Structured{}, parents: r.parents, dim: len(e), points: r.points}
	c := d.Arrangement().Curve(l)
	phi, z, precision := valueOf(c), r.at(theta, e), normal.inverse(theta, e)
	_, own := r.noiseOf(theta, z)
	for _, i := range pivots {
		given, sd := normal.centre(theta, z, precision, i), 1/math.Sqrt(precision.At(i, i))
		lo, hi := r.interval(z, i)
		from := truncnorm.LogProb((z[i]-given)/sd, (lo-given)/sd, (hi-given)/sd) - math.Log(sd)
		for _, root := range roots(func(x float64) float64 { return phi(with(z, i, x)) }, max(lo, min(given, hi)-9*sd), min(hi, max(given, lo)+9*sd)) {
			at, slope, total := with(z, i, root), make([]float64, len(z)), 0.0
			point, log := r.noiseOf(theta, at)
			for _, j := range c.Latents() {
				const h = 1e-5
				slope[j] = (phi(with(at, j, at[j]+h)) - phi(with(at, j, at[j]-h))) / (2 * h)
			}
			for _, j := range pivots {
				total += slope[j] * slope[j] / precision.At(j, j)
			}
			w := slope[i] * slope[i] / precision.At(i, i) / total / math.Abs(slope[i]) * math.Exp(from+log-own)
			size += r.jump(t, g, d, l, theta, point, at, slope, w)
			points++
		}
	}
	return size, points
}

// interval is that of latent i given all others.
func (r confinedReference) interval(z []float64, i int) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	for _, side := range r.sides {
		k := slices.Index(side.Index, i)
		if k < 0 {
			continue
		}
		if at := z[i] - side.At(z)/side.Coef[k]; side.Positive == (side.Coef[k] > 0) {
			lo = max(lo, at)
		} else {
			hi = min(hi, at)
		}
	}
	return lo, hi
}

// jump adds w·Δ·(∂z/∂θ)ᵀslope at the point z of noise e, by the whole density on both sides.
func (r confinedReference) jump(t require.TestingT, g []float64, d *graph.Density, l int, theta, e, z, slope []float64, w float64) (size float64) {
	signs := d.Arrangement().Signs(z)
	above, err := d.LogProbAt(z, signs.Force(l, true))
	require.NoError(t, err)
	below, err := d.LogProbAt(z, signs.Force(l, false))
	require.NoError(t, err)
	v := slices.Clone(slope)
	floats.Scale(w*(above-below), v)
	r.pull(g, v, theta, e)
	return w * (math.Abs(above) + math.Abs(below)) * (1 + floats.Norm(slope, 1))
}

// What guards bring to the gradient, one by one and together, and what the regions do, is
// what brute force says, where some latents are confined and some guards soft: planes, and
// planes and curves in programs with parameters.
func TestConfinedPartsAreBruteForce(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	for name, limits := range map[string]programs.Limits{
		"planes": {Most: 5, Depth: 1, Affine: true, NoParams: true}, "curves": {Most: 5, Depth: 1},
	} {
		t.Run(name, func(t *testing.T) {
			counts := map[string]int{}
			rapid.Check(t, func(t *rapid.T) { checkConfinedParts(t, limits, counts) })
			t.Log(counts)
			wanted := []string{"sides", "dense guards", "planes that bend", "pivots that are confined", "guards that are not reached"}
			if !limits.Affine {
				wanted = []string{"sides", "points on curves", "parameters"}
			}
			for _, what := range wanted {
				require.Greater(t, counts[what], programs.OfChecks(t, 20), what)
			}
		})
	}
}

func checkConfinedParts(t *rapid.T, limits programs.Limits, counts map[string]int) {
	d, rng, r, q := confinedCase(t, limits)
	n := rapid.SampledFrom([]int{1, 2, 5, 8}).Draw(t, "samples")
	p, err := BindParts(d, q, n, Boundary{})
	require.NoError(t, err)
	counts["sides"] += len(r.sides)
	counts["parameters"] += r.points
	const least = 1e-100 // weights of points so far out that their noise has no value
	for range 2 {        // buffers are used again
		theta := r.theta(rng)
		q.Set(theta)
		p.Locate(q)
		seed := rng.Uint64()
		require.NoError(t, p.Run(rand.New(rand.NewPCG(seed, 0))))
		noise := reference{dim: d.Dim(), points: r.points}.noise(rand.New(rand.NewPCG(seed, 0)), n)
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
		pivots := map[int][]int{} // that share a curve
		for k, x := range p.jumps.Pieces() {
			if x.Curve != nil && p.surface.Reached(k) && !slices.Contains(pivots[x.Plane], x.Latent()) {
				pivots[x.Plane] = append(pivots[x.Plane], x.Latent())
			}
		}
		whole := make([]float64, len(theta))
		for l, h := range d.Arrangement().Planes() {
			want, size, reached := make([]float64, len(theta)), 1.0, false
			curved := d.Arrangement().Curve(l) != nil
			for _, e := range noise {
				if curved {
					more, n := r.curve(t, want, d, l, theta, e, pivots[l])
					size += more
					counts["points on curves"] += n
					continue
				}
				point, w := r.onto(h, theta, e)
				if w < least {
					continue
				}
				reached = true
				z := r.at(theta, point)
				if w > 1e-13 { // else it is so far out that its noise has no digits
					require.InDelta(t, 0, h.At(z), 1e-7)
				}
				slope := make([]float64, len(z))
				for k, i := range h.Index {
					slope[i] = h.Coef[k]
				}
				size += r.jump(t, want, d, l, theta, point, z, slope, w)
			}
			sizes += size
			floats.Add(whole, want)
			got := make([]float64, len(theta))
			if k, jumps := number[l]; jumps {
				got = sumsOf(p, n, func(sums []float64) { p.AddPlane(sums, k) })
				if !curved {
					countPlane(t, p, k, r, h, reached, counts)
				}
			}
			require.InDeltaSlice(t, want, got, 1e-6*size, "plane %d", l)
		}
		require.InDeltaSlice(t, whole, sumsOf(p, n, p.AddBoundary), 1e-6*sizes)
		require.InDeltaSlice(t, inside, sumsOf(p, n, p.AddInside), 1e-6*sizes, "inside the regions")
		floats.Add(whole, inside)
		require.NoError(t, p.Run(rand.New(rand.NewPCG(seed, 0))))
		require.InDeltaSlice(t, whole, sumsOf(p, n, p.AddAll), 1e-6*sizes, "the whole gradient")
	}
}

// countPlane counts what there is of plane k.
func countPlane(t *rapid.T, p *Parts, k int, r confinedReference, h regions.Hyperplane, reached bool, counts map[string]int) {
	if !p.surface.Reached(k) {
		require.False(t, reached)
		counts["guards that are not reached"]++
	}
	if s, curves := p.surface.(boundary.Curves); curves && s.Curved(k) && reached {
		counts["planes that bend"]++
	}
	if len(h.Index) > 1 {
		counts["dense guards"]++
	}
	for _, side := range r.sides {
		if last := side.Index[len(side.Index)-1]; reached && last == h.Index[len(h.Index)-1] {
			counts["pivots that are confined"]++
		}
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
