package graph

import (
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/lang"
)

// An Expr is a scalar value of a model: a latent, a number, or something
// computed from them. The zero Expr is the number 0. An Expr belongs to the
// model whose latents it uses; a plain number belongs to none. IsConst reports whether
// it is a plain number, and which; String writes it with the names of its latents,
// shortened where it is long.
type Expr = lang.Expr

// Value is what the functions of the language take: expressions and plain
// numbers, mixed as they come.
type Value interface{ Expr | float64 | int }

func lift[V Value](v V) Expr { return lang.Lift(v) }

// Add is a + b.
func Add[A, B Value](a A, b B) Expr { return lang.Add(a, b) }

// Sub is a − b.
func Sub[A, B Value](a A, b B) Expr { return lang.Sub(a, b) }

// Mul is a·b.
func Mul[A, B Value](a A, b B) Expr { return lang.Mul(a, b) }

// Div is a/b.
func Div[A, B Value](a A, b B) Expr { return lang.Div(a, b) }

// Pow is a to the power of b. Where b is not a constant, a must be positive for
// the gradient to exist.
func Pow[A, B Value](a A, b B) Expr { return lang.Pow(a, b) }

// Sum is the sum of xs, and 0 without any.
func Sum(xs ...Expr) Expr { return lang.Sum(xs...) }

// Neg is −a.
func Neg[A Value](a A) Expr { return lang.Neg(a) }

// Exp is eᵃ.
func Exp[A Value](a A) Expr { return lang.Exp(a) }

// Log is the natural logarithm.
func Log[A Value](a A) Expr { return lang.Log(a) }

// Log1p is log(1 + a), exact for small a.
func Log1p[A Value](a A) Expr { return lang.Log1p(a) }

// Expm1 is eᵃ − 1, exact for small a.
func Expm1[A Value](a A) Expr { return lang.Expm1(a) }

// Sqrt is the square root.
func Sqrt[A Value](a A) Expr { return lang.Apply(kernel.Sqrt, a) }

// Square is a².
func Square[A Value](a A) Expr { return lang.Square(a) }

// Sin is the sine of a in radians.
func Sin[A Value](a A) Expr { return lang.Apply(kernel.Sin, a) }

// Cos is the cosine of a in radians.
func Cos[A Value](a A) Expr { return lang.Apply(kernel.Cos, a) }

// Tan is the tangent of a in radians.
func Tan[A Value](a A) Expr { return lang.Apply(kernel.Tan, a) }

// Tanh is the hyperbolic tangent.
func Tanh[A Value](a A) Expr { return lang.Apply(kernel.Tanh, a) }

// Sigmoid is 1/(1 + e⁻ᵃ), the inverse of logit.
func Sigmoid[A Value](a A) Expr { return lang.Sigmoid(a) }

// Softplus is log(1 + eᵃ).
func Softplus[A Value](a A) Expr { return lang.Softplus(a) }

// Erf is the error function 2/√π·∫₀ᵃ exp(−t²) dt.
func Erf[A Value](a A) Expr { return lang.Apply(kernel.Erf, a) }

// NormalCDF is Φ(a), the distribution function of the standard normal distribution:
// the probit link.
func NormalCDF[A Value](a A) Expr { return lang.Apply(kernel.NormalCDF, a) }

// LogNormalCDF is log Φ(a), exact also where Φ(a) is less than any number.
func LogNormalCDF[A Value](a A) Expr { return lang.LogNormalCDF(a) }

// NormalQuantile is the x with Φ(x) = a, for a in (0, 1).
func NormalQuantile[A Value](a A) Expr { return lang.NormalQuantile(a) }

// Lgamma is log Γ(a), for a > 0.
func Lgamma[A Value](a A) Expr { return lang.Lgamma(a) }

// LogSumExp is log Σ exp(xs), without overflow; −∞ without any.
func LogSumExp(xs ...Expr) Expr { return lang.LogSumExp(xs...) }

// LogDiffExp is log(eᵃ − eᵇ) for a ≥ b, without overflow.
func LogDiffExp[A, B Value](a A, b B) Expr { return lang.LogDiffExp(a, b) }
