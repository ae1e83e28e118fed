package mixture

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/vi/family"
)

// WideShare says that one in so many defensive draws is of a distribution with wider conditionals: see WideScale.
const WideShare = 5

// WideScale is how many times as wide the conditionals are of the wide part of a defensive mixture. Of few latents it sees far tails, and of many it stays where the posterior has mass.
func WideScale(latents int) float64 { return 1 + 2/math.Sqrt(float64(latents)) }

// A rare part of a part has so little weight, and yet so much of the variance of a latent.
const (
	rareWeight = 0.01
	rareShare  = 0.2
)

// Defensive is what importance draws of m are from, and which part of m each of its parts is of. moments are the mean and the standard
// deviation of latent i under a part, on the program's scale. A part of the draws is of
// the same with wider conditionals: weights are bounded where m's tails are too thin. And parts get draws by what they bring to
// the latents' variances: half of the draws are in proportion to the largest share that a part has in one of them, which brings
// the errors of all standard deviations down (Neyman's allocation). If one of a part that is a mixture itself, as of a cell
// with several modes, is rare, they are parts, too.
func (m *Mixture) Defensive(moments func(part family.Q, i int) (mean, sd float64)) (draws *Mixture, of []int) {
	var weight []float64
	var fine []family.Q
	var from []int
	for k, q := range m.parts {
		modes, ok := q.(*Mixture)
		if !ok || m.completion != nil || modes.completion != nil || !modes.hasRare(moments) {
			weight, fine, from = append(weight, m.weight[k]), append(fine, q), append(from, k)
			continue
		}
		for j, q := range modes.parts {
			weight, fine, from = append(weight, m.weight[k]*modes.weight[j]), append(fine, q), append(from, k)
		}
	}
	share := shares(weight, fine, moments)
	total := max(floats.Sum(share), math.SmallestNonzeroFloat64)
	var logs, base []float64
	var parts []family.Q
	for k, q := range fine {
		w := 0.5*weight[k] + 0.5*share[k]/total
		logs = append(logs, math.Log(w*(1-1./WideShare)), math.Log(w/WideShare))
		base = append(base, weight[k], 0)
		parts = append(parts, q, Widened(q, WideScale(m.Dim())))
		of = append(of, from[k], from[k])
	}
	d := New(logs, parts)
	d.base = base
	for k, w := range d.weight {
		if w > 0 {
			d.base[k] /= w
		}
	}
	return d, of
}

// BaseWeight is the weight of part k in the base of a mixture that Defensive made: NaN of other mixtures.
func (m *Mixture) BaseWeight(k int) float64 {
	if m.base == nil {
		return math.NaN()
	}
	return m.base[k] * m.weight[k]
}

// hasRare reports whether a rare part rules the variance of a latent.
func (m *Mixture) hasRare(moments func(part family.Q, i int) (mean, sd float64)) bool {
	for k, share := range shares(m.weight, m.parts, moments) {
		if m.weight[k] < rareWeight && share > rareShare {
			return true
		}
	}
	return false
}

// shares are, of each part, the largest that it has in the variance of a latent.
func shares(weight []float64, parts []family.Q, moments func(part family.Q, i int) (mean, sd float64)) []float64 {
	share, off, square := make([]float64, len(parts)), make([]float64, len(parts)), make([]float64, len(parts))
	for i := range parts[0].Dim() {
		mean, variance := 0.0, 0.0
		for k, q := range parts {
			off[k], square[k] = moments(q, i)
			mean += weight[k] * off[k]
		}
		for k := range parts {
			off[k] -= mean
			square[k] = weight[k] * (off[k]*off[k] + square[k]*square[k])
			variance += square[k]
		}
		if !(variance > 0) || math.IsInf(variance, 0) {
			continue
		}
		for k, x := range square {
			share[k] = max(share[k], x/variance)
		}
	}
	return share
}

// Widened is q with conditional scales times factor.
func Widened(q family.Q, factor float64) family.Q {
	q = q.Clone()
	step := make([]float64, len(q.Theta()))
	widen(step, q, math.Log(factor))
	q.Move(step)
	return q
}

// widen sets the steps of the parameters of q that are logarithms of scales, a mixture's part by part: to ask it for each parameter is slow.
func widen(step []float64, q family.Q, by float64) {
	if c, ok := q.(family.Composite); ok {
		if own, parts := c.Decompose(); parts != nil {
			step = step[len(own):]
			for _, part := range parts {
				n := len(part.Theta())
				widen(step[:n], part, by)
				step = step[n:]
			}
			return
		}
	}
	for k := range step {
		if q.Param(k).Is("s") {
			step[k] = by
		}
	}
}
