package vi

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/climb"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/verdict"
	"github.com/facetvi/facet/vi/weighted"
)

// A Posterior is what a fit has found: a distribution Q near the posterior of the program, and draws of Q with
// importance weights, which stand for the posterior itself. Its methods return numbers of the posterior,
// not of Q, each with its standard error; see package weighted.
type Posterior struct {
	Density   *graph.Density
	Q         family.Q     // the distribution that was found: the proposal of the draws
	Steps     int          // steps taken
	Optimizer *Adam        // the optimiser's state, with which a fit can go on
	Trace     []TracePoint // the ELBO on the way
	Restarts  []Restart    // all fits, of which this is the best
	Warnings  []string     // what to know before trusting the fit
	Settings  Settings     // of the fit, defaults filled in

	states   []climb.State // of the restarts, to go on from
	findings *findings     // nil if no fit made this
}

// usable reports a posterior that was made without what it needs.
func (p *Posterior) usable() error {
	switch {
	case p == nil:
		return errors.New("vi: a nil Posterior")
	case p.Density == nil:
		return errors.New("vi: a Posterior without a density")
	}
	if err := family.Check(p.Q, p.Density); err != nil {
		return fmt.Errorf("vi: Posterior.Q: %w", err)
	}
	return nil
}

// must panics unless p is usable.
func (p *Posterior) must() {
	if err := p.usable(); err != nil {
		panic(err.Error())
	}
}

// coordinate returns the number of the latent, or an error that names it.
func (p *Posterior) coordinate(name string) (int, error) {
	if err := p.usable(); err != nil {
		return 0, err
	}
	i, ok := p.Density.Latent(name)
	if !ok {
		return 0, fmt.Errorf("vi: no latent %q in the model", name)
	}
	return i, nil
}

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
	return s, verdict.Components(s)[i], nil
}

// Param is the value of the parameter with the given name (see graph.Model.Param) that the fit has
// learned, on the program's own scale. Mean is the same, and SD is 0.
func (p *Posterior) Param(name string) (float64, error) {
	i, err := p.coordinate(name)
	if err == nil && i >= p.Density.Params() {
		err = fmt.Errorf("vi: %q is a latent, no parameter", name)
	}
	if err != nil {
		return math.NaN(), err
	}
	return p.Density.Coordinate(i).Value(p.Q.Mean(i)), nil
}

// atParams is the density with the fit's parameters as their starts, for questions about the latents alone.
func (p *Posterior) atParams() *graph.Density {
	n := p.Density.Params()
	if n == 0 {
		return p.Density
	}
	u := make([]float64, n)
	for i := range u {
		u[i] = p.Q.Mean(i)
	}
	return p.Density.WithParams(u)
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
