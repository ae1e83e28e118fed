package vi

import (
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/draws"
	"github.com/facetvi/facet/vi/events"
	"github.com/facetvi/facet/vi/family"
)

// What a posterior can be asked, in the packages that answer.

// ELBO estimates the fit's ELBO; see check.ELBO, and RareSides for what samples
// miss.
func (p *Posterior) ELBO(samples int, seed uint64) (Estimate, error) {
	return check.ELBO(p.Density, p.Q, samples, seed)
}

// RareSides estimates what ELBO misses; see check.RareSides.
func (p *Posterior) RareSides(samples int, seed uint64) (check.Unseen, error) {
	return check.RareSides(p.Density, p.Q, samples, seed)
}

// Importance weighs draws of the fit by importance; see check.Weigh. One in five draws of a fit of
// cells is of a wider one, against tails that the fit's own draws do not see; its ELBO is the
// fit's own.
func (p *Posterior) Importance(samples int, seed uint64) (check.Importance, error) {
	w, err := p.weigh(samples, seed)
	if _, mixed := p.Q.(family.Mixed); mixed && err == nil {
		w.ELBO, err = p.ELBO(samples, seed)
	}
	return w, err
}

// weigh is Importance, but for a mixture's ELBO, which is that of all draws.
func (p *Posterior) weigh(samples int, seed uint64) (check.Importance, error) {
	return check.Weigh(p.Density, p.defensive(), samples, seed, p.meanSD)
}

// CheckBias says whether reparameterization alone would have been biased at the
// fit; see check.CheckBias.
func (p *Posterior) CheckBias(s check.BiasSettings) (check.BiasCheck, error) {
	return check.CheckBias(p.Density, p.Q, s)
}

// SharesByGuard says how much of the gradient each guard carries at the fit; see
// check.SharesByGuard.
func (p *Posterior) SharesByGuard(samples int, seed uint64) (check.GuardShares, error) {
	return check.SharesByGuard(p.Density, p.Q, samples, seed)
}

// Draws returns n independent draws; the seed fixes them. It panics if n is
// negative or would need too much memory.
func (p *Posterior) Draws(n int, seed uint64) Draws { return draws.Of(p.Density, p.Q, n, seed) }

// Predict makes n posterior predictive draws; the seed fixes them. It returns an
// error if n < 1.
func (p *Posterior) Predict(n int, seed uint64) (Predictive, error) {
	return draws.Predict(p.Density, p.Q, n, seed)
}

func (p *Posterior) events() events.Events { return events.Of(p.Density, p.Q) }

// Prob is the posterior probability that g holds; see events.Events.Prob.
func (p *Posterior) Prob(g graph.Guard) (float64, error) { return p.events().Prob(g) }

// Probs is Prob of many guards, And and Or from the same draws.
func (p *Posterior) Probs(guards []graph.Guard) ([]float64, error) { return p.events().Probs(guards) }

// ProbNamed is the posterior probability that guard i of the given name holds; see
// events.Events.ProbNamed.
func (p *Posterior) ProbNamed(name string, i int) (float64, error) {
	return p.events().ProbNamed(name, i)
}

// ProbGiven is the posterior probability that g holds where given holds; see
// events.Events.ProbGiven.
func (p *Posterior) ProbGiven(g, given graph.Guard) (Estimate, error) {
	return p.events().ProbGiven(g, given)
}

// Sides lists the surfaces of the model's guards with the probability of their positive
// sides; see events.Events.Sides.
func (p *Posterior) Sides() []SideProb { return p.events().Sides() }

// TopRegions returns the most probable regions; see events.Events.TopRegions.
func (p *Posterior) TopRegions(k, draws int, seed uint64) ([]RegionProb, error) {
	return p.events().TopRegions(k, draws, seed)
}

// MostProbablePath returns the joint assignment of the guards that is the most
// probable; see events.Events.MostProbablePath.
func (p *Posterior) MostProbablePath(guards []graph.Guard, draws int, seed uint64) (Path, error) {
	return p.events().MostProbablePath(guards, draws, seed)
}
