package family

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/regions"
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

// Marginal is the law of latent i.
func Marginal(q Q, i int) Law { return q.Law(axis(i)) }

// axis is the form z_i.
func axis(i int) regions.Hyperplane { return regions.Hyperplane{Index: []int{i}, Coef: []float64{1}} }

// CDF is P(Φ ≤ x), which is accurate in the lower tail.
func (l Law) CDF(x float64) float64 { return l.Between(math.Inf(-1), x) }

// Above is P(Φ > x), which is accurate in the upper tail.
func (l Law) Above(x float64) float64 { return l.Between(x, math.Inf(1)) }

// Between is P(low < Φ ≤ high), which is accurate in both tails.
func (l Law) Between(low, high float64) (p float64) {
	for _, x := range l {
		p += x.Weight * x.between(low, high)
	}
	return p
}

// Mean is E[Φ].
func (l Law) Mean() (mean float64) {
	for _, x := range l {
		m, _ := x.moments()
		mean += x.Weight * m
	}
	return mean
}

// SD is the standard deviation of Φ.
func (l Law) SD() float64 {
	if len(l) == 1 {
		_, sd := l[0].moments()
		return sd
	}
	mean, variance := l.Mean(), 0.0
	for _, x := range l {
		m, sd := x.moments()
		variance += x.Weight * (sd*sd + (m-mean)*(m-mean))
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

// Quantile is the x with P(Φ ≤ x) = p. It panics unless 0 ≤ p ≤ 1.
func (l Law) Quantile(p float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range l {
		q := x.quantile(p)
		low, high = min(low, q), max(high, q)
	}
	for { // it lies between those of the pieces
		mid := low + (high-low)/2
		if !(low < mid && mid < high) {
			return high
		}
		below := l.CDF(mid) < p
		if p > 0.5 {
			below = l.Above(mid) > 1-p
		}
		if below {
			low = mid
		} else {
			high = mid
		}
	}
}

// Expect integrates f: it is the mean and the standard deviation of f(Φ).
func (l Law) Expect(f func(x float64) float64) (mean, sd float64) {
	var v, w []float64
	for _, p := range l {
		x, weights := p.nodes()
		for k := range x {
			v, w = append(v, f(x[k])), append(w, p.Weight*weights[k])
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

func (p Piece) moments() (mean, sd float64) {
	if p.free() {
		return p.Mean, p.SD
	}
	lo, hi := p.ends()
	return p.Mean + p.SD*truncnorm.Mean(lo, hi), p.SD * math.Sqrt(truncnorm.Variance(lo, hi))
}

func (p Piece) density(x float64) float64 {
	lo, hi := p.ends()
	return math.Exp(truncnorm.LogProb((x-p.Mean)/p.SD, lo, hi)) / p.SD
}

func (p Piece) quantile(prob float64) float64 {
	if p.free() {
		return p.Mean + p.SD*distuv.UnitNormal.Quantile(prob)
	}
	lo, hi := p.ends()
	return min(max(p.Lo, p.Mean+p.SD*truncnorm.Quantile(prob, lo, hi)), p.Hi)
}

// nodes are those of a quadrature, and their weights: Σ w·f(x) is E[f].
func (p Piece) nodes() (x, w []float64) {
	if p.free() {
		const nodes = 64
		x, w = make([]float64, nodes), make([]float64, nodes)
		quad.Hermite{}.FixedLocations(x, w, math.Inf(-1), math.Inf(1))
		for k := range x { // ∫ f(x) e^{−x²} dx, over √π
			x[k] = p.Mean + math.Sqrt2*p.SD*x[k]
			w[k] /= math.Sqrt(math.Pi)
		}
		return x, w
	}
	const nodes = 128
	x, w = make([]float64, nodes), make([]float64, nodes)
	lo, hi := p.ends()
	const far = 240 // beyond √(nearest² + far) the density is 1e-52 of its largest
	reach := math.Sqrt(math.Pow(max(lo, -hi, 0), 2) + far)
	quad.Legendre{}.FixedLocations(x, w, max(lo, -reach), min(hi, reach))
	sum := 0.0
	for k, t := range x {
		w[k] *= math.Exp(truncnorm.LogProb(t, lo, hi))
		x[k] = p.Mean + p.SD*t
		sum += w[k]
	}
	floats.Scale(1/sum, w)
	return x, w
}
