package lang

import (
	"fmt"
	"math/rand/v2"

	"github.com/facetvi/facet/internal/residuals"
)

// A Law is the form of a distribution, apart from its parameters. Its log
// density is written in the modelling language itself, so that what does not
// depend on a latent is computed when the model is built.
type Law struct {
	name    string
	params  []param
	support Support
	// supportAt is the support where it depends on the parameters; nil where it does not.
	supportAt func(p []Expr) Support
	// check is what is wrong with the parameters together; nil where each has its rule alone.
	check func(p []Expr) error
	// upTo is the law f where a parameter that must be a whole number changes by branches, and is at most most; nil where there is none.
	upTo func(f Law, most float64) *Law
	// logProb is the log density at x, inside the support.
	logProb func(x Expr, p []Expr) Expr
	// change, if there is one, is the log density at the data x less that at the
	// data from: sums of functions of data times functions of parameters.
	change func(x, from Expr, p []Expr) Expr
	// rand draws from the distribution. A law whose latents are transformed
	// draws the unconstrained coordinate, where nothing underflows; the others
	// draw the value itself. Parameters at the edge of what their rule admits
	// (a scale of 0, a probability of 1) are those that have been rounded.
	rand func(p []float64, rng *rand.Rand) float64

	coordinate coordinate
	tails      tails
	moments    moments

	// outermost is the law of a recorded value, with masses beside a density: no other law
	// is made of it.
	outermost bool
	// noPrior says why no latent can have the law, where its support has no transform.
	noPrior string
}

// A coordinate is what is known of the unconstrained coordinate of latents with a law. Laws of whole numbers have none.
type coordinate struct {
	// start is a central value and a scale, about one standard deviation.
	start func(p []float64) (center, scale float64)
	// residual is the log density of e, where center + scale·e, as start has them,
	// is the coordinate.
	residual func(e, center, scale float64, p []float64) float64
	// shares is the distribution of e, for laws of which it is known.
	shares *residuals.Shares
	// light says of laws on the line that their tails fall off as those of a normal.
	light bool
}

// tails are the distribution function of a law, and what follows from it.
type tails struct {
	// logCDF is log P(X ≤ x) and logCCDF log P(X > x), for x inside the support or at its
	// ends. A law without them has no distribution function.
	logCDF, logCCDF func(x Expr, p []Expr) Expr
	// logMass is log P(a < X ≤ b), where there is more to say of it than that it is a difference.
	logMass func(a, b Expr, p []Expr) Expr
	// quantile is the x with F(x) = Φ(u), of laws with a density; nil where it is not known.
	quantile func(u Expr, p []Expr) Expr
	// rises says of each parameter of counts whether they rise with it, or fall: P(X > x) does, for
	// all x. It is nil where that is not so, or where there is a last count anyway.
	rises []bool
	// weighted laws have a category for each parameter, with a probability in proportion to it.
	weighted bool
}

// of is one of the tails: the upper one, P(X > x), or the lower one.
func (t *tails) of(upper bool) func(x Expr, p []Expr) Expr {
	if upper {
		return t.logCCDF
	}
	return t.logCDF
}

// moments are the mean and the variance of a law; nil where it has none in closed form. They mean
// nothing where they do not exist for the parameters.
type moments struct{ mean, variance func(p []Expr) Expr }

// known reports whether there are both.
func (m moments) known() bool { return m.mean != nil && m.variance != nil }

// A param is a parameter with the rule that it must keep.
type param struct {
	name string
	rule Rule
}

// ofCounts is the law where parameter i changes by branches.
func (f *Law) ofCounts(i int, p Expr) (*Law, error) {
	most := 0.0
	for _, x := range p.m.Guards().Values(p.id) {
		v, _ := p.m.Store().IsConst(x)
		if why := f.params[i].rule.Broken(v); why != "" {
			return f, fmt.Errorf("%s: %s = %v can be %v, and %s", f.name, f.params[i].name, p, v, why)
		}
		most = max(most, v)
	}
	return f.upTo(*f, most), nil
}
