package vi

import (
	"errors"
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
)

// Posterior is a fitted variational posterior.
type Posterior struct {
	Density   *graph.Density
	Q         family.Q     // the distribution that was found
	Steps     int          // steps taken
	Optimizer *Adam        // the optimiser's state, with which a fit can go on
	Trace     []TracePoint // the ELBO on the way
	Restarts  []Restart    // all fits, of which this is the best
	Warnings  []string     // what to know before trusting the fit
	Settings  Settings     // of the fit, defaults filled in

	states   []fitState // of the restarts, to go on from
	findings *findings  // nil if no fit made this
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

// Mean is the posterior mean of the latent with the given name, on the
// program's own scale.
func (p *Posterior) Mean(name string) (float64, error) {
	i, err := p.coordinate(name)
	if err != nil {
		return math.NaN(), err
	}
	m, _ := p.meanSD(i)
	return m, nil
}

// SD is the posterior standard deviation of the latent with the given name, on
// the program's own scale.
func (p *Posterior) SD(name string) (float64, error) {
	i, err := p.coordinate(name)
	if err != nil {
		return math.NaN(), err
	}
	_, sd := p.meanSD(i)
	return sd, nil
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
	return p.Density.ConstrainOne(i, p.Q.Mean(i)), nil
}

// atParams is the density whose parameters start where the fit has them: what asks about the
// posterior of the latents without asking Q.
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

// meanSD integrates a transformed latent by quadrature.
func (p *Posterior) meanSD(i int) (mean, sd float64) {
	if i < p.Density.Params() {
		return p.Density.ConstrainOne(i, p.Q.Mean(i)), p.Q.SD(i)
	}
	if !p.Density.Transformed(i) {
		return p.Q.Mean(i), p.Q.SD(i)
	}
	if values, masses := p.masses(i); values != nil {
		for j, x := range values {
			mean += masses[j] * x
		}
		for j, x := range values {
			sd += masses[j] * (x - mean) * (x - mean)
		}
		return mean, math.Sqrt(sd)
	}
	return family.Marginal(p.Q, i).Expect(func(u float64) float64 { return p.Density.ConstrainOne(i, u) })
}

// Masses are the values of a discrete latent, ascending, and their posterior
// probabilities. Those of continuous latents are an error.
func (p *Posterior) Masses(name string) (values, masses []float64, err error) {
	i, err := p.coordinate(name)
	if err != nil {
		return nil, nil, err
	}
	if values, masses = p.masses(i); values == nil {
		return nil, nil, fmt.Errorf("vi: %q is continuous and has no masses", name)
	}
	return values, masses, nil
}

// masses are those of latent i; nil if it is continuous.
func (p *Posterior) masses(i int) (values, masses []float64) {
	values, cuts := p.Density.Values(i)
	if values == nil {
		return nil, nil
	}
	law, below := family.Marginal(p.Q, i), 0.0
	for _, cut := range cuts {
		upTo := law.CDF(cut)
		masses, below = append(masses, upTo-below), upTo
	}
	return values, append(masses, 1-below)
}

// Quantile is the quantile of the latent with the given name at probability
// prob, on the program's own scale.
func (p *Posterior) Quantile(name string, prob float64) (float64, error) {
	i, err := p.coordinate(name)
	if err != nil {
		return math.NaN(), err
	}
	if !(prob > 0 && prob < 1) {
		return math.NaN(), fmt.Errorf("vi: quantile at probability %v", prob)
	}
	return p.quantile(i, prob), nil
}

func (p *Posterior) quantile(i int, prob float64) float64 {
	return p.Density.ConstrainOne(i, family.Marginal(p.Q, i).Quantile(prob)) // transforms are increasing
}
