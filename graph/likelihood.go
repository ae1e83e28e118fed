package graph

// Likelihood is the program of log r less the log densities of the latents'
// priors: what observations and factors add to them. Its one output is in the
// order of an Executor's Out; it has no gradient.
func (d *Density) Likelihood() (*Program, error) {
	d.made()
	type likelihood struct{}
	p, err := d.Cached(likelihood{}, func() (any, error) {
		var terms []term
		for _, t := range d.m.terms {
			if !t.prior {
				terms = append(terms, term{t.id, 1})
			}
		}
		return newProgram(d.st, []output{d.st.total(0, terms)}, &output{}, d.sizes())
	})
	if err != nil {
		return nil, err
	}
	return p.(*Program), nil
}
