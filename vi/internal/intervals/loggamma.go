package intervals

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// A logGamma is the distribution of the logarithm of a Gamma variable, moved and scaled: the log density of t has the slope
// a − b·e^{ct}, as that of
//
//	t = log(Y·c/b)/c,  Y ~ Gamma(κ),  κ = a/c
//
// The logarithm of a rate has it, given counts or times. It is near the standard normal where κ is large; the zero
// logGamma is that normal.
type logGamma struct {
	c     float64 // 0 of the zero logGamma
	shape float64 // κ
	at    float64 // log(a/b): t = (log(Y/κ) + at)/c
	log   float64 // of the density of t is log + κ·(log(Y/κ) − Y/κ + 1), and −½·log 2π
}

// What is less skew is a normal, and of shapes that are less a quadrature has not the moments of eᵗ, and of t, to 0.0005.
const (
	leastSkew  = 1e-3
	leastShape = 0.5
	shapeOfOne = 1.5
)

// newLogGamma is the one whose log density has three slopes, at −h, 0 and h; the zero logGamma if none has.
func newLogGamma(down, mid, up, h float64) logGamma {
	c := math.Log((mid-up)/(down-mid)) / h
	b := (mid - up) / math.Expm1(c*h)
	a := mid + b
	k := a / c
	if !(math.Abs(c) > leastSkew && k >= leastShape && !math.IsInf(k, 1)) {
		return logGamma{}
	}
	gamma, _ := math.Lgamma(k)
	return logGamma{c: c, shape: k, at: math.Log(a / b), log: math.Log(math.Abs(c)) + k*math.Log(k) - k - gamma + 0.5*math.Log(2*math.Pi)}
}

// put is t where Y/κ is y, and minus the log of its density, less log √(2π).
func (b *logGamma) put(y float64) (t, half float64) {
	log := math.Log(y)
	return (log + b.at) / b.c, -b.log - b.shape*(log-y+1)
}

// draw draws Y/κ.
func (b *logGamma) draw(rng *rand.Rand) float64 {
	return distuv.Gamma{Alpha: b.shape, Beta: b.shape, Src: rng}.Rand()
}

// node is the point that stands for ε of a normal, by Wilson and Hilferty, and by how much its weight is to be multiplied:
// its density over the normal's. The weight is 0 where there is none.
func (b *logGamma) node(noise float64) (t, weight float64) {
	if b.c == 0 {
		return noise, 1
	}
	root := 1 - 1/(9*b.shape) + noise/(3*math.Sqrt(b.shape))
	if root <= 0 {
		return 0, 0
	}
	t, half := b.put(root * root * root)
	return t, math.Exp(noise*noise/2-half) / (math.Abs(b.c) * math.Sqrt(b.shape) * root)
}

// hasMoments reports whether nodes have the moments of t, or of what falls as eᵗ where t is low.
func (b *logGamma) hasMoments(exp bool) bool { return b.c == 0 || exp || b.shape >= shapeOfOne }
