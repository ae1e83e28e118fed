package graph

import "github.com/facetvi/facet/internal/lang"

// A Dist is a distribution with its parameters: the prior of a latent, or the
// law of an observation. Parameters are those of gonum's stat/distuv or, for
// distributions that are not there, of SciPy. Make one with Normal, Gamma, ….
type Dist struct{ of lang.Dist }

// String writes the distribution with its parameters.
func (d Dist) String() string { return d.of.String() }

func newDist(f *lang.Law, params ...Expr) Dist { return Dist{lang.New(f, params...)} }

// Normal is the normal distribution with the given mean and standard deviation.
func Normal[A, B Value](mu A, sigma B) Dist { return newDist(lang.Normal, lift(mu), lift(sigma)) }

// Logistic is the logistic distribution with location mu and scale s.
func Logistic[A, B Value](mu A, s B) Dist { return newDist(lang.Logistic, lift(mu), lift(s)) }

// Laplace is the Laplace distribution with location mu and the given scale. Its
// density has a kink at mu but no jump, so it needs no guard.
func Laplace[A, B Value](mu A, scale B) Dist { return newDist(lang.Laplace, lift(mu), lift(scale)) }

// StudentsT is Student's t distribution with location mu, scale sigma and nu
// degrees of freedom.
func StudentsT[A, B, C Value](mu A, sigma B, nu C) Dist {
	return newDist(lang.StudentsT, lift(mu), lift(sigma), lift(nu))
}

// Cauchy is the Cauchy distribution with location mu and the given scale (SciPy's
// cauchy), Student's t distribution with one degree of freedom:
//
//	p(x) = 1/(π·scale·(1 + t²)),    t = (x − mu)/scale
//
// It has no mean.
func Cauchy[A, B Value](mu A, scale B) Dist { return newDist(lang.Cauchy, lift(mu), lift(scale)) }

// Gumbel is the Gumbel distribution of maxima with location mu and scale beta (gonum's
// GumbelRight, SciPy's gumbel_r):
//
//	p(x) = exp(−t − e⁻ᵗ)/beta,    t = (x − mu)/beta
func Gumbel[A, B Value](mu A, beta B) Dist { return newDist(lang.Gumbel, lift(mu), lift(beta)) }

// LogNormal is the distribution of eˣ for a normal x with mean mu and standard
// deviation sigma.
func LogNormal[A, B Value](mu A, sigma B) Dist { return newDist(lang.LogNormal, lift(mu), lift(sigma)) }

// HalfNormal is the distribution of |x| for a normal x with mean 0 and standard
// deviation scale (SciPy's halfnorm).
func HalfNormal[A Value](scale A) Dist { return newDist(lang.HalfNormal, lift(scale)) }

// Exponential is the exponential distribution with the given rate (not scale).
func Exponential[A Value](rate A) Dist { return newDist(lang.Exponential, lift(rate)) }

// Gamma is the gamma distribution with shape alpha and rate beta.
func Gamma[A, B Value](alpha A, beta B) Dist { return newDist(lang.Gamma, lift(alpha), lift(beta)) }

// ChiSquared is the chi-squared distribution with k degrees of freedom.
func ChiSquared[A Value](k A) Dist { return newDist(lang.ChiSquared, lift(k)) }

// Beta is the beta distribution with shapes alpha and beta, on (0, 1).
func Beta[A, B Value](alpha A, beta B) Dist { return newDist(lang.Beta, lift(alpha), lift(beta)) }

// Uniform is the uniform distribution on [min, max], which must be numbers.
func Uniform[A, B Value](min A, max B) Dist { return newDist(lang.Uniform, lift(min), lift(max)) }

// HalfCauchy is the distribution of |x| for a Cauchy x with location 0 and the given
// scale (SciPy's halfcauchy):
//
//	p(x) = 2/(π·scale·(1 + (x/scale)²)),    x ≥ 0
//
// It has no mean.
func HalfCauchy[A Value](scale A) Dist { return newDist(lang.HalfCauchy, lift(scale)) }

// Weibull is the Weibull distribution with shape k and scale lambda (gonum's; SciPy's
// weibull_min with c = k; R's survreg has scale 1/k and intercept log lambda):
//
//	p(x) = (k/λ)·(x/λ)ᵏ⁻¹·exp(−(x/λ)ᵏ),    x > 0
func Weibull[A, B Value](k A, lambda B) Dist { return newDist(lang.Weibull, lift(k), lift(lambda)) }

// InverseGamma is the distribution of 1/x for a gamma x with shape alpha and rate beta
// (gonum's; SciPy's invgamma with scale beta):
//
//	p(x) = betaᵃ/Γ(a)·x⁻ᵃ⁻¹·exp(−beta/x),    a = alpha,    x > 0
func InverseGamma[A, B Value](alpha A, beta B) Dist {
	return newDist(lang.InverseGamma, lift(alpha), lift(beta))
}

// Poisson is the Poisson distribution with mean lambda.
func Poisson[A Value](lambda A) Dist { return newDist(lang.Poisson, lift(lambda)) }

// Bernoulli is 1 with probability p, else 0.
func Bernoulli[A Value](p A) Dist { return newDist(lang.Bernoulli, lift(p)) }

// Binomial is the number of successes in n trials, each with probability p; n
// must be a number, or a discrete latent or another value that changes by branches alone.
func Binomial[A, B Value](n A, p B) Dist { return newDist(lang.Binomial, lift(n), lift(p)) }

// Geometric is the number of trials up to and with the first success, each with
// probability p (SciPy's geom): 1, 2, 3, ….
func Geometric[A Value](p A) Dist { return newDist(lang.Geometric, lift(p)) }

// NegativeBinomial is the number of failures before the n-th success, each
// trial with probability p of success (SciPy's nbinom); n need not be whole.
func NegativeBinomial[A, B Value](n A, p B) Dist {
	return newDist(lang.NegativeBinomial, lift(n), lift(p))
}

// Categorical is the category k = 0, 1, …, K − 1 with a probability in proportion to
// weights[k] (gonum's). With weights Exp(score) it is the softmax of the scores, without overflow.
func Categorical[A Value](weights ...A) Dist {
	return newDist(lang.Categorical(len(weights)), Numbers(weights...)...)
}

// OrderedLogistic is the number of cuts that eta and logistic noise exceed, one of the
// categories 0, 1, …, len(cuts) (Stan's ordered_logistic counts from 1):
//
//	P(k) = sigmoid(cuts[k] − eta) − sigmoid(cuts[k−1] − eta),    cuts[−1] = −∞,  cuts[K−1] = ∞
//
// The cuts must increase; where they do not the density is NaN. IntervalCensored of a
// Normal is the same with normal noise.
func OrderedLogistic[A, B Value](eta A, cuts ...B) Dist {
	return newDist(lang.OrderedLogistic(len(cuts)), append([]Expr{lift(eta)}, Numbers(cuts...)...)...)
}

// Numbers turns values, expressions or plain numbers, into expressions, as for the rows of a matrix.
func Numbers[V Value](xs ...V) []Expr {
	out := make([]Expr, len(xs))
	for i, x := range xs {
		out[i] = lift(x)
	}
	return out
}
