package cells

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/regions"
)

// stub: a confined full-rank normal.
type bound struct {
	h   regions.Hyperplane
	low bool // z_i > …
}
type proposal struct {
	mu, s []float64
	b     [][]float64 // dense lower rows
	bound [][]bound
}

func newProposal(mean []float64, precision *mat.SymDense, arr *regions.Arrangement, sides []regions.Side) *proposal {
	n := len(mean)
	p := &proposal{mu: mean, s: make([]float64, n), b: make([][]float64, n), bound: make([][]bound, n)}
	rev := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			rev.SetSym(i, j, precision.At(n-1-i, n-1-j))
		}
	}
	var c mat.Cholesky
	if !c.Factorize(rev) {
		return nil
	}
	u := c.RawU()
	for i := range n {
		sc := 1 / u.At(n-1-i, n-1-i)
		p.s[i] = sc
		for j := range i {
			p.b[i] = append(p.b[i], -u.At(n-1-i, n-1-j)*sc)
		}
	}
	for _, s := range sides {
		h := arr.Plane(s.Plane)
		last := len(h.Index) - 1
		i := h.Index[last]
		p.bound[i] = append(p.bound[i], bound{h, s.Positive == (h.Coef[last] > 0)})
	}
	return p
}

func cdf(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

func logMass(a, b float64) float64 {
	if a > 0 {
		a, b = -b, -a
	}
	m := cdf(b) - cdf(a)
	if m < 1e-290 {
		return -1e300
	}
	return math.Log(m)
}

func quant(u, a, b float64) float64 {
	neg := false
	if a > 0 {
		a, b, u, neg = -b, -a, 1-u, true
	}
	p := cdf(a) + u*(cdf(b)-cdf(a))
	x := -math.Sqrt2 * math.Erfcinv(2*p)
	x = min(max(x, a), b)
	if neg {
		return -x
	}
	return x
}

func (p *proposal) draw(z []float64, rng *rand.Rand) (logq float64) {
	for i, m := range p.mu {
		for j, b := range p.b[i] {
			m += b * (z[j] - p.mu[j])
		}
		lo, hi := math.Inf(-1), math.Inf(1)
		for _, x := range p.bound[i] {
			last := len(x.h.Index) - 1
			v := x.h.Const
			for k, j := range x.h.Index[:last] {
				v += x.h.Coef[k] * z[j]
			}
			v /= -x.h.Coef[last]
			if x.low {
				lo = max(lo, v)
			} else {
				hi = min(hi, v)
			}
		}
		a, b := (lo-m)/p.s[i], (hi-m)/p.s[i]
		t := quant(rng.Float64(), a, b)
		z[i] = m + p.s[i]*t
		if z[i] <= lo {
			z[i] = math.Nextafter(lo, math.Inf(1))
		}
		if z[i] >= hi {
			z[i] = math.Nextafter(hi, math.Inf(-1))
		}
		logq += -0.5*t*t - math.Log(p.s[i]) - 0.5*math.Log(2*math.Pi) - logMass(a, b)
	}
	return logq
}
