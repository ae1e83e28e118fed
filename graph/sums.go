package graph

import "github.com/facetvi/facet/internal/derive"

// Sums returns the sums of the density. It returns nil if a term is not of that form, and for a density with parameters, a
// guard that is not affine, or a discrete latent whose prior depends on others.
func (d *Density) Sums() *derive.Sums {
	d.made()
	return d.sums(nil)
}

// SumsNear are Sums of log r expanded around z (see derive.NewSums). It returns nil if there are
// more than derive.MostNear latents, and where Sums returns nil for other reasons than the form of terms.
func (d *Density) SumsNear(z []float64) *derive.Sums {
	d.checkLen(z)
	if d.Dim() > derive.MostNear {
		return nil
	}
	return d.sums(z)
}

func (d *Density) sums(at []float64) *derive.Sums {
	if !d.copies() {
		return nil
	}
	discrete := make([]bool, d.Dim())
	for i, l := range d.m.latents {
		discrete[i] = l.discrete != nil
	}
	d.st.Mu.Lock()
	defer d.st.Mu.Unlock()
	return derive.NewSums(d.prog, d.logTerms(), d.data, discrete, at)
}

// Grouped is the density that sums of d write, with groups of the intervals of switches; see derive.Sums.
func (d *Density) Grouped(s *derive.Sums, groups ...derive.Groups) (*Density, error) {
	d.made()
	c := newCopier(d)
	s.Write(derive.Target{Store: c.to.st, Copy: c.copy, Guard: c.guard, Add: c.to.add}, groups...)
	return c.to.Compile()
}
