package cells

import (
	"math"
	"math/rand/v2"
)

// A bend is a distribution of a coordinate t whose log density has the slope a − b·e^{ct}: that of
//
//	t = log(Y·c/b)/c,  Y ~ Gamma(κ),  κ = a/c
//
// It is what the logarithm of a rate has of counts or of times, and near the standard normal where κ is large. The
// zero bend is that normal.
type bend struct {
	c     float64 // 0 of the zero bend
	shape float64 // κ
	at    float64 // log(a/b): t = (log(Y/κ) + at)/c
	log   float64 // of the density of t is log + κ·(log(Y/κ) − Y/κ + 1), and −½·log 2π
}

// Bends that are less are none, and of shapes that are less a quadrature has not the moments of eᵗ, and of t, to 0.0005.
const (
	leastBend  = 1e-3
	leastShape = 0.5
	shapeOfOne = 1.5
)

// newBend is the bend whose log density has three slopes, at −h, 0 and h; the zero bend if there is none.
func newBend(down, mid, up, h float64) bend {
	c := math.Log((mid-up)/(down-mid)) / h
	b := (mid - up) / math.Expm1(c*h)
	a := mid + b
	k := a / c
	if !(math.Abs(c) > leastBend && k >= leastShape && !math.IsInf(k, 1)) {
		return bend{}
	}
	gamma, _ := math.Lgamma(k)
	return bend{c: c, shape: k, at: math.Log(a / b), log: math.Log(math.Abs(c)) + k*math.Log(k) - k - gamma + 0.5*math.Log(2*math.Pi)}
}

// put is t where Y/κ is y, and minus the log of its density, less log √(2π).
func (b *bend) put(y float64) (t, half float64) {
	log := math.Log(y)
	return (log + b.at) / b.c, -b.log - b.shape*(log-y+1)
}

// draw draws Y/κ, by the method of Marsaglia and Tsang (2000).
func (b *bend) draw(rng *rand.Rand) float64 {
	if b.shape < 1 {
		more := *b
		more.shape++
		return more.draw(rng) * more.shape / b.shape * math.Pow(rng.Float64(), 1/b.shape)
	}
	d := b.shape - 1./3
	for {
		x := rng.NormFloat64()
		v := 1 + x/math.Sqrt(9*d)
		if v = v * v * v; v > 0 && math.Log(rng.Float64()) < x*x/2+d*(1-v+math.Log(v)) {
			return d * v / b.shape
		}
	}
}

// node is the point that stands for ε of a normal, by Wilson and Hilferty, and by how much its weight is to be multiplied:
// its density over the normal's. The weight is 0 where there is none.
func (b *bend) node(noise float64) (t, weight float64) {
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
func (b *bend) hasMoments(exp bool) bool { return b.c == 0 || exp || b.shape >= shapeOfOne }
