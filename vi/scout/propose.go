package scout

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/internal/vec"
)

// The kinds of moves, made in turn.
const (
	together = iota // random walk with the chains' covariance
	pair            // two residuals at their own scale
	anew            // one residual from the prior
	kinds
)

const (
	acceptance = 0.25 // that the scales of random walks aim at
	maxWindow  = 64   // residuals that move together
)

// A proposer makes proposals for a block of chains. Random walks need steps that
// are symmetric, not normal: theirs are sums of uniform numbers, which cost less.
type proposer struct {
	dim, size int
	pcg       *rand.PCG
	log       [kinds]float64 // logarithms of the scales of random walks
	sd        []float64
	first     int          // residual of the window
	chol      mat.TriDense // of the window's covariance
	step      []float64    // uniform steps in the window, a row for each residual
	sum       []float64
	which     []int
	ratio     []float64
	none      []float64
}

func newProposer(dim, size int, pcg *rand.PCG) proposer {
	window := min(dim, maxWindow)
	p := proposer{
		dim: dim, size: size, pcg: pcg, sd: make([]float64, dim), step: make([]float64, window*size), sum: make([]float64, size),
		which: make([]int, size), ratio: make([]float64, size), none: make([]float64, size),
	}
	p.log[together], p.log[pair] = math.Log(2.38/math.Sqrt(float64(window))), math.Log(2.38/math.Sqrt2)
	return p
}

// adapt takes scales and covariance from the chains' states.
func (p *proposer) adapt(s *states) {
	window := len(p.step) / p.size
	p.first = p.below(p.dim - window + 1)
	n := len(s.lik)
	x := mat.NewDense(window, n, nil)
	for i := range p.dim {
		mean, square := 0.0, 0.0
		row := func(b int) []float64 { return s.e[b][i*p.size : (i+1)*p.size] }
		for b := range s.e {
			mean += vec.Sum(row(b))
		}
		mean /= float64(n)
		for b := range s.e {
			for _, v := range row(b) {
				square += (v - mean) * (v - mean)
			}
		}
		p.sd[i] = math.Sqrt(square / float64(n))
		if !(p.sd[i] > 0) { // all in one place: the prior's scale
			p.sd[i] = 1
		}
		if at := i - p.first; at >= 0 && at < window {
			for b := range s.e {
				vec.Affine(x.RawRowView(at)[b*p.size:(b+1)*p.size], row(b), 1/p.sd[i], -mean/p.sd[i])
			}
		}
	}
	var cov mat.SymDense
	cov.SymOuterK(1/float64(n), x)
	for i := range window {
		cov.SetSym(i, i, cov.At(i, i)+1e-9)
	}
	var chol mat.Cholesky
	if !chol.Factorize(&cov) {
		return // the last one's shape is better than none
	}
	p.chol.Reset()
	chol.LTo(&p.chol)
}

// propose moves the chains of a block whose residuals are e, and follows the
// program. It returns, for each, by how much the move favours the new state in
// logarithms.
func (p *proposer) propose(kind int, to *engine, e []float64, rng *rand.Rand) []float64 {
	copy(to.E, e)
	scale := math.Exp(p.log[kind])
	switch kind {
	case anew:
		for c := range p.which {
			p.which[c] = p.below(p.dim)
		}
		to.Renew(p.which, p.ratio, rng)
		return p.ratio
	case together:
		p.fill(p.step)
		for i := range len(p.step) / p.size {
			row := to.E[(p.first+i)*p.size : (p.first+i+1)*p.size]
			for j := range i + 1 {
				vec.AddScaled(row, scale*p.sd[p.first+i]*p.chol.At(i, j), p.step[j*p.size:(j+1)*p.size])
			}
		}
	case pair:
		steps := p.step[:p.size]
		for range 2 {
			p.fill(steps)
			for c, v := range steps {
				i := p.below(p.dim)
				to.E[i*p.size+c] += scale * p.sd[i] * v
			}
		}
	}
	to.Follow()
	return p.none
}

// fill fills v with independent steps, uniform with mean 0 and variance 1.
func (p *proposer) fill(v []float64) {
	const unit = 1.7320508075688772 / (1 << 16)
	for ; len(v) >= 4; v = v[4:] {
		u := p.pcg.Uint64()
		for i := range 4 {
			v[i] = unit * float64(2*int(int16(u>>(16*i)))+1)
		}
	}
}

// tune brings the share of accepted moves nearer to what it should be.
func (p *proposer) tune(kind int, accepted float64) { p.log[kind] += 2 * (accepted - acceptance) }

// below is a random number 0, …, n−1.
func (p *proposer) below(n int) int { return int((p.pcg.Uint64() >> 32) * uint64(n) >> 32) }
