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

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
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
		of := "latents"
		if _, rest := p.(restOf); rest {
			of = "latents that are not discrete"
		}
		return nil, fmt.Errorf("low rank: LowRank.Rank = %d for %d %s: it must lie between 1 and their number", f.Rank, n, of)
	}
	q := &lowRank{Normal: newNormal(f, make([][]int, n)), rank: f.Rank}
	q.points, q.theta = p.Params(), make([]float64, n*(2+f.Rank))
	q.u = q.theta[2*n:]
	q.Place(make([]float64, n), slices.Repeat([]float64{1}, n))
	return q, nil
}

// lowRank is a member: μ and s are those of independent normals, whose θ goes on with U.
type lowRank struct {
	*Normal
	rank int
	u    []float64 // latents × Rank; 0 of parameters of the program
}

// startShare is the share of U in a latent's standard deviation where a fit
// starts. At U = 0 its gradient would be 0.
const startShare = 0.1

// Place gives U small entries of fixed signs that look random, columns with
// different ones.
func (q *lowRank) Place(mean, sd []float64) {
	q.Normal.Place(mean, sd)
	rng := rand.New(rand.NewPCG(uint64(q.rank), 0x9e3779b97f4a7c15))
	each := startShare / math.Sqrt(float64(q.rank))
	for i := range q.mu {
		for k := range q.row(i) {
			q.row(i)[k] = sd[i] * each * float64(1-2*rng.IntN(2))
		}
		if i < q.points {
			clear(q.row(i))
			continue
		}
		q.theta[2*i+1] *= math.Sqrt(1 - startShare*startShare)
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
	for k := range q.rank {
		size := math.Sqrt(max(startShare*startShare, 1/e.Values(nil)[k]-1)) // ascending: the smallest precisions first
		for i := q.points; i < n; i++ {
			q.theta[2*i+1] = sd[i]
			q.row(i)[k] = size * sd[i] * v.At(i, k)
		}
	}
	q.read()
}

func (q *lowRank) row(i int) []float64 { return q.u[i*q.rank:][:q.rank] }

func (q *lowRank) Clone() Q { return q.over(q.Normal.Clone().(*Normal)) }

// over is a view of a copy of the normals of q.
func (q *lowRank) over(of *Normal) *lowRank { return &lowRank{of, q.rank, of.theta[2*len(of.mu):]} }

func (q *lowRank) Param(k int) Param {
	if n := 2 * len(q.mu); k >= n {
		return Param{(k - n) / q.rank, "U", (k - n) % q.rank}
	}
	return q.Normal.Param(k)
}

func (q *lowRank) Units(dst []float64) {
	q.Normal.Units(dst)
	for k := range q.u {
		dst[2*len(q.mu)+k] = correlationUnit * dst[2*(k/q.rank)+1]
	}
}

func (q *lowRank) Move(step []float64) {
	for k, x := range step[2*len(q.mu):] {
		q.u[k] += correlationUnit * q.s[k/q.rank] * x
	}
	q.Normal.Move(step)
}

func (q *lowRank) SD(i int) float64 {
	return math.Hypot(q.s[i], floats.Norm(q.row(i), 2))
}

// law is the mean and the standard deviation of Φ. It does not allocate.
func (q *lowRank) law(h regions.Hyperplane) (mean, sd float64) {
	mean, sd = q.Normal.law(h)
	for k := range q.rank {
		sd = math.Hypot(sd, q.along(h, k))
	}
	return mean, sd
}

// along is number k of Uᵀa.
func (q *lowRank) along(h regions.Hyperplane, k int) (sum float64) {
	for l, i := range h.Index {
		sum += h.Coef[l] * q.row(i)[k]
	}
	return sum
}

func (q *lowRank) Law(h regions.Hyperplane) Law { return free(q.law(h)) }

func (q *lowRank) MoverTo(h regions.Hyperplane, positive bool) Mover {
	return normalMover(q, h, positive)
}

func (q *lowRank) Regression(h regions.Hyperplane) []float64 {
	w, v := make([]float64, q.rank), make([]float64, len(q.mu))
	for k := range w {
		w[k] = q.along(h, k)
	}
	for i := range v {
		v[i] = floats.Dot(q.row(i), w)
	}
	for k, i := range h.Index {
		v[i] += h.Coef[k] * q.s[i] * q.s[i]
	}
	_, sd := q.law(h)
	floats.Scale(1/(sd*sd), v)
	return v
}

// core is M = I + UᵀD⁻¹U, factored: the covariance's determinant is |D|·|M|, and
// its inverse D⁻¹ − D⁻¹U·M⁻¹·UᵀD⁻¹ (Woodbury). It is written to m, Rank × Rank.
func (q *lowRank) core(m []float64) (c core, logDet float64) {
	r := q.rank
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
func (q *lowRank) square() int { return q.rank * q.rank }

func (q *lowRank) Entropy() float64 {
	_, logDet := q.core(make([]float64, q.square()))
	return q.Normal.Entropy() + 0.5*logDet
}

func (q *lowRank) LogProb(z []float64) float64 {
	if len(z) != len(q.mu) {
		panic("family: a point of another number of latents")
	}
	c, logDet := q.core(make([]float64, q.square()))
	v, square := make([]float64, q.rank), 0.0
	for i := q.points; i < len(z); i++ {
		t := (z[i] - q.mu[i]) / q.s[i]
		square += t * t
		floats.AddScaled(v, t/q.s[i], q.row(i))
	}
	w := slices.Clone(v)
	c.solve(w)
	return 0.5*(float64(len(z)-q.points)-square+floats.Dot(v, w)) - q.Normal.Entropy() - 0.5*logDet
}

func (q *lowRank) Rand(dst []float64, rng *rand.Rand) {
	checkRand(q, dst, rng)
	eta := make([]float64, q.rank)
	for k := range eta {
		eta[k] = rng.NormFloat64()
	}
	for i, m := range q.mu {
		dst[i] = m + q.s[i]*rng.NormFloat64() + floats.Dot(q.row(i), eta)
	}
}

// A lowRankSampler has sums by μ, by s, and by U row by row.
type lowRankSampler struct {
	*normalSampler // of μ and s
	q              *lowRank
	eta            []float64 // Rank × n
	x              []float64 // z − μ, latents × n
	m              []float64 // M, factored, Rank × Rank
	logDet         float64
	inverse        *mat.Dense // D⁻¹U·M⁻¹, latents × Rank
	ux             []float64  // UᵀD⁻¹x, Rank × n
	inv2           []float64  // 1/s²
	p, up          []float64  // Σ⁻¹x and UᵀΣ⁻¹x, of AddScore
}

func (q *lowRank) Drawer(n int) Drawer {
	dim, r, base := len(q.mu), q.rank, q.Normal.Bind(n).(*normalSampler)
	s := &lowRankSampler{
		normalSampler: base, q: q.over(base.q), eta: make([]float64, r*n), x: make([]float64, dim*n),
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

func (s *lowRankSampler) Draw(z []float64, rng *rand.Rand) {
	parallel.Normals(s.eta, rng)
	s.noise(rng)
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
	top := s.q.Normal.Entropy() + 0.5*s.logDet - 0.5*float64(len(s.q.s)-s.q.points)
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
	s.normalSampler.Pull(sums, field)
	_, _, u := s.parts(sums)
	for i := s.q.points; i < len(s.q.mu); i++ {
		for k := range s.q.row(i) {
			u[i*s.q.rank+k] += floats.Dot(s.row(field, i), s.row(s.eta, k))
		}
	}
}

// AddScore implements Sampler: with p = Σ⁻¹x, ∂log q is p by μ, (p² − Σ⁻¹_ii)·s by
// s, and (ppᵀ − Σ⁻¹)U by U, where Σ⁻¹U = D⁻¹U·M⁻¹.
func (s *lowRankSampler) AddScore(sums, weight []float64) {
	mean, scale, u := s.parts(sums)
	r, total := s.q.rank, floats.Sum(weight)
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

// seeds implements curveSampler: a point keeps η, which moves other latents with the field.
func (s *lowRankSampler) seeds() bool { return true }

// pullAt implements curveSampler.
func (s *lowRankSampler) pullAt(sums, grad []float64, at *displaced, field [][]float64) {
	_, scale, _ := s.parts(sums)
	for l, i := range at.latents {
		vec.AddScaled(s.row(grad, i), 1, field[l])
		if i == at.latent {
			scale[i] += floats.Dot(field[l], at.delta) / s.q.s[i]
		}
	}
}
