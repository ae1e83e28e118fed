package family

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/facetvi/facet/internal/truncnorm"
)

// An Inversion makes draws of uniform numbers, one for each latent, by the inverse transform: each is the probability below the
// latent, given those before it. It is for one goroutine.
type Inversion struct {
	last []truncnorm.Interval // of confined latents
}

// Draw sets z to the draw of q that the numbers u make, and returns log q(z). It reports false, and draws nothing, if q does not draw by
// a number for each latent.
func (v *Inversion) Draw(q Q, z, u []float64) (logQ float64, ok bool) {
	square, mass := 0.0, 1.0
	switch q := q.(type) {
	case *Normal:
		for i := range z {
			t := mathext.NormalQuantile(u[i])
			if q.put(i, z, t); i >= q.points {
				square += t * t
			}
		}
		return 0.5*(float64(len(z)-q.points)-square) - q.Entropy(), true
	case *confined:
		v.last = slices.Grow(v.last[:0], len(z))[:len(z)]
		for i := range z {
			in := &v.last[i]
			t := q.putQuantile(i, z, u[i], in)
			if i >= q.normal.points {
				square += t * t
			}
			if q.truncations[i] != nil {
				logQ -= times(&mass, in.Mass(), in.Lo, in.Hi)
			}
		}
		return logQ - math.Log(mass) + 0.5*(float64(len(z)-q.normal.points)-square) - q.normal.Entropy(), true
	}
	return 0, false
}
