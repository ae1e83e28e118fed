package graph

import (
	"context"
	"fmt"

	"github.com/facetvi/facet/internal/derive"
)

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
