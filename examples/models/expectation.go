package models

import "math"

// expectation accumulates an ELBO and its gradient, term by term, under q(z) = Π N(z_i; μ_i, s_i²) with s_i = softplus(ρ_i).
type expectation struct {
	mu, sd   []float64 // μ and s, length n
	slope    []float64 // ds/dρ, length n
	value    float64
	rep, bou []float64 // gradient with respect to θ, interleaved, length 2n
}

// partial is the derivative of something with respect to one latent's mean and scale.
type partial struct {
	latent int
	mu, sd float64
}

// moment is the expectation under q of a smooth function of z. A latent may occur in d more than once; its partials add.
type moment struct {
	value float64
	d     []partial
}

func newExpectation(theta []float64) *expectation {
	n := len(theta) / 2
	e := &expectation{
		mu: make([]float64, n), sd: make([]float64, n), slope: make([]float64, n),
		rep: make([]float64, 2*n), bou: make([]float64, 2*n),
	}
	for i := range n {
		e.mu[i] = theta[2*i]
		e.sd[i], e.slope[i] = softplus(theta[2*i+1])
	}
	return e
}

// softplus returns log(1 + exp x) and its derivative.
func softplus(x float64) (value, slope float64) {
	t := math.Exp(-math.Abs(x))
	value = math.Max(x, 0) + math.Log1p(t)
	if x < 0 {
		return value, t / (1 + t)
	}
	return value, 1 / (1 + t)
}

// softplusInverse returns the ρ with softplus(ρ) = s, for s > 0.
func softplusInverse(s float64) float64 {
	return s + math.Log(-math.Expm1(-s))
}

// add adds a term that no guard touches.
func (e *expectation) add(m moment) {
	e.value += m.value
	e.scatter(e.rep, 1, m.d)
}

// branch adds a term that is yes where the event p happens and no elsewhere. The latents of p must not occur in either.
// The jump yes − no is formed before it meets ∇p, which may be large, so that equal branches leave exactly nothing.
func (e *expectation) branch(p probability, yes, no moment) {
	e.value += p.is*yes.value + p.not*no.value
	e.scatter(e.rep, p.is, yes.d)
	e.scatter(e.rep, p.not, no.d)
	e.scatter(e.bou, yes.value-no.value, p.d)
}

// addEntropy adds the entropy of q.
func (e *expectation) addEntropy() {
	for i, s := range e.sd {
		e.value += math.Log(s) + logSqrt2Pi + 0.5
		e.scatter(e.rep, 1, []partial{{i, 0, 1 / s}})
	}
}

// scatter adds w·d to the gradient g with respect to θ.
func (e *expectation) scatter(g []float64, w float64, d []partial) {
	for _, p := range d {
		g[2*p.latent] += w * p.mu
		g[2*p.latent+1] += w * p.sd * e.slope[p.latent]
	}
}

// affine is the function constant + Σ coef·z[latent], each latent at most once.
type affine struct {
	constant float64
	terms    []term
}

type term struct {
	coef   float64
	latent int
}

// latent is the affine function z[i].
func latent(i int) affine { return affine{terms: []term{{1, i}}} }

// plus returns a + c·b. The two must share no latent.
func (a affine) plus(c float64, b affine) affine {
	sum := affine{constant: a.constant + c*b.constant, terms: append([]term(nil), a.terms...)}
	for _, t := range b.terms {
		sum.terms = append(sum.terms, term{c * t.coef, t.latent})
	}
	return sum
}

// at returns the value of a at z.
func (a affine) at(z []float64) float64 {
	v := a.constant
	for _, t := range a.terms {
		v += t.coef * z[t.latent]
	}
	return v
}

// normal is E[log N(x; mean, sd²)] for an affine residual x − mean:
//
//	−log √(2π) − log sd − ((E residual)² + Var residual) / (2 sd²)
func (e *expectation) normal(residual affine, sd float64) moment {
	mean, w := residual.at(e.mu), 1/(sd*sd)
	square := mean * mean
	d := make([]partial, len(residual.terms))
	for k, t := range residual.terms {
		s := t.coef * e.sd[t.latent]
		square += s * s
		d[k] = partial{t.latent, -w * mean * t.coef, -w * s * t.coef}
	}
	return moment{-logSqrt2Pi - math.Log(sd) - w*square/2, d}
}

// poisson is E[log Poisson(count; exp z_i)] = count·μ − exp(μ + s²/2) − log count!.
func (e *expectation) poisson(count float64, i int) moment {
	rate := math.Exp(e.mu[i] + e.sd[i]*e.sd[i]/2)
	return moment{
		value: count*e.mu[i] - rate - logFactorial(count),
		d:     []partial{{i, count - rate, -rate * e.sd[i]}},
	}
}
