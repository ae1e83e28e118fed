package vi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/draws"
	"github.com/facetvi/facet/vi/events"
	"github.com/facetvi/facet/vi/smc"
	"github.com/facetvi/facet/vi/verdict"
	"github.com/facetvi/facet/vi/weighted"
)

// Mean is the posterior mean of the latent with the given name, or of the component of a vector, as w[1], on the program's own
// scale. Where tails are so heavy that draws do not tell the mean, or that there is none, as of a Cauchy distribution, its standard
// error is infinite: see Quantile.
func (p *Posterior) Mean(name string) (Estimate, error) {
	m, err := p.momentsOf(name)
	return m.Mean, err
}

// SD is the posterior standard deviation of the latent or component with the given name, on the program's own scale. Its standard
// error is infinite where that of Mean is, and where tails are too heavy for it alone.
func (p *Posterior) SD(name string) (Estimate, error) {
	m, err := p.momentsOf(name)
	return m.SD, err
}

func (p *Posterior) momentsOf(name string) (Moments, error) {
	if s, x, err := p.component(name); err != nil {
		return Moments{}, err
	} else if x != nil {
		return verdict.MomentsOf(s, x), nil
	}
	i, err := p.coordinate(name)
	if err != nil {
		return Moments{}, err
	}
	all, err := p.Moments()
	if err != nil {
		return Moments{}, err
	}
	return all[i], nil
}

// component is the sample, and what the component of a vector with the given name is at its draws; nil if there is none.
func (p *Posterior) component(name string) (*weighted.Sample, []float64, error) {
	if p.usable() != nil {
		return nil, nil, nil
	}
	i := slices.Index(p.Density.Components(), name)
	if i < 0 {
		return nil, nil, nil
	}
	s, err := p.Sample()
	if err != nil {
		return nil, nil, err
	}
	return s, s.Components()[i], nil
}

// Masses are the values of a discrete latent, ascending, and their posterior
// probabilities. Those of continuous latents are an error.
func (p *Posterior) Masses(name string) (values []float64, masses []Estimate, err error) {
	i, err := p.coordinate(name)
	if err != nil {
		return nil, nil, err
	}
	if values, _ = p.Density.Values(i); values == nil {
		return nil, nil, fmt.Errorf("vi: %q is continuous and has no masses", name)
	}
	s, err := p.Sample()
	if err != nil {
		return nil, nil, err
	}
	return values, s.Masses(i), nil
}

// Quantile is the posterior quantile of the latent or component with the given name at probability
// prob, on the program's own scale.
func (p *Posterior) Quantile(name string, prob float64) (Estimate, error) {
	if !(prob > 0 && prob < 1) {
		return Estimate{}, fmt.Errorf("vi: quantile at probability %v", prob)
	}
	if s, x, err := p.component(name); err != nil {
		return Estimate{}, err
	} else if x != nil {
		return s.QuantilesOf(x, prob)[0], nil
	}
	i, err := p.coordinate(name)
	if err != nil {
		return Estimate{}, err
	}
	s, err := p.Sample()
	if err != nil {
		return Estimate{}, err
	}
	return s.Quantile(i, prob), nil
}

// Expect is the posterior expectation of f, a function of the latents' values in the program's order, on its
// own scale. f must not keep or change its argument.
func (p *Posterior) Expect(f func(x []float64) float64) (Estimate, error) {
	if f == nil {
		return Estimate{}, errors.New("vi: the expectation of a nil function")
	}
	s, err := p.Sample()
	if err != nil {
		return Estimate{}, err
	}
	values, x := make([]float64, s.Len()), make([]float64, p.Density.Dim())
	for k := range values {
		for i := range x {
			x[i] = s.Latent(i)[k]
		}
		values[k] = f(x)
	}
	return s.Expect(values), nil
}

// Moments are the posterior means and standard deviations of all latents, in the program's order.
func (p *Posterior) Moments() ([]Moments, error) {
	f, err := p.weighed()
	if err != nil {
		return nil, err
	}
	return slices.Clone(f.moments), nil
}

// Cells are the parts of the posterior, the one with the highest weight first. A fit of one family has
// one, "everywhere", whose ELBO, log evidence and k-hat are those of all draws; they are NaN if the draws
// could not be weighed. It panics if p was made without a density or a distribution of its latents.
func (p *Posterior) Cells() []Cell {
	p.must()
	if p.hasCells() {
		return slices.Clone(p.findings.Cells)
	}
	f, err := p.weighed()
	if err != nil {
		none := Estimate{Value: math.NaN(), SE: math.NaN()}
		return []Cell{{"everywhere", 1, none, none, math.NaN()}}
	}
	return slices.Clone(f.Cells)
}

// LogEvidence is log p(data) in nats, estimated by the logarithm of the draws' mean weight; of a sampler's draws, by a bridge to them or on the sampler's
// way, whichever is known better. For a model with a Factor it is the
// logarithm of the integral of r. Its standard error has a part for the cells that were found and left out; of what the search has
// missed it knows nothing, and [Posterior.Verdict] does. See [Compare].
func (p *Posterior) LogEvidence() (Estimate, error) {
	f, err := p.weighed()
	if err != nil {
		return Estimate{Value: math.NaN(), SE: math.NaN()}, err
	}
	return f.LogEvidence, nil
}

// What a posterior can be asked, in the packages that answer.

// ELBO estimates the ELBO of Q; see check.ELBO, and RareSides for what samples
// miss.
func (p *Posterior) ELBO(samples int, seed uint64) (Estimate, error) {
	return check.ELBO(p.Density, p.Q, samples, seed)
}

// RareSides estimates what ELBO misses; see check.RareSides.
func (p *Posterior) RareSides(samples int, seed uint64) (check.Unseen, error) {
	return check.RareSides(p.Density, p.Q, samples, seed)
}

// CheckBias says whether reparameterization alone would have been biased at
// Q; see check.CheckBias.
func (p *Posterior) CheckBias(s check.BiasSettings) (check.BiasCheck, error) {
	return check.CheckBias(p.Density, p.Q, s)
}

// SharesByGuard says how much of the gradient each guard carries at Q; see
// check.SharesByGuard.
func (p *Posterior) SharesByGuard(samples int, seed uint64) (check.GuardShares, error) {
	return check.SharesByGuard(p.Density, p.Q, samples, seed)
}

// Draws returns n draws of the posterior with equal weights; the seed fixes them. They are resampled from new
// weighted draws, so many that fewer than one in a hundred is a duplicate, unless the weights are very uneven. Of a fit by the sampler they are chosen among its
// draws, some of them more than once if n is large.
func (p *Posterior) Draws(n int, seed uint64) (Draws, error) {
	pool, err := p.Sample()
	if err != nil {
		return Draws{}, err
	}
	list, err := draws.Of(context.Background(), pool, n, seed)
	return list, wrapped(err)
}

// Diagnostics are those of a sampler's draws: R-hat and effective numbers by latent, and by plane of Density.Arrangement. It returns
// an error where the fit is not a sampler's. In a fit from a file, what is of the run and not of its draws is 0.
func (p *Posterior) Diagnostics() (smc.Diagnostics, error) {
	if err := p.usable(); err != nil {
		return smc.Diagnostics{}, err
	}
	if p.findings == nil || p.findings.run == nil {
		return smc.Diagnostics{}, errors.New("vi: the draws are not a sampler's")
	}
	return p.findings.run.Diagnostics, nil
}

// Predict makes n posterior predictive draws; the seed fixes them: of what is missing, given what was observed, and replicates of the
// rest. It returns an error if n < 1.
func (p *Posterior) Predict(n int, seed uint64) (Predictive, error) {
	latents, err := p.Draws(n, seed)
	if err != nil {
		return Predictive{}, err
	}
	return draws.Predict(latents, seed)
}

// PredictWith is Predict by another program with the latents of the fit, or some of them, by name and in any order: of other covariates
// or more rows, whose observations may all be missing. Nothing is fitted again: the draws of the latents are those
// of the fit, whatever priors, conditions and data the other program has. It is an error if the program has a latent that the fit has not, or one that
// cannot have a value that was drawn.
func (p *Posterior) PredictWith(other *graph.Density, n int, seed uint64) (Predictive, error) {
	if other == nil {
		return Predictive{}, errors.New("vi: predicting with a nil density")
	}
	latents, err := p.Draws(n, seed)
	if err != nil {
		return Predictive{}, err
	}
	if latents, err = latents.With(other); err != nil {
		return Predictive{}, wrapped(err)
	}
	return draws.Predict(latents, seed)
}

// ask asks for the probabilities of events, by the draws.
func ask[T any](p *Posterior, question func(events.Events) (T, error)) (answer T, err error) {
	s, err := p.Sample()
	if err != nil {
		return answer, err
	}
	return question(events.Of(s))
}

// Prob is the posterior probability that g holds; see events.Events.Prob.
func (p *Posterior) Prob(g graph.Guard) (Estimate, error) {
	return ask(p, func(e events.Events) (Estimate, error) { return e.Prob(g) })
}

// Probs is Prob of many guards.
func (p *Posterior) Probs(guards []graph.Guard) ([]Estimate, error) {
	return ask(p, func(e events.Events) ([]Estimate, error) { return e.Probs(guards) })
}

// ProbNamed is the posterior probability that guard i of the given name holds; see
// events.Events.ProbNamed.
func (p *Posterior) ProbNamed(name string, i int) (Estimate, error) {
	return ask(p, func(e events.Events) (Estimate, error) { return e.ProbNamed(name, i) })
}

// ProbGiven is the posterior probability that g holds where given holds; see
// events.Events.ProbGiven.
func (p *Posterior) ProbGiven(g, given graph.Guard) (Estimate, error) {
	return ask(p, func(e events.Events) (Estimate, error) { return e.ProbGiven(g, given) })
}

// Sides lists the surfaces of the model's guards with the probability of their positive
// sides; see events.Events.Sides.
func (p *Posterior) Sides() ([]SideProb, error) {
	return ask(p, func(e events.Events) ([]SideProb, error) { return e.Sides(), nil })
}

// TopRegions returns the k most probable regions; see events.Events.TopRegions.
func (p *Posterior) TopRegions(k int) ([]RegionProb, error) {
	return ask(p, func(e events.Events) ([]RegionProb, error) { return e.TopRegions(k) })
}

// MostProbablePath returns the joint assignment of the guards that is the most
// probable; see events.Events.MostProbablePath.
func (p *Posterior) MostProbablePath(guards []graph.Guard) (Path, error) {
	return ask(p, func(e events.Events) (Path, error) { return e.MostProbablePath(guards) })
}
