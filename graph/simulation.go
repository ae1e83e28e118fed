package graph

import (
	"errors"

	"github.com/facetvi/facet/internal/lang"
)

// NewSimulation returns an empty program that draws noise and computes an objective, for
// package expect: its value, E[f], and the gradient of that by the program's parameters.
//
// The latents of a simulation are its noise. Each has its own prior, whose parameters may be
// computed from parameters of the program and from noise before it; nothing is conditioned on, so
// that Observe and Factor are errors. The coordinate u of each is standard normal a priori, and its value is
//
//	x = F⁻¹(Φ(u))
//
// for the distribution function F of its prior. So a parameter of a law moves values, or the cuts between
// the values of a discrete law, and never the density of u. A continuous law whose quantiles are not known, as Mixture, Censored and
// Truncated, is an error.
func NewSimulation() *Model {
	m := NewModel()
	m.simulation = true
	return m
}

// noConditions reports whether the model is no simulation, in which nothing may condition on anything.
func (m *Model) noConditions(what, instead string) bool {
	if m.simulation {
		m.fail("%s in a simulation: its noise is drawn from its own laws, and conditioning on data would change them; %s", what, instead)
	}
	return !m.simulation
}

// CompileObjective turns a simulation with objective f, an expression or a number, into a
// Density whose log r is f itself: where q is the law of the noise, which cancels the
// prior exactly, the ELBO is E[f]. A simulation may have several objectives.
func (m *Model) CompileObjective(f any) (*Density, error) {
	if !m.simulation {
		m.fail("an objective of a model with a posterior: make the program by NewSimulation")
	}
	x := m.value("CompileObjective", f)
	if m.err == nil && len(m.latents) == m.params {
		return nil, errors.New("graph: the simulation has no noise; add some with Sample")
	}
	if m.err != nil {
		return nil, m.err
	}
	own := m.terms
	m.addTerm(objectiveTerm, x, m.here())
	defer func() { m.terms = own }()
	if m.err != nil {
		return nil, m.err
	}
	return m.compiled()
}

// IsSimulation reports whether log r is the objective of a simulation.
func (d *Density) IsSimulation() bool { return d.made().m.simulation }

// sampleNoise makes l, whose coordinate is latent number i, noise with the given law, and returns its value.
func (m *Model) sampleNoise(l *latent, law lang.Dist, i int) Expr {
	u := m.expr(l.value)
	l.prior = lang.StandardNormal
	switch {
	case law.Support().Whole() && (law.HasCDF() || law.Fixed()):
		return m.sampleDiscrete(l, law, i)
	}
	x, known := law.Quantile(u)
	if !known {
		m.fail("latent %q: the quantiles of %s are not known, by which a simulation draws", l.name, law.Name())
	}
	return x
}
