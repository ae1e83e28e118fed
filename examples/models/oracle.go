package models

import "math"

// Guard is the hyperplane {z : z[Latent] = Threshold}; its positive side is z[Latent] > Threshold.
type Guard struct {
	Latent    int
	Threshold float64
}

// Side answers the question "is the latent above the threshold?" whenever a density asks it. A Side that ignores the
// latents' values forces a sign vector.
type Side func(latent int, threshold float64) bool

// Natural is the Side of z itself, which makes LogDensity the plain log density. It keeps z.
func Natural(z []float64) Side {
	return func(latent int, threshold float64) bool { return z[latent] > threshold }
}

// Oracle is a model's log density and its exact mean-field ELBO, computed without package graph. Latents are in
// the order of [Spec].Latents; θ has length 2·Dim, interleaved (μ_0, ρ_0, μ_1, …), with scale log(1 + exp ρ). Methods panic
// if a slice has another length. An Oracle is safe for concurrent use.
type Oracle interface {
	// Dim is n, the number of latents.
	Dim() int
	// Guards lists the distinct hyperplanes on which the program branches, each once.
	Guards() []Guard
	// LogDensity is log r_σ(z), normalisers included, where side is asked for every sign in σ. A program's test
	// "latent < threshold" is asked as the negation of side.
	LogDensity(z []float64, side Side) float64
	// ELBO is E[log r(z) − log q_θ(z)], in closed form.
	ELBO(theta []float64) float64
	// Gradient is ∇ELBO in its two parts, each of length 2n: rep is what the reparameterization estimator alone
	// converges to, and bou is the contribution of the boundaries.
	Gradient(theta []float64) (rep, bou []float64)
}

// density is what a model says of itself; closedForm makes an Oracle of it.
type density interface {
	Dim() int
	Guards() []Guard
	LogDensity(z []float64, side Side) float64
	// expect adds to e the expectation of every term of log r.
	expect(e *expectation)
}

// closedForm is the Oracle of a density.
type closedForm struct{ density }

// ELBO implements Oracle.
func (o closedForm) ELBO(theta []float64) float64 {
	return o.integrate(theta).value
}

// Gradient implements Oracle.
func (o closedForm) Gradient(theta []float64) (rep, bou []float64) {
	e := o.integrate(theta)
	return e.rep, e.bou
}

// LogDensity implements Oracle.
func (o closedForm) LogDensity(z []float64, side Side) float64 {
	if len(z) != o.Dim() {
		panic("models: latents of the wrong length")
	}
	return o.density.LogDensity(z, side)
}

func (o closedForm) integrate(theta []float64) *expectation {
	if len(theta) != 2*o.Dim() {
		panic("models: parameters of the wrong length")
	}
	e := newExpectation(theta)
	o.expect(e)
	e.addEntropy()
	return e
}

const (
	logSqrt2Pi = 0.91893853320467274178032973640561763986139747363778 // log √(2π)
	sqrt2Pi    = 2.50662827463100050241576528481104525300698674060993
)

// logNormal is the log density of N(mean, sd²) at x.
func logNormal(x, mean, sd float64) float64 {
	d := (x - mean) / sd
	return -d*d/2 - math.Log(sd) - logSqrt2Pi
}

// logPoisson is the log probability of count k at rate exp(x).
func logPoisson(k, x float64) float64 {
	return k*x - math.Exp(x) - logFactorial(k)
}

func logFactorial(k float64) float64 {
	v, _ := math.Lgamma(k + 1)
	return v
}

// choose is the if of the models' densities.
func choose(test bool, yes, no float64) float64 {
	if test {
		return yes
	}
	return no
}
