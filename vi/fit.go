package vi

import (
	"context"
	"fmt"
	"strings"

	"github.com/facetvi/facet/graph"
)

// Settings are the settings of Fit. The zero value works.
type Settings struct {
	Estimator Estimator // Boundary{} if nil
	Samples   int       // samples in a gradient; 16 if 0
	Steps     int       // 10000 if 0
	StepSize  float64   // Adam's step size; 0.01 if 0
	Seed      uint64    // fixes the whole fit
	// Start is where the fit starts; PriorStart if nil.
	Start *MeanField
	// Optimizer continues an earlier fit's Adam; nil starts afresh. Its
	// StepSize is kept, and Settings.StepSize ignored.
	Optimizer *Adam
	// OnStep, if not nil, is called after every step; an error stops the fit
	// and is returned with the fit so far.
	OnStep func(Step) error
}

// A Step is what OnStep is told. Q and Gradient are valid during the call only.
type Step struct {
	T        int       // steps taken, from 1
	Q        MeanField // the family after the step
	Gradient []float64 // the estimate of ∇ELBO that the step followed, by θ = (μ_0, ρ_0, …)
}

func (s *Settings) fill() {
	if s.Estimator == nil {
		s.Estimator = Boundary{}
	}
	if s.Samples == 0 {
		s.Samples = 16
	}
	if s.Steps == 0 {
		s.Steps = 10000
	}
	if s.StepSize == 0 {
		s.StepSize = 0.01
	}
}

func (s *Settings) check() error {
	switch {
	case s.Samples < 0:
		return fmt.Errorf("vi: Settings.Samples = %d must be positive", s.Samples)
	case s.Steps < 0:
		return fmt.Errorf("vi: Settings.Steps = %d must be positive", s.Steps)
	case !(s.StepSize > 0) || !finite(s.StepSize):
		return fmt.Errorf("vi: Settings.StepSize = %v must be positive", s.StepSize)
	}
	return nil
}

// Fit maximises the ELBO of d by stochastic gradient ascent.
//
// It stops early if ctx is done, if OnStep fails, or if a gradient is not
// finite; the error then says why and names the step and the latents, and the
// fit beside it holds the last good state. Only with settings that make no
// sense is the fit nil.
func Fit(ctx context.Context, d *graph.Density, s Settings) (*Posterior, error) {
	s.fill()
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.Start == nil {
		start := PriorStart(d)
		s.Start = &start
	}
	if err := s.Start.check(d); err != nil {
		return nil, fmt.Errorf("vi: Settings.Start: %w", err)
	}
	if a := s.Optimizer; a != nil && a.M != nil && (len(a.M) != 2*d.Dim() || len(a.V) != 2*d.Dim()) {
		return nil, fmt.Errorf("vi: Settings.Optimizer is of another fit: it has %d and %d running means for %d parameters",
			len(a.M), len(a.V), 2*d.Dim())
	}
	f, err := newFitter(d, s)
	if err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	for t := 1; t <= s.Steps; t++ {
		if err := ctx.Err(); err != nil {
			return f.posterior(t - 1), fmt.Errorf("vi: stopped after step %d: %w", t-1, context.Cause(ctx))
		}
		if err := f.step(); err != nil {
			return f.posterior(t - 1), fmt.Errorf("vi: step %d: %w", t, err)
		}
		if s.OnStep != nil {
			if err := s.OnStep(Step{t, f.q, f.g.g}); err != nil {
				return f.posterior(t), fmt.Errorf("vi: step %d: %w", t, err)
			}
		}
	}
	return f.posterior(s.Steps), nil
}

// fitter is a fit under way.
type fitter struct {
	d     *graph.Density
	g     *gradienter
	adam  *Adam
	theta []float64
	q     MeanField // views of theta's two halves would not be contiguous: copies
}

func newFitter(d *graph.Density, s Settings) (*fitter, error) {
	g, err := newGradienter(d, s.Estimator, s.Samples, s.Seed)
	if err != nil {
		return nil, err
	}
	f := &fitter{d: d, g: g, adam: &Adam{StepSize: s.StepSize}, theta: s.Start.Theta(), q: s.Start.Clone()}
	if s.Optimizer != nil {
		f.adam = s.Optimizer.Clone()
	}
	return f, nil
}

// step takes one step; if the gradient is not finite it changes nothing.
func (f *fitter) step() error {
	g, err := f.g.estimate(f.q)
	if err != nil {
		return err
	}
	if err := f.checkGradient(g); err != nil {
		return err
	}
	f.adam.Step(f.theta, g)
	for i := range f.q.Mu {
		f.q.Mu[i], f.q.Rho[i] = f.theta[2*i], f.theta[2*i+1]
	}
	return nil
}

// checkGradient names the latents whose gradient is not finite, and a term of
// the model that is to blame.
func (f *fitter) checkGradient(g []float64) error {
	sum := 0.0
	for _, x := range g {
		sum += x * 0 // NaN if x is not finite
	}
	if sum == 0 {
		return nil
	}
	var bad []string
	for i, name := range f.d.Latents() {
		if !finite(g[2*i]) || !finite(g[2*i+1]) {
			bad = append(bad, name)
		}
	}
	if len(bad) > 5 {
		bad = append(bad[:5], "…")
	}
	err := fmt.Errorf("%w for %s", ErrNotFinite, strings.Join(bad, ", "))
	if why := blame(f.d, f.q); why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return err
}

// blame looks for a term of the model that is not finite at the mean of q or
// at samples from it.
func blame(d *graph.Density, q MeanField) string {
	s := q.Scale(nil)
	z := make([]float64, len(s))
	rng := newRand(0)
	for range 1000 {
		for i := range z {
			z[i] = q.Mu[i] + s[i]*rng.NormFloat64()
		}
		if term, v, ok := d.NonFinite(z); ok {
			return fmt.Sprintf("%s is %v in region %v", term, v, shorten(d.Arrangement().Signs(z).String()))
		}
	}
	return ""
}

func shorten(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

func (f *fitter) posterior(steps int) *Posterior {
	return &Posterior{Density: f.d, Q: f.q.Clone(), Steps: steps, Optimizer: f.adam.Clone()}
}
