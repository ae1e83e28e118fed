package family

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/mc"
)

// LowRank are the normals z = μ + s⊙ε + U·η with Rank standard normals η: the
// covariance is D + UUᵀ, D = diag(s²). θ is (μ_0, s_0, μ_1, …) and U row by row,
// in units of s and of s/3. The cost is linear in latents × Rank (Ong, Nott and Smith,
// J. Comput. Graph. Stat. 2018).
type LowRank struct{ Rank int }

// Name implements Family.
func (LowRank) Name() string { return "low rank" }

// StepSize implements Family.
func (LowRank) StepSize() float64 { return relative }

// New implements Family.
func (f LowRank) New(p Program) (Q, error) { return besideMasses(f, p) }

func (f LowRank) normal(p Program) (Q, error) {
	n := p.Dim()
	if n == 0 && f.Rank > 0 { // all latents are discrete
		return newNormal(f, nil), nil
	}
	if f.Rank < 1 || f.Rank > n {
		return nil, fmt.Errorf("low rank: LowRank.Rank = %d for %d latents: it must lie between 1 and their number", f.Rank, n)
	}
	q := &lowRank{family: f, points: p.Params(), theta: make([]float64, n*(2+f.Rank)), mu: make([]float64, n), s: make([]float64, n)}
	q.u = q.theta[2*n:]
	q.Place(make([]float64, n), slices.Repeat([]float64{1}, n))
	return q, nil
}

// lowRank is a member.
type lowRank struct {
	family LowRank
	theta  []float64
	mu, s  []float64
	u      []float64 // latents × Rank
	points int       // parameters of the program, as in Normal: s and U are 0
}

// startShare is the share of U in a latent's standard deviation where a fit
// starts. At U = 0 its gradient would be 0.
const startShare = 0.1

func (q *lowRank) Family() Family   { return q.family }
func (q *lowRank) Dim() int         { return len(q.mu) }
func (q *lowRank) Theta() []float64 { return q.theta }

func (q *lowRank) Set(theta []float64) {
	if len(theta) != len(q.theta) {
		panic("family: parameters of another length")
	}
	copy(q.theta, theta)
	q.read()
}

func (q *lowRank) read() {
	for i := range q.mu {
		q.mu[i], q.s[i] = q.theta[2*i], q.theta[2*i+1]
	}
	clear(q.s[:q.points])
}

// Place gives U small entries of fixed signs that look random, columns with
// different ones.
func (q *lowRank) Place(mean, sd []float64) {
	if len(mean) != len(q.mu) || len(sd) != len(q.mu) {
		panic("family: means or standard deviations of another number of latents")
	}
	rng := rand.New(rand.NewPCG(uint64(q.family.Rank), 0x9e3779b97f4a7c15))
	each := startShare / math.Sqrt(float64(q.family.Rank))
	for i := range q.mu {
		q.theta[2*i], q.theta[2*i+1] = mean[i], sd[i]*math.Sqrt(1-startShare*startShare)
		for k := range q.row(i) {
			q.row(i)[k] = sd[i] * each * float64(1-2*rng.IntN(2))
		}
		if i < q.points {
			q.theta[2*i+1] = sd[i]
			clear(q.row(i))
		}
	}
	q.read()
}

// Correlate takes D from the standard deviations, and of the covariance in units
// of √D the eigenvectors v with the largest eigenvalues λ: U has the columns
// √(λ − 1)·√D·v.
func (q *lowRank) Correlate(precision mat.Symmetric) {
	n := len(q.mu)
	sd := make([]float64, n)
	for i := range sd {
		sd[i] = q.SD(i)
	}
	scaled := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			scaled.SetSym(i, j, precision.At(i, j)/math.Sqrt(precision.At(i, i)*precision.At(j, j)))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(scaled, true) || !(e.Values(nil)[0] > 0) {
		panic("family: a precision matrix that is not positive definite")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	for k := range q.family.Rank {
		size := math.Sqrt(max(startShare*startShare, 1/e.Values(nil)[k]-1)) // ascending: the smallest precisions first
		for i := q.points; i < n; i++ {
			q.theta[2*i+1] = sd[i]
			q.row(i)[k] = size * sd[i] * v.At(i, k)
		}
	}
	q.read()
}

func (q *lowRank) row(i int) []float64 { return q.u[i*q.family.Rank:][:q.family.Rank] }

func (q *lowRank) Clone() Q {
	c := &lowRank{family: q.family, points: q.points, theta: slices.Clone(q.theta), mu: slices.Clone(q.mu), s: slices.Clone(q.s)}
	c.u = c.theta[2*len(c.mu):]
	return c
}

func (q *lowRank) Param(k int) Param {
	n := len(q.mu)
	switch {
	case k < 2*q.points && k%2 == 1:
		return Param{k / 2, "unit", -1}
	case k < 2*n:
		return Param{k / 2, []string{"μ", "s"}[k%2], -1}
	}
	k -= 2 * n
	return Param{k / q.family.Rank, "U", k % q.family.Rank}
}

func (q *lowRank) Fault() int {
	for k, x := range q.theta {
		if !finite(x) || k < 2*len(q.s) && k%2 == 1 && !(x > 0) {
			return k
		}
	}
	return -1
}

func (q *lowRank) Units(dst []float64) {
	for i, s := range q.s {
		if i < q.points {
			s = q.theta[2*i+1]
		}
		dst[2*i], dst[2*i+1] = s, s
		for k := range q.row(i) {
			dst[2*len(q.s)+i*q.family.Rank+k] = correlationUnit * s
		}
	}
}

func (q *lowRank) Move(step []float64) {
	for i := range q.points {
		q.theta[2*i] += q.theta[2*i+1] * step[2*i]
	}
	for i := q.points; i < len(q.s); i++ {
		s := q.s[i]
		q.theta[2*i] += s * step[2*i]
		q.theta[2*i+1] = s * math.Exp(step[2*i+1])
		r := q.family.Rank
		floats.AddScaled(q.row(i), correlationUnit*s, step[2*len(q.s)+i*r:][:r])
	}
	q.read()
}

func (q *lowRank) Mean(i int) float64 { return q.mu[i] }

func (q *lowRank) SD(i int) float64 {
	return math.Hypot(q.s[i], floats.Norm(q.row(i), 2))
}

// projectTo writes Uᵀa to w and returns Var(Φ).
func (q *lowRank) projectTo(w []float64, h regions.Hyperplane) (variance float64) {
	clear(w)
	for k, i := range h.Index {
		t := h.Coef[k] * q.s[i]
		variance += t * t
		floats.AddScaled(w, h.Coef[k], q.row(i))
	}
	return variance + floats.Dot(w, w)
}

func (q *lowRank) Law(h regions.Hyperplane) Law {
	return free(h.At(q.mu), math.Sqrt(q.projectTo(make([]float64, q.family.Rank), h)))
}

func (q *lowRank) Beyond(h regions.Hyperplane, positive bool) Mover { return beyond(q, h, positive) }

func (q *lowRank) Regression(h regions.Hyperplane) []float64 {
	w := make([]float64, q.family.Rank)
	variance := q.projectTo(w, h)
	v := make([]float64, len(q.mu))
	for i := range v {
		v[i] = floats.Dot(q.row(i), w)
	}
	for k, i := range h.Index {
		v[i] += h.Coef[k] * q.s[i] * q.s[i]
	}
	floats.Scale(1/variance, v)
	return v
}

// core is M = I + UᵀD⁻¹U, factored: the covariance's determinant is |D|·|M|, and
// its inverse D⁻¹ − D⁻¹U·M⁻¹·UᵀD⁻¹ (Woodbury). It is written to m, Rank × Rank.
func (q *lowRank) core(m []float64) (c core, logDet float64) {
	r := q.family.Rank
	for a := range r {
		for b := a; b < r; b++ {
			sum := 0.0
			for i := q.points; i < len(q.s); i++ {
				sum += q.row(i)[a] / q.s[i] * (q.row(i)[b] / q.s[i])
			}
			if a == b {
				sum++
			}
			m[a*r+b] = sum
		}
	}
	// M ≥ I is positive definite
	c.Triangular, _ = lapack64.Potrf(blas64.Symmetric{N: r, Stride: r, Data: m, Uplo: blas.Upper})
	for a := range r {
		logDet += 2 * math.Log(m[a*r+a])
	}
	return c, logDet
}

// A core is a Cholesky factor.
type core struct{ blas64.Triangular }

// solve replaces v by M⁻¹v.
func (c core) solve(v []float64) {
	lapack64.Potrs(c.Triangular, blas64.General{Rows: len(v), Cols: 1, Stride: 1, Data: v})
}

// square is the number of entries of M.
func (q *lowRank) square() int { return q.family.Rank * q.family.Rank }

func (q *lowRank) Entropy() float64 {
	_, logDet := q.core(make([]float64, q.square()))
	return normalEntropy(q.s[q.points:]) + 0.5*logDet
}

func (q *lowRank) LogProb(z []float64) float64 {
	if len(z) != len(q.mu) {
		panic("family: a point of another number of latents")
	}
	c, logDet := q.core(make([]float64, q.square()))
	v, square := make([]float64, q.family.Rank), 0.0
	for i := q.points; i < len(z); i++ {
		t := (z[i] - q.mu[i]) / q.s[i]
		square += t * t
		floats.AddScaled(v, t/q.s[i], q.row(i))
	}
	w := slices.Clone(v)
	c.solve(w)
	return 0.5*(float64(len(z)-q.points)-square+floats.Dot(v, w)) - normalEntropy(q.s[q.points:]) - 0.5*logDet
}

func (q *lowRank) Rand(dst []float64, rng *rand.Rand) {
	checkRand(q, dst, rng)
	eta := make([]float64, q.family.Rank)
	for k := range eta {
		eta[k] = rng.NormFloat64()
	}
	for i, m := range q.mu {
		dst[i] = m + q.s[i]*rng.NormFloat64() + floats.Dot(q.row(i), eta)
	}
}

// Groups puts all latents in one group.
func (q *lowRank) Groups() []int { return make([]int, len(q.mu)) }

// A lowRankSampler has sums by μ, by s, and by U row by row.
type lowRankSampler struct {
	q        *lowRank // a copy
	n        int
	eps, eta []float64 // latents × n, Rank × n
	x        []float64 // z − μ, latents × n
	m        []float64 // M, factored, Rank × Rank
	logDet   float64
	inverse  *mat.Dense // D⁻¹U·M⁻¹, latents × Rank
	ux       []float64  // UᵀD⁻¹x, Rank × n
	inv2     []float64  // 1/s²
	p, up    []float64  // Σ⁻¹x and UᵀΣ⁻¹x, of AddScore
	moved    []float64  // scratch of pullAt
	etaMean  []float64  // E[η | z] at the samples, Rank × n; nil without pieces of curves
	known    bool       // etaMean and ux are those of the samples
}

func (q *lowRank) Drawer(n int) Drawer { return q.Bind(n) }

func (q *lowRank) Bind(n int) Sampler {
	dim, r := len(q.mu), q.family.Rank
	s := &lowRankSampler{
		q: q.Clone().(*lowRank), n: n, eps: make([]float64, dim*n), eta: make([]float64, r*n), x: make([]float64, dim*n),
		m: make([]float64, q.square()), inverse: mat.NewDense(dim, r, nil), ux: make([]float64, r*n),
		inv2: make([]float64, dim),
	}
	s.Locate(q)
	return s
}

func (s *lowRankSampler) Locate(q Q) {
	s.q.Set(q.(*lowRank).theta)
	c, logDet := s.q.core(s.m)
	s.logDet = logDet
	for i := s.q.points; i < len(s.inv2); i++ {
		s.inv2[i] = 1 / (s.q.s[i] * s.q.s[i])
		row := s.inverse.RawRowView(i)
		floats.ScaleTo(row, s.inv2[i], s.q.row(i))
		c.solve(row)
	}
}

func (s *lowRankSampler) row(m []float64, i int) []float64 { return m[i*s.n:][:s.n] }

func (s *lowRankSampler) Draw(z []float64, rng *rand.Rand) {
	s.known = false
	mc.Normals(s.eta, rng)
	mc.Normals(s.eps[s.q.points*s.n:], rng)
	for i, m := range s.q.mu {
		row := s.row(s.x, i)
		vec.Affine(row, s.row(s.eps, i), s.q.s[i], 0)
		for k, u := range s.q.row(i) {
			vec.AddScaled(row, u, s.row(s.eta, k))
		}
		vec.Affine(s.row(z, i), row, 1, m)
	}
}

// pulled fills ux = UᵀD⁻¹x.
func (s *lowRankSampler) pulled() {
	clear(s.ux)
	for i, inv := range s.inv2 {
		for k, u := range s.q.row(i) {
			vec.AddScaled(s.row(s.ux, k), u*inv, s.row(s.x, i))
		}
	}
}

// SubLogQ implements Sampler: xᵀΣ⁻¹x = xᵀD⁻¹x − vᵀM⁻¹v with v = UᵀD⁻¹x, where M⁻¹v
// is Σ x_i times row i of inverse.
func (s *lowRankSampler) SubLogQ(dst []float64) {
	s.pulled()
	top := normalEntropy(s.q.s[s.q.points:]) + 0.5*s.logDet - 0.5*float64(len(s.q.s)-s.q.points)
	for b := range dst {
		dst[b] += top
	}
	for i, inv := range s.inv2 {
		x := s.row(s.x, i)
		for b, v := range x {
			dst[b] += 0.5 * v * v * inv
		}
		for k, w := range s.inverse.RawRowView(i) {
			for b, v := range s.row(s.ux, k) {
				dst[b] -= 0.5 * v * w * x[b]
			}
		}
	}
}

func (s *lowRankSampler) Sums() int { return len(s.q.theta) }

func (s *lowRankSampler) parts(sums []float64) (mean, scale, u []float64) {
	n := len(s.q.mu)
	return sums[:n], sums[n : 2*n], sums[2*n:]
}

// addPrecision adds Σ⁻¹x, which is −∇log q, to each row of m.
func (s *lowRankSampler) addPrecision(m []float64) {
	s.pulled()
	for i, inv := range s.inv2 {
		row := s.row(m, i)
		vec.AddScaled(row, inv, s.row(s.x, i))
		for k, w := range s.inverse.RawRowView(i) {
			vec.AddScaled(row, -w, s.row(s.ux, k))
		}
	}
}

// AddPath implements Sampler. As for sequential normals the parameters of log q
// itself are left out.
func (s *lowRankSampler) AddPath(sums, grad []float64) {
	s.addPrecision(grad)
	s.Pull(sums, grad)
}

func (s *lowRankSampler) Pull(sums, field []float64) {
	mean, scale, u := s.parts(sums)
	vec.AddSumDotRows(mean, scale, field, s.eps, s.n)
	for i := s.q.points; i < len(s.q.mu); i++ {
		for k := range s.q.row(i) {
			u[i*s.q.family.Rank+k] += floats.Dot(s.row(field, i), s.row(s.eta, k))
		}
	}
}

// AddScore implements Sampler: with p = Σ⁻¹x, ∂log q is p by μ, (p² − Σ⁻¹_ii)·s by
// s, and (ppᵀ − Σ⁻¹)U by U, where Σ⁻¹U = D⁻¹U·M⁻¹.
func (s *lowRankSampler) AddScore(sums, weight []float64) {
	mean, scale, u := s.parts(sums)
	r, total := s.q.family.Rank, floats.Sum(weight)
	if s.p == nil {
		s.p, s.up = make([]float64, len(s.x)), make([]float64, r*s.n)
	}
	p, up := s.p, s.up
	clear(p)
	clear(up)
	s.addPrecision(p)
	for i := range s.q.mu {
		for k, x := range s.q.row(i) {
			vec.AddScaled(s.row(up, k), x, s.row(p, i))
		}
	}
	for i := range s.q.mu {
		inverse := s.inverse.RawRowView(i)
		own := s.inv2[i] * (1 - floats.Dot(inverse, s.q.row(i)))
		square := 0.0
		for b, x := range s.row(p, i) {
			mean[i] += weight[b] * x
			square += weight[b] * x * x
			for k := range r {
				u[i*r+k] += weight[b] * x * up[k*s.n+b]
			}
		}
		scale[i] += (square - total*own) * s.q.s[i]
		for k, x := range inverse {
			u[i*r+k] -= total * x
		}
	}
}

func (s *lowRankSampler) Finish(dst, sums []float64, n int) {
	inv := 1 / float64(n)
	mean, scale, u := s.parts(sums)
	for i := range mean {
		dst[2*i], dst[2*i+1] = mean[i]*inv, scale[i]*inv
	}
	floats.ScaleTo(dst[2*len(mean):], inv, u)
}

func (s *lowRankSampler) FinishSome(dst []float64, params []int, sums []float64, n int) {
	dim := len(s.q.mu)
	for at, k := range params {
		if k < 2*dim {
			k = k/2 + k%2*dim
		}
		dst[at] = sums[k] / float64(n)
	}
}

func (s *lowRankSampler) Reach(m Method) boundary.Reach {
	if m != Elimination {
		return boundary.Reach{Name: "everything", Moves: func(regions.Hyperplane, int) bool { return true }}
	}
	return boundary.OnPlane
}

func (s *lowRankSampler) Surface(pieces []boundary.Piece, at [][]int, m Method) Surface {
	return surfaceOf(s, s.n, pieces, at, func(planes []regions.Hyperplane, at [][]int) Surface { return newLowRankSurface(s, planes, at, m) })
}

func newLowRankSurface(s *lowRankSampler, planes []regions.Hyperplane, at [][]int, m Method) *lowRankSurface {
	f := &lowRankSurface{fullSurface: fullSurface{len(s.q.theta)}, s: s, method: m, weight: make([]float64, s.n), moved: make([]float64, s.n)}
	for k, h := range planes {
		f.planes = append(f.planes, lowRankPlane{Hyperplane: h, at: at[k], along: make([]float64, len(at[k])), ua: make([]float64, s.q.family.Rank)})
	}
	return f
}

// A lowRankSurface moves samples along Σa (Orthogonal) or changes the ε of one
// latent of the plane (Elimination), the one with the largest |a_i|·s_i.
type lowRankSurface struct {
	fullSurface
	s             *lowRankSampler
	method        Method
	planes        []lowRankPlane
	weight, moved []float64
}

type lowRankPlane struct {
	regions.Hyperplane
	at    []int
	along []float64
	ua    []float64 // Uᵀa
	inv   float64   // 1/Var(Φ)
	w     float64   // density of Φ at 0
	pivot int       // position in Index
}

func (f *lowRankSurface) Locate() {
	q := f.s.q
	for k := range f.planes {
		p := &f.planes[k]
		variance := q.projectTo(p.ua, p.Hyperplane)
		p.inv, p.w = 1/variance, density(p.At(q.mu), math.Sqrt(variance))
		p.pivot = 0
		for j, i := range p.Index {
			if math.Abs(p.Coef[j]*q.s[i]) > math.Abs(p.Coef[p.pivot]*q.s[p.Index[p.pivot]]) {
				p.pivot = j
			}
		}
		for j, i := range p.at {
			p.along[j] = f.direction(p, i)
		}
	}
}

// direction is how far latent i moves for one unit of Φ.
func (f *lowRankSurface) direction(p *lowRankPlane, i int) float64 {
	k, on := slices.BinarySearch(p.Index, i)
	switch q := f.s.q; {
	case f.method == Elimination && on && k == p.pivot:
		return 1 / p.Coef[k]
	case f.method == Elimination:
		return 0
	case on:
		return p.inv * (p.Coef[k]*q.s[i]*q.s[i] + floats.Dot(q.row(i), p.ua))
	default:
		return p.inv * floats.Dot(q.row(i), p.ua)
	}
}

func (f *lowRankSurface) Along(k int) []float64 { return f.planes[k].along }
func (f *lowRankSurface) Density(k int) float64 { return f.planes[k].w }
func (f *lowRankSurface) Reached(k int) bool    { return f.method == Elimination || f.planes[k].w > 0 }

func (f *lowRankSurface) Add(sums, _ []float64, k int, phi, jumps []float64) {
	p, s := &f.planes[k], f.s
	mean, scale, u := s.parts(sums)
	r := s.q.family.Rank
	pivot := p.Index[p.pivot]
	step := 1 / (p.Coef[p.pivot] * s.q.s[pivot]) // of ε at the pivot, by Elimination
	for b := range f.weight {
		f.weight[b] = p.w
	}
	if f.method == Elimination {
		for b, e := range s.row(s.eps, pivot) {
			f.weight[b] = normalDensity(e-phi[b]*step) * math.Abs(step)
		}
	}
	vec.GatedMul(f.weight, f.weight, jumps, 1)
	total, moved := floats.Sum(f.weight), floats.Dot(f.weight, phi)
	for j, i := range p.Index {
		by := 0.0 // how far ε_i moves, by Φ
		switch {
		case f.method != Elimination:
			by = p.inv * p.Coef[j] * s.q.s[i]
		case j == p.pivot:
			by = step
		}
		mean[i] += p.Coef[j] * total
		scale[i] += p.Coef[j] * (floats.Dot(f.weight, s.row(s.eps, i)) - moved*by)
	}
	for c := range r {
		dot := floats.Dot(f.weight, s.row(s.eta, c))
		if f.method != Elimination {
			dot -= moved * p.inv * p.ua[c]
		}
		for j, i := range p.Index {
			if i >= s.q.points {
				u[i*r+c] += p.Coef[j] * dot
			}
		}
	}
}
