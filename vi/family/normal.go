package family

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A Normal is a sequential normal, a member of MeanField, Structured, FullRank
// or Softplus:
//
//	z_i = μ_i + y_i,   y_i = Σ_{j ∈ parents(i)} B_ij·y_j + s_i·ε_i
//
// so that y = (I − B)⁻¹·S·ε. The first latents may be parameters of the program, which
// have no noise, parents or children: z_p = μ_p. What θ has in the place of their s is
// the unit of their steps, which stays what it is.
type Normal struct {
	family Family
	edges  *edges
	theta  []float64 // (μ_0, s_0, μ_1, …, B); for Softplus ρ in place of s
	// what theta says
	mu, s, b []float64
	entropy  float64
	inv      []float64 // 1/s, but of Softplus
	slope    []float64 // ds/dρ, of Softplus only
	points   int       // the first so many latents are parameters: s = 1/s = 0
	hold
}

func newNormal(f Family, parents [][]int) *Normal {
	n := len(parents)
	q := &Normal{family: f, edges: newEdges(parents), mu: make([]float64, n), s: make([]float64, n)}
	q.theta = make([]float64, 2*n+len(q.edges.parent))
	q.b = q.theta[2*n:]
	q.inv = make([]float64, n)
	q.Place(make([]float64, n), slices.Repeat([]float64{1}, n))
	return q
}

// Family implements Q.
func (q *Normal) Family() Family { return q.family }

// Dim implements Q.
func (q *Normal) Dim() int { return len(q.mu) }

// Theta implements Q.
func (q *Normal) Theta() []float64 { return q.theta }

// Set implements Q.
func (q *Normal) Set(theta []float64) {
	if len(theta) != len(q.theta) {
		panic("family: parameters of another length")
	}
	copy(q.theta, theta)
	q.read()
}

// read takes μ, s and the slopes from θ.
func (q *Normal) read() {
	for i := range q.mu {
		q.mu[i] = q.theta[2*i]
		if q.slope == nil {
			q.s[i], q.inv[i] = q.theta[2*i+1], 1/q.theta[2*i+1]
		} else {
			q.s[i], q.slope[i] = softplus(q.theta[2*i+1])
		}
	}
	clear(q.s[:q.points])
	clear(q.inv[:q.points])
	q.entropy = normalEntropy(q.s[q.points:])
}

// Points makes the first n latents parameters, and returns q. It panics if one of them has a
// parent or a child, or for members of Softplus.
func (q *Normal) Points(n int) *Normal {
	if n > 0 && q.slope != nil || q.edges.from[n] > 0 || q.edges.childFrom[0] > q.edges.childFrom[n] {
		panic("family: a parameter that has parents or children, or a scale by softplus")
	}
	q.points = n
	q.read()
	return q
}

// units are what θ has in the place of s.
func (q *Normal) units() []float64 {
	s := slices.Clone(q.s)
	for i := range q.points {
		s[i] = q.theta[2*i+1]
	}
	return s
}

// Place implements Q.
func (q *Normal) Place(mean, sd []float64) {
	if len(mean) != len(q.mu) || len(sd) != len(q.mu) {
		panic("family: means or standard deviations of another number of latents")
	}
	for i := range q.mu {
		q.theta[2*i], q.theta[2*i+1] = mean[i], sd[i]
		if q.slope != nil {
			q.theta[2*i+1] = inverseSoftplus(sd[i])
		}
	}
	clear(q.b)
	q.read()
}

// Correlate implements Q. Where P = (I − B)ᵀS⁻²(I − B) is the Cholesky factorisation
// from behind, UUᵀ with U upper triangular, s_i = 1/U_ii and B_ij = −U_ji·s_i. The
// coefficients of parents are kept.
func (q *Normal) Correlate(precision mat.Symmetric) {
	if len(q.b) == 0 {
		return
	}
	n := len(q.mu)
	unit := q.units()
	rate := func(i int) float64 { return 1 / (unit[i] * math.Sqrt(precision.At(i, i))) }
	reversed := mat.NewSymDense(n, nil) // the latents in reverse, where U is the usual factor
	for i := range n {
		for j := range i + 1 {
			reversed.SetSym(i, j, precision.At(n-1-i, n-1-j)*rate(n-1-i)*rate(n-1-j))
		}
	}
	var c mat.Cholesky
	if !c.Factorize(reversed) {
		panic("family: a precision matrix that is not positive definite")
	}
	u := c.RawU()
	b, sd := make([]float64, len(q.b)), make([]float64, n)
	for i := range n {
		scale := 1 / u.At(n-1-i, n-1-i)
		for e := q.edges.from[i]; e < q.edges.from[i+1]; e++ {
			b[e] = -u.At(n-1-i, n-1-int(q.edges.parent[e])) * scale
		}
		sd[i] = scale
	}
	copy(sd, unit[:q.points])
	q.Place(q.mu, sd)
	copy(q.b, b)
}

// embed makes q the distribution from, and reports whether it can be.
func (q *Normal) embed(from *Normal) bool {
	b := make([]float64, len(q.b))
	for i := range from.mu {
		mine := q.edges.parents(i)
		for e := from.edges.from[i]; e < from.edges.from[i+1]; e++ {
			k, ok := slices.BinarySearch(mine, from.edges.parent[e])
			if !ok {
				return false
			}
			b[int(q.edges.from[i])+k] = from.b[e]
		}
	}
	q.Place(from.mu, from.units())
	copy(q.b, b)
	return true
}

// Clone implements Q.
func (q *Normal) Clone() Q {
	c := &Normal{family: q.family, edges: q.edges, points: q.points, entropy: q.entropy}
	all := slices.Concat(q.theta, q.mu, q.s, q.inv, q.slope)
	next := func(like []float64) []float64 {
		if like == nil {
			return nil
		}
		x := all[:len(like):len(like)]
		all = all[len(like):]
		return x
	}
	c.theta, c.mu, c.s, c.inv, c.slope = next(q.theta), next(q.mu), next(q.s), next(q.inv), next(q.slope)
	c.b = c.theta[2*len(c.mu):][:len(q.b)] // of low rank U follows
	return c
}

// Param implements Q.
func (q *Normal) Param(k int) Param {
	n := len(q.mu)
	switch {
	case k < 2*n && k%2 == 0:
		return Param{k / 2, "μ", -1}
	case k < 2*q.points:
		return Param{k / 2, "unit", -1}
	case k < 2*n && q.slope != nil:
		return Param{k / 2, "ρ", -1}
	case k < 2*n:
		return Param{k / 2, "s", -1}
	}
	e := int32(k - 2*n)
	i, _ := slices.BinarySearch(q.edges.from, e+1)
	return Param{i - 1, "B", int(q.edges.parent[e])}
}

// Fault implements Q.
func (q *Normal) Fault() int {
	for k, x := range q.theta {
		scale := 1.0
		switch {
		case k < 2*q.points && k%2 == 1:
			scale = x
		case k < 2*len(q.s) && k%2 == 1:
			scale = q.s[k/2]
		}
		if !finite(x) || !(scale > 0) || !finite(scale) {
			return k
		}
	}
	return -1
}

// unit is that of the coefficients B_ij of latent i, but for 1/s_j: a step of all
// of them moves the conditional mean about as far as one of them alone.
func (q *Normal) unit(i int) float64 { return q.edges.unit[i] * q.s[i] }

// Units implements Q: s_i for μ_i and s_i, s_i/(3·s_j·√k) for B_ij of a latent with k
// parents, and a parameter's own.
func (q *Normal) Units(dst []float64) {
	if q.slope != nil {
		for k := range dst {
			dst[k] = 1
		}
		return
	}
	b := dst[2*len(q.s):]
	for i, s := range q.s {
		if i < q.points {
			s = q.theta[2*i+1]
		}
		dst[2*i], dst[2*i+1] = s, s
		for e := q.edges.from[i]; e < q.edges.from[i+1]; e++ {
			b[e] = q.unit(i) * q.inv[q.edges.parent[e]]
		}
	}
}

// Move implements Q.
func (q *Normal) Move(step []float64) {
	if q.slope != nil {
		for k, x := range step {
			q.theta[k] += x
		}
		q.read()
		return
	}
	n := len(q.s)
	for i := range q.points {
		q.theta[2*i] += q.theta[2*i+1] * step[2*i]
	}
	for i := q.points; i < n; i++ {
		q.theta[2*i] += q.s[i] * step[2*i]
		for e := q.edges.from[i]; e < q.edges.from[i+1]; e++ {
			q.b[e] += q.unit(i) * q.inv[q.edges.parent[e]] * step[2*n+int(e)]
		}
	}
	for i := q.points; i < n; i++ { // after all units were used
		q.theta[2*i+1] = q.s[i] * math.Exp(step[2*i+1])
	}
	q.read()
}

// Mean implements Q.
func (q *Normal) Mean(i int) float64 { return q.mu[i] }

// SD implements Q.
func (q *Normal) SD(i int) float64 {
	if q.edges.root(i) {
		return q.s[i]
	}
	_, sd := q.law(axis(i))
	return sd
}

// adjoint writes u = (I − B)⁻ᵀ·a to u, which is zero and has the latents up to the
// last of h, and returns Var(Φ): Φ(z) = Φ(μ) + Σ u_i·s_i·ε_i. Below first, u is 0.
// Latents that bring less than a part of 1e-36 of the variance are left out, so
// that a chain that forgets is followed as far back as it remembers; parameters are not.
func (q *Normal) adjoint(u []float64, h regions.Hyperplane) (variance float64, first int) {
	first = h.Index[0]
	for k, i := range h.Index {
		u[i] = h.Coef[k]
	}
	for i := len(u) - 1; i >= max(first, q.points); i-- {
		t := u[i] * q.s[i]
		variance += t * t
		if t*t < 1e-36*variance {
			u[i] = 0
			continue
		}
		for e := q.edges.from[i]; e < q.edges.from[i+1]; e++ {
			j := int(q.edges.parent[e])
			u[j] += u[i] * q.b[e]
			first = min(first, j)
		}
	}
	return variance, first
}

// covariance writes Cov(z, Φ) = (I − B)⁻¹·S²·u to v and returns Var(Φ).
func (q *Normal) covariance(v, u []float64) (variance float64) {
	for i := range v {
		v[i] = 0
		if i < len(u) {
			v[i] = u[i] * q.s[i] * q.s[i]
			variance += u[i] * v[i]
		}
		for e := q.edges.from[i]; e < q.edges.from[i+1]; e++ {
			v[i] += q.b[e] * v[q.edges.parent[e]]
		}
	}
	return variance
}

// zeroSlices are for law, which is asked for thousands of guards: *[]float64 of zeros.
var zeroSlices sync.Pool

// Law implements Q.
func (q *Normal) Law(h regions.Hyperplane) Law { return free(q.law(h)) }

// MoverTo implements Q.
func (q *Normal) MoverTo(h regions.Hyperplane, positive bool) Mover {
	return normalMover(q, h, positive)
}

// law is the mean and the standard deviation of Φ. It does not allocate.
func (q *Normal) law(h regions.Hyperplane) (mean, sd float64) {
	if len(q.b) == 0 {
		variance := 0.0
		for k, i := range h.Index {
			t := h.Coef[k] * q.s[i]
			variance += t * t
		}
		return h.At(q.mu), math.Sqrt(variance)
	}
	last := h.Index[len(h.Index)-1]
	zeros, _ := zeroSlices.Get().(*[]float64)
	if zeros == nil || len(*zeros) <= last {
		zeros = new([]float64)
		*zeros = make([]float64, len(q.mu))
	}
	u := (*zeros)[:last+1]
	variance, first := q.adjoint(u, h)
	clear(u[first:])
	zeroSlices.Put(zeros)
	return h.At(q.mu), math.Sqrt(variance)
}

// Regression implements Gaussian.
func (q *Normal) Regression(h regions.Hyperplane) []float64 {
	u, v := make([]float64, h.Index[len(h.Index)-1]+1), make([]float64, len(q.s))
	q.adjoint(u, h)
	floats.Scale(1/q.covariance(v, u), v)
	return v
}

// Entropy implements Gaussian.
func (q *Normal) Entropy() float64 { return q.entropy }

// normalEntropy is that of independent normals with scales s, and of all whose
// covariance has the determinant Π s².
func normalEntropy(s []float64) float64 {
	h := 0.5 * float64(len(s)) * (1 + math.Log(2*math.Pi))
	for _, x := range s {
		h += math.Log(x)
	}
	return h
}

// LogProb implements Q.
func (q *Normal) LogProb(z []float64) float64 {
	if len(z) != len(q.mu) {
		panic("family: a point of another number of latents")
	}
	square := 0.0
	for i := q.points; i < len(z); i++ {
		y := z[i] - q.mu[i]
		for e := q.edges.from[i]; e < q.edges.from[i+1]; e++ {
			j := q.edges.parent[e]
			y -= q.b[e] * (z[j] - q.mu[j])
		}
		square += (y / q.s[i]) * (y / q.s[i])
	}
	return 0.5*(float64(len(z)-q.points)-square) - q.Entropy()
}

// LogProbs stores plus + log q at n points z, latents × n, in dst. room is scratch of (Dim() + 1)·n numbers.
func (q *Normal) LogProbs(dst, z []float64, plus float64, room []float64) {
	n := len(dst)
	row := func(x []float64, i int) []float64 { return x[i*n:][:n] }
	sum := row(room, len(q.mu))
	clear(dst)
	for i, mu := range q.mu {
		x := row(room, i) // z − μ
		if vec.Affine(x, row(z, i), 1, -mu); i < q.points {
			continue
		}
		copy(sum, x)
		for e := q.edges.from[i]; e < q.edges.from[i+1]; e++ {
			vec.AddScaled(sum, -q.b[e], row(room, int(q.edges.parent[e])))
		}
		vec.Affine(sum, sum, 1/q.s[i], 0)
		vec.AddMul(dst, sum, sum)
	}
	vec.Affine(dst, dst, -0.5, 0.5*float64(len(q.mu)-q.points)-q.Entropy()+plus)
}

// Rand implements Q.
func (q *Normal) Rand(dst []float64, rng *rand.Rand) {
	checkRand(q, dst, rng)
	for i := range dst {
		q.put(i, dst, rng.NormFloat64())
	}
}

// put sets a latent of z by its noise, given those before.
func (q *Normal) put(i int, z []float64, eps float64) { z[i] = q.conditional(i, z) + q.s[i]*eps }

// conditional is m_i, the mean of latent i given those before.
func (q *Normal) conditional(i int, z []float64) float64 {
	m := q.mu[i]
	for e := q.edges.from[i]; e < q.edges.from[i+1]; e++ {
		j := q.edges.parent[e]
		m += q.b[e] * (z[j] - q.mu[j])
	}
	return m
}
