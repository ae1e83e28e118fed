package graph

import (
	"context"
	"fmt"

	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lower"
)

// What packages vi and boundary ask of a density, of which the work is package derive's.

// Builder returns a builder of programs from the terms of d. It adds expressions to the
// store of the model, so only one may be at work at a time: call it inside
// Cached.
func (d *Density) Builder() *derive.Builder {
	return derive.NewBuilder(d.made().prog, &d.nodes, d.planes())
}

// planes know what is equal on the planes of d.
func (c *compiled) planes() ir.Algebra {
	return ir.Algebra{Store: c.st, Arr: c.arr, Features: c.m.features, Shift: len(c.names) - anyDim}
}

// ExecutorOf returns an executor of a program derived from this density, or
// from one of the same model with other data.
func (d *Density) ExecutorOf(p *Program, n int, w Compute) (*Executor, error) {
	if p.Store != d.made().st {
		return nil, fmt.Errorf("graph: the program is derived from another model")
	}
	return p.Executor(n, w, d.data)
}

// JumpsBeside reports whether log r jumps at any hyperplane that is not in known. Where it does, LocalJumps may take long.
func (d *Density) JumpsBeside(known map[int]bool) (bool, error) {
	d.made().st.Mu.Lock()
	defer d.st.Mu.Unlock()
	return d.Builder().JumpsBeside(known)
}

// LocalJumps returns the jumps of d.
func (d *Density) LocalJumps() (*derive.LocalJumps, error) {
	type key struct{}
	v, err := d.Cached(key{}, func() (any, error) { return d.Builder().LocalJumps() })
	if err != nil {
		return nil, err
	}
	return v.(*derive.LocalJumps).Of(d.data), nil
}

// Requirements returns those of the program; nil if it has none.
func (d *Density) Requirements() (*derive.Requirements, error) {
	if len(d.made().m.required) == 0 {
		return nil, nil
	}
	type key struct{}
	q, err := d.Cached(key{}, func() (any, error) {
		var list []derive.Required
		for _, x := range d.m.required {
			list = append(list, derive.Required{Holds: x.holds.value.id, Planes: x.holds.Planes(), Place: x.place.String()})
		}
		return derive.NewRequirements(d.st, d.arr.Len(), list), nil
	})
	if err != nil {
		return nil, err
	}
	return q.(*derive.Requirements), nil
}

// Likelihood is the program of log r less the log densities of the latents'
// priors: what observations and factors add to them. Its one output is in the
// order of an Executor's Out; it has no gradient.
func (d *Density) Likelihood() (*Program, error) {
	d.made()
	type likelihood struct{}
	p, err := d.Cached(likelihood{}, func() (any, error) {
		var terms []ir.Term
		for _, t := range d.m.terms {
			if !t.prior {
				terms = append(terms, ir.Term{Atom: t.id, Coef: 1})
			}
		}
		return lower.NewProgram(d.st, []ir.Output{d.st.Total(0, terms)}, &ir.Output{}, d.sizes())
	})
	if err != nil {
		return nil, err
	}
	return p.(*Program), nil
}

// Thresholds are the parameters that log r uses in guards alone, ascending: log r depends only on which side of other numbers
// they are.
func (d *Density) Thresholds() (list []int) {
	d.made()
	if d.m.params == 0 {
		return nil
	}
	var terms []ir.ID
	for _, t := range d.m.terms {
		terms = append(terms, t.id)
	}
	used, compared := make([]bool, d.m.params), make([]bool, d.m.params)
	for id, is := range ir.Needed(&d.nodes, terms) {
		if is && d.nodes.Like(ir.ID(id)).Kind == ir.Latent {
			if i := int(d.nodes.Head(ir.ID(id)).A); i < len(used) {
				used[i] = true
			}
		}
	}
	for l := range d.arr.Len() {
		for _, i := range d.arr.Latents(l) {
			if i < len(compared) {
				compared[i] = true
			}
		}
	}
	for i := range used {
		if compared[i] && !used[i] {
			list = append(list, i)
		}
	}
	return list
}

// logTerms are those of d.
func (c *compiled) logTerms() derive.Terms {
	list := make([]derive.LogTerm, len(c.m.terms))
	for t, x := range c.m.terms {
		list[t] = derive.LogTerm{ID: x.id, Prior: x.prior}
	}
	return derive.Terms{Nodes: &c.nodes, Arr: c.arr, Dim: len(c.names), Params: c.m.params, List: list}
}

// Switches lists the switches that can be summed out exactly, given all other latents. Two switches meet if a term of log r depends
// on both. Those that do not meet are independent, and those that meet, as the states of a chain, are summed out
// one after the other. Where that would take long, as with the change points of one series, or where the prior of one depends on
// another, Switches lists those with the most planes of which no two meet. Of very large programs it lists none.
func (d *Density) Switches() []derive.SwitchLatent {
	may := make([]bool, d.Dim())
	for i, l := range d.m.latents {
		may[i] = l.prior.law.shares != nil
	}
	return d.logTerms().Switches(may)
}

// Tabulate returns the tabulation of switches, which is the same for all data of the model. It
// takes long where many terms depend on many planes, and ends with ctx.
func (d *Density) Tabulate(ctx context.Context, switches []derive.SwitchLatent) (*derive.Tabulation, error) {
	var key struct{ latents string }
	for _, w := range switches {
		key.latents += fmt.Sprint(w.Latent, " ")
	}
	v, err := d.Cached(key, func() (any, error) { return d.Builder().Tabulate(ctx, switches) })
	if err != nil {
		return nil, err
	}
	return v.(*derive.Tabulation), nil
}

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
