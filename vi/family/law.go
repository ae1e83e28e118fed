package family

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/internal/truncnorm"
)

// A Law is the distribution of a number, such as Φ(z) = a·z + c under q: a mixture
// of pieces, whose weights sum to 1.
type Law []Piece

// A Piece is a normal truncated to (Lo, Hi), which is free where they are −Inf and
// +Inf. Mean and SD are those of the normal before it was truncated.
type Piece struct {
	Weight   float64
	Mean, SD float64
	Lo, Hi   float64
}

// free is the law of one normal.
func free(mean, sd float64) Law { return Law{{1, mean, sd, math.Inf(-1), math.Inf(1)}} }

// CDF is P(Φ ≤ x), which is accurate in the lower tail.
func (l Law) CDF(x float64) float64 { return l.Between(math.Inf(-1), x) }

// Above is P(Φ > x), which is accurate in the upper tail.
func (l Law) Above(x float64) float64 { return l.Between(x, math.Inf(1)) }

// OnSide is P(Φ > 0) if positive, else P(Φ ≤ 0).
func (l Law) OnSide(positive bool) float64 {
	if positive {
		return l.Above(0)
	}
	return l.CDF(0)
}

// Between is P(low < Φ ≤ high), which is accurate in both tails.
func (l Law) Between(low, high float64) (p float64) {
	for _, x := range l {
		p += x.Weight * x.between(low, high)
	}
	return min(p, 1) // weights sum to 1 but for rounding
}

// Mean is E[Φ].
func (l Law) Mean() (mean float64) {
	for _, x := range l {
		mean += x.Weight * x.mean()
	}
	return mean
}

// SD is the standard deviation of Φ.
func (l Law) SD() float64 {
	if len(l) == 1 {
		return l[0].sd()
	}
	mean, variance := l.Mean(), 0.0
	for _, x := range l {
		off, sd := x.mean()-mean, x.sd()
		variance += x.Weight * (sd*sd + off*off)
	}
	return math.Sqrt(variance)
}

// Density is that of Φ at x.
func (l Law) Density(x float64) (sum float64) {
	for _, p := range l {
		sum += p.Weight * p.density(x)
	}
	return sum
}

// Expect integrates f, which must be smooth: it is the mean and the standard
// deviation of f(Φ).
func (l Law) Expect(f func(x float64) float64) (mean, sd float64) {
	var v, w []float64
	truncated := legendre()
	if len(l) > manyPieces {
		truncated = coarse()
	}
	for _, p := range l {
		r := p.nodes(truncated)
		for k, x := range r.x {
			v, w = append(v, f(x)), append(w, p.Weight*r.w[k])
		}
	}
	for k := range v {
		mean += w[k] * v[k]
	}
	for k := range v {
		sd += w[k] * (v[k] - mean) * (v[k] - mean)
	}
	return mean, math.Sqrt(sd)
}

// ends are those of the piece in standard deviations from its mean.
func (p Piece) ends() (lo, hi float64) { return (p.Lo - p.Mean) / p.SD, (p.Hi - p.Mean) / p.SD }

// free reports whether the piece has no ends.
func (p Piece) free() bool { return math.IsInf(p.Lo, -1) && math.IsInf(p.Hi, 1) }

func (p Piece) between(low, high float64) float64 {
	if low <= p.Lo && p.Hi <= high {
		return 1
	}
	low, high = (max(low, p.Lo)-p.Mean)/p.SD, (min(high, p.Hi)-p.Mean)/p.SD
	switch {
	case !(low < high):
		return 0
	case !p.free():
		return math.Exp(truncnorm.LogMass(low, high) - truncnorm.LogMass(p.ends()))
	case low > 0 || math.IsInf(high, 1): // the tail in which the bounds have more digits
		low, high = -high, -low
	}
	return distuv.UnitNormal.CDF(high) - distuv.UnitNormal.CDF(low)
}

func (p Piece) mean() float64 {
	if p.free() {
		return p.Mean
	}
	return p.Mean + p.SD*truncnorm.Mean(p.ends())
}

func (p Piece) sd() float64 {
	if p.free() {
		return p.SD
	}
	return p.SD * math.Sqrt(truncnorm.Variance(p.ends()))
}

func (p Piece) density(x float64) float64 {
	lo, hi := p.ends()
	return math.Exp(truncnorm.LogProb((x-p.Mean)/p.SD, lo, hi)) / p.SD
}

// A rule has the nodes and the weights of a quadrature.
type rule struct{ x, w []float64 }

func newRule(r quad.FixedLocationer, n int, low, high float64) rule {
	x, w := make([]float64, n), make([]float64, n)
	r.FixedLocations(x, w, low, high)
	return rule{x, w}
}

var (
	hermite  = sync.OnceValue(func() rule { return newRule(quad.Hermite{}, 64, math.Inf(-1), math.Inf(1)) })
	legendre = sync.OnceValue(func() rule { return newRule(quad.Legendre{}, 128, 0, 1) })
	coarse   = sync.OnceValue(func() rule { return newRule(quad.Legendre{}, 32, 0, 1) })
)

// manyPieces is from where on coarse will do: so many pieces stand for draws.
const manyPieces = 100

// nodes are those of a quadrature, and their weights: Σ w·f(x) is E[f].
func (p Piece) nodes(truncated rule) rule {
	if p.free() {
		r := hermite().clone()
		for k := range r.x { // ∫ f(x) e^{−x²} dx, over √π
			r.x[k] = p.Mean + math.Sqrt2*p.SD*r.x[k]
			r.w[k] /= math.Sqrt(math.Pi)
		}
		return r
	}
	r := truncated.clone()
	lo, hi := p.ends()
	const far = 240 // beyond √(nearest² + far) the density is 1e-52 of its largest
	reach := math.Sqrt(math.Pow(max(lo, -hi, 0), 2) + far)
	from, to := max(lo, -reach), min(hi, reach)
	sum := 0.0
	for k, u := range r.x {
		t := from + (to-from)*u
		r.w[k] *= math.Exp(truncnorm.LogProb(t, lo, hi))
		r.x[k] = p.Mean + p.SD*t
		sum += r.w[k]
	}
	floats.Scale(1/sum, r.w)
	return r
}

func (r rule) clone() rule { return rule{slices.Clone(r.x), slices.Clone(r.w)} }
