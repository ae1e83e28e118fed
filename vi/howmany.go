package vi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/draws"
	"github.com/facetvi/facet/vi/internal/watch"
	"github.com/facetvi/facet/vi/loo"
)

// A Program is one of several explanations of the same data: with so many changes or components, or with another equation or law.
type Program struct {
	Name    string
	Density *graph.Density
	Prior   float64 // its probability before the data, relative to those of the others; the same for all if all are 0
}

// HowMany fits programs of the same data side by side, and says how probable each is, given the data: by its evidence and its prior
// probability, as [Compare] does. Beside that are the weights by which the mixture of their predictions predicts best (see
// [Posterior.LOO]); a warning says why, if there are none. The result has the fits, and averages over them. The fit of a program is that of
// Fit with Settings.Seed = SeedOf(s.Seed, its name). s.Progress tells how many fits are done. If s.Checkpoint is set, it is a folder, with
// a file for each program. A program that cannot be fitted is an error.
func HowMany(ctx context.Context, programs []Program, s Settings) (Comparison, error) {
	if ctx == nil {
		return Comparison{}, errNoContext
	}
	models := make([]ModelEvidence, len(programs))
	for k, p := range programs {
		if p.Density == nil || !(p.Prior >= 0) || math.IsInf(p.Prior, 0) {
			return Comparison{}, fmt.Errorf("vi: program %q: a nil density, or a prior of %v", p.Name, p.Prior)
		}
		models[k] = ModelEvidence{Name: p.Name, Prior: p.Prior}
	}
	if err := fitPrograms(ctx, programs, s, models); err != nil {
		return Comparison{}, err
	}
	c, err := compareModels(models)
	if err == nil {
		c.stack()
	}
	return c, err
}

// fitPrograms stores the fits.
func fitPrograms(ctx context.Context, programs []Program, s Settings, models []ModelEvidence) error {
	if s.Checkpoint != "" {
		if err := os.MkdirAll(s.Checkpoint, 0o777); err != nil {
			return wrapped(err)
		}
	}
	fits := func(yield func(string, fitting) bool) {
		for _, p := range programs {
			fit := func(ctx context.Context) (*Posterior, error) {
				own := s
				own.Progress, own.Seed = nil, SeedOf(s.Seed, p.Name)
				if s.Checkpoint != "" {
					own.Checkpoint = filepath.Join(s.Checkpoint, url.PathEscape(p.Name)+".fit")
				}
				if known, err := resumed(ctx, p.Density, own); known != nil || err != nil {
					return known, err
				}
				return Fit(ctx, p.Density, own)
			}
			if !yield(p.Name, fit) {
				return
			}
		}
	}
	var failed []error
	k := 0
	sideBySide(ctx, fits, watch.New(s.Progress, nil, 0), "programs", false, func(f Fitted) bool {
		models[k].Fit = f.Fit
		failed = append(failed, f.Err)
		k++
		return true
	})
	if k < len(programs) {
		failed = append(failed, fmt.Errorf("vi: stopped after the fits of %d of %d programs: %w", k, len(programs), cause(ctx)))
	}
	return errors.Join(failed...)
}

// stack finds the weights of the models' predictions.
func (c *Comparison) stack() {
	var all []LOO
	for k := range c.Models {
		m := &c.Models[k]
		m.Stacking = math.NaN()
		r, err := m.Fit.LOO()
		if err != nil {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s has no weight by its predictions: %v", m.Name, err))
			continue
		}
		if bad := r.Unreliable(); len(bad) > 0 {
			also := ""
			if len(bad) > 1 {
				also = fmt.Sprintf(" and %d more", len(bad)-1)
			}
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s: how it predicts %s%s from the other observations is not known: a few draws have nearly all the weight there (Pareto k-hat %.2f)", m.Name, bad[0].Name, also, bad[0].K))
		}
		m.LOO = r
		all = append(all, r)
	}
	if len(all) < len(c.Models) {
		return
	}
	first := c.Models[0]
	for _, m := range c.Models { // loo.Stack sees names alone
		if !slices.Equal(first.Fit.inOrder(), m.Fit.inOrder()) {
			c.Warnings = append(c.Warnings, fmt.Sprintf("no weights by predictions: %s observes the numbers in another order than %s", m.Name, first.Name))
			return
		}
	}
	weights, err := loo.Stack(all...)
	if err != nil {
		c.Warnings = append(c.Warnings, fmt.Sprintf("no weights by predictions: %v", err))
		return
	}
	for k, w := range weights {
		c.Models[k].Stacking = w
	}
}

// inOrder are the observations in the order in which the program makes them.
func (p *Posterior) inOrder() []float64 {
	z := make([]float64, p.Density.Dim())
	p.Q.Rand(z, parallel.NewRand(0))
	return p.Density.DataAt(z)
}

// Average is the average over the models, by their probabilities, of a number that all have: an expectation or a probability, as
// Mean, Prob and ProbNamed give. Its standard error has those of the numbers and of the probabilities. An error of one model is
// one of the average.
func (c Comparison) Average(of func(p *Posterior) (Estimate, error)) (Estimate, error) {
	list := make([]Estimate, len(c.Models))
	var err error
	for k, m := range c.Models {
		if list[k], err = of(m.Fit); err != nil {
			return Estimate{}, fmt.Errorf("vi: %s: %w", m.Name, err)
		}
	}
	return c.average(list), nil
}

func (c Comparison) average(list []Estimate) (e Estimate) {
	for k, m := range c.Models {
		e.Value += m.Prob.Value * list[k].Value
	}
	for k, m := range c.Models {
		own, between := m.Prob.Value*list[k].SE, m.Prob.Value*(list[k].Value-e.Value)*m.LogEvidence.SE
		e.SE = math.Hypot(e.SE, math.Hypot(own, between))
	}
	return e
}

// Moments are the mean and the standard deviation of the latent of the given name, which all models have, averaged over them.
func (c Comparison) Moments(name string) (Moments, error) {
	means, squares := make([]Estimate, len(c.Models)), make([]Estimate, len(c.Models))
	for k, m := range c.Models {
		own, err := m.Fit.momentsOf(name)
		if err != nil {
			return Moments{}, fmt.Errorf("vi: %s: %w", m.Name, err)
		}
		means[k], squares[k] = own.Mean, own.SD
	}
	mean := c.average(means)
	for k, sd := range squares {
		off := means[k].Value - mean.Value
		squares[k] = Estimate{Value: sd.Value*sd.Value + off*off, SE: 2 * math.Hypot(sd.Value*sd.SE, off*means[k].SE)}
	}
	variance := c.average(squares)
	sd := math.Sqrt(variance.Value)
	if sd > 0 {
		variance.SE /= 2 * sd
	}
	return Moments{Mean: mean, SD: Estimate{Value: sd, SE: variance.SE}}, nil
}

// Predict makes n predictive draws of the models together, of each as many as its probability says; the seed fixes them. They have
// the observations, deterministic expressions and latents that all models have by name, with as many elements, of observations the same
// ones in the same order.
func (c Comparison) Predict(n int, seed uint64) (Predictive, error) {
	var parts []Predictive
	sum, done := 0.0, 0
	for _, m := range c.Models {
		sum += m.Prob.Value
		own := int(math.Round(sum*float64(n))) - done
		if own <= 0 {
			continue
		}
		done += own
		r, err := m.Fit.Predict(own, seed)
		if err != nil {
			return Predictive{}, fmt.Errorf("vi: %s: %w", m.Name, err)
		}
		parts = append(parts, r)
	}
	r, err := draws.Together(parts...)
	return r, wrapped(err)
}
