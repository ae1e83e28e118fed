package vi

import (
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
)

// MeanField is the mean-field normal family on unconstrained coordinates:
// independent normals with means Mu and standard deviations softplus(Rho) =
// log(1 + exp Rho). Both have the length of the density's Dim.
type MeanField struct {
	Mu, Rho []float64
}

// NewMeanField returns the member with the given means and standard deviations,
// which must be positive.
func NewMeanField(mu, sd []float64) MeanField {
	q := MeanField{append([]float64(nil), mu...), make([]float64, len(sd))}
	for i, s := range sd {
		q.Rho[i] = inverseSoftplus(s)
	}
	return q
}

// FromTheta splits θ = (μ_0, ρ_0, μ_1, …).
func FromTheta(theta []float64) MeanField {
	n := len(theta) / 2
	q := MeanField{make([]float64, n), make([]float64, n)}
	q.set(theta)
	return q
}

// set copies θ into q, of the same length.
func (q MeanField) set(theta []float64) {
	for i := range q.Mu {
		q.Mu[i], q.Rho[i] = theta[2*i], theta[2*i+1]
	}
}

// Theta is (μ_0, ρ_0, μ_1, ρ_1, …).
func (q MeanField) Theta() []float64 {
	theta := make([]float64, 2*len(q.Mu))
	for i := range q.Mu {
		theta[2*i], theta[2*i+1] = q.Mu[i], q.Rho[i]
	}
	return theta
}

// Clone is a copy that shares nothing.
func (q MeanField) Clone() MeanField { return FromTheta(q.Theta()) }

// Scale writes the standard deviations to dst, or to a new slice if dst is nil,
// and returns it.
func (q MeanField) Scale(dst []float64) []float64 {
	if dst == nil {
		dst = make([]float64, len(q.Rho))
	}
	for i, r := range q.Rho {
		dst[i] = softplus(r)
	}
	return dst
}

// Entropy is that of the normal, in nats.
func (q MeanField) Entropy() float64 {
	h := 0.5 * float64(len(q.Rho)) * (1 + math.Log(2*math.Pi))
	for _, r := range q.Rho {
		h += math.Log(softplus(r))
	}
	return h
}

// PriorStart is the member that follows the program once from top to bottom
// with every latent at the centre of its prior, as wide as the priors there.
func PriorStart(d *graph.Density) MeanField {
	center, scale := d.PriorStart()
	return NewMeanField(center, scale)
}

// check is fault as an error of the package.
func (q MeanField) check(d *graph.Density) error {
	if err := q.fault(d); err != nil {
		return fmt.Errorf("vi: %w", err)
	}
	return nil
}

// fault reports a family that is not one of d's latents, with finite numbers.
func (q MeanField) fault(d *graph.Density) error {
	if len(q.Mu) != d.Dim() || len(q.Rho) != d.Dim() {
		return fmt.Errorf("a family with %d means and %d scales for %d latents", len(q.Mu), len(q.Rho), d.Dim())
	}
	for i := range q.Mu {
		if s := softplus(q.Rho[i]); !finite(q.Mu[i]) || !finite(s) || s == 0 {
			return fmt.Errorf("latent %s: mean %v and scale %v", d.Latents()[i], q.Mu[i], s)
		}
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// softplus is log(1 + eˣ), exact to rounding.
func softplus(x float64) float64 {
	s, _ := softplusAndSlope(x)
	return s
}

// softplusAndSlope is softplus and its derivative, the logistic function. With u
// the rounded 1 + e, log(1 + e) is log u + (e − (u − 1))/u to rounding, which is
// faster than math.Log1p.
func softplusAndSlope(x float64) (value, slope float64) {
	e := math.Exp(-math.Abs(x))
	u := 1 + e
	slope = 1 / u
	value = max(x, 0) + math.Log(u) + (e-(u-1))*slope
	if x < 0 {
		slope *= e
	}
	return value, slope
}

func inverseSoftplus(s float64) float64 {
	if s > 30 {
		return s + math.Log1p(-math.Exp(-s))
	}
	return math.Log(math.Expm1(s))
}
